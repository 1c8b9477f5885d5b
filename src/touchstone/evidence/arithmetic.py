"""Two values -> the formula by which they give a third: sum, difference, share, a day or time so much later."""

import calendar
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from itertools import product
from typing import NamedTuple

from touchstone.core.reading import Dates, Day, Measure, Value
from touchstone.evidence.equality import agrees, same_dimension
from touchstone.text.times import CLOCK

# How far from what is reckoned a value may lie: a sum less than half a cent, a part of one up to that.
SUM_WITHIN, PART_WITHIN = Decimal("0.00499"), Decimal("0.005")
PERCENT_WITHIN = Decimal("0.04999")
DAY = 1440
MAX_DAYS = 36_600
MAX_MONTHS = 1200


class Outcome(NamedTuple):
    """What two values give, the formula that says so, and how far from it a value may lie to be it."""

    result: Decimal
    formula: str
    within: Decimal = Decimal(0)


def formula_of(value: Value, first: Value, second: Value) -> str | None:
    """The formula that gives the value from two others in any of their readings."""
    target = value.readings[0]
    for a, b in product(_readings(first), _readings(second)):
        names = first.canonical, second.canonical
        if found := _combine(target, a, b, *names) or _combine(target, b, a, *reversed(names)):
            return f"{found} = {value.canonical}"
    return None


def _readings(value: Value) -> tuple[Measure | Dates, ...]:
    """The ways to reckon with a value; a bare number only as one, whatever unit the value before it has."""
    return value.readings[:1] if value.kind == "number" else value.readings


def _combine(target: Measure | Dates, a: Measure | Dates, b: Measure | Dates, one: str, other: str) -> str | None:
    if isinstance(a, Dates):
        return _dated(target, a, b, one, other)
    if isinstance(target, Dates) or isinstance(b, Dates):
        return None
    outcomes = _clocked if CLOCK in (a.dimension, target.dimension) else _reckoned
    found = outcomes(target, a, b, one, other)
    return next((each.formula for each in found if abs(each.result - target.low) <= each.within), None)


def _clocked(target: Measure, a: Measure, b: Measure, one: str, other: str) -> Iterator[Outcome]:
    """A time of day some hours before or after another, or the time between two."""
    dimensions = a.dimension, b.dimension, target.dimension
    if dimensions == (CLOCK, CLOCK, "time"):
        yield Outcome((a.low - b.low) % DAY, f"{one} - {other}")
    elif dimensions == (CLOCK, "time", CLOCK) and b.low < DAY:
        # Whole days more or less make no difference to a time of day.
        yield Outcome(target.low + (a.low + b.low - target.low) % DAY, f"{one} + {other}")
        yield Outcome(target.low + (a.low - b.low - target.low) % DAY, f"{one} - {other}")


def _reckoned(target: Measure, a: Measure, b: Measure, one: str, other: str) -> Iterator[Outcome]:
    """A sum or difference; a percentage of a sum, the sum less or plus it, or one sum as a percentage of another."""
    alike = same_dimension(a, b)
    # A count may be added to a bare number, anything else only to its like.
    counts = target.dimension.startswith("count:") and target.dimension in (a.dimension, b.dimension)
    if alike and same_dimension(target, a) and (counts or (a.dimension == "") == (b.dimension == "")):
        yield Outcome(a.low + b.low, f"{one} + {other}", SUM_WITHIN)
        if target.low:
            yield Outcome(a.low - b.low, f"{one} - {other}", SUM_WITHIN)
    if target.dimension == "%" and a.dimension != "%" and alike and b.low:
        yield Outcome(100 * a.low / b.low, f"{one} of {other}", PERCENT_WITHIN)
        less = 100 * (b.low - a.low) / b.low
        if less > 0:
            yield Outcome(less, f"({other} - {one}) of {other}", PERCENT_WITHIN)
    elif a.dimension == "%" and "%" not in (b.dimension, target.dimension) and same_dimension(target, b):
        part = b.low * a.low / 100
        yield Outcome(part, f"{one} of {other}", PART_WITHIN)
        yield Outcome(b.low - part, f"{other} - {one}", PART_WITHIN)
        yield Outcome(b.low + part, f"{other} + {one}", PART_WITHIN)


def _dated(target: Measure | Dates, a: Dates, b: Measure | Dates, one: str, other: str) -> str | None:
    """A date some days or months before or after another, or the days between two."""
    start = _as_date(a.first)
    if start is None:
        return None
    if isinstance(b, Dates):
        other_day, alike = _as_date(b.first), (a.first.year is None) == (b.first.year is None)
        if (
            not (isinstance(target, Measure) and target.dimension == "time" and other_day and alike)
            or start <= other_day
        ):
            return None
        return f"{one} - {other}" if target.low == (start - other_day).days * DAY else None
    if isinstance(target, Measure) or target.first.day is None:
        return None
    for sign, word in ((1, "+"), (-1, "-")):
        day = _shift(start, sign, b)
        if day and agrees(target.first, Day(a.first.year and day.year, day.month, day.day)):
            return f"{one} {word} {other}"
    return None


def _shift(start: date, sign: int, duration: Measure) -> date | None:
    if duration.dimension == "time" and duration.low % DAY == 0 and duration.low < DAY * MAX_DAYS:
        return start + sign * timedelta(days=int(duration.low / DAY))
    if duration.dimension == "months" and duration.low % 1 == 0 and duration.low < MAX_MONTHS:
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
