"""Typed values of the reply + sources -> anchors: supported, derived, contradicted or unsupported, with both spans.

A value holds when a source states it of the same thing. Where a source states it of one thing and another value of the
thing that the reply speaks of, the two are swapped: the reply is contradicted by the other value.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import NamedTuple

from touchstone.core.reading import Text, Value
from touchstone.core.result import Anchor, Status
from touchstone.evidence.derivation import Deriver, Stated
from touchstone.evidence.equality import ends, is_about, is_free, is_idiom, is_range
from touchstone.evidence.index import Index, ValuePlace
from touchstone.evidence.places import Binding, binding, prefers

MAX_EVIDENCE = 3
# Shared terms, as a share of the smaller side's, that make two values statements about the same thing.
RELATED = 0.3
# So large a share, and number, of shared terms means a near copy with another value, whatever arithmetic could give it.
NEAR_COPY = 0.75
NEAR_COPY_TERMS = 4
SENTENCE_WEIGHT = 0.8
# So many shared terms, or so large a share of a cell's key and row, say that both speak of one attribute.
NAMED_TERMS = 2
NAMED_SHARE = 0.6
# Of what a clause of prose says, more than this share is about the two things that are compared.
SPOKEN_SHARE = 0.25

GRANTS = re.compile(
    r"\b(?:yes|yep|sure|certainly|absolutely|of course|you (?:can|may|could|are allowed|are able)|will)\b|['’]ll\b",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"(?:so |and |but |also |ok(?:ay)? |hi |hello )?"
    r"(?:can|could|may|is|are|do|does|did|will|would|should|has|have|what|when|how)\b",
    re.IGNORECASE,
)


class NearestValue(NamedTuple):
    """A source value that speaks of the same attribute, and how surely."""

    likeness: float
    shared: int
    place: ValuePlace


def check_values(reply: Text, sources: Sequence[Text], *, most: int | None = None) -> list[Anchor]:
    """One anchor for each value of the reply, or for the first ones, in order."""
    return list(_Checker(reply, sources, most=most).anchors())


class _Checker:
    """Checks the values of one reply, in order."""

    def __init__(self, reply: Text, sources: Sequence[Text], *, most: int | None) -> None:
        self._reply = reply
        self._index = Index(sources)
        self._matches = [(value, self._index.stating(value)) for value in reply.values[:most]]
        stated = [[Stated(place.source, place.value) for place in found] for _, found in self._matches]
        self._deriver = Deriver(reply, sources, stated)
        self._taken = {id(place.value) for _, found in self._matches for place in found}

    def anchors(self) -> Iterator[Anchor]:
        for value, found in self._matches:
            anchor = self._anchor(value, found)
            if anchor.status != "unsupported" or not is_idiom(value):
                yield anchor

    def _anchor(self, value: Value, found: list[ValuePlace]) -> Anchor:
        ours = binding(self._reply, value)
        given = [place for place in found if not _is_asked(place)] if self._is_answer(value) else found
        if found and not given:
            return self._make(value, "unsupported", f"only the customer's question says {self._text(value)}", [])
        if given:
            found = sorted(given, key=lambda place: -_likeness(ours, place.binding))
            if other := self._swapped(value, ours, found) or self._overruled(value, ours, found):
                return self._contradicted(value, other)
            return self._make(value, "supported", f"{found[0].where} states {found[0].shown}", found[:MAX_EVIDENCE])
        if is_range(value):
            if both := self._both_ends(value):
                return self._make(value, "supported", f"{both[0].where} states both ends", both)
        elif about := self._about(value, ours):
            return self._make(value, "supported", f"{about.where} states {about.shown}", [about])
        return self._unstated(value, ours)

    def _unstated(self, value: Value, ours: Binding) -> Anchor:
        """A value that no source states: derived, contradicted or unsupported."""
        nearest = self._nearest_value(value, ours)
        near_copy = nearest is not None and nearest.likeness >= NEAR_COPY and nearest.shared >= NEAR_COPY_TERMS
        if not near_copy and (derivation := self._deriver.derive(value)):
            return self._make(value, "derived", derivation.formula, [ValuePlace.of(*used) for used in derivation.used])
        if wrong := self._deriver.miscounted(value):
            reason = f"reply says {self._text(value)}, but {wrong.formula}"
            return self._make(value, "contradicted", reason, [ValuePlace.of(*used) for used in wrong.used])
        if nearest and nearest.likeness >= RELATED:
            return self._contradicted(value, nearest.place)
        return self._make(value, "unsupported", f"no source states {self._text(value)}", [])

    def _swapped(self, value: Value, ours: Binding, found: list[ValuePlace]) -> ValuePlace | None:
        """The other value of the thing the reply speaks of, when what states the reply's value speaks of another."""
        found = [place for place in found if place.source.speaker != "customer"]
        if is_free(value) or not found:
            return None
        same = {id(place.value) for place in found}
        siblings = (place for stated in found[:MAX_EVIDENCE] for place in self._index.siblings(stated))
        better = (
            place
            for place in chain(self._index.differing(value, ours.around | ours.before), siblings)
            if not (id(place.value) in same or is_free(place.value) or self._is_accounted_for(place, value, found))
            and all(_beats(ours, place, stated) for stated in found)
        )
        return max(better, key=lambda place: _likeness(ours, place.binding), default=None)

    def _is_accounted_for(self, place: ValuePlace, value: Value, found: list[ValuePlace]) -> bool:
        """Whether the reply gives the place's value rightly, too: then it does not mean this one."""
        for own, matches in self._matches:
            if own is not value and not is_range(place.value) and any(match.value is place.value for match in matches):
                said = binding(self._reply, own)
                if all(_beats(said, place, stated) for stated in found):
                    return True
        return False

    def _overruled(self, value: Value, ours: Binding, found: list[ValuePlace]) -> ValuePlace | None:
        """The passage's value of the very same thing, where only the customer states the reply's."""
        if any(place.source.speaker != "customer" for place in found):
            return None
        nearest = self._nearest_value(value, ours)
        if nearest is None or nearest.place.source.is_said or nearest.likeness < NEAR_COPY:
            return None
        is_equal = bool(ours.near) and ours.near == nearest.place.binding.near
        return nearest.place if nearest.shared >= NAMED_TERMS or is_equal else None

    def _is_answer(self, value: Value) -> bool:
        """Whether the reply grants or confirms something with the value: the question does not bear out its answer."""
        sentence = self._reply.sentence_at(value.start)
        return sentence is not None and GRANTS.search(self._reply.raw, sentence.start, value.start) is not None

    def _about(self, value: Value, ours: Binding) -> ValuePlace | None:
        """The value that the reply rounds: `about $100`, `just after noon`."""
        near = (place for place in self._index.comparable(value) if is_about(self._reply, value, place.value))
        return max(near, key=lambda place: _likeness(ours, place.binding), default=None)

    def _both_ends(self, value: Value) -> list[ValuePlace] | None:
        """A range whose two ends a source states one by one in the same sentence."""
        pairs = product(*(self._index.stating(end) for end in ends(value)))
        return next(([a, b] for a, b in pairs if a.value is not b.value and _together(a, b)), None)

    def _nearest_value(self, value: Value, ours: Binding) -> NearestValue | None:
        """The comparable source value, not stated by the reply, whose surroundings are most like the reply's."""
        places = [place for place in self._index.differing(value, ours.around) if id(place.value) not in self._taken]
        # Where a source has but one value of the sort, it needs no more words to be the one that is meant.
        is_only = len(places) == 1 and len(self._index.comparable(value)) == 1
        named = (place for place in places if is_only or _is_named(ours, place))
        near = (NearestValue(_likeness(ours, p.binding), len(ours.near & p.binding.near), p) for p in named)
        return max(near, key=lambda each: each.likeness, default=None)

    def _contradicted(self, value: Value, place: ValuePlace) -> Anchor:
        reason = f"reply says {self._text(value)}, {place.path if place.is_cell else 'source'} says {place.shown}"
        return self._make(value, "contradicted", reason, [place])

    def _make(self, value: Value, status: Status, reason: str, places: Sequence[ValuePlace]) -> Anchor:
        evidence = tuple([place.evidence for place in places])
        return Anchor(value.kind, self._text(value), value.start, value.end, value.canonical, status, reason, evidence)

    def _text(self, value: Value) -> str:
        return self._reply.raw[value.start : value.end]


def _beats(ours: Binding, place: ValuePlace, stated: ValuePlace) -> bool:
    """Whether the reply speaks of the place's thing, and not of that which has the value it gives.

    Only values side by side are held against each other: in one sentence, in statements alike, or in fields alike.
    """
    if place.is_cell != stated.is_cell and not (place.path and stated.path):
        return False
    near_alike = bool(place.binding.near & stated.binding.near)
    if place.is_cell and stated.is_cell:
        alike = place.shape == stated.shape or (place.source is stated.source and near_alike)
        if not alike and not _in_one_record(place, stated):
            return False
        return prefers(ours, place.binding, stated.binding, listed=False, near_only=not alike)
    listed = _together(place, stated)
    if not listed and len(ours.near & place.binding.near) >= NAMED_TERMS and not ours.near & stated.binding.around:
        return True
    if place.source is not stated.source:
        return False
    alike = listed or near_alike or bool(place.path and stated.path)
    spoken = len(ours.near & (place.binding.near | stated.binding.near))
    if not alike or (spoken and spoken <= SPOKEN_SHARE * len(ours.near)):
        return False
    return prefers(ours, place.binding, stated.binding, listed=listed, near_only=True)


def _is_named(ours: Binding, place: ValuePlace) -> bool:
    """Whether the reply speaks of the place's attribute: by most of a cell's key and row, two terms, or all it says."""
    theirs = place.binding
    if place.is_cell:
        label = place.label or theirs.near
        shared = len(ours.near & theirs.near)
        return shared >= NAMED_TERMS or (shared > 0 and len(ours.around & label) >= NAMED_SHARE * len(label))
    shared = len(ours.near & theirs.around)
    return shared >= NAMED_TERMS or shared == len(ours.near) > 0 or len(ours.around & theirs.near) >= NAMED_TERMS


def _in_one_record(one: ValuePlace, other: ValuePlace) -> bool:
    paths = [(place.path or "").rpartition(".")[0] for place in (one, other)]
    return one.source is other.source and paths[0] == paths[1]


def _likeness(ours: Binding, theirs: Binding) -> float:
    """How much of the smaller set of terms is shared; what is near counts in full, the rest less."""
    shared = max(_share(ours.near, theirs.near), SENTENCE_WEIGHT * _share(ours.near, theirs.around))
    return shared + 0.01 * len(ours.around & theirs.around)


def _share(ours: frozenset[str], theirs: frozenset[str]) -> float:
    smaller = min(len(ours), len(theirs))
    return len(ours & theirs) / smaller if smaller else 0.0


def _is_asked(place: ValuePlace) -> bool:
    """Whether the customer only asks about the value."""
    sentence = place.source.sentence_at(place.value.start)
    if place.source.speaker != "customer" or sentence is None:
        return False
    said = place.source.raw[sentence.start : sentence.end]
    clause = said[: place.value.start - sentence.start].rpartition(",")[2].lstrip()
    return said.rstrip(" \"')").endswith("?") or any(QUESTION.match(part) for part in (said, clause))


def _together(a: ValuePlace, b: ValuePlace) -> bool:
    return a.source is b.source and a.source.sentence_at(a.value.start) == b.source.sentence_at(b.value.start)
