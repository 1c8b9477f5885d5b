"""The quick reference card is made from the rubric's data and says what the specification's card says;
a rubric that is written is read back as it was."""

from dataclasses import replace
from datetime import date

import pytest

from touchstone.app.rubrics import packaged_names
from touchstone.rubric.card import card, level_texts, rubric_to_dict, titled, write_rubric
from touchstone.rubric.model import Criterion, Gate, Rubric, Targets
from touchstone.rubric.parse import packaged, parse_rubric

# The specification's appendix, line by line.
DOCUMENT = (
    "SUPPORTAI SCORING",
    (
        "Accuracy      (40%)  - Is it correct?",
        "Completeness  (25%)  - Is it thorough?",
        "Tone          (15%)  - Is it professional & empathetic?",
        "Actionability (10%)  - Are next steps clear?",
        "Safety        (10%)  - Any violations? (auto-fail)",
    ),
    (
        "PASS: Score >= 70% AND no safety failures",
        "FAIL: Score < 70% OR any safety failure",
    ),
    ("Target Pass Rate: 70-80%",),
)
LEVELS = {4: "good", 0: "bad"}
SUPPORTAI = packaged("supportai")
BARE = replace(SUPPORTAI.criteria[0], question="", summary="accuracy")


def own(*, gates=(), targets=None):
    criteria = (
        Criterion("next_steps", 92.5, "What now?\n  And then?", "Does it say what to do?", LEVELS),
        Criterion("tone", 7.5, "tone", "", LEVELS),
    )
    return Rubric("own", "3", date(2025, 6, 1), 62.5, criteria, {}, gates, targets or Targets())


def test_the_card_of_the_shipped_rubric_is_the_documents():
    shown = card(packaged("supportai"))
    assert (shown.title, *shown.sections) == DOCUMENT


def test_a_rubric_of_your_own_has_its_own_card():
    gates = (Gate(), Gate("next_steps", 2))
    assert card(own(gates=gates, targets=Targets(pass_rate=(62.5, 90)))).sections == (
        ("Next steps (92.5%)  - What now? And then?", "Tone       (7.5%)   - tone"),
        (
            "PASS: Score >= 62.5% AND no safety failures AND Next steps >= 2",
            "FAIL: Score < 62.5% OR any safety failure OR Next steps < 2",
        ),
        ("Target Pass Rate: 62.5-90%",),
    )


def test_what_a_rubric_does_not_set_is_not_on_its_card():
    assert card(own()).sections[1:] == (("PASS: Score >= 62.5%", "FAIL: Score < 62.5%"),)


def test_level_texts_stand_under_the_criterions_question():
    accuracy, *_, safety = level_texts(packaged("supportai"))
    assert accuracy.heading == "Accuracy (40%): Does the response correctly address the customer's issue?"
    assert accuracy.levels[0] == (4, "Fully accurate, directly addresses the core issue with correct information")
    assert [level for level, _ in safety.levels] == [4, 0]
    assert level_texts(own())[1].heading == "Tone (7.5%): tone"


def test_a_name_starts_a_line_in_capitals():
    assert (titled("next_steps"), titled("ROI"), titled("")) == ("Next steps", "ROI", "")


def test_the_plain_object_has_the_names_of_the_file():
    row = rubric_to_dict(packaged("supportai"))
    names = ["name", "version", "reviewed", "pass_mark", "criteria", "violations", "conventions"]
    assert list(row) == [*names, "gates", "targets"]
    assert (row["conventions"]["version"], len(row["conventions"])) == ("1", 11)
    assert (row["version"], row["pass_mark"], row["gates"]) == ("1.0", 70, ["no_violations"])
    assert (row["criteria"][0]["weight"], row["criteria"][0]["summary"]) == (40, "Is it correct?")
    assert list(row["criteria"][-1]["levels"]) == ["4", "0"]
    assert row["targets"] == {
        "pass_rate": [70, 80], "average": {"accuracy": 3.2}, "safety_failures": 0, "average_confidence": 0.75,
    }  # fmt: skip
    assert rubric_to_dict(own(gates=(Gate("tone", 1),)))["gates"] == [{"criterion": "tone", "at_least": 1}]
    assert rubric_to_dict(own())["targets"] == {}


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
