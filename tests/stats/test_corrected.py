"""The corrected rate is right on average, its interval holds its level with few reviews, and it never pretends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.stats.corrected import corrected_rate
from touchstone.stats.interval import wilson
from touchstone.stats.sampling import unequal_sample

CASES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40)


@given(CASES, st.data())
def test_rate_and_interval_stay_within_range_and_the_interval_has_width(cases, data):
    judged, people = zip(*cases, strict=True)
    places = data.draw(st.sets(st.integers(0, len(cases) - 1), min_size=1))
    chances = {place: data.draw(st.floats(0.01, 1)) for place in places}
    corrected = corrected_rate(judged, {place: people[place] for place in places}, chances)
    assert 0 <= corrected.interval.low <= corrected.rate <= corrected.interval.high <= 1
    assert corrected.interval.high - corrected.interval.low > 0.01
    assert (corrected.n_all, corrected.n_reviewed) == (len(cases), len(places))


def test_the_estimator_by_hand():
    # Judge: 3 of 4. Reviewed at 1/2 and 1/4: the errors -1 and 0 weigh 2 and 4.
    corrected = corrected_rate([True, True, True, False], {0: False, 3: False}, {0: 0.5, 3: 0.25})
    assert corrected.rate == pytest.approx(3 / 4 - 2 / 6)
    assert corrected.estimator.startswith("difference estimator")


def test_nothing_reviewed_corrects_nothing():
    corrected = corrected_rate([True, False], {}, {})
    assert (corrected.rate, corrected.interval, corrected.n_reviewed) == (None, None, 0)
    assert corrected_rate([], {}, {}).rate is None


def test_one_review_leaves_everything_open():
    corrected = corrected_rate([True] * 10, {3: True}, {3: 0.1})
    assert (corrected.rate, corrected.interval.low, corrected.interval.high) == (1.0, 0.0, 1.0)


def test_when_all_are_reviewed_the_judge_does_not_matter():
    people = {place: place % 4 > 0 for place in range(40)}
    for judged in ([True] * 40, [False] * 40):
        corrected = corrected_rate(judged, people, dict.fromkeys(range(40), 1.0))
        assert corrected.rate == 0.75
        assert corrected.interval == wilson(30, 40)


@pytest.mark.parametrize("n", [24, 100])
def test_full_agreement_leaves_about_the_rule_of_three_open_on_either_side(n):
    judged = [place % 4 > 0 for place in range(1000)]
    corrected = corrected_rate(judged, {place: judged[place] for place in range(n)}, dict.fromkeys(range(n), n / 1000))
    assert corrected.rate == 0.75
    assert corrected.interval.high - 0.75 == pytest.approx(3 / n, abs=0.012)
    assert 0.75 - corrected.interval.low == pytest.approx(3 / n, abs=0.012)


def test_shares_are_allowed_for_judge_and_people():
    corrected = corrected_rate([0.5, 0.25, 1.0, 0.0], {1: 0.5, 2: 1.0}, {1: 0.5, 2: 0.5})
    assert corrected.rate == pytest.approx(0.4375 + 0.125)


BAD = [
    ([True, 2.0], {}, {}, "outside"),
    ([True], {0: 1.5}, {0: 1.0}, "outside"),
    ([True], {1: True}, {1: 1.0}, "not among"),
    ([True], {0: True}, {}, "probability"),
    ([True], {0: True}, {0: 0.0}, "probability"),
    ([True], {0: True}, {0: 1.1}, "probability"),
]


@pytest.mark.parametrize(("judged", "reviewed", "inclusion", "message"), BAD)
def test_what_cannot_be_corrected_is_refused(judged, reviewed, inclusion, message):
    with pytest.raises(ValueError, match=message):
        corrected_rate(judged, reviewed, inclusion)


def simulate(n, *, too_kind, too_strict, oversampled, runs, seed=1):
    """1,000 replies, each with its chance to pass: how often the interval holds their rate and the bot's; mean error.

    Drawn as `review.queue` draws; the judge errs more often on the fifth that is most at risk.
    """
    generator = np.random.default_rng(seed)
    held = held_bot = 0
    errors = []
    for run in range(runs):
        chance = generator.beta(3, 1, 1000)
        risky = chance < 0.585
        people = generator.random(1000) < chance
        wrong = generator.random(1000) < np.where(people, too_strict, too_kind) * np.where(risky, 2.0, 0.75)
        judged = np.where(wrong, ~people, people)
        sample = unequal_sample((1 + (oversampled - 1) * np.sqrt(1 - chance)).tolist(), n, seed=run)
        corrected = corrected_rate(
            judged.tolist(),
            {place: bool(people[place]) for place in sample.indices},
            dict(zip(sample.indices, sample.inclusion, strict=True)),
        )
        held += corrected.interval.low <= people.mean() <= corrected.interval.high
        held_bot += corrected.interval.low <= 0.75 <= corrected.interval.high
        errors.append(corrected.rate - people.mean())
    return held / runs, held_bot / runs, float(np.mean(errors))


def test_the_interval_covers_with_twenty_four_reviewed():
    held, held_bot, error = simulate(24, too_kind=0.2, too_strict=0.1, oversampled=3.0, runs=150)
    assert min(held, held_bot) >= 0.93
    assert abs(error) < 0.02


JUDGES = [(0.02, 0.02), (0.02, 0.10), (0.20, 0.20), (0.05, 0.30)]


@pytest.mark.slow
@pytest.mark.parametrize("oversampled", [1.0, 3.0, 10.0])
@pytest.mark.parametrize(("too_kind", "too_strict"), JUDGES)
@pytest.mark.parametrize("n", [24, 30, 100])
def test_the_interval_covers_for_every_judge_design_and_size(n, too_kind, too_strict, oversampled):
    held, held_bot, error = simulate(n, too_kind=too_kind, too_strict=too_strict, oversampled=oversampled, runs=400)
    assert min(held, held_bot) >= 0.93
    assert abs(error) < 0.02
