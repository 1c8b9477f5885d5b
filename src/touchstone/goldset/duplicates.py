"""Cases -> those that are in a set twice, or nearly; and those of one set that another holds as well.

Nearly the same is found by an exact join: a text's shingles are its terms and its pairs of neighbouring terms, and two
texts are as alike as the share of all their shingles that both have (Jaccard). Two sets at least `threshold` alike
share one of their rarest shingles, so many of them that only a few candidates are ever compared (prefix filtering:
Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007). Nothing is left to chance, unlike with MinHash.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from touchstone.core.case import Case
from touchstone.goldset.labels import conflict
from touchstone.goldset.problems import PlacedCase, Problem, problem
from touchstone.rubric.model import Rubric
from touchstone.text.normalise import normalise
from touchstone.text.tokens import WORD, term

THRESHOLD = 0.7
# A rare shingle of so many texts is one of a template; those found near another already are reached through it.
_CROWDED = 20


@dataclass(frozen=True, slots=True)
class Copies:
    """Items of which one text is the same, and the text's signature."""

    text: "Signature"
    items: tuple[PlacedCase, ...]


def inputs_of(items: Iterable[PlacedCase]) -> list[Copies]:
    """The items that have an input, those with the same one together."""
    return _copies((item for item in items if conversation(item.case).strip()), conversation)


def conversation(case: Case) -> str:
    """Everything the reply answers: the message, or all turns of a chat."""
    if isinstance(case.input, str):
        return case.input
    return "\n".join(turn.content for turn in case.input)


def _copies(items: Iterable[PlacedCase], text: Callable[[Case], str]) -> list[Copies]:
    found: dict[Signature, list[PlacedCase]] = defaultdict(list)
    for item in items:
        found[sign(text(item.case))].append(item)
    return [Copies(signature, tuple(same)) for signature, same in found.items()]


def find_duplicates(inputs: Sequence[Copies], *, threshold: float, rubric: Rubric) -> Iterator[Problem]:
    """Same and nearly same cases, and where people graded them differently."""
    pairs = near_pairs([each.text for each in inputs], threshold=threshold)
    linked = {at for pair in pairs for at in (pair.first, pair.second)}
    answered = {
        at: _copies(same.items, lambda case: case.response)
        for at, same in enumerate(inputs)
        if len(same.items) > 1 or at in linked
    }
    for replies in answered.values():
        yield from _same_input(replies, threshold=threshold, rubric=rubric)
    yield from _near_inputs(inputs, pairs)
    for pair in pairs:
        for one in answered[pair.first]:
            for other in answered[pair.second]:
                if likeness(one.text, other.text) >= threshold:
                    yield from _near_conflict(one, other, rubric=rubric)


def find_leakage(
    ours: Sequence[Copies], theirs: Sequence[Copies], *, other: str, threshold: float
) -> Iterator[Problem]:
    """The inputs that the file called `other` holds too, or nearly."""
    for pair in near_across([each.text for each in ours], [each.text for each in theirs], threshold=threshold):
        mine, found = ours[pair.first], theirs[pair.second]
        place = f"{other}:{found.items[0].line}"
        if mine.text.words == found.text.words:
            yield problem("leakage", mine.items, f"the input is that of {place}", against=found.items)
        else:
            message = f"the input is {_percent(pair.likeness)} like {place}"
            yield problem("near-leakage", mine.items, message, against=found.items)


def _same_input(replies: Sequence[Copies], *, threshold: float, rubric: Rubric) -> Iterator[Problem]:
    for each in replies:
        yield from _twins(each.items, rubric=rubric)
    if len(replies) > 1:
        items = sorted((item for each in replies for item in each.items), key=_line)
        message = f"{len(items)} cases have the same input and {len(replies)} different replies"
        yield problem("same-input", items, message)
        for pair in near_pairs([each.text for each in replies], threshold=threshold):
            yield from _near_conflict(replies[pair.first], replies[pair.second], rubric=rubric)


def _twins(twins: Sequence[PlacedCase], *, rubric: Rubric) -> Iterator[Problem]:
    """Cases with the same input and reply: how often there are, and where grades differ from the first's."""
    first, *others = twins
    if not others:
        return
    what = "input and reply" if first.case.response.strip() else "input"
    yield problem("duplicate", twins, f"{len(twins)} cases have the same {what}")
    for other in others:
        if difference := conflict(first.case, other.case, rubric=rubric):
            yield problem("conflicting-labels", [first, other], f"the same case, but {difference}")


def _near_inputs(inputs: Sequence[Copies], pairs: Sequence["AlikePair"]) -> Iterator[Problem]:
    """One problem for each group of inputs that are linked by likeness."""
    highest: dict[int, float] = defaultdict(float)
    for pair in pairs:
        highest[pair.first] = max(highest[pair.first], pair.likeness)
    for group in groups(pairs):
        alike = max(highest[at] for at in group if at in highest)
        items = sorted((item for at in group for item in inputs[at].items), key=_line)
        at_most = "" if len(group) == 2 else "up to "
        message = f"{len(items)} cases have nearly the same input, {at_most}{_percent(alike)} alike"
        yield problem("near-duplicate", items, message)


def _near_conflict(one: Copies, other: Copies, *, rubric: Rubric) -> Iterator[Problem]:
    """Nearly the same reply to nearly the same input, graded differently."""
    first, second = one.items[0], other.items[0]
    if not first.case.response.strip() or not second.case.response.strip():
        return
    if difference := conflict(first.case, second.case, rubric=rubric):
        yield problem("near-conflict", [first, second], f"nearly the same case, but {difference}")


def _line(item: PlacedCase) -> int:
    return item.line


def _percent(likeness: float) -> str:
    # Never 100 %: that is said of the same text only.
    return f"{min(99, round(likeness * 100))} %"


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
