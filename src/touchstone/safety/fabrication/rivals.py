"""Values of the reply beside the source's nearest sentence -> findings: that sentence gives another value.

`Payment is taken on Tuesday morning` repeats `Payment is taken on Wednesday morning` but for the day. The value may
stand elsewhere in the sources; what counts is the sentence that speaks of the same thing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from touchstone.core.reading import Dates, Reading, Sentence, Text, Value
from touchstone.core.result import Evidence
from touchstone.evidence.equality import comparable, is_range, same
from touchstone.evidence.places import in_value, sentence_at
from touchstone.safety.fabrication.arithmetic import follows
from touchstone.safety.fabrication.findings import (
    MAX_VALUES,
    Finding,
    Known,
    Place,
    content,
    group,
    is_question,
    words_between,
)
from touchstone.safety.fabrication.premises import is_premise
from touchstone.safety.fabrication.wordings import is_case_of, is_said_otherwise

KINDS = frozenset({"date", "duration", "percent", "time", "money", "quantity"})
# Share of the reply's sentence that the rival's must say, how much less of it the value's own home may say, and how
# many terms must be shared.
ALIKE, APART, MIN_SHARED = 0.6, 0.5, 2


class Rival(NamedTuple):
    """A value of a source and how much of the reply's sentence stands around it."""

    place: Place
    likeness: float
    shared: int


def rivals(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each value in whose place the nearest sentence of the sources holds another."""
    reply = reading.reply
    around: dict[tuple[str, int], frozenset[str]] = {}
    for value in reply.values[:MAX_VALUES]:
        sentence = sentence_at(reply, value.start)
        if not _is_term(reply, value) or sentence is None or is_question(reply, sentence):
            continue
        if is_said_otherwise(reading, value, known):
            continue
        stated = [v for v in reply.values[:MAX_VALUES] if sentence.start <= v.start < sentence.end]
        if len([v for v in stated if v.kind == value.kind]) > 1:
            continue
        said = _around(reply, sentence)
        near = [_rival(said, place, around) for place in known.places if place.value.kind == value.kind]
        own = [r for r in near if same(value, r.place.value)]
        if any(r.place.source not in known.contexts for r in own):
            continue
        homes = [r.likeness for r in own]
        others = [r for r in near if _opposes(r, value, known)]
        best = max(others, key=lambda r: r.likeness, default=None)
        if best is None or best.likeness < ALIKE or best.shared < MIN_SHARED or is_case_of(reply, value, *best.place):
            continue
        if max(homes, default=0.0) > best.likeness - APART or (
            not homes and _is_derived(reading, sentence, value, known)
        ):
            continue
        source, rival = best.place
        shown = source.raw[rival.start : rival.end]
        evidence = Evidence(source.name, rival.start, rival.end, shown)
        reason = f"the reply says {reply.raw[value.start : value.end]}, the source says {shown} here"
        yield Finding(value.start, value.end, 1.0, reason, (evidence,))


def _is_term(reply: Text, value: Value) -> bool:
    """Whether a value can be a term of business: no range, no bare year or month, no `a week`."""
    if value.kind not in KINDS or is_range(value):
        return False
    first = value.readings[0]
    if isinstance(first, Dates):
        return first.first.day is not None or first.first.weekday is not None
    return any(char.isdigit() for char in reply.raw[value.start : value.end])


def _is_derived(reading: Reading, sentence: Sentence, value: Value, known: Known) -> bool:
    """Whether the value is the customer's own, an example, or worked out from others that the sentence speaks of."""
    reply = reading.reply
    if value.kind == "quantity" or is_premise(reply, value):
        return True
    beside = [v for v in reply.values[:MAX_VALUES] if v is not value and sentence.start <= v.start < sentence.end]
    if not beside and group("arithmetic").isdisjoint(words_between(reply, sentence.start, sentence.end)):
        return follows(value, [place.value for place in known.places], (), shown=False) and value.kind == "duration"
    return follows(value, [place.value for place in known.places], reply.values[:MAX_VALUES], shown=True)


def _opposes(rival: Rival, value: Value, known: Known) -> bool:
    source, other = rival.place
    if source not in known.contexts or same(value, other) or is_range(other) or not comparable(value, other):
        return False
    return other.canonical != "free" and value.canonical != "free" and not _has(source, other, value)


def _has(source: Text, other: Value, value: Value) -> bool:
    """Whether the sentence of one value also holds the other, or several of its kind."""
    sentence = sentence_at(source, other.start)
    inside = [
        v for v in source.values if sentence and sentence.start <= v.start < sentence.end and v.kind == value.kind
    ]
    return len(inside) > 1


def _rival(said: frozenset[str], place: Place, around: dict[tuple[str, int], frozenset[str]]) -> Rival:
    sentence = sentence_at(place.source, place.value.start)
    if sentence is None or not said:
        return Rival(place, 0.0, 0)
    key = (place.source.name, sentence.start)
    if key not in around:
        around[key] = _around(place.source, sentence)
    shared = len(said & around[key])
    return Rival(place, shared / len(said), shared)


def _around(text: Text, sentence: Sentence) -> frozenset[str]:
    """What a sentence says beside its values."""
    first, last = sentence.first, sentence.last
    units = {t.term for t in text.tokens[first:last] if in_value(text, t.start)}
    return content(text, sentence.start, sentence.end) - units
