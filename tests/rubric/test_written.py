"""A rubric that is written is read back as it was."""

from dataclasses import replace

import pytest

from touchstone.app.rubrics import packaged_names
from touchstone.rubric.model import Gate, Targets
from touchstone.rubric.parse import packaged, parse_rubric
from touchstone.rubric.written import write_rubric

SUPPORTAI = packaged("supportai")
BARE = replace(SUPPORTAI.criteria[0], question="", summary="accuracy")


@pytest.mark.parametrize("name", packaged_names())
def test_a_rubric_that_ships_comes_back_as_it_was(name):
    assert parse_rubric(write_rubric(packaged(name)), name=name) == packaged(name)


@pytest.mark.parametrize(
    "rubric",
    [
        replace(SUPPORTAI, targets=Targets(average={})),
        replace(SUPPORTAI, version="2", name="yes: no # 3"),
        replace(SUPPORTAI, gates=(Gate("tone", 2),), violations={}),
        replace(SUPPORTAI, criteria=(BARE, *SUPPORTAI.criteria[1:])),
    ],
    ids=["no targets", "a name YAML could mistake", "another gate", "a criterion without a question"],
)
def test_other_rubrics_come_back_as_they_were(rubric):
    assert parse_rubric(write_rubric(rubric), name="mine") == rubric
