"""Typed values of the reply + sources -> anchors: supported, derived, contradicted or unsupported, with both spans."""

from collections.abc import Sequence
from typing import NamedTuple

from touchstone.core.reading import Text, Value
from touchstone.core.result import Anchor, Evidence, Status
from touchstone.evidence.derivation import derive
from touchstone.evidence.equality import comparable, end_of, ends, is_range, same
from touchstone.evidence.places import attribute, sentence_at

MAX_EVIDENCE = 3
# Shared attribute terms that make two values statements about the same thing.
RELATED = 0.3
# So large a share, and number, of shared terms means a near copy with another value, whatever arithmetic could give it.
NEAR_COPY = 0.75
NEAR_COPY_TERMS = 4
SENTENCE_WEIGHT = 0.8
# A stated value belongs to another thing when nothing around it is shared, but so many terms around its rival are.
SWAPPED_TERMS = 2


class Place(NamedTuple):
    """A value in a source."""

    source: Text
    value: Value


class Rival(NamedTuple):
    """A source value that speaks of the same attribute, and how surely."""

    likeness: float
    shared: int
    place: Place


def check_values(reply: Text, sources: Sequence[Text]) -> list[Anchor]:
    """One anchor for each value of the reply, in order."""
    places = [Place(source, value) for source in sources for value in source.values]
    matches = {value: [place for place in places if _states(place, value)] for value in reply.values}
    taken = {(place.source.name, place.value.start) for found in matches.values() for place in found}
    free = [place for place in places if (place.source.name, place.value.start) not in taken]
    return [_anchor(reply, value, matches[value], free, sources) for value in reply.values]


def _states(place: Place, value: Value) -> bool:
    if same(value, place.value):
        return True
    if not is_range(value):
        return is_range(place.value) and end_of(value, place.value)
    return False


def _anchor(reply: Text, value: Value, found: list[Place], free: list[Place], sources: Sequence[Text]) -> Anchor:
    rival = _rival(reply, value, [place for place in free if comparable(value, place.value)])
    if found:
        sure = rival is not None and rival.shared >= SWAPPED_TERMS and rival.likeness >= NEAR_COPY
        if rival and sure and (_only_customer(found, rival) or not _shares(reply, value, found)):
            return _contradicted(reply, value, rival.place)
        return _make(
            reply, value, "supported", f"{found[0].source.name} states {_shown(found[0])}", found[:MAX_EVIDENCE]
        )
    if is_range(value) and (both := _both_ends(value, sources)):
        return _make(reply, value, "supported", f"{both[0].source.name} states both ends", both)
    near_copy = rival is not None and rival.likeness >= NEAR_COPY and rival.shared >= NEAR_COPY_TERMS
    derivation = None if near_copy else derive(value, reply=reply, sources=sources)
    if derivation:
        used = [Place(derivation.source, part) for part in derivation.used]
        return _make(reply, value, "derived", derivation.formula, used)
    if rival and rival.likeness >= RELATED:
        return _contradicted(reply, value, rival.place)
    return _make(reply, value, "unsupported", f"no source states {_text(reply, value)}", [])


def _only_customer(found: list[Place], rival: Rival) -> bool:
    """Whether the customer alone states the value and a context passage states the rival."""
    customer = all(place.source.name.startswith("input") for place in found)
    return customer and rival.place.source.name.startswith("context")


def _shares(reply: Text, value: Value, places: list[Place]) -> bool:
    """Whether any place that states the value has a term around it in common with the reply."""
    ours = attribute(reply, value, whole_sentence=True)
    return any(ours & attribute(place.source, place.value, whole_sentence=True) for place in places)


def _both_ends(value: Value, sources: Sequence[Text]) -> list[Place] | None:
    """A range whose two ends a source states one by one in the same sentence."""
    low, high = ends(value)
    for source in sources:
        lows = [v for v in source.values if same(low, v)]
        highs = [v for v in source.values if same(high, v)]
        for a in lows:
            for b in highs:
                if a is not b and sentence_at(source, a.start) == sentence_at(source, b.start):
                    return [Place(source, a), Place(source, b)]
    return None


def _rival(reply: Text, value: Value, places: list[Place]) -> Rival | None:
    """The comparable source value whose surroundings are most like the reply's."""
    ours = attribute(reply, value)
    return max((_compare(ours, place) for place in places), key=lambda rival: rival.likeness, default=None)


def _compare(ours: frozenset[str], place: Place) -> Rival:
    """How much of the smaller set of terms is shared; the clause counts in full, the rest of its sentence less."""
    clause = attribute(place.source, place.value)
    sentence = attribute(place.source, place.value, whole_sentence=True)
    likeness = max(_share(ours, clause), SENTENCE_WEIGHT * _share(ours, sentence))
    return Rival(likeness, len(ours & clause), place)


def _share(ours: frozenset[str], theirs: frozenset[str]) -> float:
    smaller = min(len(ours), len(theirs))
    return len(ours & theirs) / smaller if smaller else 0.0


def _contradicted(reply: Text, value: Value, place: Place) -> Anchor:
    reason = f"reply says {_text(reply, value)}, source says {_shown(place)}"
    return _make(reply, value, "contradicted", reason, [place])


def _make(reply: Text, value: Value, status: Status, reason: str, places: Sequence[Place]) -> Anchor:
    evidence = tuple(Evidence(p.source.name, p.value.start, p.value.end, _shown(p)) for p in places)
    return Anchor(value.kind, _text(reply, value), value.start, value.end, value.canonical, status, reason, evidence)


def _shown(place: Place) -> str:
    return place.source.raw[place.value.start : place.value.end]


def _text(reply: Text, value: Value) -> str:
    return reply.raw[value.start : value.end]
