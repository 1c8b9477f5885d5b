"""A value of the reply and the values known so far -> whether simple reckoning in up to two steps gives it."""

from collections.abc import Iterable, Sequence
from itertools import islice

from touchstone.core.reading import Dates, Day, Measure, Value
from touchstone.evidence.equality import same_dimension

# Bounds on how many known values are combined; more would reach any figure by chance, and cost time.
MAX_AMOUNTS, MAX_COUNTS, MAX_SHARES = 16, 12, 6
MAX_COUNT = 60
# A converted or rounded measure may be this much off.
ROUNDING = 0.02
# What `less than a third` or `about half` may be off.
ROUGH = 0.2
SAME_PERIOD = 0.1
DAYS_A_WEEK, SCHOOL_WEEK, MONTHS_A_YEAR = 7, 5, 12
MINUTES_A_DAY = 1440
# Days in a month, on average.
MONTH = 30.44


def follows(value: Value, known: Sequence[Value], stated: Sequence[Value], *, shown: bool) -> bool:
    """Whether the value can be worked out; `shown` says that the reply reckons in words."""
    target = value.readings[0]
    if isinstance(target, Dates):
        return _date_follows(target, known, stated)
    if target.low != target.high or not target.low:
        return False
    measures = _measures(known)
    if value.kind == "duration" and any(_about(target, m) for m in measures):
        return True
    if value.kind in ("duration", "time"):
        return shown and _reached(float(target.low), _like(target, measures), _counts(known, stated), [])
    amounts = _like(target, measures)
    if any(m.dimension == target.dimension and _rounds(target, m) for m in measures if target.dimension):
        return True
    return _reached(float(target.low), amounts, _counts(known, stated), _shares(measures)) or any(
        _equal(float(target.low), amount / share) for share in _shares(_measures(stated)) if share for amount in amounts
    )


def is_share(value: Value, beside: Sequence[Value], known: Sequence[Value], *, rough: bool) -> bool:
    """Whether a percentage or fraction is what one known amount makes of another that stands beside it."""
    target = value.readings[0]
    if not isinstance(target, Measure) or target.dimension != "%":
        return False
    slack = float(target.low) / 100 * (ROUGH if rough else ROUNDING)
    wholes = [m for m in _measures(beside) if m.dimension not in ("", "%") and m.low]
    return any(
        abs(float(target.low) / 100 - part / float(whole.low)) <= slack
        for whole in wholes
        for part in _like(whole, _measures(known))
    )


def _measures(values: Iterable[Value]) -> list[Measure]:
    return [m for v in values for m in v.readings[:1] if isinstance(m, Measure)]


def _like(target: Measure, measures: Iterable[Measure]) -> list[float]:
    found = dict.fromkeys(
        float(end)
        for m in measures
        if m.low
        and same_dimension(target, m)
        and (m.dimension or m.low % 1 or m.low > MAX_COUNT or not target.dimension)
        for end in (m.low, m.high)
    )
    return list(islice(found, MAX_AMOUNTS))


def _counts(known: Sequence[Value], stated: Sequence[Value]) -> list[int]:
    found: dict[int, None] = {}
    for value in (*stated, *known):
        measure = value.readings[0]
        if value.kind in ("number", "quantity", "duration") and isinstance(measure, Measure):
            written = value.canonical.split()[0].split("/")[0]
            if written.isdigit() and 2 <= int(written) <= MAX_COUNT:
                found[int(written)] = None
    if any(value.kind == "duration" and value.canonical == "1 week" for value in stated):
        found[SCHOOL_WEEK] = None
    return [*islice(found, MAX_COUNTS), DAYS_A_WEEK, MONTHS_A_YEAR]


def _shares(measures: Iterable[Measure]) -> list[float]:
    return list(islice(dict.fromkeys(float(m.low) / 100 for m in measures if m.dimension == "%"), MAX_SHARES))


def _reached(target: float, amounts: list[float], counts: list[int], shares: list[float]) -> bool:
    """Product, quotient or share of an amount, and that plus or minus another amount or its own like."""
    once = set(amounts)
    for amount in amounts:
        once.update(amount * count for count in counts)
        once.update(amount / count for count in counts)
        for share in shares:
            once.update((amount * share, amount * (1 - share), amount * (1 + share)))
    if any(_equal(target, x) for x in once):
        return True
    return any(_equal(target, x + y) or _equal(target, x - y) or _equal(target, y - x) for x in once for y in amounts)


def _equal(target: float, reached: float) -> bool:
    """To the cent, or to the unit when the reply gives whole units."""
    return abs(target - reached) < (0.5 if target >= 20 and target % 1 == 0 and reached % 1 else 0.006)


def _rounds(target: Measure, other: Measure) -> bool:
    """The same measure in another unit, rounded: 17.6 lb for 8 kg."""
    low, theirs = float(target.low), float(other.low)
    return "count" not in target.dimension and low != theirs and abs(low - theirs) <= ROUNDING * abs(theirs) * 0.25


def _about(target: Measure, other: Measure) -> bool:
    """The same period in another unit, rounded: three months for 12 weeks; working days are no days."""
    spans = ("time", "months")
    if target.dimension == other.dimension or target.dimension not in spans or other.dimension not in spans:
        return False
    return abs(_length(target) - _length(other)) <= SAME_PERIOD * _length(other)


def _date_follows(target: Dates, known: Sequence[Value], stated: Sequence[Value]) -> bool:
    """A day that some known period separates from some known day; parts left unwritten match anything."""
    if target.first.day is None:
        return False
    days = [r.first for v in known for r in v.readings if isinstance(r, Dates) and r.first.day is not None]
    spans = [r for v in (*known, *stated) for r in v.readings[:1] if isinstance(r, Measure) and v.kind == "duration"]
    return any(_apart(target.first, day, span) for day in islice(days, MAX_AMOUNTS) for span in spans)


def _apart(target: Day, day: Day, span: Measure) -> bool:
    """Whether the period leads from one day to the other, give or take what months and weekends differ in length."""
    length = _length(span)
    if target.month is None or day.month is None:
        gap = float(((target.day or 0) - (day.day or 0)) % 30)
        return min(abs(gap - length % 30), abs(30 - gap - length % 30)) <= 1
    gap = (target.month - day.month) * MONTH + (target.day or 0) - (day.day or 0)
    if span.dimension == "business":
        return length <= abs(gap) <= 1.4 * length + 3
    slack = 1.6 if length < 100 else 3.0
    return any(abs(abs(gap + year) - length) <= slack for year in (0.0, 12 * MONTH, -12 * MONTH))


def _length(span: Measure) -> float:
    if span.dimension == "months":
        return float(span.high) * MONTH
    return float(span.high) if span.dimension in ("business", "nights") else float(span.high) / MINUTES_A_DAY
