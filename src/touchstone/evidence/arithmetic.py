"""Two values -> the formula by which they give a third: sum, difference, share, a day or time so much later."""

import calendar
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from touchstone.core.reading import Dates, Day, Measure, Value
from touchstone.evidence.equality import agrees, same_dimension

CENT = Decimal("0.005")
PERCENT_STEP = Decimal("0.05")
CLOCK = "clock"
DAY = 1440


class ShownReading(NamedTuple):
    """One reading of a value and how the value is shown in a formula."""

    reading: Measure | Dates
    shown: str


def formula_of(value: Value, first: Value, second: Value) -> str | None:
    """The formula that gives the value from two others in any of their readings."""
    for a in _readings(first):
        for b in _readings(second):
            one, other = ShownReading(a, first.canonical), ShownReading(b, second.canonical)
            target = ShownReading(value.readings[0], value.canonical)
            if found := _combine(target, one, other) or _combine(target, other, one):
                return f"{found} = {value.canonical}"
    return None


def _readings(value: Value) -> tuple[Measure | Dates, ...]:
    """The ways to reckon with a value; a bare number only as one, whatever unit the value before it has."""
    return value.readings[:1] if value.kind == "number" else value.readings


def _combine(target: ShownReading, a: ShownReading, b: ShownReading) -> str | None:
    if isinstance(a.reading, Dates):
        return _shifted(target, a, b) or _elapsed(target, a, b)
    if isinstance(target.reading, Dates) or isinstance(b.reading, Dates):
        return None
    if CLOCK in (a.reading.dimension, target.reading.dimension):
        return _later(target.reading, a, b, a.reading, b.reading)
    return _sum(target.reading, a, b, a.reading, b.reading) or _share(target.reading, a, b, a.reading, b.reading)


def _later(target: Measure, a: ShownReading, b: ShownReading, left: Measure, right: Measure) -> str | None:
    """A time of day some hours before or after another, or the time between two."""
    if left.dimension == right.dimension == CLOCK and target.dimension == "time":
        return f"{a.shown} - {b.shown}" if (left.low - right.low) % DAY == target.low else None
    if (left.dimension, right.dimension, target.dimension) != (CLOCK, "time", CLOCK) or right.low >= DAY:
        return None
    if (left.low + right.low - target.low) % DAY == 0:
        return f"{a.shown} + {b.shown}"
    return f"{a.shown} - {b.shown}" if (left.low - right.low - target.low) % DAY == 0 else None


def _sum(target: Measure, a: ShownReading, b: ShownReading, left: Measure, right: Measure) -> str | None:
    bare = [measure.dimension == "" for measure in (left, right)]
    counts = target.dimension.startswith("count:") and any(m.dimension == target.dimension for m in (left, right))
    if not (same_dimension(target, left) and same_dimension(left, right)) or (bare[0] != bare[1] and not counts):
        return None
    if abs(left.low + right.low - target.low) < CENT:
        return f"{a.shown} + {b.shown}"
    return f"{a.shown} - {b.shown}" if target.low and abs(left.low - right.low - target.low) < CENT else None


def _share(target: Measure, a: ShownReading, b: ShownReading, left: Measure, right: Measure) -> str | None:
    """A percentage of a sum, the sum less or plus it, or one sum as a percentage of another."""
    if target.dimension == "%" and left.dimension != "%" and same_dimension(left, right) and right.low:
        if abs(100 * left.low / right.low - target.low) < PERCENT_STEP:
            return f"{a.shown} of {b.shown}"
        less = 100 * (right.low - left.low) / right.low
        return f"({b.shown} - {a.shown}) of {b.shown}" if less > 0 and abs(less - target.low) < PERCENT_STEP else None
    if left.dimension != "%" or right.dimension == "%" or target.dimension == "%" or not same_dimension(target, right):
        return None
    part = right.low * left.low / 100
    if abs(part - target.low) <= CENT:
        return f"{a.shown} of {b.shown}"
    if abs(right.low - part - target.low) <= CENT:
        return f"{b.shown} - {a.shown}"
    return f"{b.shown} + {a.shown}" if abs(right.low + part - target.low) <= CENT else None


def _shifted(target: ShownReading, a: ShownReading, b: ShownReading) -> str | None:
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


def _elapsed(target: ShownReading, a: ShownReading, b: ShownReading) -> str | None:
    """The days between two dates."""
    if not (isinstance(target.reading, Measure) and isinstance(a.reading, Dates) and isinstance(b.reading, Dates)):
        return None
    first, second = _as_date(b.reading.first), _as_date(a.reading.first)
    known = (a.reading.first.year is None) == (b.reading.first.year is None)
    if target.reading.dimension != "time" or not (first and second and known) or second <= first:
        return None
    return f"{a.shown} - {b.shown}" if target.reading.low == (second - first).days * 1440 else None


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


def size_in(value: Value, target: Measure) -> Decimal | None:
    """The value in the target's unit, in any of its readings."""
    for reading in value.readings:
        if isinstance(reading, Measure) and reading.dimension and same_dimension(reading, target):
            return reading.low
    return None
