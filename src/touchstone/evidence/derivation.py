"""A value no source states -> the arithmetic that gives it from at most two source values, if there is one."""

import calendar
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from touchstone.core.reading import Dates, Day, Measure, Text, Value
from touchstone.evidence.equality import agrees, is_range, same, same_dimension
from touchstone.evidence.places import sentence_at

# Two values further apart than this many values or characters are not "near each other".
NEAR_VALUES = 8
NEAR_CHARS = 600
MAX_COUNT = 31
# Derivations are looked for among so many source values, for so many values of a reply.
MAX_VALUES = 200
MAX_TRIES = 30
# Side by side: `3 calls of 15 minutes each`, `Cost: £60. Paid: £45.`
CLOSE_CHARS = 60
CENT = Decimal("0.005")
PERCENT_STEP = Decimal("0.05")
# A sentence that works something out says so: without such a word or sign a coincidence of figures derives nothing.
RECKONING = frozenset(
    "total totals totalling altogether together sum sums comes makes equals minus plus times difference half double "
    "twice saves save saving remain remaining remains remainder left balance becomes prorated split combined overall "
    "discount deducted deduct".split()
)
SIGNS = re.compile(r"[=×+−÷]|\d ?[*/x] ?\d")


class Part(NamedTuple):
    """One reading of a value and how the value is shown in a formula."""

    reading: Measure | Dates
    shown: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a value follows: the formula as a line, and the source values used."""

    formula: str
    source: Text
    used: tuple[Value, ...]


class Deriver:
    """Looks for derivations from one case's sources; how much it looks at is bounded, whatever the texts hold."""

    def __init__(self, reply: Text, sources: Sequence[Text]) -> None:
        self._reply = reply
        self._tries = MAX_TRIES
        values = islice(((source, value) for source in sources for value in source.values), MAX_VALUES)
        self._values = [(source, value) for source, value in values if not is_range(value)]

    def derive(self, value: Value) -> Derivation | None:
        """The first derivation found, in source order; single values only.

        Figures that stand side by side in a source may be reckoned with. Others only where the reply does: it says so,
        or names one of them.
        """
        if is_range(value) or not self._tries:
            return None
        self._tries -= 1
        says_so = reckons(self._reply, value)
        beside = _beside(value, self._reply)
        for (source, first), (other, second) in self._pairs():
            near = says_so or _is_close(first, second) or any(_is_one_of(b, (first, second)) for b in beside)
            if source is other and near and (found := _pair(value, first, second)):
                return Derivation(found, source, (first, second))
        for source, first in self._values:
            if not _could_be_times(value, first):
                continue
            named = says_so or any(_is_one_of(b, (first,)) for b in beside)
            counts = _counts([*beside, *(v for s, v in self._values if named or (s is source and _is_close(first, v)))])
            if found := _times_count(value, first, counts):
                return Derivation(found, source, (first,))
        return None

    def _pairs(self) -> Iterator[tuple[tuple[Text, Value], tuple[Text, Value]]]:
        for at, first in enumerate(self._values):
            for second in islice(self._values, at + 1, at + 1 + NEAR_VALUES):
                if second[1].start - first[1].end <= NEAR_CHARS:
                    yield first, second


def _pair(value: Value, first: Value, second: Value) -> str | None:
    """The formula that gives the value from two others in any of their readings."""
    for a in first.readings:
        for b in second.readings:
            one, other = Part(a, first.canonical), Part(b, second.canonical)
            target = Part(value.readings[0], value.canonical)
            if found := _combine(target, one, other) or _combine(target, other, one):
                return f"{found} = {value.canonical}"
    return None


def _combine(target: Part, a: Part, b: Part) -> str | None:
    if isinstance(a.reading, Dates):
        return _shifted(target, a, b) or _elapsed(target, a, b)
    if isinstance(target.reading, Dates) or isinstance(b.reading, Dates):
        return None
    return _sum(target.reading, a, b, a.reading, b.reading) or _share(target.reading, a, b, a.reading, b.reading)


def _sum(target: Measure, a: Part, b: Part, left: Measure, right: Measure) -> str | None:
    if not (same_dimension(target, left) and same_dimension(left, right)) or (left.dimension == "") != (
        right.dimension == ""
    ):
        return None
    if abs(left.low + right.low - target.low) < CENT:
        return f"{a.shown} + {b.shown}"
    return f"{a.shown} - {b.shown}" if target.low and abs(left.low - right.low - target.low) < CENT else None


def _share(target: Measure, a: Part, b: Part, left: Measure, right: Measure) -> str | None:
    """A percentage of a sum, the sum less or plus it, or one sum as a percentage of another."""
    if target.dimension == "%" and left.dimension != "%" and same_dimension(left, right) and right.low:
        return f"{a.shown} of {b.shown}" if abs(100 * left.low / right.low - target.low) < PERCENT_STEP else None
    if left.dimension != "%" or right.dimension == "%" or target.dimension == "%" or not same_dimension(target, right):
        return None
    part = right.low * left.low / 100
    if abs(part - target.low) <= CENT:
        return f"{a.shown} of {b.shown}"
    if abs(right.low - part - target.low) <= CENT:
        return f"{b.shown} - {a.shown}"
    return f"{b.shown} + {a.shown}" if abs(right.low + part - target.low) <= CENT else None


def _shifted(target: Part, a: Part, b: Part) -> str | None:
    """A date some days or months before or after another."""
    if not (isinstance(target.reading, Dates) and isinstance(a.reading, Dates) and isinstance(b.reading, Measure)):
        return None
    start = _as_date(a.reading.first)
    if start is None or target.reading.first.day is None:
        return None
    for sign, word in ((1, "+"), (-1, "-")):
        day = _shift(start, sign, b.reading)
        if day and agrees(target.reading.first, Day(a.reading.first.year and day.year, day.month, day.day)):
            return f"{a.shown} {word} {b.shown}"
    return None


def _elapsed(target: Part, a: Part, b: Part) -> str | None:
    """The days between two dates."""
    if not (isinstance(target.reading, Measure) and isinstance(a.reading, Dates) and isinstance(b.reading, Dates)):
        return None
    first, second = _as_date(b.reading.first), _as_date(a.reading.first)
    known = (a.reading.first.year is None) == (b.reading.first.year is None)
    if target.reading.dimension != "time" or not (first and second and known) or second <= first:
        return None
    return f"{a.shown} - {b.shown}" if target.reading.low == (second - first).days * 1440 else None


def reckons(reply: Text, value: Value) -> bool:
    """Whether the value's sentence speaks of a sum, a rest, a share or a difference."""
    sentence = sentence_at(reply, value.start)
    if sentence is None:
        return False
    words = [token.word for token in reply.tokens[sentence.first : sentence.last]]
    return not RECKONING.isdisjoint(words) or SIGNS.search(reply.raw, sentence.start, sentence.end) is not None


def _is_close(one: Value, other: Value) -> bool:
    return max(one.start, other.start) - min(one.end, other.end) <= CLOSE_CHARS


def _is_one_of(value: Value, others: Sequence[Value]) -> bool:
    return any(value.kind == other.kind and same(value, other) for other in others)


def _beside(value: Value, reply: Text) -> list[Value]:
    """The other values of the same sentence that are near this one."""
    sentence = sentence_at(reply, value.start)
    if sentence is None:
        return []
    at = bisect_left(reply.values, value.start, key=lambda v: v.start)
    near = reply.values[max(0, at - 3) : at + 4]
    return [v for v in near if v is not value and sentence.start <= v.start < sentence.end]


def _counts(values: Iterable[Value]) -> dict[int, list[Value]]:
    """The small whole numbers that are spoken of, and where."""
    counts: dict[int, list[Value]] = {}
    for value in values:
        if (count := _count(value)) is not None:
            counts.setdefault(count, []).append(value)
    return counts


def _count(value: Value) -> int | None:
    measure = value.readings[0]
    if not isinstance(measure, Measure) or value.kind not in ("number", "quantity", "duration") or is_range(value):
        return None
    written = value.canonical.split()[0].split("/")[0]
    return int(written) if written.isdecimal() and 2 <= int(written) <= MAX_COUNT else None


def _could_be_times(value: Value, first: Value) -> bool:
    """Whether a value could be some times another: of the same sort, and neither a bare number."""
    target, measure = value.readings[0], first.readings[0]
    if not (isinstance(target, Measure) and isinstance(measure, Measure)) or is_range(first) or not measure.low:
        return False
    is_same_rate = measure.qualifier and measure.qualifier == target.qualifier
    return same_dimension(target, measure) and "" not in (measure.dimension, target.dimension) and not is_same_rate


def _times_count(value: Value, first: Value, counts: Mapping[int, list[Value]]) -> str | None:
    target, measure = value.readings[0], first.readings[0]
    assert isinstance(target, Measure)
    assert isinstance(measure, Measure)
    others = {count for count, values in counts.items() if any(v.canonical != first.canonical for v in values)}
    for count in sorted(others | ({12} if measure.qualifier == "month" else set())):
        if abs(measure.low * count - target.low) < CENT:
            return f"{count} x {first.canonical} = {value.canonical}"
        if abs(measure.low / count - target.low) <= CENT and target.low:
            return f"{first.canonical} / {count} = {value.canonical}"
    return None


def _shift(start: date, sign: int, duration: Measure) -> date | None:
    if duration.dimension == "time" and duration.low % 1440 == 0 and duration.low < 1440 * 36_600:
        return start + sign * timedelta(days=int(duration.low / 1440))
    if duration.dimension == "months" and duration.low % 1 == 0 and duration.low < 1200:
        month = start.year * 12 + start.month - 1 + sign * int(duration.low)
        day = min(start.day, calendar.monthrange(month // 12, month % 12 + 1)[1])
        return date(month // 12, month % 12 + 1, day)
    return None


def _as_date(day: Day) -> date | None:
    if day.month is None or day.day is None:
        return None
    # Without a year any common year serves: only the distance in days counts.
    year = day.year or 2025
    return date(year, day.month, day.day) if day.day <= calendar.monthrange(year, day.month)[1] else None
