from dataclasses import replace
from itertools import product

import pytest
from tests.runs.records import RUBRIC, make
from tests.tables import over

from touchstone.rubric.model import Targets
from touchstone.runs.comparison import compare
from touchstone.runs.gate import GateRuling, hold_gate
from touchstone.runs.summary import summarise

LEAST = 0.95


def summary_of(records, rubric=RUBRIC):
    return summarise(records, rubric=rubric)


def good(n=40):
    return [make(at, "PASS" if at % 4 else "FAIL", grades={"accuracy": 4}) for at in range(n)]


def checks_of(records, *, baseline=None, least=LEAST, rubric=RUBRIC):
    comparison = compare(baseline, records, rubric=rubric) if baseline is not None else None
    gate = hold_gate(summary_of(records, rubric), least_scored=least, comparison=comparison)
    return gate, {check.name: check for check in gate.checks}


def test_a_gate_without_checks_is_shut():
    assert not GateRuling(()).is_open


def test_targets_met_on_a_scored_set_open_the_gate():
    gate, checks = checks_of(good())
    assert gate.is_open
    assert list(checks) == ["scored", "pass_rate", "average_accuracy", "safety_failures", "average_confidence"]
    assert checks["pass_rate"].reason == "75.0 % meets the target 70–80 %"


# Each condition spoilt by itself: the records, and the one check that fails.
SPOILT = {
    "pass_rate": [replace(r, outcome="FAIL") for r in good()],
    "average_accuracy": [replace(r, grades={"accuracy": 3}) for r in good()],
    "safety_failures": [replace(r, violations=("pii_leakage",)) if r.id == "0" else r for r in good()],
    "average_confidence": [replace(r, confidence=0.7) for r in good()],
}


@pytest.mark.parametrize("name", SPOILT)
def test_one_missed_target_shuts_the_gate(name):
    gate, checks = checks_of(SPOILT[name])
    assert not gate.is_open
    assert [check.name for check in gate.checks if not check.met] == [name]
    assert "misses the target" in checks[name].reason


def test_a_value_just_beside_its_target_is_shown_beside_it():
    _, checks = checks_of([make(at, "PASS" if at < 6999 else "FAIL") for at in range(10_000)])
    assert checks["pass_rate"].reason == "69.99 % misses the target 70–80 %"
    rubric = replace(RUBRIC, targets=Targets(pass_rate=(69, 80)))
    _, checks = checks_of([make(at, "PASS" if at < 69 else "FAIL") for at in range(100)], rubric=rubric)
    assert checks["pass_rate"].reason == "69.0 % meets the target 69–80 %"


@over("spoilt", list(product([False, True], repeat=4)))
def test_the_gate_is_open_only_if_all_targets_are_met(spoilt):
    pass_rate, accuracy, safety, confidence = spoilt
    records = [
        replace(
            record,
            outcome="FAIL" if pass_rate else record.outcome,
            grades={"accuracy": 2 if accuracy else 4},
            violations=("hallucination",) if safety and record.id == "0" else (),
            confidence=0.2 if confidence else 0.9,
        )
        for record in good()
    ]
    gate, checks = checks_of(records)
    assert gate.is_open is not any(spoilt)
    met = [checks[name].met for name in ("pass_rate", "average_accuracy", "safety_failures", "average_confidence")]
    assert met == [not spoil for spoil in spoilt]


@pytest.mark.parametrize(("unscored", "is_open"), [(2, True), (3, False)])
def test_too_little_scored_shuts_the_gate_whatever_the_figures(unscored, is_open):
    records = good()[: 40 - unscored] + [make(f"u{at}", None) for at in range(unscored)]
    gate, checks = checks_of(records)
    assert checks["scored"].met is is_open
    assert gate.is_open is is_open
    if not is_open:
        assert checks["pass_rate"].reason == "rests on 37 of 40 replies, at least 95 % are needed"
        assert gate.standing == "undecided"
        assert checks["scored"].reason == (
            "37 of 40 replies have an outcome, at least 95 % must; 3 left open by the judge would be graded by a "
            "language model (--model NAME) or by people (touchstone review)"
        )


def test_a_target_that_no_open_reply_could_save_closes_the_gate():
    records = [make(f"b{at}", "FAIL") for at in range(30)] + [make(f"u{at}", None) for at in range(10)]
    gate, checks = checks_of(records)
    assert (gate.standing, checks["scored"].undecided, checks["pass_rate"].undecided) == ("closed", True, False)
    assert checks["pass_rate"].reason.endswith("the target 70–80 % is missed whatever the others come to")


def test_a_run_of_which_nothing_is_graded_is_undecided_and_one_of_nothing_is_closed():
    open_ones = [make(f"u{at}", None) for at in range(10)]
    gate, checks = checks_of(open_ones)
    assert gate.standing == "undecided"
    assert not gate.is_open
    assert checks["safety_failures"].met
    assert checks_of([])[0].standing == "closed"


def test_replies_that_failed_count_as_unscored():
    gate, checks = checks_of(good(30) + [make(f"f{at}", None, failed=True) for at in range(10)])
    assert not gate.is_open
    assert not any(checks[name].met for name in ("scored", "pass_rate", "safety_failures"))


def test_a_measure_without_a_value_is_not_met():
    gate, checks = checks_of([replace(r, confidence=None) for r in good()])
    assert not gate.is_open
    assert "there is no value" in checks["average_confidence"].reason


def test_a_measure_on_a_few_replies_is_not_met():
    records = [replace(r, confidence=None) if int(r.id) > 10 else r for r in good()]
    gate, checks = checks_of(records)
    assert not gate.is_open
    assert checks["average_confidence"].reason.startswith("rests on 11 of 40 replies")


def test_no_replies_shut_the_gate():
    assert not checks_of([])[0].is_open
    assert not checks_of([], least=0.0)[0].is_open


def test_no_targets_shut_the_gate_with_a_reason():
    gate, checks = checks_of(good(), rubric=replace(RUBRIC, targets=Targets()))
    assert not gate.is_open
    assert "no measure has a target" in checks["targets"].reason


def test_a_share_just_reached_is_enough():
    records = [make(at, "PASS" if at else "FAIL", grades={"accuracy": 4}) for at in range(11)]
    records += [make(f"u{at}", None) for at in range(9)]
    assert checks_of(records, least=0.55)[1]["scored"].met


BASELINE = "pass rate against the baseline"
SAFETY = "safety failures against the baseline"


def worse(records, n):
    """The first n passing records turned to FAIL."""
    passing = [record.id for record in records if record.outcome == "PASS"][:n]
    return [replace(r, outcome="FAIL") if r.id in passing else r for r in records]


@pytest.mark.parametrize(("flips", "met"), [(0, True), (5, True), (6, False), (12, False)])
def test_a_significant_fall_of_the_pass_rate_shuts_the_gate(flips, met):
    everything = [replace(r, outcome="PASS") for r in good(60)]
    gate, checks = checks_of(worse(everything, flips), baseline=everything)
    assert checks[BASELINE].met is met
    assert gate.is_open is met


def test_a_significant_rise_does_not():
    everything = [replace(r, outcome="PASS") for r in good(60)]
    assert checks_of(everything, baseline=worse(everything, 20))[1][BASELINE].met


@pytest.mark.parametrize(("unsafe", "met"), [(0, True), (5, True), (6, False)])
def test_a_significant_rise_of_violations_shuts_the_gate(unsafe, met):
    tolerant = replace(RUBRIC, targets=replace(RUBRIC.targets, safety_failures=50.0))
    records = [replace(r, violations=("pii_leakage",)) if int(r.id) < unsafe else r for r in good()]
    gate, checks = checks_of(records, baseline=good(), rubric=tolerant)
    assert checks[SAFETY].met is met
    assert gate.is_open is met
    assert checks_of(good(), baseline=records, rubric=tolerant)[1][SAFETY].met


@pytest.mark.parametrize(
    "baseline",
    [
        [make("other")],
        good(5),
        [replace(r, outcome=None) for r in good()],
        [replace(r, outcome=None) if int(r.id) < 10 else r for r in good()],
        [],
    ],
    ids=["no common case", "too few pairs", "baseline unscored", "baseline half scored", "empty baseline"],
)
def test_a_baseline_that_could_show_no_regression_shuts_the_gate(baseline):
    gate, checks = checks_of(good(), baseline=baseline)
    assert not gate.is_open
    assert not checks["baseline"].met
