"""What a gold set holds, what it can measure, and how many cases a difference needs."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from touchstone.core.case import Case, Label
from touchstone.core.result import VIOLATION_KINDS
from touchstone.goldset.duplicates import conversation
from touchstone.goldset.labels import case_outcome, outcome_of
from touchstone.rubric.model import Rubric
from touchstone.stats.agreement import weighted_kappa
from touchstone.stats.interval import Interval, wilson
from touchstone.stats.paired import cases_needed

NO_CATEGORY = "(none)"
# The middle of the target band, 70 to 80 % (spec: supportai-rubric, Metrics).
TYPICAL_RATE = 0.75
# With more raters than two or three, the pairs that share most cases say enough.
MOST_PAIRS = 3
# Beyond this many cases the question is no longer one of a gold set.
_MOST = 10_000_000


@dataclass(frozen=True, slots=True)
class Category:
    """One category: how many cases, and what share of all."""

    name: str
    cases: int
    share: float


@dataclass(frozen=True, slots=True)
class Lengths:
    """Words in a field: how many cases have it, their median, the length that nine of ten stay within, the longest."""

    field: str
    given: int
    median: int
    most: int
    longest: int


@dataclass(frozen=True, slots=True)
class Labelling:
    """What people said of the replies. A case's outcome is that of most of its labels; a tie is open.

    `violations` counts cases of which at least one rater named the kind.
    """

    labelled: int
    labels: int
    raters: Mapping[str, int]
    passed: int
    concluded: int
    interval: Interval | None
    unsafe: int
    violations: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How two raters agree on one criterion, or on the outcome: share of equal grades, and weighted kappa.

    `kappa` is None when there is nothing to tell by: no cases, or one grade throughout.
    """

    raters: tuple[str, str]
    on: str
    cases: int
    equal: float
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Precision:
    """How well a pass rate of `rate` would be known from so many cases."""

    cases: int
    rate: float
    interval: Interval

    @property
    def margin(self) -> float:
        return (self.interval.high - self.interval.low) / 2


@dataclass(frozen=True, slots=True)
class GoldsetStats:
    """What a gold set holds. `fields` counts the cases that have a field."""

    cases: int
    unread: int
    categories: tuple[Category, ...]
    fields: Mapping[str, int]
    lengths: tuple[Lengths, ...]
    labelling: Labelling | None
    agreement: tuple[RaterAgreement, ...]
    precision: Precision | None


def summarise_goldset(cases: Sequence[Case], *, rubric: Rubric, unread: int = 0) -> GoldsetStats:
    """The figures of the cases; labels are counted under the rubric."""
    return GoldsetStats(
        cases=len(cases),
        unread=unread,
        categories=_categories(cases),
        fields=_fields(cases),
        lengths=_lengths(cases),
        labelling=_labelling(cases, rubric=rubric),
        agreement=_agreement(cases, rubric=rubric),
        precision=precision(len(cases)) if cases else None,
    )


def precision(cases: int, *, rate: float = TYPICAL_RATE) -> Precision:
    """The 95 % interval of a pass rate as near to `rate` as so many cases can give."""
    passed = round(rate * cases)
    return Precision(cases, rate, wilson(passed, cases))


def _categories(cases: Sequence[Case]) -> tuple[Category, ...]:
    counts = Counter((case.category or "").strip() or NO_CATEGORY for case in cases)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Category(name, count, count / len(cases)) for name, count in ordered)


def _fields(cases: Sequence[Case]) -> dict[str, int]:
    has: dict[str, Callable[[Case], bool]] = {
        "input": lambda case: bool(conversation(case).strip()),
        "response": lambda case: bool(case.response.strip()),
        "expected_output": lambda case: bool((case.expected_output or "").strip()),
        "context": lambda case: case.context is not None,
        "category": lambda case: bool((case.category or "").strip()),
        "confidence": lambda case: case.confidence is not None,
        "labels": lambda case: bool(case.labels),
    }
    return {name: sum(map(given, cases)) for name, given in has.items()}


def _lengths(cases: Sequence[Case]) -> tuple[Lengths, ...]:
    texts: dict[str, Callable[[Case], str]] = {
        "input": conversation,
        "context": lambda case: " ".join(passage.text for passage in case.context or ()),
        "expected_output": lambda case: case.expected_output or "",
        "response": lambda case: case.response,
    }
    found = []
    for name, text in texts.items():
        counts = sorted(words for case in cases if (words := len(text(case).split())))
        if counts:
            nine_of_ten = counts[-(-len(counts) * 9 // 10) - 1]
            found.append(Lengths(name, len(counts), counts[(len(counts) - 1) // 2], nine_of_ten, counts[-1]))
    return tuple(found)


def _labelling(cases: Sequence[Case], *, rubric: Rubric) -> Labelling | None:
    labelled = [case for case in cases if case.labels]
    if not labelled:
        return None
    outcomes = Counter(case_outcome(case, rubric=rubric) for case in labelled)
    passed, concluded = outcomes["PASS"], outcomes["PASS"] + outcomes["FAIL"]
    kinds = [{kind for label in case.labels for kind in label.violations} for case in labelled]
    counts = Counter(kind for found in kinds for kind in found)
    return Labelling(
        labelled=len(labelled),
        labels=sum(len(case.labels) for case in labelled),
        raters=dict(sorted(Counter(label.rater for case in labelled for label in case.labels).items())),
        passed=passed,
        concluded=concluded,
        interval=wilson(passed, concluded) if concluded else None,
        unsafe=sum(map(bool, kinds)),
        violations={kind: counts[kind] for kind in dict.fromkeys([*VIOLATION_KINDS, *sorted(counts)])},
    )


def _agreement(cases: Sequence[Case], *, rubric: Rubric) -> tuple[RaterAgreement, ...]:
    """For the pairs of raters with most cases in common: each criterion both graded, and the outcome."""
    by_case = [{label.rater: label for label in case.labels} for case in cases]
    shared = Counter(pair for labels in by_case for pair in combinations(sorted(labels), 2))
    pairs = sorted(shared, key=lambda pair: (-shared[pair], pair))[:MOST_PAIRS]
    return tuple(
        agreement
        for a, b in pairs
        for agreement in _pair_agreement(
            (a, b), [(labels[a], labels[b]) for labels in by_case if a in labels and b in labels], rubric=rubric
        )
    )


def _pair_agreement(
    raters: tuple[str, str], both: Sequence[tuple[Label, Label]], *, rubric: Rubric
) -> Iterable[RaterAgreement]:
    for criterion in rubric.criteria:
        grades = [(a.grades.get(criterion.name), b.grades.get(criterion.name)) for a, b in both]
        given = [(a, b) for a, b in grades if a in criterion.levels and b in criterion.levels]
        if given:
            yield _agreed(
                raters, criterion.name, [(a or 0, b or 0) for a, b in given], levels=max(criterion.levels) + 1
            )
    ranks = {"FAIL": 0, "PASS": 1}
    outcomes = [(outcome_of(a, rubric=rubric), outcome_of(b, rubric=rubric)) for a, b in both]
    concluded = [(ranks[a], ranks[b]) for a, b in outcomes if a is not None and b is not None]
    if concluded:
        yield _agreed(raters, "outcome", concluded, levels=2)


def _agreed(raters: tuple[str, str], on: str, given: Sequence[tuple[int, int]], *, levels: int) -> RaterAgreement:
    ours, theirs = [a for a, _ in given], [b for _, b in given]
    equal = sum(a == b for a, b in given) / len(given)
    return RaterAgreement(raters, on, len(given), equal, weighted_kappa(ours, theirs, levels=levels))


@dataclass(frozen=True, slots=True)
class SizeNeeded:
    """How many cases are needed to see a change of `difference` from `rate`.

    `paired` is for two runs on the same cases with the given power; `rises` and `falls` are its two directions, None
    where the rate has no room. `single` is for one run whose interval is to reach no further than `difference`.
    """

    difference: float
    rate: float
    power: float
    discordant: float | None
    rises: int | None
    falls: int | None
    single: int

    @property
    def paired(self) -> int:
        return max(each for each in (self.rises, self.falls) if each is not None)


def size_needed(difference: float, *, rate: float, power: float, discordant: float | None) -> SizeNeeded:
    """ValueError when the rate has no room for the difference either way."""
    rises, falls = (
        cases_needed(change, rate=rate, discordant=discordant, power=power)
        if 0 <= round(rate + change, 9) <= 1
        else None
        for change in (difference, -difference)
    )
    if rises is None and falls is None:
        raise ValueError(f"a pass rate of {rate:g} can neither rise nor fall by {difference:g}")
    return SizeNeeded(difference, rate, power, discordant, rises, falls, cases_for_margin(difference, rate=rate))


def cases_for_margin(margin: float, *, rate: float) -> int:
    """The fewest cases from which on a pass rate near `rate` is known to within `margin` on average of both sides."""
    low, high = 0, 1
    while high < _MOST and _margin(high, rate) > margin:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _margin(middle, rate) > margin else (low, middle)
    return high


def _margin(cases: int, rate: float) -> float:
    interval = wilson(round(rate * cases), cases)
    return (interval.high - interval.low) / 2
