"""What is said of a gold set's contents, and how large one has to be."""

import pytest
from tests.tables import over

from touchstone.core.case import Case, Label
from touchstone.goldset.stats import cases_for_margin, precision, size_needed, summarise_goldset
from touchstone.rubric.parse import packaged
from touchstone.stats.interval import wilson
from touchstone.stats.paired import cases_needed

RUBRIC = packaged("supportai")


def label(rater, grade, violations=()):
    return Label(rater, dict.fromkeys(["accuracy", "completeness", "tone", "actionability"], grade), tuple(violations))


CASES = [
    Case(id="1", input="one two three", response="a b", category="x", labels=[label("A", 4), label("B", 4)]),
    Case(id="2", input="one", response="a", context=["c d e"], category="x", labels=[label("A", 1), label("B", 0)]),
    Case(id="3", response="", expected_output="a b c d", labels=[label("A", 4), label("B", 4, ["pii_leakage"])]),
    Case(id="4", input="one two", response="a", confidence=0.5),
]


def test_fields_categories_and_lengths_are_counted():
    found = summarise_goldset(CASES, rubric=RUBRIC, unread=2)
    assert (found.cases, found.unread) == (4, 2)
    assert [(each.name, each.cases, each.share) for each in found.categories] == [("(none)", 2, 0.5), ("x", 2, 0.5)]
    assert found.fields == {
        "input": 3, "response": 3, "expected_output": 1, "context": 1, "category": 2, "confidence": 1, "labels": 3,
    }  # fmt: skip
    lengths = {each.field: (each.given, each.median, each.most, each.longest) for each in found.lengths}
    assert lengths["input"] == (3, 2, 3, 3)
    assert lengths["context"] == (1, 3, 3, 3)


def test_labels_are_counted_by_outcome_and_violation():
    labelling = summarise_goldset(CASES, rubric=RUBRIC).labelling
    assert (labelling.labelled, labelling.labels, labelling.raters) == (3, 6, {"A": 3, "B": 3})
    # The third case is PASS to one rater and FAIL to the other: open.
    assert (labelling.passed, labelling.concluded) == (1, 2)
    assert labelling.interval == wilson(1, 2)
    assert (labelling.unsafe, labelling.violations["pii_leakage"], labelling.violations["hallucination"]) == (1, 1, 0)


def test_agreement_of_two_raters_is_given_for_each_criterion_and_the_outcome():
    found = {each.on: each for each in summarise_goldset(CASES, rubric=RUBRIC).agreement}
    assert list(found) == ["accuracy", "completeness", "tone", "actionability", "outcome"]
    assert (found["accuracy"].raters, found["accuracy"].cases) == (("A", "B"), 3)
    assert found["accuracy"].equal == pytest.approx(2 / 3)
    # Quadratic weights: disagreement 1/16 of one pair against what chance would give.
    assert found["accuracy"].kappa == pytest.approx(1 - 3 * 1 / (2 * 16 + 2 * 9 + 1 * 1))
    assert found["outcome"].equal == pytest.approx(2 / 3)


def test_one_rater_agrees_with_nobody_and_no_case_measures_nothing():
    assert summarise_goldset([CASES[3]], rubric=RUBRIC).agreement == ()
    empty = summarise_goldset([], rubric=RUBRIC)
    assert (empty.labelling, empty.precision, empty.categories) == (None, None, ())


@pytest.mark.parametrize(("cases", "points"), [(130, 7), (1000, 3), (20, 18)])
def test_the_margin_of_a_pass_rate_follows_from_the_number_of_cases(cases, points):
    assert round(precision(cases).margin * 100) == points


@over("margin", [0.02, 0.05, 0.1, 0.3])
@over("rate", [0.1, 0.5, 0.75, 1.0])
def test_so_many_cases_give_the_margin(margin, rate):
    needed = cases_for_margin(margin, rate=rate)
    interval = wilson(round(rate * needed), needed)
    assert (interval.high - interval.low) / 2 <= margin


def test_the_harder_direction_of_a_change_decides():
    size = size_needed(0.05, rate=0.75, power=0.8, discordant=None)
    assert size.rises == cases_needed(0.05, rate=0.75, power=0.8)
    assert size.falls == cases_needed(-0.05, rate=0.75, power=0.8)
    assert size.paired == max(size.rises, size.falls)
    assert size_needed(0.05, rate=0.75, power=0.8, discordant=0.1).paired < size.paired


def test_a_rate_without_room_moves_the_other_way_or_not_at_all():
    assert size_needed(0.1, rate=0.95, power=0.8, discordant=None).rises is None
    with pytest.raises(ValueError, match=r"can neither rise nor fall by 0\.6"):
        size_needed(0.6, rate=0.5, power=0.8, discordant=None)
