"""Two typed values -> do they say the same, nearly the same, or could they contradict each other."""

import calendar
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal

from touchstone.core.reading import UNNAMED_CURRENCY, Dates, Day, Measure, Text, Value
from touchstone.text.amounts import FREE_DIMENSION, HOURS_A_WEEK
from touchstone.text.times import CLOCK

# A sign that several currencies share, and those currencies.
SHARED_SIGNS = {"$": frozenset("USD AUD CAD NZD SGD HKD MXN".split()), "kr": frozenset("SEK NOK DKK".split())}
BARE = ""
# Free of charge, and the price of a record that names no currency.
ANY_MONEY = frozenset({FREE_DIMENSION, UNNAMED_CURRENCY})
# Minutes and months rarely measure the same thing: further apart than this, two durations do not contradict each other.
MAX_DURATION_RATIO = 100
MINUTES = {"time": 1, "business": 1440, "business hour": 60, "months": 43_200, "nights": 1440}
# How far a rounded value may lie from the exact one, as a share of it, and a time of day in minutes.
ROUNDING = Decimal("0.06")
ROUNDED_MINUTES = 20
QUARTER = 15
# What says before a value that it is rounded: how much of the tolerance holds below and above it.
ROUNDED = (
    (r"\b(?:just (?:over|after|above|past)|shortly after|a little (?:over|more than|after)|a bit over)", (0, 1)),
    (r"\b(?:almost|nearly|just (?:under|before|below|short of)|shortly before|a little (?:under|less than))", (1, 0)),
    (r"(?:\b(?:about|around|roughly|approximately|approx\.?|circa|some|close to|or so)|[~≈])", (1, 1)),
)
BEFORE = tuple((re.compile(rf"{words}\s{{0,2}}$", re.IGNORECASE), sides) for words, sides in ROUNDED)
OR_SO = re.compile(r"\s{0,2}or so\b", re.IGNORECASE)
REACH = 24


def same(value: Value, other: Value) -> bool:
    """Whether any reading of one equals any reading of the other, as a whole."""
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
    return _is_of(value, HOURS_A_WEEK)


def is_free(value: Value) -> bool:
    """`free`, which goes with any other price: free at first, free above a sum."""
    return _is_of(value, FREE_DIMENSION)


def ends(value: Value) -> tuple[Value, Value]:
    """A range as its two ends, each a value of its own."""
    low, high = zip(*map(_ends, value.readings), strict=True)
    return replace(value, readings=low), replace(value, readings=high)


def comparable(value: Value, other: Value) -> bool:
    """Whether both measure the same sort of thing, so that different values can contradict each other."""
    return any(_comparable(a, b) for a in value.readings for b in other.readings)


def is_about(reply: Text, value: Value, stated: Value) -> bool:
    """Whether the reply gives the stated value in round figures, and says so: `about $100` for 100.30."""
    before = reply.raw[max(0, value.start - REACH) : value.start]
    sides = next((sides for words, sides in BEFORE if words.search(before)), None)
    if sides is None and OR_SO.match(reply.raw, value.end):
        sides = (1, 1)
    if sides is None or is_range(value):
        return False
    return any(_is_near(a, b, *sides) for a in value.readings for b in stated.readings)


def same_dimension(a: Measure, b: Measure) -> bool:
    """Whether two measures can be added: equal units, a `$` of any country, a bare number with a count or sum."""
    one, other = a.dimension, b.dimension
    if one == other or other in SHARED_SIGNS.get(one, ()) or one in SHARED_SIGNS.get(other, ()):
        return True
    if one in ANY_MONEY or other in ANY_MONEY:
        return all(_is_money(dimension) or dimension in ANY_MONEY for dimension in (one, other))
    unit = one or other
    return BARE in (one, other) and (unit.startswith("count:") or unit == "%" or _is_money(unit))


def agrees(day: Day, known: Day) -> bool:
    """Whether a written day is the known one as far as both say; the known may be fuller, or lack month and year."""
    parts = ((day.day, known.day), (day.month, known.month), (day.year, known.year))
    if any(ours is not None and theirs is not None and ours != theirs for ours, theirs in parts):
        return False
    # The finest part that is written has to be known.
    if any(theirs is None for theirs in [theirs for ours, theirs in parts if ours is not None][:1]):
        return False
    ours, theirs = _weekday(day), _weekday(known)
    if day.weekday is not None and theirs is None:
        return day.day is not None
    if known.weekday is not None and ours is not None and day.weekday is None and known.day is None:
        return False
    return ours is None or theirs is None or ours == theirs


def _is_of(value: Value, dimension: str) -> bool:
    reading = value.readings[0]
    return isinstance(reading, Measure) and reading.dimension == dimension


def _is_money(dimension: str) -> bool:
    is_code = len(dimension) == 3 and dimension.isupper()
    return is_code or dimension in SHARED_SIGNS or dimension == UNNAMED_CURRENCY


def _is_near(a: Measure | Dates, b: Measure | Dates, below: int, above: int) -> bool:
    if not (isinstance(a, Measure) and isinstance(b, Measure) and same_dimension(a, b)):
        return False
    if a.dimension == CLOCK:
        room = Decimal(ROUNDED_MINUTES if a.low % QUARTER == 0 else 0)
    else:
        room = ROUNDING * max(abs(a.low), abs(b.low)) if _digits(a.low) < _digits(b.low) else Decimal(0)
    return a.low - below * room <= b.low <= a.low + above * room


def _digits(figure: Decimal) -> int:
    """How many digits a figure has up to its last that is not 0: a round one has few."""
    return len(figure.normalize().as_tuple().digits) if figure else 0


def _same_reading(a: Measure | Dates, b: Measure | Dates) -> bool:
    if isinstance(a, Measure) and isinstance(b, Measure):
        is_share = a.dimension == "%"
        period = a.qualifier == b.qualifier or not a.qualifier or not b.qualifier
        equal = _equal(a.low, b.low, is_share=is_share) and _equal(a.high, b.high, is_share=is_share)
        return equal and period and same_dimension(a, b)
    if isinstance(a, Dates) and isinstance(b, Dates):
        return agrees(a.first, b.first) and agrees(a.last, b.last)
    return _same_year(a, b) or _same_year(b, a)


def _equal(a: Decimal, b: Decimal, *, is_share: bool) -> bool:
    """Equal; a share written as a fraction, which has endless decimals, is equal to its rounded percentage."""
    if a == b or not is_share:
        return a == b
    is_fraction = any(each % 1 and -int(each.as_tuple().exponent) > 4 for each in (a, b))
    return is_fraction and abs(a - b) < Decimal("0.5")


def _same_year(a: Measure | Dates, b: Measure | Dates) -> bool:
    """A bare 2025 may be a year or a number."""
    if not (isinstance(a, Dates) and isinstance(b, Measure)):
        return False
    bare_year = a.first == a.last and a.first == Day(year=a.first.year)
    return bare_year and b.low == b.high == a.first.year and b.dimension == BARE


def _weekday(day: Day) -> int | None:
    if day.weekday is not None:
        return day.weekday
    if day.year and day.month and day.day and day.day <= calendar.monthrange(day.year, day.month)[1]:
        return date(day.year, day.month, day.day).weekday()
    return None


def _ends(reading: Measure | Dates) -> tuple[Measure | Dates, Measure | Dates]:
    if isinstance(reading, Measure):
        return replace(reading, high=reading.low), replace(reading, low=reading.high)
    return Dates(reading.first, reading.first), Dates(reading.last, reading.last)


def _comparable(a: Measure | Dates, b: Measure | Dates) -> bool:
    if isinstance(a, Dates) and isinstance(b, Dates):
        return _comparable_days(a.first, b.first) and not _is_vaguer(b.first, a.first)
    if not (isinstance(a, Measure) and isinstance(b, Measure)):
        return False
    if HOURS_A_WEEK in (a.dimension, b.dimension):
        return a.dimension == b.dimension
    if a.dimension in MINUTES and b.dimension in MINUTES:
        short, long = sorted((a.high * MINUTES[a.dimension], b.high * MINUTES[b.dimension]))
        return not short or long / short <= MAX_DURATION_RATIO
    both_money = _is_money(a.dimension) and _is_money(b.dimension)
    return both_money or a.dimension == b.dimension or (BARE not in (a.dimension, b.dimension) and same_dimension(a, b))


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
