"""Normalised text -> typed values: one pass over the lexemes, the first grammar that fits takes them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache

from touchstone.core.reading import UNNAMED_CURRENCY, Contact, Fact, Measure, Value
from touchstone.text.amounts import FRACTIONS, FREE, always, amount, fraction, says_free
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
from touchstone.text.identifiers import JOINTS, code_end, is_label, is_numbered
from touchstone.text.lexemes import Found, Lexemes, at, lex
from touchstone.text.normalise import Normal
from touchstone.text.numbers import DOZEN, ONES, SCALES, TENS
from touchstone.text.times import NAMED, time
from touchstone.text.units import ADVERBS, PERIODS, currency_before

# The words a value can begin with, apart from figures, signs and codes.
STARTS = frozenset(
    {*ONES, *TENS, *SCALES, *DOZEN, *MONTHS, *WEEKDAYS, *WEEK_SPANS, *ORDINAL_WORDS, *NAMED, *FRACTIONS}
    | {"a", "an", "another", "half", "quarter", "twice", "thrice", "once", "round", "free", "#", "№"}
)
# `for`, `at`, `no`, `without`: common words, which begin a value only where one of these phrases stands.
FREE_STARTS = frozenset(phrase[0] for phrase in FREE)
RELATIVE_STARTS = frozenset({*RELATIVE, "next", "this", "last", "coming", "the", "in"})
# The parts of a key or header that may name a unit: `feeUsd`, `max_weight_kg`, `Price (£)`.
SENTENCE_END = re.compile(r"[.!?;\n]\s")
# A unit is carried over at most so many characters.
ELLIPSIS = 80
KEY_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\w\s()_.,:;-]")
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
    lexemes = lex(normal.text)
    spans = [(contact.start, contact.end) for contact in contacts]
    starts = [start for start, _ in spans]
    values: list[Value] = []
    index = 0
    while index < len(lexemes) and len(values) < MAX_VALUES:
        if _parts_timestamp(lexemes, index) or not _may_start(lexemes, index, dated=today is not None):
            index += 1
            continue
        place = normal.span(lexemes[index].start, lexemes[index].end).start
        inside = bisect_right(starts, place) - 1
        if inside >= 0 and place < spans[inside][1]:
            index += 1
            continue
        found = _value(lexemes, index, today)
        code = code_end(lexemes, index)
        if code is not None and (found is None or found.end < code or found.item.kind == "number"):
            index = code
            continue
        if found is None:
            index += 1
            continue
        if (_is_bare(lexemes, found, index) and is_label(lexemes, index)) or is_numbered(lexemes, index, found):
            index = found.end
            continue
        if _is_no_figure(lexemes, index, found):
            index = found.end
            continue
        start, stop = normal.span(found.item.start, found.item.end)
        values.append(Value(found.item.kind, start, stop, found.item.canonical, found.item.readings))
        index = found.end
    return tuple(_with_units_before(values, normal))


def _with_units_before(values: Sequence[Value], normal: Normal) -> Iterator[Value]:
    measured: Value | None = None
    for value in values:
        yield _with_unit_before(value, measured, normal)
        measured = measured if value.kind == "number" else value


def _with_unit_before(value: Value, before: Value | None, normal: Normal) -> Value:
    """`the trace takes 10 minutes, the talk 20`: a bare number may also be read in the unit of the value before it."""
    if before is None or value.kind != "number" or before.kind not in ("money", "duration", "percent", "quantity"):
        return value
    bare, unit = value.readings[0], before.readings[0]
    between = normal.text[normal.at(before.end) : normal.at(value.start)]
    if (
        not (isinstance(bare, Measure) and isinstance(unit, Measure))
        or SENTENCE_END.search(between)
        or len(between) > ELLIPSIS
    ):
        return value
    shown = before.canonical.split("-")[-1].split()[0].strip("$%")
    try:
        factor = unit.high / Decimal(shown)
    except ArithmeticError:
        return value
    return replace(value, readings=(*value.readings, Measure(bare.low * factor, bare.high * factor, unit.dimension)))


def _is_no_figure(lexemes: Lexemes, index: int, found: Found[Value]) -> bool:
    """A scale (`from 1 to 5 stars`, `nine times out of ten`) or a helpline: no figure that a source has to state."""
    before, after = at(lexemes, index - 1).text, at(lexemes, found.end).text
    if found.item.kind in ("number", "quantity"):
        near = {at(lexemes, step).text for step in range(index - 6, found.end + 4)}
        ranged = before in ("to", "-") or after in ("to", "-") or "-" in found.item.canonical
        if ranged and not SCALE_CUES.isdisjoint(near):
            return True
        if before == "of" and at(lexemes, index - 2).text == "out" and found.end == index + 1:
            return True
    digits = "".join(lexeme.text for lexeme in lexemes[index : found.end])
    if found.item.kind == "number" and at(lexemes, found.end).is_figure:
        digits += at(lexemes, found.end).text
    return digits in HELPLINES and any(at(lexemes, index - step).text in CALLING for step in range(1, 6))


def with_units(values: Sequence[Value], raw: str, facts: Sequence[Fact]) -> tuple[Value, ...]:
    """The values, bare numbers of fields and cells with the unit that their key or header gives them."""
    cells = [fact for fact in facts if fact.is_cell and fact.key]
    found = list(values)
    for number, value in enumerate(values):
        if value.kind != "number":
            continue
        place = bisect_right(cells, value.start, key=lambda fact: fact.start) - 1
        if place >= 0 and value.end <= cells[place].end:
            found[number] = _with_unit(value, raw[value.start : value.end], cells[place])
    return tuple(found)


def _with_unit(value: Value, written: str, cell: Fact) -> Value:
    """`data_limit_gb` 5 -> 5 GB, `Price (£)` 12 -> £12, `total_due` 45.9 -> 45.9 of some currency."""
    words = [word.casefold() for word in KEY_WORDS.findall(cell.key)]
    per = next((at for at, word in enumerate(words) if word in ("per", "/")), len(words))
    period = next((PERIODS.get(word) or ADVERBS[word] for word in words if word in PERIODS or word in ADVERBS), "")
    is_money = (len(words) <= LONGEST_KEY and not MONEY_KEYS.isdisjoint(words)) or (
        bool(period) and (per == 0 or words[-1] in ADVERBS)
    )
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
    if not RATIO_KEYS.isdisjoint(words) and (share := _share(value)):
        return share
    if not is_money or not isinstance(value.readings[0], Measure):
        return value
    amount = replace(value.readings[0], dimension=UNNAMED_CURRENCY, qualifier=period)
    return replace(value, kind="money", readings=(amount, *value.readings))


def _in_currency(value: Value, currency: str) -> Value:
    """An amount in cents, of the currency that its record names, or of none in particular."""
    known = _measured("1", currency) if currency else None
    unit = known.readings[0] if known else None
    dimension = unit.dimension if isinstance(unit, Measure) else UNNAMED_CURRENCY
    return replace(
        value, readings=tuple(replace(r, dimension=dimension) for r in value.readings if isinstance(r, Measure))
    )


def _share(value: Value) -> Value | None:
    """0.873 -> 87.3 %."""
    measure = value.readings[0]
    if not isinstance(measure, Measure) or not 0 < measure.high <= 1:
        return None
    percent = Measure(measure.low * 100, measure.high * 100, "%")
    return replace(
        value, kind="percent", canonical=f"{percent.low.normalize():f}%", readings=(percent, *value.readings)
    )


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
    if lexeme.is_figure or lexeme.text in STARTS or currency_before(lexemes, index):
        return True
    following = at(lexemes, index + 1)
    if lexeme.text in FREE_STARTS and (following.glued or says_free(lexemes, index)):
        return True
    if following.glued and (following.is_figure or _joins(lexemes, index)):
        return True
    return dated and lexeme.text in RELATIVE_STARTS


def _parts_timestamp(lexemes: Lexemes, index: int) -> bool:
    """The T of 2024-05-17T15:00."""
    parts = lexemes[index].text == "t" and lexemes[index].glued and at(lexemes, index - 1).is_figure
    return parts and at(lexemes, index + 1).glued and at(lexemes, index + 1).is_figure


def _joins(lexemes: Lexemes, index: int) -> bool:
    """`TR-88213`: a word, a joint and what they are joined to; the full stop behind a sentence joins nothing."""
    return lexemes[index].is_word and at(lexemes, index + 1).text in JOINTS and at(lexemes, index + 2).glued


def _value(lexemes: Lexemes, index: int, today: date | None) -> Found[Value] | None:
    relative = relative_date(lexemes, index, today=today) if today else None
    if relative is None and is_relative_weekday(lexemes, index):
        return None
    if relative:
        return relative
    part = fraction(lexemes, index)
    dated, sized = written_date(lexemes, index), amount(lexemes, index, part=part)
    if dated and sized and sized.item.kind == "quantity" and at(lexemes, index - 1).text in YEAR_CUES:
        return dated  # "as of 2016 customers can …"
    if part and not (sized and sized.end > part.end):
        return part
    return always(lexemes, index) or _longest(dated, time(lexemes, index), sized)


def _is_bare(lexemes: Lexemes, found: Found[Value], index: int) -> bool:
    return found.end == index + 1 and found.item.kind in ("number", "date") and lexemes[index].is_figure


def _longest(*found: Found[Value] | None) -> Found[Value] | None:
    """The reading that explains most of the text; dates before times before amounts when they are equal."""
    best = None
    for candidate in found:
        if candidate and (best is None or candidate.end > best.end):
            best = candidate
    return best
