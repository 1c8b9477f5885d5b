"""Normalised text -> typed values: one pass over the lexemes, the first grammar that fits takes them."""

from bisect import bisect_right
from datetime import date

from touchstone.core.reading import Contact, Value
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
from touchstone.text.units import currency_before

# The words a value can begin with, apart from figures, signs and codes.
STARTS = frozenset(
    {*ONES, *TENS, *SCALES, *DOZEN, *MONTHS, *WEEKDAYS, *WEEK_SPANS, *ORDINAL_WORDS, *NAMED, *FRACTIONS}
    | {"a", "an", "another", "half", "quarter", "twice", "thrice", "once", "round", "free", "#", "№"}
)
# `for`, `at`, `no`, `without`: common words, which begin a value only where one of these phrases stands.
FREE_STARTS = frozenset(phrase[0] for phrase in FREE)
RELATIVE_STARTS = frozenset({*RELATIVE, "next", "this", "last", "coming", "the", "in"})
YEAR_CUES = frozenset("in since of by until from during after before".split())


def find_values(normal: Normal, contacts: tuple[Contact, ...], *, today: date | None = None) -> tuple[Value, ...]:
    """All typed values in order; figures inside contacts and identifiers are none."""
    lexemes = lex(normal.text)
    spans = [(contact.start, contact.end) for contact in contacts]
    starts = [start for start, _ in spans]
    values: list[Value] = []
    index = 0
    while index < len(lexemes):
        if not _may_start(lexemes, index, dated=today is not None):
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
        start, stop = normal.span(found.item.start, found.item.end)
        values.append(Value(found.item.kind, start, stop, found.item.canonical, found.item.readings))
        index = found.end
    return tuple(values)


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
