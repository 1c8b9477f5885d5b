"""Two runs over the same cases -> Comparison: what changed, and whether it could be chance."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.flips import Flip, Pair, Side, find_flips, sides
from touchstone.runs.record import Record
from touchstone.stats.interval import Interval
from touchstone.stats.paired import bootstrap_difference, mcnemar, paired_difference, paired_p
from touchstone.stats.power import smallest_detectable
from touchstone.stats.tables import benjamini_hochberg

__all__ = ["Change", "Comparison", "Flip", "compare"]


@dataclass(frozen=True, slots=True)
class Change:
    """One figure before and after, over the pairs that have both. `q` is set where several were compared at once."""

    name: str
    n: int
    before: float | None
    after: float | None
    difference: float | None
    interval: Interval | None
    p: float | None
    q: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A on the cases both have.

    `safety` is the share of replies with a violation, so that a rise is for the worse. `smallest` is the smallest
    change of the pass rate this many pairs could show at 80 % power.
    """

    pairs: int
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    unscored: int
    pass_rate: Change
    safety: Change
    grades: tuple[Change, ...]
    categories: tuple[Change, ...]
    flips: tuple[Flip, ...]
    smallest: float | None
    remarks: tuple[str, ...]
    total: Change | None = None


def compare(before: Sequence[Record], after: Sequence[Record], *, rubric: Rubric) -> Comparison:
    """Pair the records by case and test the differences."""
    old, new = sides(before), sides(after)
    pairs = [Pair(case, old[case], new[case]) for case in old if case in new]
    has_drafts = any(max(pair.before.drafts, pair.after.drafts) > 1 for pair in pairs)
    pass_rate = _rate_change("pass_rate", [p for p in pairs if p.is_scored], _passed, has_drafts=has_drafts)
    comparison = Comparison(
        pairs=len(pairs),
        only_before=tuple(case for case in old if case not in new),
        only_after=tuple(case for case in new if case not in old),
        unscored=sum(not pair.is_scored for pair in pairs),
        pass_rate=pass_rate,
        safety=_rate_change("safety_failures", pairs, _unsafe, has_drafts=has_drafts),
        grades=_with_q([_mean_change(c.name, pairs, c.name, top=TOP) for c in rubric.criteria]),
        categories=_with_q(_by_category(pairs, has_drafts=has_drafts)),
        flips=find_flips(pairs),
        smallest=_smallest(pass_rate, pairs),
        remarks=(),
        total=_mean_change("total", pairs, None, top=100.0),
    )
    return replace(comparison, remarks=tuple(_remarks(comparison, pairs, has_drafts=has_drafts)))


def _passed(side: Side) -> float | None:
    return side.passed


def _unsafe(side: Side) -> float | None:
    return side.unsafe


def _rate_change(
    name: str, pairs: Sequence[Pair], value: Callable[[Side], float | None], *, has_drafts: bool
) -> Change:
    """McNemar's exact test on one reply each; on drafts, random signs of each case's difference of shares."""
    both = _both(pairs, value)
    if not both:
        return Change(name, 0, None, None, None, None, None)
    if has_drafts:
        return _tested(name, both, top=1.0)
    table = Counter((bool(old), bool(new)) for old, new in both)
    only_after, only_before = table[False, True], table[True, False]
    n = len(both)
    rates = sum(old for old, _ in both) / n, sum(new for _, new in both) / n
    interval = paired_difference(table[True, True], only_after, only_before, table[False, False])
    difference = (only_after - only_before) / n
    return Change(name, n, *rates, difference, interval, mcnemar(only_after, only_before))


def _mean_change(name: str, pairs: Sequence[Pair], criterion: str | None, *, top: float) -> Change:
    """The mean grade on a criterion, or the mean total, over the pairs that have both."""

    def value(side: Side) -> float | None:
        return side.total if criterion is None else side.grades.get(criterion)

    both = _both(pairs, value)
    return _tested(name, both, top=top) if both else Change(name, 0, None, None, None, None, None)


def _both(pairs: Sequence[Pair], value: Callable[[Side], float | None]) -> list[tuple[float, float]]:
    given = ((value(pair.before), value(pair.after)) for pair in pairs)
    return [(old, new) for old, new in given if old is not None and new is not None]


def _tested(name: str, both: Sequence[tuple[float, float]], *, top: float) -> Change:
    olds, news = [old for old, _ in both], [new for _, new in both]
    differences = [new - old for old, new in both]
    return Change(
        name,
        len(both),
        fmean(olds),
        fmean(news),
        fmean(differences),
        bootstrap_difference(differences, bounds=(-top, top)),
        paired_p(differences),
    )


def _by_category(pairs: Sequence[Pair], *, has_drafts: bool) -> list[Change]:
    """The pass rate of each category, the largest first; the later run says what category a case is of."""
    members: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.category is not None and pair.is_scored:
            members[pair.category].append(pair)
    ordered = sorted(members.items(), key=lambda member: (-len(member[1]), member[0]))
    return [_rate_change(name, group, _passed, has_drafts=has_drafts) for name, group in ordered]


def _with_q(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes with their p-values corrected for how many there are."""
    tested = [change for change in changes if change.p is not None]
    qs = benjamini_hochberg([change.p for change in tested if change.p is not None])
    corrected = {change.name: q for change, q in zip(tested, qs, strict=True)}
    return tuple(replace(change, q=corrected.get(change.name)) for change in changes)


def _smallest(pass_rate: Change, pairs: Sequence[Pair]) -> float | None:
    """By how many cases flipped here; runs that agree throughout are taken as if one more case had flipped."""
    if pass_rate.before is None:
        return None
    flipped = sum(pair.is_scored and pair.before.passed != pair.after.passed for pair in pairs)
    discordant = max(1, flipped) / pass_rate.n
    return smallest_detectable(pass_rate.n, rate=pass_rate.before, discordant=discordant)


def _remarks(comparison: Comparison, pairs: Sequence[Pair], *, has_drafts: bool) -> Iterator[str]:
    left, new = len(comparison.only_before), len(comparison.only_after)
    if not comparison.pairs:
        yield "no case is in both runs: there is nothing to compare"
        return
    if left or new:
        yield (
            f"the sets differ: {left} only in the first run, {new} only in the second; "
            f"the {comparison.pairs} in both are compared"
        )
    if comparison.unscored:
        lost = sum(pair.before.passed is not None and pair.after.passed is None for pair in pairs)
        yield (
            f"{comparison.unscored} of {comparison.pairs} pairs have no outcome in one of the runs and are left out"
            + (f"; {lost} of them had one before" if lost else "")
        )
    if moved := sum(pair.before.category != pair.after.category for pair in pairs):
        yield f"{moved} cases have another category than before: the later one counts"
    if has_drafts:
        yield (
            "several drafts for each case: a case's share of passed drafts is compared, by random signs of the "
            "differences instead of McNemar's test"
        )
    if comparison.smallest is not None:
        yield (
            f"{comparison.pass_rate.n} pairs show a change of {100 * comparison.smallest:.1f} percentage points or "
            "more with 80 % power; a smaller one may go unseen"
        )
    elif comparison.pass_rate.n:
        yield f"{comparison.pass_rate.n} pairs are too few to show any change"
