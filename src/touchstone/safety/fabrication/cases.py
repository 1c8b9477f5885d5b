"""A value that the sources hold -> the value they give for the case the reply speaks of, when that is another.

Policies list cases: `Credit card: 3 days. Debit card: 10 days.` A reply that gives the debit card three days states a
value the source holds, for the wrong case.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading, Text, Value
from touchstone.core.result import Evidence
from touchstone.evidence.equality import comparable, end_of, is_range, same
from touchstone.evidence.places import in_value, sentence_at, token_range
from touchstone.safety.fabrication.findings import MAX_VALUES, Known, Place
from touchstone.safety.fabrication.wordings import is_case_of
from touchstone.text.tokens import term

# What a price is for: per adult, a night, each.
PER = re.compile(r" (?:per|for each|for every) ([^\W\d_]{2,20})")
# Where a further clause begins.
JOINT = re.compile(r"[,;] (?:and|but|while|whereas) ")
ITEM = re.compile(r"[,;:]\s")
# The first words of a statement say which case it is about.
LABEL_WORDS = 3
# Cases of one rule stand close together.
NEAR = 200
# `£25; free for children`: one price and its exception.
BESIDE = 24
# A value said again and again is looked up in its first places; a sentence counts as far as this many words from it.
MAX_HOMES = 8
REACH = 60
# A case that begins so is a bound, not a name: Over 32 kg.
COMPARATIVES = frozenset({"over", "under", "abov", "below", "up", "more", "less"})
# Sums are worked out from others too often to be compared by their place.
TERMS = frozenset({"date", "time", "duration", "percent"})


def misplaced(reading: Reading, value: Value, known: Known) -> Evidence | None:
    """The rival value whose case the reply's sentence names, while it does not name the case of its own value."""
    if value.kind == "number" or is_range(value):
        return None
    homes = known.homes(value)[:MAX_HOMES]
    if any(source.name.startswith("input") for source, _ in homes):
        return None
    ours = _named_terms(reading.reply, value)
    found: Evidence | None = None
    for source, home in homes:
        if source.name.startswith("expected"):
            continue
        for rival in _rivals(source, home, value, known):
            own, other = _label(source, home, rival), _label(source, rival, home)
            if not own or not other or other[0] in COMPARATIVES or own[0] in other or other[0] in own:
                continue
            close = _together(source, home, rival) or abs(home.start - rival.start) < BESIDE
            if close and "free" in (rival.canonical, home.canonical):
                continue
            if any(other_home is not home and _is_beside(source, other_home, rival) for _, other_home in homes):
                continue
            if _together(source, home, rival) and (value.kind == "time" or not ours.issuperset(other)):
                continue
            if not ours.isdisjoint(set(own) - set(other)) or _is_nearer(ours, source, home, rival):
                return None
            if other[0] not in ours or _is_stated(reading.reply, rival) or _is_expected(homes, other[0]):
                continue
            found = found or Evidence(source.name, rival.start, rival.end, source.raw[rival.start : rival.end])
    return found


def _is_nearer(ours: frozenset[str], source: Text, home: Value, rival: Value) -> bool:
    """Whether the home's sentence says more of what the reply says than the rival's, or all that the rival's says."""
    if _together(source, home, rival):
        return False
    own, other = (_sentence_terms(source, place, content=True) for place in (home, rival))
    shared = ours & other
    return len(ours & own) > len(shared) or (bool(shared) and shared <= own)


def _is_beside(source: Text, home: Value, rival: Value) -> bool:
    """Whether the value also stands with the rival as its exception: `£25; free for children`."""
    return home.canonical == "free" and home in source.values and abs(home.start - rival.start) < BESIDE


def _is_stated(reply: Text, value: Value) -> bool:
    return any(same(v, value) for v in reply.values[:MAX_VALUES])


def _is_expected(homes: list[Place], name: str) -> bool:
    return any(s.name.startswith("expected") and name in _sentence_terms(s, v) for s, v in homes)


class Share(NamedTuple):
    """What a rate is paid for in the reply and, differently, in the source."""

    end: int
    theirs: str
    evidence: Evidence


def other_share(reply: Text, value: Value, known: Known) -> Share | None:
    """`€17 per room` where every source that knows the price says `€17 per adult`."""
    ours = PER.match(reply.raw, value.end)
    if value.kind != "money" or ours is None:
        return None
    found: Share | None = None
    for source, home in known.homes(value):
        theirs = PER.match(source.raw, home.end)
        if theirs is None or _same_unit(ours[1], theirs[1]):
            return None
        end = theirs.end()
        evidence = Evidence(source.name, home.start, end, source.raw[home.start : end])
        found = found or Share(ours.end(), evidence.text, evidence)
    return found


def _same_unit(ours: str, theirs: str) -> bool:
    groups = resource.group("fabrication.txt", "head")
    one, other = ours.casefold(), theirs.casefold()
    return term(one) == term(other) or (one in groups and other in groups)


def substituted(reply: Text, value: Value, known: Known) -> Evidence | None:
    """The source value in whose place this one stands, beside a value that both share."""
    if value.kind not in TERMS or known.homes(value) or _is_end_asked_for(value, known):
        return None
    ours = _sentence_terms(reply, value, content=True)
    for side in (-1, 1):
        beside = _beside(reply, value, side)
        if beside is None or beside.kind == "number":
            continue
        for source, shared in known.homes(beside)[:MAX_HOMES]:
            rival = _beside(source, shared, -side)
            if rival is None or not source.name.startswith("context") or not _is_rival(reply, value, rival):
                continue
            if is_case_of(reply, value, source, rival):
                continue
            if ours & _sentence_terms(source, rival, content=True):
                return Evidence(source.name, rival.start, rival.end, source.raw[rival.start : rival.end])
    return None


def _is_end_asked_for(value: Value, known: Known) -> bool:
    """`eight weeks` to a customer who was told `6-8 weeks`."""
    return any(
        place.source not in known.contexts and place.value.kind == value.kind and end_of(value, place.value)
        for place in known.places
    )


def _is_rival(reply: Text, value: Value, rival: Value) -> bool:
    alike = rival.kind == value.kind and comparable(value, rival) and is_range(rival) == is_range(value)
    return alike and not same(value, rival) and not _is_stated(reply, rival)


def _beside(text: Text, value: Value, side: int) -> Value | None:
    """The next value in the same sentence, before or after."""
    sentence = sentence_at(text, value.start)
    at = text.values.index(value) + side
    if sentence is None or not 0 <= at < len(text.values):
        return None
    other = text.values[at]
    return other if sentence.start <= other.start < sentence.end else None


def _rivals(source: Text, home: Value, value: Value, known: Known) -> Iterator[Value]:
    for rival in (place.value for place in known.places if place.source is source):
        if rival is home or abs(rival.start - home.start) > NEAR or same(value, rival):
            continue
        if rival.kind == home.kind and comparable(value, rival) and _is_parallel(source, home, rival):
            yield rival


def _together(source: Text, home: Value, rival: Value) -> bool:
    return sentence_at(source, home.start) == sentence_at(source, rival.start)


def _is_parallel(source: Text, home: Value, rival: Value) -> bool:
    """Two statements about the same thing in two cases: they share a term, or count the same things."""
    if home.kind == "quantity" or _together(source, home, rival):
        return True
    return bool(_sentence_terms(source, home, content=True) & _sentence_terms(source, rival, content=True))


def _label(text: Text, value: Value, other: Value) -> tuple[str, ...]:
    """The first content terms of the value's sentence, or of its item where the other stands in the same sentence."""
    sentence = sentence_at(text, value.start)
    if sentence is None:
        return ()
    title = text.raw.find(": ", sentence.start, value.start)
    start = title + 2 if title >= 0 and text.raw.rfind(")", sentence.start, title) == title - 1 else sentence.start
    if sentence.start <= other.start < sentence.end:
        cuts = [m.end() for m in ITEM.finditer(text.raw, max(sentence.start, value.start - NEAR), value.start)]
        start = cuts[-1] if cuts else start
    is_item = start > sentence.start or sentence.start <= other.start < sentence.end
    first, last = token_range(text, start, value.start if is_item else sentence.end)
    filler = resource.words("filler.txt")
    tokens = text.tokens[first : min(last, first + 3 * LABEL_WORDS)]
    terms = [
        t.term
        for t in tokens
        if not (t.is_stop or t.word in filler or in_value(text, t.start)) and len(t.word) > 1 and t.word[0].isalpha()
    ]
    return tuple(terms[:LABEL_WORDS])


def _named_terms(reply: Text, value: Value) -> frozenset[str]:
    """What the value's sentence says as far as the clause behind the value: a later clause speaks of another case."""
    sentence = sentence_at(reply, value.start)
    if sentence is None:
        return frozenset()
    first, last = token_range(reply, value.start, value.end)
    joint = JOINT.search(reply.raw, value.end, sentence.end)
    _, end = token_range(reply, value.start, joint.start() if joint else sentence.end)
    low, high = max(sentence.first, first - REACH), min(end, last + REACH)
    return frozenset(t.term for at, t in enumerate(reply.tokens[low:high], low) if not first <= at < last)


def _sentence_terms(text: Text, value: Value, *, content: bool = False) -> frozenset[str]:
    sentence = sentence_at(text, value.start)
    if sentence is None:
        return frozenset()
    first, last = token_range(text, value.start, value.end)
    low, high = max(sentence.first, first - REACH), min(sentence.last, last + REACH)
    filler = resource.words("filler.txt")
    return frozenset(
        t.term
        for at, t in enumerate(text.tokens[low:high], low)
        if not first <= at < last and not (content and (t.is_stop or t.word in filler or t.word[0].isdigit()))
    )
