"""Reply and sources -> findings: one word of a rule exchanged for its opposite, or its exception denied.

`Renew before the card expires` turned into `after the card expires` keeps every other word, so what stands around
the word must be the same on both sides and the rest of the clause must hold nothing new.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice, takewhile
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading, Sentence, Text, Token
from touchstone.core.result import Evidence
from touchstone.evidence.places import token_range
from touchstone.safety.fabrication.findings import Finding, Known, group, is_question, sentences_with
from touchstone.text.tokens import term

CUT = re.compile(r"[,;()\n]|[.!?:](?=\s|$)|\s[-–—]\s")
EVEN = re.compile(
    r"\b(?:even (?:if|when|without|though|after|for|on)|regardless of|whether or not|no matter)\b", re.IGNORECASE
)
EXCEPT = re.compile(
    r"\b(?:unless|except(?: for| if| when| on| in)?|excluding|only (?:if|when|with|for|on))\b", re.IGNORECASE
)
# How many tokens before and behind the exchanged word name what it is about.
REACH = 4
# Share of a clause that the other must speak of.
ALIKE = 0.6
MIN_TERMS = 2
MAX_PLACES = 40
MAX_EVEN = 5
# A clause counts as far as this many tokens to either side, and an exception as far as this many characters.
CLAUSE, SPAN = 30, 300
JOINTS = frozenset({"and", "but"})
CONTRAST = frozenset({"next", "not", "no", "never", "another", "other", "without", "until"})


class Spot(NamedTuple):
    """A word in its clause: what stands before and behind it, and all that the clause says."""

    token: Token
    before: str
    behind: str
    rest: frozenset[str]
    start: int
    end: int


def swaps(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each exchanged word and each denied exception."""
    reply = reading.reply
    contexts = known.contexts
    held: dict[str, list[tuple[Text, Spot]]] = {}
    for sentence in reply.sentences:
        if is_question(reply, sentence):
            continue
        for spot in _spots(reply, sentence):
            if not held:
                held = _index(known.sources)
            if found := _exchanged(spot, held, contexts):
                yield found
        yield from _denied(reply, sentence, contexts)


def _index(sources: Sequence[Text]) -> dict[str, list[tuple[Text, Spot]]]:
    found: dict[str, list[tuple[Text, Spot]]] = {"": []}
    for source in sources:
        for sentence in sentences_with(source, _opposite_terms()):
            for spot in _spots(source, sentence):
                kept = found.setdefault(spot.token.word, [])
                if len(kept) < MAX_PLACES:
                    kept.append((source, spot))
    return found


def _spots(text: Text, sentence: Sentence) -> Iterator[Spot]:
    tokens = text.tokens[sentence.first : sentence.last]
    opposites = _opposites()
    if opposites.keys().isdisjoint([token.word for token in tokens]):
        return
    cuts = [sentence.start, *(m.end() for m in CUT.finditer(text.raw, sentence.start, sentence.end)), sentence.end]
    for at, token in enumerate(tokens):
        if token.word not in opposites:
            continue
        place = bisect_right(cuts, token.start)
        low, high = cuts[place - 1], cuts[place] if place < len(cuts) else sentence.end
        near = tokens[max(0, at - CLAUSE) : at + CLAUSE]
        inside = [t for t in near if low <= t.start < high and t is not token]
        before = [t for t in tokens[max(0, at - REACH) : at] if t.start >= low and _tells(t)]
        after = takewhile(lambda t: t.word not in JOINTS, tokens[at + 1 : at + 1 + REACH])
        behind = [t for t in after if t.start < high and _tells(t)]
        rest = frozenset(t.term for t in inside if _tells(t) or t.word in CONTRAST)
        spot = Spot(token, before[-1].term if before else "", behind[0].term if behind else "", rest, low, high)
        if spot.behind:
            yield spot


def _tells(token: Token) -> bool:
    return not token.is_stop or token.word[0].isdigit()


def _exchanged(spot: Spot, held: dict[str, list[tuple[Text, Spot]]], contexts: Sequence[Text]) -> Finding | None:
    """The source's opposite of a word that stands between the same words there."""
    same = held.get(spot.token.word, ())
    if len(spot.rest) < MIN_TERMS or any(other.behind == spot.behind for _, other in same):
        return None
    for word in _opposites()[spot.token.word]:
        for source, other in held.get(word, ()):
            if source not in contexts or other.behind != spot.behind:
                continue
            between = spot.before == other.before or (not spot.before and not other.before)
            foreign = spot.rest - other.rest
            if not between and len(spot.rest & other.rest) < MIN_TERMS + 1:
                continue
            if len(spot.rest - foreign) < ALIKE * len(spot.rest) or (spot.rest ^ other.rest) & CONTRAST:
                continue
            shown = source.raw[other.start : other.end].strip()
            evidence = Evidence(source.name, other.start, other.end, source.raw[other.start : other.end])
            reason = f"the source says otherwise ({word}): {shown}"
            return Finding(spot.token.start, spot.token.end, 1.0, reason, (evidence,))
    return None


def _denied(reply: Text, sentence: Sentence, contexts: Sequence[Text]) -> Iterator[Finding]:
    """`even if a claim is open` where a source says `unless a claim is open`."""
    for match in islice(EVEN.finditer(reply.raw, sentence.start, sentence.end), MAX_EVEN):
        ours = _terms(reply, match.end(), _clause_end(reply.raw, match.end(), sentence.end))
        main = _terms(reply, sentence.start, sentence.end) - ours
        if not ours:
            continue
        for source in contexts:
            for other in islice(EXCEPT.finditer(source.raw), MAX_PLACES):
                end = _clause_end(source.raw, other.end(), len(source.raw))
                theirs = _terms(source, other.end(), end)
                start = source.raw.rfind(". ", max(0, other.start() - SPAN), other.start()) + 1
                if len(ours & theirs) < ALIKE * len(ours) or not main & _terms(source, start, other.start()):
                    continue
                shown = source.raw[other.start() : end].strip()
                evidence = Evidence(source.name, other.start(), end, source.raw[other.start() : end])
                stop = _clause_end(reply.raw, match.end(), sentence.end)
                yield Finding(match.start(), stop, 1.0, f"the source says otherwise (exception): {shown}", (evidence,))
                return


def _clause_end(raw: str, start: int, high: int) -> int:
    high = min(high, start + SPAN)
    cut = CUT.search(raw, start, high)
    return cut.start() if cut else high


def _terms(text: Text, start: int, end: int) -> frozenset[str]:
    filler = resource.words("filler.txt")
    first, last = token_range(text, start, end)
    return frozenset(t.term for t in text.tokens[first:last] if not t.is_stop and t.word not in filler)


@cache
def _opposites() -> dict[str, tuple[str, ...]]:
    """Each word of the pairs with its opposites."""
    table: dict[str, list[str]] = {}
    for pair in sorted(group("opposite")):
        one, other = pair.split()
        table.setdefault(one, []).append(other)
        table.setdefault(other, []).append(one)
    return {word: tuple(others) for word, others in table.items()}


@cache
def _opposite_terms() -> frozenset[str]:
    return frozenset(map(term, _opposites()))
