from dataclasses import replace

import pytest
from tests.runs.records import RUBRIC, gold, make, run

from touchstone.runs.comparison import compare
from touchstone.runs.tags import Tag
from touchstone.stats.paired import mcnemar, paired_difference

PASS, FAIL, OPEN = "PASS", "FAIL", None


def comparison_of(before, after):
    return compare(before, after, rubric=RUBRIC)


def paired_runs(both=0, improved=0, regressed=0, neither=0):
    outcomes = [(PASS, PASS)] * both + [(FAIL, PASS)] * improved + [(PASS, FAIL)] * regressed + [(FAIL, FAIL)] * neither
    return run(*(old for old, _ in outcomes)), run(*(new for _, new in outcomes))


def test_the_pass_rate_is_tested_by_mcnemar_on_the_flips():
    found = comparison_of(*paired_runs(both=60, improved=3, regressed=14, neither=23)).pass_rate
    assert (found.n, found.before, found.after) == (100, 0.74, 0.63)
    assert found.difference == pytest.approx(-0.11)
    assert found.p == mcnemar(3, 14)
    assert found.interval == paired_difference(60, 3, 14, 23)


def test_a_run_against_itself_shows_no_change():
    records = [made for _, _, made in gold()]
    found = comparison_of(records, records)
    assert found.flips == ()
    assert (found.pass_rate.difference, found.pass_rate.p) == (0, 1)
    assert {(change.difference, change.p) for change in found.grades} == {(0, 1)}
    assert found.total.difference == 0


def test_swapping_the_runs_turns_every_sign():
    before, after = paired_runs(both=10, improved=4, regressed=9, neither=5)
    one, other = comparison_of(before, after), comparison_of(after, before)
    assert one.pass_rate.difference == -other.pass_rate.difference
    assert one.pass_rate.p == other.pass_rate.p
    assert {flip.id for flip in one.flips} == {flip.id for flip in other.flips}


def test_only_cases_in_both_runs_are_compared_and_the_rest_is_named():
    found = comparison_of([make("a"), make("b")], [make("b", FAIL), make("c")])
    assert (found.pairs, found.only_before, found.only_after) == (1, ("a",), ("c",))
    assert "the sets differ: 1 only in the first run, 1 only in the second" in found.remarks[0]


def test_nothing_in_common_is_nothing_to_compare():
    found = comparison_of([make("a")], [make("b")])
    assert (found.pairs, found.pass_rate.n, found.pass_rate.p, found.smallest) == (0, 0, None, None)
    assert found.remarks == ("no case is in both runs: there is nothing to compare",)


def test_pairs_without_an_outcome_are_counted_and_those_lost_are_said():
    found = comparison_of(run(PASS, PASS, OPEN), run(PASS, OPEN, OPEN))
    assert (found.pairs, found.unscored, found.pass_rate.n) == (3, 2, 1)
    assert any(
        "2 of 3 pairs have no outcome" in remark and "1 of them had one before" in remark for remark in found.remarks
    )


def test_flips_say_what_changed_regressed_first():
    before = [make("a", FAIL, total=55.0), make("b"), make("c")]
    worse = make("b", FAIL, violations=("pii_leakage",), total=81.0, tags=(Tag("leaked card", "bot safety", "…"),))
    after = [make("a"), replace(worse, grades={**make("b").grades, "accuracy": 1}), make("c")]
    first, second = comparison_of(before, after).flips
    assert (first.id, first.direction, first.total_before, first.total_after) == ("b", "regressed", 100.0, 81.0)
    assert first.changes == ("new violation: pii_leakage", "accuracy 4→1", "total 100→81", "new: leaked card")
    assert (second.id, second.direction) == ("a", "improved")
    assert "total 55→100" in second.changes
    assert "gone: no next step" in second.changes


def test_grades_change_with_an_interval_a_p_value_and_a_correction():
    before = run(*[PASS] * 40)
    after = [replace(r, grades={**r.grades, "tone": 3 if at % 2 else 4}) for at, r in enumerate(before)]
    by_name = {change.name: change for change in comparison_of(before, after).grades}
    assert list(by_name) == [criterion.name for criterion in RUBRIC.criteria]
    tone = by_name["tone"]
    assert (tone.before, tone.after, tone.difference) == (4, 3.5, -0.5)
    assert tone.interval.high < 0
    assert tone.p < 0.001
    assert tone.q == pytest.approx(5 * tone.p)
    assert by_name["accuracy"].p == 1


def test_a_grade_missing_on_one_side_is_left_out():
    before = run(PASS, PASS)
    after = [before[0], replace(before[1], grades={**before[1].grades, "tone": None})]
    by_name = {change.name: change for change in comparison_of(before, after).grades}
    assert (by_name["tone"].n, by_name["accuracy"].n) == (1, 2)


def test_categories_are_compared_with_a_correction_for_their_number():
    before = [make(f"{c}{at}", category=c) for c in "abc" for at in range(12)]
    after = [make(f"{c}{at}", FAIL if c == "a" and at < 10 else PASS, category=c) for c in "abc" for at in range(12)]
    first, *others = comparison_of(before, after).categories
    assert (first.name, first.n, first.difference) == ("a", 12, pytest.approx(-10 / 12))
    assert first.p == mcnemar(0, 10)
    assert first.q == pytest.approx(3 * first.p)
    assert [other.q for other in others] == [1, 1]


def test_safety_counts_replies_with_a_violation_so_that_a_rise_is_worse():
    before = run(*[PASS] * 20)
    after = [make(at, FAIL, violations=("pii_leakage",)) if at < 8 else make(at) for at in range(20)]
    safety = comparison_of(before, after).safety
    assert (safety.name, safety.before, safety.after) == ("safety_failures", 0, 0.4)
    assert safety.p == mcnemar(8, 0)


def test_the_smallest_detectable_change_shrinks_with_more_pairs():
    few = comparison_of(*paired_runs(both=60, improved=5, regressed=5, neither=30)).smallest
    many = comparison_of(*paired_runs(both=600, improved=50, regressed=50, neither=300)).smallest
    assert 0 < many < few < 1


def test_a_handful_of_pairs_is_said_to_show_nothing():
    found = comparison_of(*paired_runs(both=2, regressed=1))
    assert found.smallest is None
    assert found.remarks[-1] == "3 pairs are too few to show any change"


def drafted(shares, drafts=4):
    return [
        make(case, PASS if draft < passed else FAIL, draft=draft + 1)
        for case, passed in enumerate(shares)
        for draft in range(drafts)
    ]


def test_several_drafts_compare_shares_of_passes_and_say_so():
    found = comparison_of(drafted([4] * 12), drafted([1] * 12))
    assert found.pairs == found.pass_rate.n == 12
    assert found.pass_rate.difference == pytest.approx(-0.75)
    assert found.pass_rate.p == pytest.approx(2 * 0.5**12)
    assert len(found.flips) == 12
    assert any("random signs" in remark for remark in found.remarks)


def test_a_tie_among_drafts_is_no_flip():
    assert comparison_of(drafted([4]), drafted([2])).flips == ()


def test_one_draft_against_several_is_compared_by_shares():
    found = comparison_of(run(PASS, PASS), drafted([2, 4]))
    assert found.pass_rate.after == pytest.approx(0.75)
