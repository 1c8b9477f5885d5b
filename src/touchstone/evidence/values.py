"""Typed values of the reply + sources -> anchors: supported, derived, contradicted or unsupported, with both spans."""

from collections.abc import Sequence
from typing import NamedTuple

from touchstone.core.reading import Text, Value
from touchstone.core.result import Anchor, Evidence, Status
from touchstone.evidence.derivation import Deriver
from touchstone.evidence.equality import ends, is_range
from touchstone.evidence.index import Index, Place
from touchstone.evidence.places import attribute, sentence_at

MAX_EVIDENCE = 3
# Shared attribute terms that make two values statements about the same thing.
RELATED = 0.3
# So large a share, and number, of shared terms means a near copy with another value, whatever arithmetic could give it.
NEAR_COPY = 0.75
NEAR_COPY_TERMS = 4
SENTENCE_WEIGHT = 0.8
# A stated value is taken for another thing's only when the reply names that thing with so many terms.
SWAPPED_TERMS = 2


class Rival(NamedTuple):
    """A source value that speaks of the same attribute, and how surely."""

    likeness: float
    shared: int
    is_equal: bool
    place: Place


def check_values(reply: Text, sources: Sequence[Text]) -> list[Anchor]:
    """One anchor for each value of the reply, in order."""
    index = Index(sources)
    matches = [index.stating(value) for value in reply.values]
    taken = {id(place.value) for found in matches for place in found}
    deriver = Deriver(reply, sources)
    pairs = zip(reply.values, matches, strict=True)
    return [
        _anchor(reply, value, found, _rival(reply, value, index, taken), (index, deriver)) for value, found in pairs
    ]


def _anchor(reply: Text, value: Value, found: list[Place], rival: Rival | None, known: tuple[Index, Deriver]) -> Anchor:
    index, deriver = known
    if found:
        if rival and ((_is_sure(rival) and _only_customer(found, rival)) or _is_swapped(reply, value, found, rival)):
            return _contradicted(reply, value, rival.place)
        return _make(
            reply, value, "supported", f"{found[0].source.name} states {_shown(found[0])}", found[:MAX_EVIDENCE]
        )
    if is_range(value) and (both := _both_ends(value, index)):
        return _make(reply, value, "supported", f"{both[0].source.name} states both ends", both)
    near_copy = rival is not None and rival.likeness >= NEAR_COPY and rival.shared >= NEAR_COPY_TERMS
    derivation = None if near_copy else deriver.derive(value)
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


def _is_sure(rival: Rival) -> bool:
    """Whether the rival speaks of the very same thing: most terms shared, or the clauses' only terms the same."""
    return rival.likeness >= NEAR_COPY and (rival.shared >= SWAPPED_TERMS or rival.is_equal)


def _is_swapped(reply: Text, value: Value, found: list[Place], rival: Rival) -> bool:
    """Whether the source states the value of another thing: its clause lacks terms that all stand around the rival."""
    ours = attribute(reply, value)
    theirs = attribute(rival.place.source, rival.place.value)
    if _is_sure(rival) and rival.shared >= SWAPPED_TERMS:
        around = [attribute(place.source, place.value, whole_sentence=True) for place in found]
        if not any(ours & terms for terms in around):
            return True
    if len(ours) < SWAPPED_TERMS or not ours <= theirs:
        return False
    return not any(ours <= attribute(place.source, place.value, whole_sentence=True) for place in found)


def _both_ends(value: Value, index: Index) -> list[Place] | None:
    """A range whose two ends a source states one by one in the same sentence."""
    low, high = (index.stating(end) for end in ends(value))
    for a in low:
        for b in high:
            if a.source is b.source and a.value is not b.value and _together(a, b):
                return [a, b]
    return None


def _together(a: Place, b: Place) -> bool:
    return sentence_at(a.source, a.value.start) == sentence_at(b.source, b.value.start)


def _rival(reply: Text, value: Value, index: Index, taken: set[int]) -> Rival | None:
    """The comparable source value, not stated by the reply, whose surroundings are most like the reply's."""
    ours = attribute(reply, value)
    places = [place for place in index.rivals(value, ours) if id(place.value) not in taken]
    return max((_compare(ours, place) for place in places), key=lambda rival: rival.likeness, default=None)


def _compare(ours: frozenset[str], place: Place) -> Rival:
    """How much of the smaller set of terms is shared; the clause counts in full, the rest of its sentence less."""
    clause = attribute(place.source, place.value)
    sentence = attribute(place.source, place.value, whole_sentence=True)
    likeness = max(_share(ours, clause), SENTENCE_WEIGHT * _share(ours, sentence))
    return Rival(likeness, len(ours & clause), bool(ours) and ours == clause, place)


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
