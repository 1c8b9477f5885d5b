"""Normalised text -> typed values: one pass over the lexemes, the first grammar that fits takes them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache

from touchstone.core.reading import UNNAMED_CURRENCY, Contact, Fact, Measure, Value, holding
from touchstone.text.amounts import FRACTIONS, TIMES, always, amount, fraction, says_free
from touchstone.text.dates import (
    MONTHS,
    ORDINAL_WORDS,
    RELATIVE,
    WEEK_SPANS,
    WEEKDAYS,
    is_relative_weekday,
    relative_date,
    written_date,
)
from touchstone.text.identifiers import JOINTS, SIGNS, code_end, is_label, is_numbered
from touchstone.text.lexemes import Found, Lexemes
from touchstone.text.normalise import Normal
from touchstone.text.numbers import DOZEN, ONES, SCALES, TENS
from touchstone.text.times import NAMED, time
from touchstone.text.units import ADVERBS, PERIODS, currency_before

# The words a value can begin with, apart from figures, signs and codes.
STARTS = frozenset(
    {*ONES, *TENS, *SCALES, *DOZEN, *MONTHS, *WEEKDAYS, *WEEK_SPANS, *ORDINAL_WORDS, *NAMED, *FRACTIONS, *TIMES, *SIGNS}
    | {"a", "an", "another", "half", "quarter", "round", "free"}
)
# Common words, which begin a value only where a phrase says that something is free.
FREE_STARTS = frozenset({"for", "at", "no", "without"})
RELATIVE_STARTS = frozenset({*RELATIVE, "next", "this", "last", "coming", "the", "in"})
SENTENCE_END = re.compile(r"[.!?;\n]\s")
# A unit is carried over at most so many characters.
ELLIPSIS = 80
# The parts of a key or header that may name a unit: `feeUsd`, `max_weight_kg`, `Price (£)`.
KEY_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\w\s()_.,:;-]")
MEASURED = frozenset({"money", "duration", "percent", "quantity"})
SCALE_CUES = frozenset({"scale", "star", "stars", "score", "rate", "rating"})
# Emergency services and crisis lines: no company's to invent. https://en.wikipedia.org/wiki/List_of_emergency_telephone_numbers
HELPLINES = frozenset("999 911 112 111 101 105 000 110 118 119 988 211 311 811 116123 116000 116111".split())
CALLING = frozenset("call calls calling ring phone dial text contact on number or and line".split())
MINOR = frozenset({"cent", "cents", "minor"})
RATIO_KEYS = frozenset({"ratio", "share", "fraction", "utilisation", "utilization", "progress"})
LONGEST_KEY = 4
MONEY_KEYS = frozenset(
    "price cost fee amount balance total subtotal charge charges refund payment due credit debit deposit paid fare "
    "rent premium excess tax surcharge salary outstanding owed savings spent".split()
)
# A text with more values is a table of data; those behind are not read.
MAX_VALUES = 5_000
YEAR_CUES = frozenset("in since of by until from during after before".split())


def find_values(normal: Normal, contacts: tuple[Contact, ...], *, today: date | None = None) -> tuple[Value, ...]:
    """All typed values in order; figures inside contacts and identifiers are none."""
    lexemes = Lexemes(normal.text)
    values: list[Value] = []
    index = 0
    while index < len(lexemes) and len(values) < MAX_VALUES:
        lexeme = lexemes[index]
        if not _may_start(lexemes, index, dated=today is not None) or (
            contacts and holding(contacts, normal.span(lexeme.start, lexeme.end).start)
        ):
            index += 1
            continue
        value, index = _next_value(lexemes, index, today)
        if value:
            start, end = normal.span(value.start, value.end)
            values.append(Value(value.kind, start, end, value.canonical, value.readings))
    return tuple(_with_units_before(values, normal))


def _next_value(lexemes: Lexemes, index: int, today: date | None) -> Found[Value] | Found[None]:
    """The value that starts here, or None and where to read on."""
    found = _value(lexemes, index, today)
    code = code_end(lexemes, index)
    if code is not None and (found is None or found.end < code or found.item.kind == "number"):
        return Found(None, code)
    if found is None:
        return Found(None, index + 1)
    is_bare = found.end == index + 1 and found.item.kind in ("number", "date") and lexemes[index].is_figure
    is_name = (is_bare and is_label(lexemes, index)) or is_numbered(lexemes, index, found)
    return Found(None, found.end) if is_name or _is_no_figure(lexemes, index, found) else found


def _with_units_before(values: Sequence[Value], normal: Normal) -> Iterator[Value]:
    measured: Value | None = None
    for value in values:
        yield _with_unit_before(value, measured, normal) if measured and value.kind == "number" else value
        measured = measured if value.kind == "number" else value


def _with_unit_before(value: Value, before: Value, normal: Normal) -> Value:
    """`the trace takes 10 minutes, the talk 20`: a bare number may also be read in the unit of the value before it."""
    number, unit = value.readings[0], before.readings[0]
    between = normal.text[normal.at(before.end) : normal.at(value.start)]
    if before.kind not in MEASURED or not (isinstance(number, Measure) and isinstance(unit, Measure)):
        return value
    if SENTENCE_END.search(between) or len(between) > ELLIPSIS:
        return value
    shown = before.canonical.split("-")[-1].split()[0].strip("$%")
    try:
        factor = unit.high / Decimal(shown)
    except ArithmeticError:
        return value
    measure = Measure(number.low * factor, number.high * factor, unit.dimension)
    return replace(value, readings=(*value.readings, measure))


def _is_no_figure(lexemes: Lexemes, index: int, found: Found[Value]) -> bool:
    """A scale (`from 1 to 5 stars`, `nine times out of ten`) or a helpline: no figure that a source has to state."""
    before, after = lexemes[index - 1].text, lexemes[found.end].text
    if found.item.kind in ("number", "quantity"):
        ranged = before in ("to", "-") or after in ("to", "-") or "-" in found.item.canonical
        if ranged and not SCALE_CUES.isdisjoint(lexemes.texts(index - 6, found.end + 4)):
            return True
        if before == "of" and lexemes[index - 2].text == "out" and found.end == index + 1:
            return True
    is_parted = found.item.kind == "number" and lexemes[found.end].is_figure
    digits = "".join(lexemes.texts(index, found.end + is_parted))
    return digits in HELPLINES and not CALLING.isdisjoint(lexemes.texts(index - 5, index))


def with_units(values: Sequence[Value], raw: str, facts: Sequence[Fact]) -> tuple[Value, ...]:
    """The values, bare numbers of fields and cells with the unit that their key or header gives them."""
    cells = [fact for fact in facts if fact.is_cell and fact.key]
    found = list(values)
    for number, value in enumerate(values):
        cell = holding(cells, value.start) if cells and value.kind == "number" else None
        if cell and value.end <= cell.end:
            found[number] = _with_unit(value, raw[value.start : value.end], cell)
    return tuple(found)


def _with_unit(value: Value, written: str, cell: Fact) -> Value:
    """`data_limit_gb` 5 -> 5 GB, `Price (£)` 12 -> £12, `total_due` 45.9 -> 45.9 of some currency."""
    words = [word.casefold() for word in KEY_WORDS.findall(cell.key)]
    per = next((at for at, word in enumerate(words) if word in ("per", "/")), len(words))
    period = next((PERIODS.get(word) or ADVERBS[word] for word in words if word in PERIODS or word in ADVERBS), "")
    is_rate = bool(period) and (per == 0 or words[-1] in ADVERBS)
    is_money = is_rate or (len(words) <= LONGEST_KEY and not MONEY_KEYS.isdisjoint(words))
    units = [*reversed(words[:per]), *((cell.currency,) if is_money else ())]
    measured = [found for unit in units if (found := _measured(written, unit))]
    # `unit_p_kwh` is a price; what it is the price of comes behind.
    found = next((each for each in measured if each.kind == "money"), None) or next(
        (each for each in measured if each.kind == "percent" or not is_money), None
    )
    if found and found.kind == "money" and not MINOR.isdisjoint(words):
        found = _in_currency(found, cell.currency)
    if found:
        return replace(found, start=value.start, end=value.end, readings=(*found.readings, *value.readings))
    measure = value.readings[0]
    if not isinstance(measure, Measure):
        return value
    if not RATIO_KEYS.isdisjoint(words) and 0 < measure.high <= 1:
        percent = Measure(measure.low * 100, measure.high * 100, "%")
        shown = f"{percent.low.normalize():f}%"
        return replace(value, kind="percent", canonical=shown, readings=(percent, *value.readings))
    if not is_money:
        return value
    sum_ = replace(measure, dimension=UNNAMED_CURRENCY, qualifier=period)
    return replace(value, kind="money", readings=(sum_, *value.readings))


def _in_currency(value: Value, currency: str) -> Value:
    """An amount in cents, of the currency that its record names, or of none in particular."""
    known = _measured("1", currency) if currency else None
    unit = known.readings[0] if known else None
    dimension = unit.dimension if isinstance(unit, Measure) else UNNAMED_CURRENCY
    measures = [reading for reading in value.readings if isinstance(reading, Measure)]
    return replace(value, readings=tuple(replace(measure, dimension=dimension) for measure in measures))


@lru_cache(maxsize=4096)
def _measured(written: str, unit: str) -> Value | None:
    """A number with a unit behind or before it, where the two make one value."""
    for text in (f"{written} {unit}", f"{written}{unit}", f"{unit}{written}"):
        values = find_values(Normal(text), ())
        if len(values) != 1 or (values[0].start, values[0].end) != (0, len(text)):
            continue
        measure = values[0].readings[0]
        if values[0].kind != "number" and isinstance(measure, Measure) and not measure.dimension.startswith("count:"):
            return values[0]
    return None


def _may_start(lexemes: Lexemes, index: int, *, dated: bool) -> bool:
    """Whether any grammar could begin here: most words begin none, and looking costs more than reading on."""
    lexeme = lexemes[index]
    if lexeme.text in STARTS or lexeme.is_figure or currency_before(lexemes, index):
        return True
    following = lexemes[index + 1]
    if lexeme.text in FREE_STARTS and (following.glued or says_free(lexemes, index)):
        return True
    if following.glued and following.is_figure:
        # The T of 2024-05-17T15:00 begins nothing.
        return not (lexeme.text == "t" and lexeme.glued and lexemes[index - 1].is_figure)
    # `TR-88213`; the full stop behind a sentence joins nothing.
    if following.glued and following.text in JOINTS and lexeme.is_word and lexemes[index + 2].glued:
        return True
    return dated and lexeme.text in RELATIVE_STARTS


def _value(lexemes: Lexemes, index: int, today: date | None) -> Found[Value] | None:
    if today and (relative := relative_date(lexemes, index, today=today)):
        return relative
    if is_relative_weekday(lexemes, index):
        return None
    part = fraction(lexemes, index)
    dated, sized = written_date(lexemes, index), amount(lexemes, index, part=part)
    if dated and sized and sized.item.kind == "quantity" and lexemes[index - 1].text in YEAR_CUES:
        return dated  # "as of 2016 customers can …"
    if part and not (sized and sized.end > part.end):
        return part
    # The longest reading; dates before times before amounts when they are equal.
    readings = [found for found in (dated, time(lexemes, index), sized) if found]
    return always(lexemes, index) or max(readings, key=lambda found: found.end, default=None)
