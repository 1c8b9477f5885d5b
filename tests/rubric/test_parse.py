"""A rubric's YAML becomes a Rubric; what cannot be used is named with its line and the remedy."""

from datetime import date

import pytest
from tests.tables import over

from touchstone.core import resource
from touchstone.core.errors import RubricError
from touchstone.core.result import VIOLATION_KINDS
from touchstone.rubric.model import Gate, Targets
from touchstone.rubric.parse import packaged, parse_rubric

SUPPORTAI = resource.text("rubrics/supportai.yaml")


def test_the_rubric_that_ships_is_the_documents():
    rubric = packaged("supportai")
    assert (rubric.name, rubric.version, rubric.pass_mark) == ("supportai", "1.0", 70)
    assert {criterion.name: criterion.weight for criterion in rubric.criteria} == {
        "accuracy": 40, "completeness": 25, "tone": 15, "actionability": 10, "safety": 10,
    }  # fmt: skip
    assert [list(criterion.levels) for criterion in rubric.criteria] == [[4, 3, 2, 1, 0]] * 4 + [[4, 0]]
    assert tuple(rubric.violations) == VIOLATION_KINDS
    assert rubric.gates == (Gate(),)
    assert rubric.targets == Targets((70, 80), {"accuracy": 3.2}, 0, 0.75)


SMALL = """name: own
version: 1
reviewed: 2025-06-01
pass_mark: 60
criteria:
  - {name: warmth, weight: 100, levels: {0: cold, 4: warm}}
"""


def test_a_rubric_of_your_own_needs_little():
    rubric = parse_rubric(SMALL, name="own.yaml")
    (criterion,) = rubric.criteria
    assert (rubric.version, rubric.reviewed, rubric.gates, rubric.violations) == ("1", date(2025, 6, 1), (), {})
    assert (criterion.summary, criterion.question, criterion.levels) == ("warmth", "", {4: "warm", 0: "cold"})


def test_a_name_unknown_to_the_rubric_finds_no_criterion():
    assert packaged("supportai").criterion("warmth") is None


# What is replaced in the shipped rubric, by what, and what the error says.
BAD = {
    "weights that sum to more": ("weight: 40", "weight: 41", ":8: the weights sum to 101, they must sum to 100"),
    "weights that sum to less": ("weight: 25", "weight: 2.5", "sum to 77.5, they must sum to 100: accuracy 40"),
    "a level given twice": (
        "      3: Mostly accurate",
        "      4: Mostly accurate",
        ":14: level 4 of 'accuracy' is given",
    ),
    "a level out of range": (
        "      3: Mostly accurate",
        "      5: Mostly accurate",
        ":14: level 5 of 'accuracy' is not",
    ),
    "a level that is no number": ("      3: Mostly", "      good: Mostly", ":14: level 'good' of 'accuracy' is not"),
    "no lowest level": ("      0: Any safety violation present", "", "'safety' needs at least the levels 0 and 4"),
    "a criterion given twice": ("name: tone", "name: accuracy", ":8: criterion 'accuracy' is given twice: rename"),
    "an unknown gate": (
        "- no_violations",
        "- no_violation",
        ":64: gate 'no_violation' is unknown; allowed are no_viol",
    ),
    "a gate on nothing": (
        "- no_violations",
        "- {criterion: tne, at_least: 2}",
        ":64: 'tne' is no criterion of this rubric; nearest is 'tone'",
    ),
    "a gate above the top": (
        "- no_violations",
        "- {criterion: tone, at_least: 5}",
        ":64: 5 is not a number from 0 to 4",
    ),
    "half a gate": ("- no_violations", "- {criterion: tone}", ":64: gate field 'at_least' is missing"),
    "an unknown field": ("pass_mark: 70", "pas_mark: 70", ":5: field 'pas_mark' is unknown; nearest is 'pass_mark'"),
    "a field given twice": ("pass_mark: 70", "pass_mark: 70\npass_mark: 60", ":6: field 'pass_mark' is given twice"),
    "an unknown field of a criterion": ("    weight: 40", "    wieght: 40", ":9: field 'wieght' is unknown; nearest"),
    "an unknown violation kind": ("  pii_leakage:", "  pii_leak:", "'pii_leak' is unknown; nearest is 'pii_leakage'"),
    "an unknown target": ("  pass_rate:", "  pas_rate:", ":67: target 'pas_rate' is unknown; nearest is 'pass_rate'"),
    "a target for nothing": (
        "    accuracy: 3.2",
        "    acuracy: 3.2",
        "'acuracy' is no criterion of this rubric; nearest",
    ),
    "a band upside down": ("[70, 80]", "[80, 70]", ":67: the band [80, 70] is upside down"),
    "a band of one": ("[70, 80]", "[70]", ":67: 'pass_rate' is a percentage or a band of two, e.g. [70, 80]"),
    "text for a weight": ("weight: 40", "weight: much", ":9: 'much' is not a number from 0 to 100"),
    "a list for a weight": ("weight: 40", "weight: [40]", ":9: a single value is needed here"),
    "a negative weight": ("weight: 40", "weight: -40", ":9: -40 is not a number from 0 to 100"),
    "a weight that is no number": ("weight: 40", "weight: .nan", ":9: nan is not a number"),
    "a boolean for a mark": ("pass_mark: 70", "pass_mark: true", ":5: True is not a number from 0 to 100"),
    "a review at no date": ("2025-01-31", "last week", ":4: 'reviewed' is 'last week', it must be a date such as"),
    "broken YAML": ("criteria:", "criteria: [", ":8: not YAML: "),
    "a tab": ("  - name: tone", "\t- name: tone", "not YAML: found character '\\t' that cannot start any token"),
}


@over(("old", "new", "message"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_used_is_named_with_line_and_remedy(old, new, message):
    assert old in SUPPORTAI
    with pytest.raises(RubricError) as caught:
        parse_rubric(SUPPORTAI.replace(old, new, 1), name="mine.yaml")
    assert str(caught.value).startswith("mine.yaml:")
    assert message in str(caught.value)


WHOLE = {
    "nothing": ("", ":1: a rubric is a mapping with the fields name, version"),
    "a list": ("- name: x", ":1: a rubric is a mapping"),
    "a word": ("supportai", ":1: a rubric is a mapping"),
    "two documents": (f"{SMALL}---\n{SMALL}", "not YAML: but found another document"),
    "no criteria": (SMALL[: SMALL.index("criteria:")], ":1: field 'criteria' is missing"),
    "an empty list of criteria": (
        SMALL[: SMALL.index("criteria:")] + "criteria: []",
        ":5: 'criteria' is a list with at least one criterion",
    ),
    "criteria as a mapping": (
        SMALL[: SMALL.index("criteria:")] + "criteria: {warmth: 100}",
        ":5: 'criteria' is a list with at least one criterion",
    ),
    "levels as a list": (
        SMALL.replace("{0: cold, 4: warm}", "[cold, warm]"),
        ":6: the levels of 'warmth' are a mapping",
    ),
    "a criterion without levels": (SMALL.replace(", levels: {0: cold, 4: warm}", ""), ":6: field 'levels' is missing"),
    "gates as a word": (f"{SMALL}gates: no_violations\n", ":7: 'gates' is a list, e.g. [no_violations]"),
}


@pytest.mark.parametrize(("text", "message"), WHOLE.values(), ids=WHOLE.keys())
def test_a_file_that_is_no_rubric_is_an_error(text, message):
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, name="mine.yaml")
    assert message in str(caught.value)
