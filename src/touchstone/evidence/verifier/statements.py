"""Reading, checked anchors and a verifier -> what it makes of every sentence of the reply.

Passages come first; the customer's words and the reply that people wrote are asked only about what the passages do not
bear out. Typed values have the last word on numbers: one that holds is shown to the model as the source spells it, and
one that does not hold is never supported by the words around it.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import get_args

from touchstone.core.plan import Plan
from touchstone.core.reading import Reading, Sentence, Text, Token
from touchstone.core.result import Anchor, Chances, Evidence, Standing, Statement, Verification
from touchstone.evidence.places import token_range
from touchstone.evidence.verifier.first_pass import pass_sentence
from touchstone.evidence.verifier.model import Pair, Verifier
from touchstone.evidence.verifier.retrieval import Passages, evidence_for, joined

# Longer "sentences" are read in pieces, so that nothing lies beyond what the model can take in.
MAX_WORDS = 60
# A sentence is held against what the customer wrote if that has this share of its words.
SPOKEN_OF = 0.5
# A reply of more sentences than this is no reply; what lies beyond is counted and not read.
MOST_READ = 200
STANDINGS: tuple[Standing, ...] = get_args(Standing)
DOUBTED: tuple[Standing, ...] = ("contradicted", "not_stated")


def verify(
    reading: Reading, anchors: Sequence[Anchor] | None, *, verifier: Verifier, plan: Plan
) -> Verification | None:
    """Every sentence with its status, or None when there is nothing to hold the reply against."""
    if reading.sources is None:
        return None
    pieces = list(_pieces(reading.reply))
    card = verifier.card
    return Verification(
        name=card.name,
        version=card.version,
        hash=card.hash,
        cut=card.cut if plan.verifier_cut is None else plan.verifier_cut,
        statements=tuple(_statements(reading, pieces[:MOST_READ], anchors or (), verifier)),
        unread=max(0, len(pieces) - MOST_READ),
    )


def _statements(
    reading: Reading, pieces: Sequence[Sentence], anchors: Sequence[Anchor], verifier: Verifier
) -> list[Statement]:
    own = tuple(source for source in reading.sources or () if not source.name.startswith("input"))
    names = {source.name for source in own}
    values = [[a for a in anchors if a.kind != "claim" and p.start <= a.start < p.end] for p in pieces]
    asked = [_asked(reading.reply, piece, held, names) for piece, held in zip(pieces, values, strict=True)]
    clear = [
        pass_sentence(reading.reply, piece, spelled=each.text, values=held, passages=own)
        for piece, each, held in zip(pieces, asked, values, strict=True)
    ]
    open_ones = [at for at, statement in enumerate(clear) if statement is None]
    read = dict(zip(open_ones, _read([asked[at] for at in open_ones], reading, own, verifier), strict=True))
    return [statement or _ruled(read[at], values[at]) for at, statement in enumerate(clear)]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A sentence as the model reads it, and what its evidence is looked for by."""

    raw: str
    start: int
    end: int
    text: str
    tokens: Sequence[Token]


def _asked(reply: Text, piece: Sentence, values: Sequence[Anchor], names: Set[str]) -> _Asked:
    """Values that hold stand as their source spells them: two weeks as the 14 days that a passage speaks of."""
    parts, after = [], piece.start
    for anchor in sorted(values, key=lambda each: each.start):
        known = anchor.status == "supported" and anchor.evidence and anchor.evidence[0].source in names
        if known and after <= anchor.start and anchor.end <= piece.end:
            parts += [reply.raw[after : anchor.start], anchor.evidence[0].text]
            after = anchor.end
    text = " ".join("".join([*parts, reply.raw[after : piece.end]]).split())
    raw = reply.raw[piece.start : piece.end]
    return _Asked(raw, piece.start, piece.end, text, reply.tokens[piece.first : piece.last])


def _read(asked: Sequence[_Asked], reading: Reading, own: Sequence[Text], verifier: Verifier) -> list[Statement]:
    """The passages' word on every sentence; where they do not bear it out, that of what else was said."""
    first = _look(asked, own, verifier)
    again = [at for at, statement in enumerate(first) if statement.status in DOUBTED]
    others = [source for source in reading.sources or () if source.name.startswith("input")]
    if reading.expected is not None and all(source.name != reading.expected.name for source in own):
        others.append(reading.expected)
    again = [at for at in again if _speak_of(asked[at].tokens, others)]
    if not again:
        return first
    second = _look([asked[at] for at in again], others, verifier)
    found = dict(zip(again, second, strict=True))
    return [_better(statement, found.get(at)) for at, statement in enumerate(first)]


def _speak_of(tokens: Sequence[Token], sources: Sequence[Text]) -> bool:
    """Whether the sources have enough of the sentence's words for a second reading to be worth its time."""
    wanted = {token.term for token in tokens if not token.is_stop}
    return sum(any(t in source.positions for source in sources) for t in wanted) >= SPOKEN_OF * len(wanted) > 0


def _better(first: Statement, second: Statement | None) -> Statement:
    """A passage that contradicts beats a customer who states; the reply that people wrote for the case beats both."""
    if second is None or second.status != "supported" or not second.evidence:
        return first
    from_people = not second.evidence[0].source.startswith("input")
    return second if first.status == "not_stated" or from_people else first


def _look(asked: Sequence[_Asked], sources: Sequence[Text], verifier: Verifier) -> list[Statement]:
    passages = Passages.of(sources)
    found = [evidence_for(each.tokens, passages, limit=verifier.card.evidence_sentences) for each in asked]
    pairs = [Pair(each.text, joined(evidence)) for each, evidence in zip(asked, found, strict=True)]
    chances = verifier.read(pairs)
    return [
        _statement(each, given, [Evidence(e.source, e.start, e.end, e.text) for e in evidence], sources)
        for each, given, evidence in zip(asked, chances, found, strict=True)
    ]


def _statement(asked: _Asked, chances: Chances, evidence: Sequence[Evidence], sources: Sequence[Text]) -> Statement:
    status = max(STANDINGS, key=lambda name: float(getattr(chances, name)))
    nearest = _nearest(asked.tokens, evidence, sources) if status != "no_claim" else None
    reason = _reason(status, nearest)
    shown = (nearest,) if nearest else ()
    return Statement(asked.raw, asked.start, asked.end, status, "model", reason, chances, shown)


def _reason(status: Standing, nearest: Evidence | None) -> str:
    where = nearest.source if nearest else "a source"
    return {
        "supported": f"{where} says so",
        "contradicted": f"{where} says otherwise",
        "not_stated": "no source states this",
        "no_claim": "claims nothing",
    }[status]


def _nearest(tokens: Sequence[Token], evidence: Sequence[Evidence], sources: Sequence[Text]) -> Evidence | None:
    """Of the statements read, the one that shares most with the reply's sentence, the shorter of two."""
    texts = {source.name: source for source in sources}
    wanted = {token.term for token in tokens if not token.is_stop}

    def shared(place: Evidence) -> tuple[int, int]:
        text = texts[place.source]
        first, last = token_range(text, place.start, place.end)
        return len(wanted & {token.term for token in text.tokens[first:last]}), first - last

    said = [place for place in evidence if not place.text.endswith("?")]
    return max(said or evidence, key=shared, default=None)


def _ruled(statement: Statement, values: Sequence[Anchor]) -> Statement:
    """The statement under the typed values: a number that no source bears out is not supported by its words."""
    wrong = next((value for value in values if value.status == "contradicted"), None)
    wrong = wrong or next((value for value in values if value.status == "unsupported"), None)
    if wrong is None or statement.status == "contradicted":
        return statement
    status: Standing = "contradicted" if wrong.status == "contradicted" else "not_stated"
    return replace(
        statement, status=status, by="values", reason=wrong.reason, evidence=wrong.evidence or statement.evidence
    )


def _pieces(reply: Text) -> Iterator[Sentence]:
    for sentence in reply.sentences:
        if sentence.last - sentence.first <= MAX_WORDS:
            yield sentence
            continue
        for first in range(sentence.first, sentence.last, MAX_WORDS):
            last = min(first + MAX_WORDS, sentence.last)
            yield Sentence(reply.tokens[first].start, reply.tokens[last - 1].end, first, last)
