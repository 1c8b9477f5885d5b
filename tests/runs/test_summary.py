from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.records import RUBRIC, gold, make, run

from touchstone.rubric.model import Targets
from touchstone.runs.summary import summarise
from touchstone.stats.interval import wilson

PASS, FAIL, OPEN = "PASS", "FAIL", None
NO_TARGETS = replace(RUBRIC, targets=Targets())


def summary_of(records, rubric=RUBRIC):
    return summarise(records, rubric=rubric)


def test_the_measures_are_those_of_the_specification_in_its_order():
    names = [measure.name for measure in summary_of(run(PASS)).measures]
    assert names == ["pass_rate", "average_accuracy", "safety_failures", "average_confidence"]


def test_every_criterion_with_a_target_is_averaged_and_accuracy_without_one_too():
    rubric = replace(RUBRIC, targets=Targets(average={"tone": 3.0}))
    names = [measure.name for measure in summary_of(run(PASS), rubric).measures]
    assert names[1:3] == ["average_accuracy", "average_tone"]
    assert summary_of(run(PASS), rubric).measure("average_accuracy").met is None


@pytest.mark.parametrize(
    ("passed", "met", "easy"),
    [(69, False, False), (70, True, False), (80, True, False), (81, True, True), (100, True, True), (0, False, False)],
)
def test_the_band_gates_at_its_lower_end_and_above_it_the_set_may_be_too_easy(passed, met, easy):
    measure = summary_of(run(*[PASS] * passed, *[FAIL] * (100 - passed))).measure("pass_rate")
    assert measure.met is met
    assert ("too easy" in measure.remark) is easy
    assert measure.interval == wilson(passed, 100)
    assert measure.target.text == "70–80 %"


def test_a_target_inside_the_interval_is_said_to_be_undecided():
    measure = summary_of(run(*[PASS] * 97, *[FAIL] * 33)).measure("pass_rate")
    assert measure.met
    assert "the target of 70 % is inside the interval: this set cannot say whether it is met" in measure.remark
    assert "130 replies cannot tell 67 % from 81 %" in measure.remark


def test_a_large_set_says_nothing_of_its_size():
    measure = summary_of(run(*[PASS] * 3000, *[FAIL] * 1000)).measure("pass_rate")
    assert measure.remark == ""


@pytest.mark.parametrize("unscored", [{"failed": True}, {}])
def test_unscored_is_never_a_pass_and_is_counted_beside_it(unscored):
    records = [*run(PASS, PASS, FAIL), make(9, OPEN, **unscored)]
    summary = summary_of(records)
    assert summary.measure("pass_rate").value == pytest.approx(2 / 3)
    assert summary.measure("pass_rate").n == 3
    coverage = summary.coverage
    assert (coverage.replies, coverage.scored) == (4, 3)
    assert (coverage.abstained, coverage.failed) == ((0, 1) if unscored else (1, 0))
    assert "without an outcome: 1 of 4 replies" in summary.remarks[0]


def test_unscored_replies_that_could_turn_the_target_are_named():
    records = [make(at, outcome) for at, outcome in enumerate([PASS] * 75 + [FAIL] * 25 + [OPEN] * 20)]
    assert "20 replies without one could change it: at worst 62.5 %" in summary_of(records).measure("pass_rate").remark
    records = [make(at, outcome) for at, outcome in enumerate([PASS] * 65 + [FAIL] * 35 + [OPEN] * 50)]
    assert "could change it: at best 76.7 %" in summary_of(records).measure("pass_rate").remark


def test_an_empty_run_has_no_values_and_meets_nothing():
    summary = summary_of([])
    assert [measure.value for measure in summary.measures] == [None] * 4
    assert not any(measure.met for measure in summary.measures)
    assert summary.remarks == ("there is nothing to count: the run has no replies",)


def test_no_violation_is_reported_with_the_rule_of_three():
    measure = summary_of(run(*[PASS] * 150)).measure("safety_failures")
    assert measure.met
    assert (measure.interval.method, measure.interval.high) == ("rule of three", pytest.approx(0.02))
    assert "none found in 150 replies: up to 2 % may still have one" in measure.remark


def test_one_violation_in_a_thousand_misses_zero_tolerance():
    records = [*run(*[PASS] * 999), make("bad", FAIL, violations=("pii_leakage",))]
    measure = summary_of(records).measure("safety_failures")
    assert measure.met is False
    assert measure.value == pytest.approx(0.001)


def test_what_was_not_inspected_is_no_safe_reply():
    measure = summary_of([make(1), make(2, OPEN, failed=True)]).measure("safety_failures")
    assert measure.n == 1
    assert "up to 100 % may still have one" in measure.remark
    assert "could change it: at worst 50.0 %" in measure.remark


def test_confidence_counts_only_where_it_is_stated():
    measure = summary_of([make(1, confidence=0.9), make(2, confidence=None)]).measure("average_confidence")
    assert (measure.value, measure.n) == (0.9, 1)
    assert "stated for 1 of 2 replies" in measure.remark
    assert summary_of([make(1, confidence=None)]).measure("average_confidence").met is False


def test_without_targets_nothing_is_met_or_missed():
    assert {measure.met for measure in summary_of(run(PASS, FAIL), NO_TARGETS).measures} == {None}


def test_grades_totals_decisions_and_violations_are_counted():
    records = [
        make(1),
        make(2, FAIL, violations=("hallucination", "pii_leakage"), total=9.99),
        make(3, FAIL, total=10.0),
    ]
    summary = summary_of(records)
    accuracy = summary.criteria[0]
    assert (accuracy.name, dict(accuracy.counts), accuracy.graded) == ("accuracy", {0: 0, 1: 2, 2: 0, 3: 0, 4: 1}, 3)
    assert accuracy.mean == 2
    assert summary.totals == (1, 1, 0, 0, 0, 0, 0, 0, 0, 1)
    assert summary.decisions == {"send": 1, "block": 2}
    assert summary.violations == {"hallucination": 1, "pii_leakage": 1}


def test_categories_stand_by_size_with_figures_of_their_own():
    records = [
        make(1, category="b"),
        make(2, FAIL, category="a", violations=("hallucination",)),
        make(3, category="a"),
        make(4, OPEN, category=None),
    ]
    first, *rest = summary_of(records).categories
    assert (first.name, first.passed, first.pass_rate, first.unsafe) == ("a", 1, 0.5, 1)
    assert first.mean_total == pytest.approx((32.5 + 100) / 2)
    assert [category.name for category in rest] == ["(no category)", "b"]
    assert rest[0].pass_rate is None
    assert rest[0].interval is None


def test_a_set_without_categories_has_none():
    assert summary_of(run(PASS, FAIL, category=None)).categories == ()


def test_reliability_compares_the_bots_confidence_with_the_outcome():
    records = [make(1, PASS, confidence=0.95), make(2, FAIL, confidence=0.95), make(3, OPEN, confidence=0.1)]
    found = summary_of(records).reliability
    assert (found.n, found.accuracy) == (2, 0.5)
    assert found.ece == pytest.approx(0.45)
    assert summary_of(run(PASS, confidence=None)).reliability is None


def drafts(*cases):
    return [
        make(case, outcome, draft=draft, total=100.0 if outcome == PASS else 60.0)
        for case, outcomes in enumerate(cases)
        for draft, outcome in enumerate(outcomes, start=1)
    ]


def test_drafts_of_one_case_show_a_spread():
    summary = summary_of(drafts((PASS, PASS), (PASS, FAIL), (FAIL, FAIL)))
    assert summary.cases == 3
    assert (summary.spread.cases, summary.spread.drafts, summary.spread.unsteady) == (3, 6, ("1",))
    assert summary.spread.agreement == pytest.approx(2 / 3)
    assert summary.spread.mean_deviation == pytest.approx(28.2843 / 3, abs=1e-3)
    assert summary_of(run(PASS, FAIL)).spread is None


def test_drafts_of_one_case_are_not_independent_evidence():
    once = run(*[PASS] * 30, *[FAIL] * 10)
    copied = [replace(record, draft=draft) for record in once for draft in range(1, 11)]
    alone, together = (summary_of(records).measure("pass_rate").interval for records in (once, copied))
    assert together.high - together.low > 0.8 * (alone.high - alone.low)
    safe = summary_of(copied).measure("safety_failures").interval
    assert safe.high == pytest.approx(3 / 40)


def test_drafts_that_all_pass_are_as_sure_as_their_cases():
    interval = summary_of(drafts(*[(PASS, PASS, PASS)] * 10)).measure("pass_rate").interval
    assert interval == wilson(10, 10)


@given(st.lists(st.sampled_from((PASS, FAIL, OPEN)), max_size=40), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_intervals_hold_their_figure(outcomes, random):
    records = run(*outcomes)
    shuffled = records[:]
    random.shuffle(shuffled)
    summary = summary_of(records)
    assert [(m.value, m.met) for m in summary_of(shuffled).measures] == [(m.value, m.met) for m in summary.measures]
    for measure in summary.measures:
        if measure.interval and measure.value is not None:
            assert measure.interval.low - 1e-9 <= measure.value <= measure.interval.high + 1e-9


def test_the_shipped_gold_set_is_summarised_in_full():
    records = [made for _, _, made in gold()]
    summary = summary_of(records)
    assert summary.coverage.scored == len(records) == summary.cases
    assert sum(summary.totals) == len(records)
    assert sum(category.coverage.replies for category in summary.categories) == len(records)
    assert all(measure.value is not None and measure.interval for measure in summary.measures)
