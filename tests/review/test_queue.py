"""Which production replies are drawn for review, and at which probability."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.records import make

from touchstone.review.queue import choose, risks


def candidate(place, *, risky=False, category="returns", **values):
    plain = {"decision": "block" if risky else "send", "outcome": "FAIL" if risky else "PASS", "confidence": None}
    return make(place, category=category, **{**plain, **values})


RISKS = [
    (candidate(0), ()),
    (candidate(0, risky=True), ("judged bad",)),
    (candidate(0, decision="review"), ("judge unsure",)),
    (candidate(0, decision="review", outcome=None), ("judge unsure",)),
    (candidate(0, confidence=0.4), ("bot unsure",)),
    (candidate(0, confidence=0.9), ()),
    (candidate(0, risky=True, violations=("pii_leakage",)), ("violation", "judged bad")),
]


@pytest.mark.parametrize(("given_candidate", "found"), RISKS)
def test_a_reply_is_risky_when_judge_or_bot_say_so(given_candidate, found):
    assert risks(given_candidate) == found


def test_risky_replies_are_drawn_three_times_as_often_and_say_so():
    candidates = {at: candidate(at, risky=at % 5 == 0) for at in range(1000)}
    chosen = choose(candidates, 25, seed=1)
    chances = {each.place % 5 == 0: each.inclusion for each in chosen}
    assert chances[True] == pytest.approx(3 * chances[False])
    assert len(chosen) == 25
    drawn = Counter(each.place for seed in range(400) for each in choose(candidates, 25, seed=seed))
    risky = sum(count for place, count in drawn.items() if place % 5 == 0)
    assert risky / (400 * 25) == pytest.approx(600 / 1400, abs=0.02)


def test_every_category_gets_its_share():
    candidates = {at: candidate(at, category="abc"[at % 3]) for at in range(300)}
    counted = Counter("abc"[each.place % 3] for each in choose(candidates, 30, seed=3))
    assert set(counted.values()) <= {9, 10, 11}


def test_the_draw_is_the_same_every_time_and_its_order_says_nothing_of_the_place():
    candidates = {at: candidate(at, risky=at < 50) for at in range(100)}
    chosen = choose(candidates, 40, seed=5)
    assert chosen == choose(candidates, 40, seed=5) != choose(candidates, 40, seed=6)
    places = [each.place for each in chosen]
    assert places != sorted(places)


@given(size=st.integers(0, 60), n=st.integers(0, 80), seed=st.integers(0, 99), oversampling=st.floats(1, 10))
def test_a_draw_has_as_many_replies_as_asked_for_each_once_at_a_probability(size, n, seed, oversampling):
    candidates = {at * 7: candidate(at * 7, risky=at % 3 == 0) for at in range(size)}
    chosen = choose(candidates, n, seed=seed, oversampling=oversampling)
    assert len({each.place for each in chosen}) == len(chosen) == min(n, size)
    assert all(0 < each.inclusion <= 1 for each in chosen)


def test_no_reply_is_made_rarer():
    with pytest.raises(ValueError, match="allowed is 1"):
        choose({0: candidate(0)}, 1, seed=1, oversampling=0.5)
