"""The weekly report: corrected rates, agreement, patterns with actions, reminders."""

import random
from dataclasses import replace
from datetime import date

import pytest
from tests.runs.records import make
from tests.store.review_samples import BAD, GOOD, NOW, PROMISE, UNSAFE, item_at, queue_named, review_of, ruling_on
from tests.store.review_samples import RUBRIC as rubric

from touchstone.review.agreement import Graded, between_people, with_judge
from touchstone.review.found import ReviewedItem
from touchstone.review.queue import choose
from touchstone.review.weekly import (
    Action,
    ActionLine,
    Share,
    effect_of,
    pattern_lines,
    remind,
    weekly_report,
)
from touchstone.runs.patterns import find_patterns
from touchstone.runs.tags import Tag


def judged(place, *, passes=True, unsafe=False):
    outcome = None if passes is None else "PASS" if passes else "FAIL"
    violations = ("pii_leakage",) if unsafe else ()
    return make(place, outcome, grades=GOOD if passes else BAD, violations=violations)


def reviewed(position, *reviews, ruling=None, inclusion=0.5):
    return ReviewedItem(item_at(position, inclusion=inclusion), reviews, ruling)


def report(items, judged_replies, **values):
    return weekly_report(queue_named(), items, dict(enumerate(judged_replies)), rubric=rubric, made=NOW, **values)


def test_people_who_agree_with_the_judge_leave_its_rate_as_it_is():
    replies = [judged(at, passes=at < 7) for at in range(10)]
    items = [reviewed(at, review_of(at, grades=GOOD if at < 7 else BAD)) for at in range(1, 9)]
    found = report(items, replies)
    assert found.judged_rate == found.corrected.rate == pytest.approx(0.7)
    assert found.corrected.interval.low < 0.7 < found.corrected.interval.high
    assert found.corrected.estimator.startswith("difference estimator")
    assert (found.corrected.n_all, found.corrected.n_reviewed) == (10, 8)


def test_the_rate_moves_by_the_weighted_errors_of_the_judge():
    replies = [judged(at) for at in range(100)]
    items = [
        reviewed(0, review_of(0, grades=BAD), inclusion=0.5),
        reviewed(1, review_of(1), inclusion=0.25),
        reviewed(2, review_of(2), inclusion=0.25),
    ]
    assert report(items, replies).corrected.rate == pytest.approx(1 - 2 / (2 + 4 + 4))


def test_violations_are_counted_in_the_same_way():
    replies = [judged(at, unsafe=at < 2) for at in range(10)]
    items = [reviewed(0, review_of(0)), reviewed(5, review_of(5, grades=UNSAFE, violations=(PROMISE,)))]
    found = report(items, replies)
    assert (found.judged_unsafe, found.unsafe.rate) == (0.2, pytest.approx(0.2))


def test_a_divided_item_counts_half_until_a_ruling_settles_it():
    replies = [judged(at) for at in range(4)]
    two = (review_of(0), review_of(0, by="ben", grades=BAD))
    divided = report([reviewed(0, *two)], replies)
    assert (divided.corrected.rate, divided.unadjudicated) == (0.5, 1)
    ruled = report([reviewed(0, *two, ruling=ruling_on(0, grades=BAD))], replies)
    assert (ruled.corrected.rate, ruled.unadjudicated) == (0.0, 0)


def test_what_was_superseded_or_left_open_does_not_count():
    replies = [judged(at) for at in range(4)]
    edit = review_of(0, id="b", supersedes="q1-0-ann")
    found = report(
        [reviewed(0, review_of(0, grades=BAD), edit), reviewed(1, review_of(1, grades={**GOOD, "tone": None}))], replies
    )
    assert (found.corrected.rate, found.corrected.n_reviewed, found.left_open) == (1.0, 1, 1)


def test_replies_the_judge_left_open_are_taken_for_average():
    replies = [judged(0), judged(1, passes=False), judged(2, passes=None), judged(3, passes=None)]
    found = report([reviewed(2, review_of(2))], replies)
    assert (found.judged_rate, found.judged_open, found.corrected.rate) == (0.5, 2, 1.0)


def test_nothing_reviewed_says_nothing():
    found = report([reviewed(0)], [judged(0)])
    assert (found.corrected.rate, found.people.outcome.n, found.judge.outcome.n) == (None, 0, 0)


def grades(rater, tone, outcome="PASS"):
    return Graded(rater, {"tone": tone}, outcome)


def test_people_are_compared_on_replies_that_two_of_them_graded():
    replies = [[grades("b", 4), grades("a", 3)], [grades("a", 1), grades("b", 1)], [grades("a", 2)]]
    tone = next(each for each in between_people(replies, rubric=rubric).criteria if each.name == "tone")
    assert (tone.n, tone.exact, tone.within_one) == (2, 0.5, 1.0)
    # Pairs (3, 4) and (1, 1): squared distances come to 1, by chance to (1 + 4 + 9 + 0) / 2.
    assert tone.kappa == pytest.approx(1 - 1 / 7)
    assert tone.alpha is not None


def test_everybody_giving_one_grade_throughout_leaves_nothing_to_agree_on():
    found = with_judge([(grades("people", 3), grades("judge", 3))] * 5, rubric=rubric)
    tone = next(each for each in found.criteria if each.name == "tone")
    assert (tone.n, tone.exact, tone.kappa, tone.alpha) == (5, 1.0, None, None)


def test_an_open_grade_or_outcome_is_left_out():
    found = with_judge([(grades("people", None, None), grades("judge", 3))], rubric=rubric)
    assert found.outcome.n == sum(each.n for each in found.criteria) == 0


def action(pattern="off topic", state="open"):
    return Action(
        id="a", revision=1, pattern=pattern, owner="prompt", text="x", state=state, by="lea", made=NOW, run="r0"
    )


def test_a_pattern_is_new_when_no_earlier_run_had_it_and_carries_its_actions():
    known, new = Tag("off topic", "prompt", "…"), Tag("rude", "tone guide", "…")
    seen = find_patterns([make(at, "FAIL", tags=(known, new) if at == 0 else (known,)) for at in range(5)])
    lines = pattern_lines(seen, known_before={"off topic"}, actions=[ActionLine(action(), None)])
    assert [(line.name, line.is_new, len(line.actions)) for line in lines] == [
        ("off topic", False, 1),
        ("rude", True, 0),
    ]
    assert not any(line.is_new for line in pattern_lines(seen, known_before=None, actions=[]))


def test_a_pattern_that_is_gone_is_shown_while_an_action_on_it_is_open():
    lines = pattern_lines([], known_before=set(), actions=[ActionLine(action(), None)])
    assert [(line.name, line.count, line.is_new) for line in lines] == [("off topic", 0, False)]
    assert pattern_lines([], known_before=set(), actions=[ActionLine(action(state="done"), None)]) == ()


def test_the_effect_of_an_action_is_the_change_of_the_pattern_s_share():
    effect = effect_of(Share("r0", 30, 100), Share("r1", 10, 100))
    assert effect.change == pytest.approx(-0.2)
    # Newcombe's example by hand: Wilson 0.2189..0.3958 and 0.0552..0.1744.
    assert (effect.interval.low, effect.interval.high) == (
        pytest.approx(-0.3057, abs=1e-3),
        pytest.approx(-0.0898, abs=1e-3),
    )
    assert effect_of(Share("r0", 0, 0), Share("r1", 1, 9)) is None


DUE = rubric.reviewed
REMINDERS = [
    ({"today": DUE}, []),
    ({"today": date.fromordinal(DUE.toordinal() + 90)}, []),
    ({"today": date.fromordinal(DUE.toordinal() + 91)}, ["age"]),
    ({"today": DUE, "versions": ["version=8"], "versions_before": ["version=7"]}, ["version"]),
    ({"today": DUE, "versions": ["version=7"], "versions_before": ["version=7"]}, []),
    ({"today": DUE, "versions": ["version=7"], "versions_before": None}, []),
    ({"today": DUE, "new_patterns": ["rude"]}, ["pattern"]),
]


@pytest.mark.parametrize(("given_values", "kinds"), REMINDERS)
def test_the_rubric_is_due_by_age_by_a_new_version_and_by_a_new_pattern(given_values, kinds):
    assert [each.kind for each in remind(rubric, **given_values)] == kinds


@pytest.mark.slow
@pytest.mark.parametrize(("false_pass", "false_fail"), [(0.05, 0.05), (0.3, 0.1), (0.1, 0.3)])
def test_the_corrected_rate_covers_the_true_one_in_simulation(false_pass, false_fail):
    """From the draw to the report, with a judge that errs: the 95 % interval holds the truth at least 93 % of times."""
    chance = random.Random(7)
    covered, trials = 0, 400
    for seed in range(trials):
        truth = [chance.random() < 0.75 for _ in range(600)]
        wrong = [chance.random() < (false_fail if good else false_pass) for good in truth]
        said = [judged(at, passes=good != bad) for at, (good, bad) in enumerate(zip(truth, wrong, strict=True))]
        plain = {"category": None, "decision": "send", "confidence": None, "violations": ()}
        candidates = {at: replace(each, **plain) for at, each in enumerate(said)}
        items = [
            ReviewedItem(
                item_at(at, result=each.place, inclusion=each.inclusion),
                (review_of(at, grades=GOOD if truth[each.place] else BAD),),
                None,
            )
            for at, each in enumerate(choose(candidates, 25, seed=seed))
        ]
        found = report(items, said).corrected.interval
        covered += found.low <= sum(truth) / len(truth) <= found.high
    assert covered / trials >= 0.93
