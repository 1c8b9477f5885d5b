"""Whether a value that the reply rounds is near enough to one a source states: `about $100` for 100.30."""

import re
from decimal import Decimal

from touchstone.core.reading import Measure, Text, Value
from touchstone.evidence.equality import is_range, same_dimension

# How far a rounded value may lie from the exact one, as a share of it, and a time of day in minutes.
ROUNDING = Decimal("0.06")
MINUTES = 20
QUARTER = 15
CLOCK = "clock"
ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|circa|some|close to|or so)|[~≈])\s{0,2}$", re.IGNORECASE
)
BELOW = re.compile(
    r"\b(?:almost|nearly|just (?:under|before|below|short of)|shortly before|a little (?:under|less than))\s{0,2}$",
    re.IGNORECASE,
)
ABOVE = re.compile(
    r"\b(?:just (?:over|after|above|past)|shortly after|a little (?:over|more than|after)|a bit over)\s{0,2}$",
    re.IGNORECASE,
)
OR_SO = re.compile(r"\s{0,2}or so\b", re.IGNORECASE)
REACH = 24


def is_about(reply: Text, value: Value, stated: Value) -> bool:
    """Whether the reply gives the stated value in round figures, and says so."""
    before = reply.raw[max(0, value.start - REACH) : value.start]
    if ABOVE.search(before):
        low, high = Decimal(0), Decimal(1)
    elif BELOW.search(before):
        low, high = Decimal(1), Decimal(0)
    elif ABOUT.search(before) or OR_SO.match(reply.raw, value.end):
        low = high = Decimal(1)
    else:
        return False
    return any(_is_near(a, b, low, high) for a in value.readings for b in stated.readings) and not is_range(value)


def _is_near(a: object, b: object, low: Decimal, high: Decimal) -> bool:
    """`low` and `high` say how much of the tolerance holds below and above the reply's value."""
    if not (isinstance(a, Measure) and isinstance(b, Measure) and same_dimension(a, b)):
        return False
    if a.dimension == CLOCK:
        room = Decimal(MINUTES if a.low % QUARTER == 0 else 0)
    else:
        room = ROUNDING * max(abs(a.low), abs(b.low)) if _digits(a.low) < _digits(b.low) else Decimal(0)
    return a.low - low * room <= b.low <= a.low + high * room


def _digits(figure: Decimal) -> int:
    """How many digits a figure has up to its last that is not 0: a round one has few."""
    return len(figure.normalize().as_tuple().digits) if figure else 0
