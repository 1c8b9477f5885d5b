"""A value no source states -> the arithmetic that gives it from at most two source values, if there is one."""

import calendar
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice

from touchstone.core.reading import Dates, Day, Measure, Text, Value
from touchstone.evidence.equality import agrees, is_range, same_dimension

# Two values further apart than this many values or characters are not "near each other".
NEAR_VALUES = 8
NEAR_CHARS = 600
MAX_COUNT = 31
CENT = Decimal("0.005")


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a value follows: the formula as a line, and the source values used."""

    formula: str
    source: Text
    used: tuple[Value, ...]


def derive(value: Value, *, reply: Text, sources: Sequence[Text]) -> Derivation | None:
    """The first derivation found, in source order; single values only."""
    if is_range(value):
        return None
    counts = _counts(value, reply, sources)
    for source in sources:
        for first, second in _pairs(source):
            if found := _pair(value, first, second):
                return Derivation(found, source, (first, second))
        for first in source.values:
            if found := _times_count(value, first, counts):
                return Derivation(found, source, (first,))
    return None


def _pairs(source: Text) -> Iterator[tuple[Value, Value]]:
    values = [value for value in source.values if not is_range(value)]
    for at, first in enumerate(values):
        for second in islice(values, at + 1, at + 1 + NEAR_VALUES):
            if second.start - first.end <= NEAR_CHARS:
                yield first, second


def _pair(value: Value, first: Value, second: Value) -> str | None:
    target, a, b = value.readings[0], first.readings[0], second.readings[0]
    if isinstance(target, Measure) and isinstance(a, Measure) and isinstance(b, Measure):
        return _sum(target, a, b, first, second, value) or _share(target, a, b, first, second, value)
    if isinstance(target, Dates):
        return _shifted(target, a, b, first, second, value) or _shifted(target, b, a, second, first, value)
    if isinstance(target, Measure) and isinstance(a, Dates) and isinstance(b, Dates) and target.dimension == "time":
        days = _days_between(a.first, b.first)
        if days is not None and days and target.low == days * 1440:
            return f"{second.canonical} - {first.canonical} = {value.canonical}"
    return None


def _sum(target: Measure, a: Measure, b: Measure, first: Value, second: Value, value: Value) -> str | None:
    if not (same_dimension(target, a) and same_dimension(a, b)):
        return None
    if abs(a.low + b.low - target.low) < CENT:
        return f"{first.canonical} + {second.canonical} = {value.canonical}"
    if abs(abs(a.low - b.low) - target.low) < CENT and target.low:
        high, low = (first, second) if a.low > b.low else (second, first)
        return f"{high.canonical} - {low.canonical} = {value.canonical}"
    return None


def _share(target: Measure, a: Measure, b: Measure, first: Value, second: Value, value: Value) -> str | None:
    """A percentage of a sum, or the sum less or plus it."""
    if (a.dimension == "%") == (b.dimension == "%"):
        if target.dimension == "%" and a.dimension != "%" and same_dimension(a, b) and a.low and b.low:
            part, whole = sorted((a.low, b.low))
            if abs(100 * part / whole - target.low) < Decimal("0.05"):
                return f"{_plain(part)} of {_plain(whole)} = {value.canonical}"
        return None
    share, base = (a, b) if a.dimension == "%" else (b, a)
    names = (first, second) if a.dimension == "%" else (second, first)
    if not same_dimension(target, base) or target.dimension == "%":
        return None
    part = base.low * share.low / 100
    for result, formula in (
        (part, f"{names[0].canonical} of {names[1].canonical}"),
        (base.low - part, f"{names[1].canonical} - {names[0].canonical}"),
        (base.low + part, f"{names[1].canonical} + {names[0].canonical}"),
    ):
        if abs(result - target.low) <= CENT:
            return f"{formula} = {value.canonical}"
    return None


def _counts(value: Value, reply: Text, sources: Sequence[Text]) -> dict[int, list[Value]]:
    """Small whole numbers that are spoken of: in the sources, or right beside the value in the reply."""
    near = [v for v in reply.values if v is not value and abs(v.start - value.start) < NEAR_CHARS // 4]
    values = [v for source in sources for v in source.values] + near
    counts: dict[int, list[Value]] = {}
    for v in values:
        if (count := _count(v)) is not None:
            counts.setdefault(count, []).append(v)
    return counts


def _count(value: Value) -> int | None:
    measure = value.readings[0]
    if not isinstance(measure, Measure) or value.kind not in ("number", "quantity", "duration") or is_range(value):
        return None
    written = value.canonical.split()[0].split("/")[0]
    return int(written) if written.isdigit() and 2 <= int(written) <= MAX_COUNT else None


def _times_count(value: Value, first: Value, counts: Mapping[int, list[Value]]) -> str | None:
    target, measure = value.readings[0], first.readings[0]
    if not (isinstance(target, Measure) and isinstance(measure, Measure)) or is_range(first) or not measure.low:
        return None
    if not same_dimension(target, measure) or measure.dimension == "" or (measure.qualifier and measure.qualifier == target.qualifier):
        return None
    others = {count for count, values in counts.items() if any(v is not first for v in values)}
    for count in sorted(others | ({12} if measure.qualifier == "month" else set())):
        if abs(measure.low * count - target.low) < CENT:
            return f"{count} x {first.canonical} = {value.canonical}"
        if abs(measure.low / count - target.low) <= CENT and target.low:
            return f"{first.canonical} / {count} = {value.canonical}"
    return None


def _shifted(target: Dates, a: Measure | Dates, b: Measure | Dates, first: Value, second: Value, value: Value) -> str | None:
    """A date a number of days before or after another."""
    if not (isinstance(a, Dates) and isinstance(b, Measure)) or b.dimension != "time" or b.low % 1440:
        return None
    start = _as_date(a.first)
    if start is None or target.first.day is None:
        return None
    for sign, word in ((1, "+"), (-1, "-")):
        day = start + sign * timedelta(days=int(b.low / 1440))
        if agrees(target.first, Day(a.first.year and day.year, day.month, day.day)):
            return f"{first.canonical} {word} {second.canonical} = {value.canonical}"
    return None


def _as_date(day: Day) -> date | None:
    if day.month is None or day.day is None:
        return None
    # Without a year any common year serves: only the distance in days counts.
    year = day.year or 2025
    return date(year, day.month, day.day) if day.day <= calendar.monthrange(year, day.month)[1] else None


def _days_between(a: Day, b: Day) -> int | None:
    first, second = _as_date(a), _as_date(b)
    return abs((second - first).days) if first and second and (a.year is None) == (b.year is None) else None


def _plain(figure: Decimal) -> str:
    return format(figure.normalize(), "f")
