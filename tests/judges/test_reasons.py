"""The line that explains a grade agrees with the grade, also where no feature moved it much."""

import pytest

from touchstone.core.case import Case
from touchstone.judges.coverage import cover
from touchstone.judges.model import Share
from touchstone.judges.reasons import explain_grade
from touchstone.text.reading import read

READING = read(Case(input="Where is my parcel?", response="It is on its way."))
SLIGHT = (Share("warmth", -0.04, is_high=False),)


@pytest.mark.parametrize("grade", range(4))
def test_a_grade_below_the_top_is_never_explained_by_nothing(grade):
    for criterion in ("accuracy", "completeness", "tone", "actionability"):
        reason = explain_grade(criterion, grade, (), READING, cover(READING))
        assert reason == "several small things, none of which stands out"


def test_where_nothing_stands_out_the_strongest_small_thing_is_named():
    assert explain_grade("tone", 3, SLIGHT, READING, cover(READING)) != "several small things, none of which stands out"


def test_a_top_grade_without_features_has_nothing_to_object_to():
    assert explain_grade("tone", 4, (), READING, cover(READING)) == "nothing to object to"
