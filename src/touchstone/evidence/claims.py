"""Claims of the reply + sources -> anchors.

Subject and object near each other in a source support a claim; the same words with opposite polarity contradict it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Claim, Text
from touchstone.core.result import Anchor, Evidence, Status
from touchstone.evidence.places import sentence_at
from touchstone.text.tokens import term

# Share of a claim's weight that must stand together. Heads carry the claim; verbs and modifiers are reworded freely.
ENOUGH = 0.6
HEAD, MODIFIER, VERB = 1.0, 0.5, 0.5
# A term that stands everywhere in a long source needs no more looks than this.
MAX_PLACES = 64
# Negations further from the word they could turn than this belong to something else.
NEGATION_REACH = 4
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
    stretches = (_best_stretch(weights, source, proximity) for source in sources if not _only_asks(source))
    best = max(filter(None, stretches), key=lambda stretch: stretch.weight, default=None)
    if best is None or not _holds(claim, weights, best):
        lacking = claim.shown(t for t in wanted if not any(t in source.positions for source in sources))
        reason = f"no source speaks of {lacking}" if lacking else "no source says these together"
        return _make(claim, reply, "unsupported", reason, None)
    if opposed := _opposed(claim, wanted, best):
        return _make(claim, reply, "contradicted", opposed, best)
    return _make(claim, reply, "supported", f"{best.source.name} says so", best)


def _only_asks(source: Text) -> bool:
    """A customer who asks whether something is so does not state it."""
    return source.name == "input" and all(source.raw[s.start : s.end].endswith("?") for s in source.sentences)


def _weights(claim: Claim) -> dict[str, float]:
    """The claim's terms and how much each carries; the head of a phrase comes first."""
    weights: dict[str, float] = {}
    for phrase in (claim.subject, claim.object):
        for at, t in enumerate(phrase):
            weights[t] = max(weights.get(t, 0.0), MODIFIER if at else HEAD)
    if claim.verb not in LIGHT_VERBS:
        weights.setdefault(claim.verb_term, VERB)
    return weights


def _best_stretch(weights: Mapping[str, float], source: Text, proximity: int) -> Stretch | None:
    """The shortest stretch no longer than `proximity` that holds most of the claim's weight."""
    places = sorted((place, t) for t in weights for place in source.positions.get(t, ())[:MAX_PLACES])
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


def _opposed(claim: Claim, wanted: tuple[str, ...], best: Stretch) -> str | None:
    """Why the stretch says the opposite, or None."""
    missing = [t for t in wanted if t not in best.held]
    around = {token.term for token in best.source.tokens[max(0, best.first - 2) : best.last + 2]}
    for t in missing:
        if turned := _antonyms().get(t, frozenset()) & around:
            return f"reply says {claim.shown([t])}, source says {min(turned)}"
    if missing:
        return None
    denied = _denied(claim, best)
    if denied is None or denied == claim.negated:
        return None
    return "the source denies this" if denied else "the reply denies what the source says"


def _denied(claim: Claim, best: Stretch) -> bool | None:
    """Whether the source negates what the claim says, where it speaks of it; None when it does both."""
    pivot = claim.verb_term if claim.verb not in LIGHT_VERBS else (claim.object or claim.subject)[0]
    tokens = best.source.tokens
    marks = set()
    for at in range(best.first, best.last):
        if tokens[at].term == pivot:
            sentence = sentence_at(best.source, tokens[at].start)
            if sentence and best.source.raw[sentence.start : sentence.end].endswith("?"):
                continue
            start = max(sentence.first if sentence else 0, at - NEGATION_REACH)
            marks.add(any(_negates(token.word) for token in tokens[start : at + 1]))
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
