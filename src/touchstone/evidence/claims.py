"""Claims of the reply + sources -> anchors.

Subject and object near each other in a source support a claim; the same words with opposite polarity contradict it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Claim, Sentence, Text
from touchstone.core.result import Anchor, Evidence, Status
from touchstone.text.tokens import term

# Share of a claim's weight that must appear together. Heads carry the claim; verbs and modifiers are reworded freely.
ENOUGH = 0.6
HEAD, MODIFIER, VERB = 1.0, 0.5, 0.5
# A term that appears everywhere in a long source needs no more looks than this.
MAX_PLACES = 64
# Negations further from the word they could turn than this belong to something else.
NEGATION_REACH = 4
YES = frozenset({"yes", "sure", "certainly", "absolutely", "yep", "yeah"})
# Verbs that say nothing a source would have to repeat.
LIGHT_VERBS = frozenset(
    "be have do will get make take go come give put keep use need see let mean say tell work".split()
)


class Stretch(NamedTuple):
    """The tokens of a source, half-open, that hold the given terms of a claim."""

    source: Text
    first: int
    last: int
    held: frozenset[str]
    weight: float


def check_claims(claims: Sequence[Claim], reply: Text, sources: Sequence[Text], *, proximity: int) -> list[Anchor]:
    """One anchor for each claim, in order."""
    return [_anchor(claim, reply, sources, proximity) for claim in claims]


def _anchor(claim: Claim, reply: Text, sources: Sequence[Text], proximity: int) -> Anchor:
    weights = _weights(claim)
    wanted = tuple(weights)
    stretches = (_best_stretch(claim, weights, source, proximity) for source in sources)
    best = max(filter(None, stretches), key=lambda stretch: stretch.weight, default=None)
    if best is None or not _holds(claim, weights, best):
        lacking = claim.shown(t for t in wanted if all(next(_places_of(t, claim, s), None) is None for s in sources))
        reason = f"no source speaks of {lacking}" if lacking else "no source says these together"
        return _make(claim, reply, "unsupported", reason, None)
    if opposed := _opposed(claim, wanted, best, reply):
        return _make(claim, reply, "contradicted", opposed, best)
    return _make(claim, reply, "supported", f"{best.source.name} says so", best)


def _asked(source: Text) -> list[Sentence]:
    """The questions in a source: who asks whether something is so does not state it, unless a yes follows."""
    pairs = zip_longest(source.sentences, source.sentences[1:])
    return [s for s, after in pairs if source.raw[s.start : s.end].endswith("?") and not _affirms(source, after)]


def _affirms(source: Text, sentence: Sentence | None) -> bool:
    return sentence is not None and source.tokens[sentence.first].word in YES


def _weights(claim: Claim) -> dict[str, float]:
    """The claim's terms and how much each carries; the head of a phrase comes first."""
    weights: dict[str, float] = {}
    for phrase in (claim.subject, claim.object):
        for at, t in enumerate(phrase):
            weights[t] = max(weights.get(t, 0.0), MODIFIER if at else HEAD)
    if claim.verb not in LIGHT_VERBS:
        weights.setdefault(claim.verb_terms[0], VERB)
    return weights


def _places_of(wanted: str, claim: Claim, source: Text) -> Iterator[int]:
    """Where a term appears; the verb also in the form the reply has it in (wrote for write)."""
    forms = claim.verb_terms if wanted == claim.verb_terms[0] else (wanted,)
    for form in forms:
        yield from source.positions.get(form, ())[:MAX_PLACES]


def _best_stretch(claim: Claim, weights: Mapping[str, float], source: Text, proximity: int) -> Stretch | None:
    """The shortest stretch no longer than `proximity` that holds most of the claim's weight."""
    places = sorted((place, t) for t in weights for place in _places_of(t, claim, source))
    if asked := _asked(source):
        places = [(place, t) for place, t in places if not any(s.first <= place < s.last for s in asked)]
    best: Stretch | None = None
    left = 0
    for right, (end, _) in enumerate(places):
        while end - places[left][0] > proximity:
            left += 1
        held = frozenset(t for _, t in places[left : right + 1])
        weight = sum(weights[t] for t in held)
        gain = weight - best.weight if best else 1.0
        if gain > 0 or (gain == 0 and best and end + 1 - places[left][0] < best.last - best.first):
            best = Stretch(source, places[left][0], end + 1, held, weight)
    return best


def _holds(claim: Claim, weights: Mapping[str, float], best: Stretch) -> bool:
    both_sides = all(not side or best.held.intersection(side) for side in (claim.subject, claim.object))
    return both_sides and best.weight >= ENOUGH * sum(weights.values())


def _opposed(claim: Claim, wanted: tuple[str, ...], best: Stretch, reply: Text) -> str | None:
    """Why the stretch says the opposite, or None."""
    missing = [t for t in wanted if t not in best.held]
    around = {token.term: token.word for token in best.source.tokens[max(0, best.first - 2) : best.last + 2]}
    for t in missing:
        if turned := _antonyms().get(t, frozenset()) & around.keys():
            return f"reply says {claim.shown([t])}, source says {around[min(turned)]}"
    if missing:
        return None
    pivots = claim.verb_terms if claim.verb not in LIGHT_VERBS else (claim.object or claim.subject)[:1]
    ours = _denied(reply, *reply.token_range(claim.start, claim.end), pivots)
    theirs = _denied(best.source, best.first, best.last, pivots)
    if ours is None or theirs is None or ours == theirs:
        return None
    return "the source denies this" if theirs else "the reply denies what the source says"


def _denied(text: Text, first: int, last: int, pivots: Sequence[str]) -> bool | None:
    """Whether a stretch negates what it says of the pivot; None when it does both or does not say. One rule serves
    the reply and its sources, so that a sentence never opposes itself."""
    marks = set()
    for at in range(first, last):
        if text.tokens[at].term not in pivots:
            continue
        sentence = text.sentence_at(text.tokens[at].start)
        if sentence is None or text.raw[sentence.start : sentence.end].endswith("?"):
            continue
        near = text.tokens[max(sentence.first, at - NEGATION_REACH) : min(sentence.last, at + 4)]
        marks.add(any(_negates(token.word) for token in near))
    return marks.pop() if len(marks) == 1 else None


def _negates(word: str) -> bool:
    return word in resource.group("modality.txt", "negation") or word.endswith("n't")


@cache
def _antonyms() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in resource.lines("antonyms.txt"):
        one, other = (term(word.strip()) for word in line.split(":"))
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in table.items()}


def _make(claim: Claim, reply: Text, status: Status, reason: str, found: Stretch | None) -> Anchor:
    text = reply.raw[claim.start : claim.end]
    evidence: tuple[Evidence, ...] = ()
    if found is not None:
        start, end = found.source.tokens[found.first].start, found.source.tokens[found.last - 1].end
        evidence = (Evidence(found.source.name, start, end, found.source.raw[start:end]),)
    return Anchor("claim", text, claim.start, claim.end, claim.canonical, status, reason, evidence)
