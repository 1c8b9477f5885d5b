"""Which production replies are drawn for review, and at which probability."""

import json
from collections import Counter
from dataclasses import astuple, dataclass, replace
from importlib import resources
from math import sqrt
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.records import RUBRIC, make

import touchstone
from touchstone.core.codec import case_from_dict
from touchstone.goldset.labels import outcome_of
from touchstone.review.queue import choose, risk_of
from touchstone.runs.record import record
from touchstone.stats.corrected import corrected_rate
from touchstone.stats.sampling import unequal_sample


def candidate(place, *, risky=False, category="returns", **values):
    plain = {"decision": "block" if risky else "send", "outcome": "FAIL" if risky else "PASS", "confidence": None}
    return make(place, category=category, **{**plain, **values})


RISKS = [
    (candidate(0, pass_probability=0.99), 0.01),
    (candidate(0, risky=True, pass_probability=0.3), 0.7),
    (candidate(0, decision="review", pass_probability=0.6), 0.4),
    (candidate(0, confidence=0.1, pass_probability=0.9), 0.1),
    (candidate(0, violations=("pii_leakage",), pass_probability=0.9), 1.0),
    (candidate(0), 0.0),
    (candidate(0, risky=True), 1.0),
    (candidate(0, decision="review"), 1.0),
    (candidate(0, decision="review", outcome=None), 1.0),
    (candidate(0, confidence=0.4), 1.0),
    (candidate(0, confidence=0.9), 0.0),
]


@pytest.mark.parametrize(("given_candidate", "risk"), RISKS)
def test_the_risk_is_the_chance_to_fail_and_without_one_what_judge_or_bot_doubt(given_candidate, risk):
    assert risk_of(given_candidate) == pytest.approx(risk)


def test_risky_replies_are_drawn_up_to_three_times_as_often_and_say_so():
    candidates = {at: candidate(at, risky=at % 5 == 0) for at in range(1000)}
    chosen = choose(candidates, 25, seed=1)
    chances = {each.place % 5 == 0: each.inclusion for each in chosen}
    assert chances[True] == pytest.approx(3 * chances[False])
    assert len(chosen) == 25
    drawn = Counter(each.place for seed in range(400) for each in choose(candidates, 25, seed=seed))
    risky = sum(count for place, count in drawn.items() if place % 5 == 0)
    assert risky / (400 * 25) == pytest.approx(600 / 1400, abs=0.02)


def test_where_most_are_risky_the_riskier_are_still_drawn_more_often():
    candidates = {at: candidate(at, decision="review", pass_probability=1 - at / 100) for at in range(100)}
    chosen = choose(candidates, 60, seed=1)
    chances = [chance for _, chance in sorted((each.place, each.inclusion) for each in chosen)]
    assert chances == sorted(chances)
    assert len(set(chances)) > 50


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


@dataclass(frozen=True)
class Drawn:
    """200 draws of 25: how often the interval holds the rate, how wide it is, how many of the 25 people fail."""

    covers: float
    width: float
    failing: float


def draw_often(judged, people, records, risks):
    found = []
    for seed in range(200):
        weights = [1 + 2 * sqrt(risk) for risk in risks]
        sample = unequal_sample(weights, 25, seed=seed, strata=[each.category for each in records])
        inclusion = dict(zip(sample.indices, sample.inclusion, strict=True))
        ends = corrected_rate(judged, {place: people[place] for place in sample.indices}, inclusion).interval
        failing = sum(people[place] < 0.5 for place in sample.indices)
        found.append((ends.low <= fmean(people) <= ends.high, ends.high - ends.low, failing))
    return Drawn(*map(fmean, zip(*found, strict=True)))


# As docs/review.md has them.
DRAWN = {
    "support": (Drawn(1.0, 0.327, 14.6), Drawn(1.0, 0.343, 13.6)),
    "industries": (Drawn(0.975, 0.378, 14.0), Drawn(0.995, 0.409, 12.3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_of_25_labelled_replies_the_interval_covers_and_is_narrower_than_with_two_weights(name):
    """People's labels are the reviews: drawn by the chance to fail, and by what is a risk or none."""
    lines = resources.files("touchstone").joinpath(f"data/goldsets/{name}.jsonl").read_text("utf-8").splitlines()
    cases = [case_from_dict(json.loads(line)) for line in lines]
    records = [record(case, touchstone.score(case)) for case in cases]
    people = [fmean(outcome_of(label, rubric=RUBRIC) == "PASS" for label in case.labels) for case in cases]
    usual = fmean(each.outcome == "PASS" for each in records if each.outcome)
    judged = [usual if each.outcome is None else float(each.outcome == "PASS") for each in records]
    two_weights = [risk_of(replace(each, pass_probability=None)) for each in records]
    risks = [risk_of(each) for each in records]
    now = draw_often(judged, people, records, risks)
    before = draw_often(judged, people, records, two_weights)
    assert len(set(risks)) > len(set(two_weights)) == 2
    assert now.covers >= 0.93
    assert now.width <= before.width
    for found, documented in zip((now, before), DRAWN[name], strict=True):
        assert astuple(found) == pytest.approx(astuple(documented), rel=0.02)
