"""Texts -> how alike they are, and which of many are nearly the same: an exact join on token shingles.

A text's shingles are its terms and its pairs of neighbouring terms; two texts are as alike as the share of all their
shingles that both have (Jaccard). Two sets at least `threshold` alike share one of their rarest shingles, so many
of them that only a few candidates are ever compared (prefix filtering: Chaudhuri, Ganti and Kaushik 2006; Bayardo,
Ma and Srikant 2007). Nothing is left to chance, unlike with MinHash.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from touchstone.text.normalise import normalise
from touchstone.text.tokens import WORD, term

THRESHOLD = 0.7
# A rare shingle of so many texts is one of a template; those found near another already are reached through it.
_CROWDED = 20


@dataclass(frozen=True, slots=True)
class Signature:
    """What a text is compared by: its words in order, which equal texts share, and its shingles."""

    words: tuple[str, ...]
    shingles: frozenset[str]


class AlikePair(NamedTuple):
    """Two texts by position, the first below the second within one list, and how alike they are."""

    first: int
    second: int
    likeness: float


def sign(text: str) -> Signature:
    """Case, punctuation and spacing do not count; a text without any word stands for itself."""
    words = [word.casefold() for word in WORD.findall(normalise(text).text)]
    if not words:
        return Signature((text.strip(),), frozenset([text.strip()]))
    terms = [term(word) for word in words]
    pairs = (f"{left} {right}" for left, right in pairwise(terms))
    return Signature(tuple(words), frozenset([*terms, *pairs]))


def likeness(a: Signature, b: Signature) -> float:
    """The share of their shingles that both have: 1 for the same text, 0 for no term in common."""
    shared = len(a.shingles & b.shingles)
    return shared / (len(a.shingles) + len(b.shingles) - shared)


def near_pairs(signatures: Sequence[Signature], *, threshold: float = THRESHOLD) -> list[AlikePair]:
    """The pairs at least `threshold` alike, in order of position.

    Complete but for texts of which over twenty share a rare shingle: there each is still paired with some.
    """
    index = _Index(_ranks(signatures), threshold=threshold)
    pairs = []
    for at, signature in enumerate(signatures):
        found = index.near(signature)
        pairs += [AlikePair(other, at, alike) for other, alike in found]
        index.add(at, signature, is_reached=bool(found))
    return sorted(pairs)


def near_across(
    ours: Sequence[Signature], theirs: Sequence[Signature], *, threshold: float = THRESHOLD
) -> list[AlikePair]:
    """The pairs of one of ours and one of theirs at least `threshold` alike."""
    index = _Index(_ranks([*ours, *theirs]), threshold=threshold)
    for at, signature in enumerate(theirs):
        index.add(at, signature, is_reached=False)
    return sorted(AlikePair(at, other, alike) for at, one in enumerate(ours) for other, alike in index.near(one))


def groups(pairs: Iterable[AlikePair]) -> list[tuple[int, ...]]:
    """The positions that pairs link, directly or through others, each group and the list of groups in order."""
    head: dict[int, int] = {}

    def find(at: int) -> int:
        while head.setdefault(at, at) != at:
            head[at] = head[head[at]]
            at = head[at]
        return at

    for pair in pairs:
        low, high = sorted((find(pair.first), find(pair.second)))
        head[high] = low
    members: dict[int, list[int]] = defaultdict(list)
    for at in sorted(head):
        members[find(at)].append(at)
    return [tuple(group) for group in members.values()]


class _Index:
    """Signatures by their rarest shingles."""

    def __init__(self, ranks: Mapping[str, int], *, threshold: float) -> None:
        self._ranks = ranks
        self._threshold = threshold
        self._holding: dict[str, list[int]] = defaultdict(list)
        self._signatures: dict[int, Signature] = {}

    def near(self, signature: Signature) -> list[tuple[int, float]]:
        """Position and likeness of each one held that is near."""
        size = len(signature.shingles)
        fewest, most = round(size * self._threshold, 9), round(size / self._threshold, 9)
        candidates = {at for shingle in self._rarest(signature) for at in self._holding.get(shingle, ())}
        fitting = ((at, held) for at in candidates if fewest <= len((held := self._signatures[at]).shingles) <= most)
        compared = ((at, likeness(signature, held)) for at, held in fitting)
        return [(at, alike) for at, alike in compared if alike >= self._threshold]

    def add(self, at: int, signature: Signature, *, is_reached: bool) -> None:
        self._signatures[at] = signature
        for shingle in self._rarest(signature):
            holding = self._holding[shingle]
            if not is_reached or len(holding) < _CROWDED:
                holding.append(at)

    def _rarest(self, signature: Signature) -> list[str]:
        """So many that a near text must share one of them."""
        size = len(signature.shingles)
        # Rounded first: 0.7 x 10 is a little above 7 in binary, and one shingle too few would lose a pair.
        kept = size - math.ceil(round(self._threshold * size, 9)) + 1
        # Ties by the text itself, so that two texts part the same shingles from the rest.
        return [
            shingle for _, shingle in sorted((self._ranks[shingle], shingle) for shingle in signature.shingles)[:kept]
        ]


def _ranks(signatures: Iterable[Signature]) -> Counter[str]:
    return Counter(shingle for signature in signatures for shingle in signature.shingles)
