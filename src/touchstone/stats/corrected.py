"""The judge's outcomes of all replies and people's of a few -> the pass rate of all, corrected for the judge's errors.

Simulated coverage of the 95 % interval for 1,000 replies of which about three quarters pass, with a judge that errs on
2–40 % of either kind, and 24, 30 or 100 reviewed, drawn alike or with risky replies at up to three or ten times the
chance: 97–99 % on average over judges and at least 95 % for each; most where errors are few. The plain variance with
Student's quantile holds 38–96 %: with few disagreements in the sample, or none, it is far too narrow.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.stats.distributions import NORMAL_95, two_sided_t
from touchstone.stats.interval import Interval, wilson_rate

DIFFERENCE = "difference estimator: judge over all replies plus weighted mean of person less judge over the reviewed"
CENSUS = "people's outcomes: all replies were reviewed"
NOTHING = "none: no reply was reviewed"


@dataclass(frozen=True, slots=True)
class Corrected:
    """The pass rate of all replies, its interval, how it was found and on how many replies of each kind it rests.

    Rate and interval are None when nothing was reviewed: the judge alone is no correction.
    """

    rate: float | None
    interval: Interval | None
    estimator: str
    n_all: int
    n_reviewed: int


def corrected_rate(
    judged: Sequence[bool | float], reviewed: Mapping[int, bool | float], inclusion: Mapping[int, float]
) -> Corrected:
    """The difference estimator (Särndal, Swensson and Wretman 1992), known as prediction-powered inference.

    `judged` holds the judge's outcome (0..1) of every reply, `reviewed` the person's by place in `judged`, `inclusion`
    the probability at which each of those places was drawn for review. With weights w = 1 / probability,

        rate = mean of judged over all + sum w (person - judge) / sum w over the reviewed (Hájek's mean).

    The interval speaks of the bot's rate, of which these replies are one sample, and so of theirs as well. Its
    variance is that of the weighted mean, with the factor 1 - probability for each reviewed reply, plus that of the
    rate over all replies (from Wilson's interval). As Bonett and Price do for paired proportions, one disagreement
    each way is added for centre and variance, at the effective weight sum w² / sum w; Student's quantile has as many
    degrees of freedom as reviewed replies less one. So a sample in which all agree has an interval of some width:
    about what the rule of three leaves open on either side.

    One reviewed reply: 0..1. All reviewed: the mean of people's outcomes with Wilson's interval.
    """
    n_all, n = len(judged), len(reviewed)
    _check(judged, reviewed, inclusion)
    if n == 0:
        return Corrected(None, None, NOTHING, n_all, 0)
    if n == n_all:
        mean = math.fsum(reviewed.values()) / n
        return Corrected(mean, wilson_rate(mean, n), CENSUS, n_all, n)
    stated = math.fsum(judged) / n_all
    weights = [1 / inclusion[place] for place in sorted(reviewed)]
    errors = [float(reviewed[place]) - float(judged[place]) for place in sorted(reviewed)]
    rate = min(max(stated + _weighted_mean(errors, weights), 0.0), 1.0)
    if n == 1:
        return Corrected(rate, Interval(0.0, 1.0, "one review"), DIFFERENCE, n_all, n)
    return Corrected(rate, _interval(stated, rate, errors, weights, n_all), DIFFERENCE, n_all, n)


def _interval(stated: float, rate: float, errors: list[float], weights: list[float], n_all: int) -> Interval:
    effective = math.fsum(weight * weight for weight in weights) / math.fsum(weights)
    all_errors, all_weights = [*errors, 1.0, -1.0], [*weights, effective, effective]
    centre = _weighted_mean(all_errors, all_weights)
    squares = (
        (1 - 1 / weight) * (weight * (error - centre)) ** 2
        for error, weight in zip(all_errors, all_weights, strict=True)
    )
    review = math.fsum(squares) / math.fsum(all_weights) ** 2
    whole = wilson_rate(rate, n_all)
    replies = ((whole.high - whole.low) / (2 * NORMAL_95)) ** 2
    half = two_sided_t(len(errors) - 1) * math.sqrt(review + replies)
    low, high = max(0.0, stated + centre - half), min(1.0, stated + centre + half)
    return Interval(min(low, rate), max(high, rate), "difference estimator, Student's t")


def _weighted_mean(values: list[float], weights: list[float]) -> float:
    total = math.fsum(value * weight for value, weight in zip(values, weights, strict=True))
    return total / math.fsum(weights)


def _check(
    judged: Sequence[bool | float], reviewed: Mapping[int, bool | float], inclusion: Mapping[int, float]
) -> None:
    if any(not 0 <= outcome <= 1 for outcome in (*judged, *reviewed.values())):
        raise ValueError("an outcome lies outside 0..1")
    for place in reviewed:
        if not 0 <= place < len(judged):
            raise ValueError(f"reviewed reply {place} is not among the {len(judged)} judged")
        if not 0 < inclusion.get(place, 0.0) <= 1:
            raise ValueError(
                f"reviewed reply {place} needs the probability, above 0 and up to 1, at which it was drawn"
            )
