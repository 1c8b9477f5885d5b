"""Two typed values -> do they say the same, could they contradict each other."""

import calendar
from datetime import date
from decimal import Decimal

from touchstone.core.reading import UNNAMED_CURRENCY, Dates, Day, Measure, Value

# A sign that several currencies share, and those currencies.
SHARED_SIGNS = {
    "$": frozenset({"USD", "AUD", "CAD", "NZD", "SGD", "HKD", "MXN"}),
    "kr": frozenset({"SEK", "NOK", "DKK"}),
}
DURATIONS = frozenset({"time", "months", "business", "business hour", "hours a week", "nights"})
BARE = ""
ALWAYS = "hours a week"
# Free of charge, and the price of a record that names no currency.
FREE = "free"
ANY_MONEY = frozenset({FREE, UNNAMED_CURRENCY})
# Minutes and months rarely measure the same thing: further apart than this, two durations are not rivals.
MAX_DURATION_RATIO = 100
MINUTES = {"time": 1, "business": 1440, "business hour": 60, "months": 43_200, "nights": 1440}


def same(value: Value, other: Value) -> bool:
    """Whether any reading of one equals any reading of the other, as a whole."""
    if len(value.readings) == len(other.readings) == 1:
        return _same_reading(value.readings[0], other.readings[0])
    return any(_same_reading(a, b) for a in value.readings for b in other.readings)


def end_of(value: Value, range_: Value) -> bool:
    """Whether a single value is one end of a range: 5 days in 3-5 days."""
    return any(_same_reading(a, end) for b in range_.readings for end in _ends(b) for a in value.readings)


def is_range(value: Value) -> bool:
    """Whether the value has two different ends."""
    first = value.readings[0]
    return first.low != first.high if isinstance(first, Measure) else first.first != first.last


def is_idiom(value: Value) -> bool:
    """`24/7`: where no source speaks of hours, a way to say `always`, not a figure that is missing."""
    reading = value.readings[0]
    return isinstance(reading, Measure) and reading.dimension == ALWAYS


def is_free(value: Value) -> bool:
    """`free`, which goes with any other price: free at first, free above a sum."""
    reading = value.readings[0]
    return isinstance(reading, Measure) and reading.dimension == FREE


def ends(value: Value) -> tuple[Value, Value]:
    """A range as its two ends, each a value of its own."""
    pairs = [_ends(reading) for reading in value.readings]
    low, high = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    return (
        Value(value.kind, value.start, value.end, value.canonical, low),
        Value(value.kind, value.start, value.end, value.canonical, high),
    )


def comparable(value: Value, other: Value) -> bool:
    """Whether both measure the same sort of thing, so that different values can contradict each other."""
    return any(_comparable(a, b) for a in value.readings for b in other.readings)


def same_dimension(a: Measure, b: Measure) -> bool:
    """Whether two measures can be added: equal units, a `$` of any country, a bare number with a count or sum."""
    if a.dimension == b.dimension or b.dimension in SHARED_SIGNS.get(a.dimension, ()):
        return True
    if a.dimension in SHARED_SIGNS.get(b.dimension, ()):
        return True
    if a.dimension in ANY_MONEY or b.dimension in ANY_MONEY:
        return all(_is_money(measure) or measure.dimension in ANY_MONEY for measure in (a, b))
    bare, other = (a, b) if a.dimension == BARE else (b, a)
    return bare.dimension == BARE and (
        other.dimension.startswith("count:") or other.dimension == "%" or _is_money(other)
    )


def close(a: Decimal, b: Decimal, *, percent: bool = False) -> bool:
    """Equal; a share written as a fraction is equal to its rounded percentage."""
    if a == b:
        return True
    rounded = percent and (a % 1 or b % 1)
    return bool(rounded) and abs(a - b) < Decimal("0.5") and (-a.as_tuple().exponent > 4 or -b.as_tuple().exponent > 4)  # type: ignore[operator]


def _is_money(measure: Measure) -> bool:
    return (
        measure.dimension in SHARED_SIGNS
        or measure.dimension == UNNAMED_CURRENCY
        or (len(measure.dimension) == 3 and measure.dimension.isupper())
    )


def _same_reading(a: Measure | Dates, b: Measure | Dates) -> bool:
    if isinstance(a, Measure) and isinstance(b, Measure):
        percent = a.dimension == "%"
        period = a.qualifier == b.qualifier or not a.qualifier or not b.qualifier
        equal = close(a.low, b.low, percent=percent) and close(a.high, b.high, percent=percent)
        return equal and period and same_dimension(a, b)
    if isinstance(a, Dates) and isinstance(b, Dates):
        return agrees(a.first, b.first) and agrees(a.last, b.last)
    return _same_year(a, b) or _same_year(b, a)


def _same_year(a: Measure | Dates, b: Measure | Dates) -> bool:
    """A bare 2025 may be a year or a number."""
    if not (isinstance(a, Dates) and isinstance(b, Measure)):
        return False
    bare_year = a.first == a.last and a.first == Day(year=a.first.year)
    return bare_year and b.low == b.high == a.first.year and b.dimension == BARE


def agrees(day: Day, known: Day) -> bool:
    """Whether a written day is the known one as far as both say; the known may be fuller, or lack month and year."""
    for part in ("year", "month", "day"):
        ours, theirs = getattr(day, part), getattr(known, part)
        if ours is not None and theirs is not None and ours != theirs:
            return False
    if day.day is not None and known.day is None:
        return False
    if day.day is None and day.month is not None and known.month is None:
        return False
    if day.month is None and day.day is None and day.year is not None and known.year is None:
        return False
    ours, theirs = _weekday(day), _weekday(known)
    if day.weekday is not None and theirs is None:
        return day.day is not None
    if known.weekday is not None and ours is not None and day.weekday is None and known.day is None:
        return False
    return ours is None or theirs is None or ours == theirs


def _weekday(day: Day) -> int | None:
    if day.weekday is not None:
        return day.weekday
    if day.year and day.month and day.day and day.day <= calendar.monthrange(day.year, day.month)[1]:
        return date(day.year, day.month, day.day).weekday()
    return None


def _ends(reading: Measure | Dates) -> tuple[Measure | Dates, Measure | Dates]:
    if isinstance(reading, Measure):
        low = Measure(reading.low, reading.low, reading.dimension, reading.qualifier)
        return low, Measure(reading.high, reading.high, reading.dimension, reading.qualifier)
    return Dates(reading.first, reading.first), Dates(reading.last, reading.last)


def _comparable(a: Measure | Dates, b: Measure | Dates) -> bool:
    if isinstance(a, Dates) and isinstance(b, Dates):
        return _comparable_days(a.first, b.first) and not _is_vaguer(b.first, a.first)
    if not (isinstance(a, Measure) and isinstance(b, Measure)):
        return False
    if ALWAYS in (a.dimension, b.dimension):
        return a.dimension == b.dimension
    if a.dimension in DURATIONS and b.dimension in DURATIONS:
        return _duration_ratio(a, b) <= MAX_DURATION_RATIO
    bare = BARE in (a.dimension, b.dimension) and a.dimension != b.dimension
    return (same_dimension(a, b) and not bare) or (_is_money(a) and _is_money(b))


def _duration_ratio(a: Measure, b: Measure) -> Decimal:
    if a.dimension not in MINUTES or b.dimension not in MINUTES:
        return Decimal(1)
    short, long = sorted((a.high * MINUTES[a.dimension], b.high * MINUTES[b.dimension]))
    return long / short if short else Decimal(1)


def _is_vaguer(known: Day, day: Day) -> bool:
    """Whether the known day is merely less exact: March 2025 does not contradict 3 March 2025."""
    shared = [(k, d) for k, d in zip(known[:3], day[:3], strict=True) if k is not None]
    return bool(shared) and known.day is None and day.day is not None and all(k == d for k, d in shared)


def _comparable_days(a: Day, b: Day) -> bool:
    if a.day is not None or a.month is not None:
        return b.day is not None or b.month is not None
    if a.weekday is not None:
        return b.weekday is not None or b.day is not None
    return b.year is not None
