"""Two runs over the same cases -> Comparison: what changed, whether it could be chance, and which outcomes flipped."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import fmean
from typing import Literal

from touchstone.core.result import ViolationKind
from touchstone.rubric.model import TOP, Rubric
from touchstone.runs.record import Record
from touchstone.stats.distributions import benjamini_hochberg
from touchstone.stats.interval import Interval
from touchstone.stats.paired import mcnemar, paired_difference, paired_p, smallest_detectable
from touchstone.stats.resampling import bootstrap_mean


@dataclass(frozen=True, slots=True)
class Flip:
    """A case whose outcome changed, and what changed in it."""

    id: str
    category: str | None
    direction: Literal["improved", "regressed"]
    total_before: float | None
    total_after: float | None
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseSide:
    """One case in one run, as the mean of its drafts; None is what no draft has.

    `passed` and `unsafe` are shares of drafts: 0 or 1 when there is one.
    """

    category: str | None
    drafts: int
    passed: float | None
    unsafe: float | None
    total: float | None
    grades: Mapping[str, float | None]
    records: tuple[Record, ...]

    @property
    def violations(self) -> tuple[ViolationKind, ...]:
        return tuple(dict.fromkeys(kind for record in self.records for kind in record.violations))

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tag.name for record in self.records for tag in record.tags))


@dataclass(frozen=True, slots=True)
class RunPair:
    """One case in both runs."""

    id: str
    before: CaseSide
    after: CaseSide

    @property
    def is_scored(self) -> bool:
        return self.before.passed is not None and self.after.passed is not None

    @property
    def category(self) -> str | None:
        return self.after.category if self.after.category is not None else self.before.category


def sides(records: Sequence[Record]) -> dict[str, CaseSide]:
    """Each case of a run, in the order the cases first stand."""
    drafts: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        drafts[record.id].append(record)
    return {case: _side(group) for case, group in drafts.items()}


def find_flips(pairs: Sequence[RunPair]) -> tuple[Flip, ...]:
    """The cases that passed and fail now, then those that failed and pass now; the largest change first.

    Of several drafts the majority counts; a tie is neither.
    """
    flips = [flip for pair in pairs if (flip := _flip(pair))]
    return tuple(sorted(flips, key=lambda flip: (flip.direction == "improved", -_moved(flip), flip.id)))


def _side(group: Sequence[Record]) -> CaseSide:
    names = dict.fromkeys(name for record in group for name in record.grades)
    return CaseSide(
        category=group[0].category,
        drafts=len(group),
        passed=_mean(None if record.outcome is None else record.outcome == "PASS" for record in group),
        unsafe=_mean(bool(record.violations) if record.is_inspected else None for record in group),
        total=_mean(record.total for record in group),
        grades={name: _mean(record.grades.get(name) for record in group) for name in names},
        records=tuple(group),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _flip(pair: RunPair) -> Flip | None:
    old, new = pair.before.passed, pair.after.passed
    if old is None or new is None or (old - 0.5) * (new - 0.5) >= 0:
        return None
    return Flip(
        id=pair.id,
        category=pair.category,
        direction="improved" if new > old else "regressed",
        total_before=pair.before.total,
        total_after=pair.after.total,
        changes=tuple(_changes(pair.before, pair.after)),
    )


def _moved(flip: Flip) -> float:
    if flip.total_before is None or flip.total_after is None:
        return 0.0
    return abs(flip.total_after - flip.total_before)


def _changes(before: CaseSide, after: CaseSide) -> Iterator[str]:
    """What changed, the gravest first: violations, grades, the total, then tags."""
    yield from (f"new violation: {kind}" for kind in after.violations if kind not in before.violations)
    yield from (f"violation gone: {kind}" for kind in before.violations if kind not in after.violations)
    for name, old in before.grades.items():
        new = after.grades.get(name)
        if old is not None and new is not None and new != old:
            yield f"{name} {old:.3g}→{new:.3g}"
    if before.total is not None and after.total is not None and before.total != after.total:
        yield f"total {before.total:.3g}→{after.total:.3g}"
    yield from (f"new: {tag}" for tag in after.tags if tag not in before.tags)
    yield from (f"gone: {tag}" for tag in before.tags if tag not in after.tags)


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure before and after, over the pairs that have both. `q` is set where several were compared at once."""

    name: str
    n: int = 0
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    p: float | None = None
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
    pass_rate: FigureChange
    safety: FigureChange
    grades: tuple[FigureChange, ...]
    categories: tuple[FigureChange, ...]
    flips: tuple[Flip, ...]
    smallest: float | None
    remarks: tuple[str, ...]
    total: FigureChange | None = None


_PASSED, _UNSAFE, _TOTAL = (attrgetter(name) for name in ("passed", "unsafe", "total"))


def compare(before: Sequence[Record], after: Sequence[Record], *, rubric: Rubric) -> Comparison:
    """Pair the records by case and test the differences."""
    old, new = sides(before), sides(after)
    pairs = [RunPair(case, old[case], new[case]) for case in old if case in new]
    has_drafts = any(max(pair.before.drafts, pair.after.drafts) > 1 for pair in pairs)
    pass_rate = _rate_change("pass_rate", pairs, _PASSED, has_drafts=has_drafts)
    comparison = Comparison(
        pairs=len(pairs),
        only_before=tuple(case for case in old if case not in new),
        only_after=tuple(case for case in new if case not in old),
        unscored=sum(not pair.is_scored for pair in pairs),
        pass_rate=pass_rate,
        safety=_rate_change("safety_failures", pairs, _UNSAFE, has_drafts=has_drafts),
        grades=_with_q([_grade_change(criterion.name, pairs) for criterion in rubric.criteria]),
        categories=_with_q(_by_category(pairs, has_drafts=has_drafts)),
        flips=find_flips(pairs),
        smallest=_smallest(pass_rate, pairs),
        remarks=(),
        total=_mean_change("total", _both(pairs, _TOTAL), top=100.0),
    )
    return replace(comparison, remarks=tuple(_remarks(comparison, pairs, has_drafts=has_drafts)))


def _rate_change(
    name: str, pairs: Sequence[RunPair], value: Callable[[CaseSide], float | None], *, has_drafts: bool
) -> FigureChange:
    """McNemar's exact test on one reply each; on drafts, random signs of each case's difference of shares."""
    both = _both(pairs, value)
    if has_drafts or not both:
        return _mean_change(name, both, top=1.0)
    table = Counter((bool(old), bool(new)) for old, new in both)
    only_after, only_before = table[False, True], table[True, False]
    n = len(both)
    rates = sum(old for old, _ in both) / n, sum(new for _, new in both) / n
    interval = paired_difference(table[True, True], only_after, only_before, table[False, False])
    difference = (only_after - only_before) / n
    return FigureChange(name, n, *rates, difference, interval, mcnemar(only_after, only_before))


def _grade_change(criterion: str, pairs: Sequence[RunPair]) -> FigureChange:
    return _mean_change(criterion, _both(pairs, lambda side: side.grades.get(criterion)), top=TOP)


def _both(pairs: Sequence[RunPair], value: Callable[[CaseSide], float | None]) -> list[tuple[float, float]]:
    given = ((value(pair.before), value(pair.after)) for pair in pairs)
    return [(old, new) for old, new in given if old is not None and new is not None]


def _mean_change(name: str, both: Sequence[tuple[float, float]], *, top: float) -> FigureChange:
    """The change of a mean on a scale from 0 to `top`, over the pairs that have both."""
    if not both:
        return FigureChange(name)
    differences = [new - old for old, new in both]
    return FigureChange(
        name,
        len(both),
        fmean(old for old, _ in both),
        fmean(new for _, new in both),
        fmean(differences),
        bootstrap_mean(differences, bounds=(-top, top)),
        paired_p(differences),
    )


def _by_category(pairs: Sequence[RunPair], *, has_drafts: bool) -> list[FigureChange]:
    """The pass rate of each category, the largest first; the later run says what category a case is of."""
    members: dict[str, list[RunPair]] = defaultdict(list)
    for pair in pairs:
        if pair.category is not None and pair.is_scored:
            members[pair.category].append(pair)
    ordered = sorted(members.items(), key=lambda member: (-len(member[1]), member[0]))
    return [_rate_change(name, group, _PASSED, has_drafts=has_drafts) for name, group in ordered]


def _with_q(changes: Sequence[FigureChange]) -> tuple[FigureChange, ...]:
    """The changes with their p-values corrected for how many there are."""
    tested = [change for change in changes if change.p is not None]
    qs = benjamini_hochberg([change.p for change in tested if change.p is not None])
    corrected = {change.name: q for change, q in zip(tested, qs, strict=True)}
    return tuple(replace(change, q=corrected.get(change.name)) for change in changes)


def _smallest(pass_rate: FigureChange, pairs: Sequence[RunPair]) -> float | None:
    """By how many cases flipped here; runs that agree throughout are taken as if one more case had flipped."""
    if pass_rate.before is None:
        return None
    flipped = sum(pair.is_scored and pair.before.passed != pair.after.passed for pair in pairs)
    discordant = max(1, flipped) / pass_rate.n
    return smallest_detectable(pass_rate.n, rate=pass_rate.before, discordant=discordant)


def _remarks(comparison: Comparison, pairs: Sequence[RunPair], *, has_drafts: bool) -> Iterator[str]:
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
            "more with 80 % power; a smaller one may be missed"
        )
    elif comparison.pass_rate.n:
        yield f"{comparison.pass_rate.n} pairs are too few to show any change"
