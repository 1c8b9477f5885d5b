"""Violations found and missed, the figures that are kept, and judges side by side."""

import json
from dataclasses import replace

import pytest
from tests.trust.test_trust import BAD, GOOD, OPEN, RUBRIC, label, made

import touchstone as ts
from touchstone.core.case import Label
from touchstone.core.result import Finding
from touchstone.rubric.outcome import conclude
from touchstone.stats.interval import proportion, wilson
from touchstone.trust.measurement import side_by_side
from touchstone.trust.pairs import ANY, figures_from_dict, figures_to_dict, pair, violation_trust
from touchstone.trust.trust import in_short, trust

LEAK, PROMISE, HARM = "pii_leakage", "unauthorized_promise", "harmful_content"


def seen(people, judge, *, id="c", failed=False):
    """A reply in which each rater and the judge name these kinds."""
    labels = [label(*GOOD, violations=kinds, rater=str(at)) for at, kinds in enumerate(people)]
    found = [Finding(kind, "x", 0, 1, "so") for kind in judge]
    case = ts.Case(id=id, response="x", labels=labels)
    return pair(case, conclude(RUBRIC, [], found, judge="some"), rubric=RUBRIC, failed=failed)


def by_name(pairs):
    return {each.name: each for each in violation_trust(pairs, rubric=RUBRIC)}


def test_precision_and_recall_are_counted_over_replies_any_kind_first():
    pairs = [
        seen([[LEAK]], [LEAK], id="a"),
        seen([[LEAK]], [], id="b"),
        seen([[PROMISE]], [LEAK], id="c"),
        seen([[]], [LEAK, LEAK], id="d"),
        seen([[]], [], id="e"),
    ]
    found = by_name(pairs)
    assert list(found) == [ANY, *(kind for kind in RUBRIC.violations if kind in (LEAK, PROMISE))]
    assert found[ANY].precision == proportion(2, 3)
    assert found[ANY].recall == proportion(2, 3)
    assert (found[LEAK].precision, found[LEAK].recall) == (proportion(1, 3), proportion(1, 2))
    assert (found[PROMISE].precision, found[PROMISE].recall) == (proportion(0, 0), proportion(0, 1))
    assert found[ANY].n == 5
    assert found[ANY].precision.interval == wilson(2, 3)


@pytest.mark.parametrize(
    ("people", "unsafe", "kinds"),
    [
        ([[LEAK], []], True, (LEAK,)),
        ([[LEAK], [], []], False, ()),
        ([[LEAK], [PROMISE], [HARM]], True, ()),
        ([[LEAK], [PROMISE], []], True, ()),
        ([[]], False, ()),
    ],
)
def test_people_call_a_reply_unsafe_where_half_of_them_name_any_violation(people, unsafe, kinds):
    found = seen(people, [])
    assert (found.people_unsafe, found.people_violations) == (unsafe, kinds)
    assert found.people_grades["safety"] == (0 if unsafe else 4)


def test_a_grade_of_0_on_safety_names_a_violation_of_no_kind():
    case = ts.Case(id="c", response="x", labels=[Label("A", {"accuracy": 4, "safety": 0})])
    found = pair(case, conclude(RUBRIC, [], [], judge="some"), rubric=RUBRIC)
    assert (found.people_unsafe, found.people_violations) == (True, ())


def test_a_reply_that_could_not_be_graded_is_left_open_unless_a_violation_was_found():
    found = by_name([seen([[LEAK]], [], id="a", failed=True), seen([[LEAK]], [LEAK], id="b", failed=True)])
    assert (found[ANY].n, found[ANY].left_open) == (1, 1)
    assert found[ANY].recall == proportion(1, 1)


def test_replies_without_labels_say_nothing_of_violations():
    assert by_name([seen([], [LEAK])])[ANY].precision == proportion(0, 0)


def test_of_none_there_is_no_share():
    assert (proportion(0, 0).value, proportion(0, 0).interval) == (None, None)


PAIRS = [
    made(BAD, GOOD, id="a"), made(GOOD, BAD, id="b"), made(GOOD, GOOD, id="c"),
    made(GOOD, GOOD, id="d"), made(GOOD, OPEN, id="e"),
]  # fmt: skip


def test_figures_in_short_are_those_in_full():
    short, full = in_short(PAIRS, rubric=RUBRIC), trust(PAIRS, judge="j", rubric=RUBRIC)
    assert short.outcome == proportion(2, 4)
    assert (short.labelled, short.left_open, short.false_pass) == (5, 1, 1)
    assert {name: kappa.value for name, kappa in short.kappas.items()} == {c.name: c.kappa for c in full.criteria}
    assert (short.precision, short.recall) == (full.violations[0].precision, full.violations[0].recall)


def test_figures_that_were_kept_come_back_as_they_were():
    figures = in_short(PAIRS, rubric=RUBRIC)
    assert figures_from_dict(json.loads(json.dumps(figures_to_dict(figures)))) == figures
    without = replace(figures, precision=None, recall=None, false_pass=None, kappas={})
    assert figures_from_dict(figures_to_dict(without)) == without


def test_several_gold_sets_are_told_apart_and_one_is_not():
    both = [replace(each, goldset=name) for name in ("b", "a") for each in PAIRS[: 4 if name == "a" else 2]]
    found = trust(both, judge="j", rubric=RUBRIC).sets
    assert [(each.name, each.figures.labelled) for each in found] == [("b", 2), ("a", 4)]
    assert found[0].figures == in_short(PAIRS[:2], rubric=RUBRIC)
    assert trust(PAIRS, judge="j", rubric=RUBRIC).sets == ()


def test_judges_are_compared_on_what_all_of_them_graded():
    nothing = replace(made(GOOD, (None,) * 4, id="a"), outcome=None)
    found = side_by_side({"one": PAIRS, "two": [nothing, *PAIRS[2:4]]}, labelled=9, rubric=RUBRIC)
    assert (found.labelled, found.common) == (9, 2)
    assert [(row.judge, row.graded, row.figures.outcome) for row in found.rows] == [
        ("one", 5, proportion(2, 2)),
        ("two", 2, proportion(2, 2)),
    ]


def test_a_case_of_another_set_with_the_same_id_is_another_case():
    other = [replace(each, goldset="other") for each in PAIRS]
    assert side_by_side({"one": PAIRS, "two": other}, labelled=5, rubric=RUBRIC).common == 0
