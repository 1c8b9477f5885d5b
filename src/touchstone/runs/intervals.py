"""A figure of each reply, and with several drafts the case it is of -> the interval of their rate or mean.

One reply for each case is independent evidence. Several drafts of one case are alike: then whole cases are drawn.
"""

from collections.abc import Sequence

from touchstone.stats.interval import Interval
from touchstone.stats.means import bootstrap_mean, clustered_bootstrap_mean
from touchstone.stats.proportions import rule_of_three, wilson

# The case of each reply; None when every reply is of a case of its own.
Cases = Sequence[str] | None


def rate_interval(hits: Sequence[bool], cases: Cases) -> Interval:
    """Wilson's interval; for drafts the clustered bootstrap, or Wilson's over the cases when all drafts agree."""
    if cases is None:
        return wilson(sum(hits), len(hits))
    if all(hits) or not any(hits):
        distinct = len(set(cases))
        return wilson(distinct if all(hits) else 0, distinct)
    drawn = clustered_bootstrap_mean([float(hit) for hit in hits], cases, bounds=(0.0, 1.0))
    return drawn or Interval(0.0, 1.0, "a single case")


def safety_interval(hits: Sequence[bool], cases: Cases) -> Interval:
    """The rule of three over the cases while nothing was found."""
    return rate_interval(hits, cases) if any(hits) else rule_of_three(len(hits) if cases is None else len(set(cases)))


def mean_interval(values: Sequence[float], cases: Cases, *, top: float) -> Interval | None:
    """The bootstrap interval of a mean on a scale from 0 to `top`; None for fewer than two cases."""
    if cases is None:
        return bootstrap_mean(values, bounds=(0.0, top))
    return clustered_bootstrap_mean(values, cases, bounds=(0.0, top))
