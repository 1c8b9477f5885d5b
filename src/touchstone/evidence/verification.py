"""Reading, checked anchors and a verifier -> what it makes of every sentence of the reply.

A verifier is any model that reads a sentence beside its evidence; loading one is left to a layer that may read files.
Sentences that are clear without a model never reach it: courtesies, questions, and what is copied from a source.
Passages come first; the customer's words and the reply that people wrote are asked only about what the passages do not
bear out. Typed values have the last word on numbers: one that holds is shown to the model as the source spells it, and
one that does not hold is never supported by the words around it.
"""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import NamedTuple, Protocol, get_args

from touchstone.core import resource
from touchstone.core.reading import Reading, Sentence, Text, Token
from touchstone.core.result import Anchor, Chances, Evidence, SentenceStatus, Statement, Verification
from touchstone.evidence.retrieval import Passages, evidence_for, joined
from touchstone.text.patterns import folded, pattern
from touchstone.text.sentences import cut
from touchstone.text.tokens import WORD, term

# Longer "sentences" are read in pieces, so that nothing lies beyond what the model can take in.
MAX_WORDS = 60
# A sentence is held against what the customer wrote if that has this share of its words.
SPOKEN_OF = 0.5
# A reply of more sentences than this is no reply; what lies beyond is counted and not read.
MOST_READ = 200
SENTENCE_STATUSES: tuple[SentenceStatus, ...] = get_args(SentenceStatus)
DOUBTED: tuple[SentenceStatus, ...] = ("contradicted", "not_stated")
REASONS: dict[SentenceStatus, str] = {
    "supported": "{} says so",
    "contradicted": "{} says otherwise",
    "not_stated": "no source states this",
    "no_claim": "claims nothing",
}
# A sentence of fewer words claims nothing.
MIN_WORDS = 3
# A longer question, or one with a figure in it, may state something on the way.
SHORT_QUESTION = 14
TELLING = re.compile(r"\b(?:know|as|since|because|that|which|given)\b")
KIND_PHRASES = ("apology", "thanks", "warmth", "courtesy")
# Words that come and go when a sentence is copied, without a change of sense.
LOOSE = frozenset("a an the this that your our please so also and then just yes well".split())
# What is left out of a copied sentence may not hold any of these: a condition dropped is another statement.
BINDING = frozenset(
    "not no never only except unless until if when without but however must cannot may before after than once provided "
    "excluding subject either or neither nor where while during least most".split()
)
# A term that appears everywhere in a long source needs no more looks than this.
MAX_PLACES = 64
# A copy shorter than this is a phrase that appears in many statements.
MIN_COPY = 4


class SentencePair(NamedTuple):
    """A sentence of a reply, and the evidence it is held against."""

    sentence: str
    evidence: str


@dataclass(frozen=True, slots=True)
class VerifierCard:
    """Which verifier it is; `hash` is that of its files."""

    name: str
    version: str
    hash: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} {self.hash}"


class Verifier(Protocol):
    """Reads pairs. A pair's chances depend on that pair alone, never on those beside it."""

    @property
    def card(self) -> VerifierCard:
        """What it calls itself."""

    def read(self, pairs: Sequence[SentencePair]) -> list[Chances]:
        """The chances of each pair, in order."""


def verify(reading: Reading, anchors: Sequence[Anchor] | None, *, verifier: Verifier) -> Verification | None:
    """Every sentence with its status, or None when there is nothing to hold the reply against."""
    if reading.sources is None:
        return None
    pieces = [piece for sentence in reading.reply.sentences for piece in cut(reading.reply, sentence, most=MAX_WORDS)]
    card = verifier.card
    return Verification(
        name=card.name,
        version=card.version,
        hash=card.hash,
        statements=tuple(_statements(reading, pieces[:MOST_READ], anchors or (), verifier)),
        unread=max(0, len(pieces) - MOST_READ),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A piece of the reply, as the model reads it, with its words and its typed values."""

    piece: Sentence
    raw: str
    text: str
    tokens: Sequence[Token]
    values: Sequence[Anchor]


def _statements(
    reading: Reading, pieces: Sequence[Sentence], anchors: Sequence[Anchor], verifier: Verifier
) -> list[Statement]:
    own = tuple(source for source in reading.sources or () if not source.is_said)
    typed = [anchor for anchor in anchors if anchor.kind != "claim"]
    asked = [_asked(reading.reply, piece, typed, {source.name for source in own}) for piece in pieces]
    clear = [_clear(each, reading.reply, own) for each in asked]
    unclear = [each for each, statement in zip(asked, clear, strict=True) if statement is None]
    read = iter(_read(unclear, reading, own, verifier))
    return [statement or _ruled(next(read), each.values) for each, statement in zip(asked, clear, strict=True)]


def _asked(reply: Text, piece: Sentence, typed: Iterable[Anchor], names: Set[str]) -> _Asked:
    """Values that hold are spelled as in their source: two weeks as the 14 days that a passage speaks of."""
    values = [anchor for anchor in typed if piece.start <= anchor.start < piece.end]
    parts, after = [], piece.start
    for anchor in sorted(values, key=lambda each: each.start):
        known = anchor.status == "supported" and anchor.evidence and anchor.evidence[0].source in names
        if known and after <= anchor.start and anchor.end <= piece.end:
            parts += [reply.raw[after : anchor.start], anchor.evidence[0].text]
            after = anchor.end
    text = " ".join("".join([*parts, reply.raw[after : piece.end]]).split())
    return _Asked(piece, reply.raw[piece.start : piece.end], text, reply.tokens[piece.first : piece.last], values)


def _read(asked: Sequence[_Asked], reading: Reading, own: Sequence[Text], verifier: Verifier) -> list[Statement]:
    """The passages' word on every sentence; where they do not bear it out, that of what else was said."""
    first = _look(asked, own, verifier)
    others = [source for source in reading.sources or () if source.is_said]
    if reading.expected is not None and all(source.name != reading.expected.name for source in own):
        others.append(reading.expected)
    pairs = zip(asked, first, strict=True)
    again = [found.status in DOUBTED and _speak_of(each.tokens, others) for each, found in pairs]
    if not any(again):
        return first
    second = iter(_look(list(compress(asked, again)), others, verifier))
    return [_better(found, next(second)) if doubted else found for found, doubted in zip(first, again, strict=True)]


def _speak_of(tokens: Sequence[Token], sources: Sequence[Text]) -> bool:
    """Whether the sources have enough of the sentence's words for a second reading to be worth its time."""
    wanted = {token.term for token in tokens if not token.is_stop}
    return sum(any(t in source.positions for source in sources) for t in wanted) >= SPOKEN_OF * len(wanted) > 0


def _better(first: Statement, second: Statement) -> Statement:
    """A passage that contradicts beats a customer who states; the reply that people wrote for the case beats both."""
    if second.status != "supported" or not second.evidence:
        return first
    from_people = not second.evidence[0].source.startswith("input")
    return second if first.status == "not_stated" or from_people else first


def _look(asked: Sequence[_Asked], sources: Sequence[Text], verifier: Verifier) -> list[Statement]:
    passages = Passages.of(sources)
    found = [evidence_for(each.tokens, passages) for each in asked]
    pairs = [SentencePair(each.text, joined(evidence)) for each, evidence in zip(asked, found, strict=True)]
    read = zip(asked, verifier.read(pairs), found, strict=True)
    return [_statement(each, chances, evidence, sources) for each, chances, evidence in read]


def _statement(asked: _Asked, chances: Chances, evidence: Sequence[Evidence], sources: Sequence[Text]) -> Statement:
    status = max(SENTENCE_STATUSES, key=lambda name: float(getattr(chances, name)))
    nearest = _nearest(asked.tokens, evidence, sources) if status != "no_claim" else None
    reason = REASONS[status].format(nearest.source if nearest else "a source")
    shown = (nearest,) if nearest else ()
    return Statement(asked.raw, asked.piece.start, asked.piece.end, status, "model", reason, chances, shown)


def _nearest(tokens: Sequence[Token], evidence: Sequence[Evidence], sources: Sequence[Text]) -> Evidence | None:
    """Of the statements read, the one that shares most with the reply's sentence, the shorter of two."""
    texts = {source.name: source for source in sources}
    wanted = {token.term for token in tokens if not token.is_stop}

    def shared(place: Evidence) -> tuple[int, int]:
        text = texts[place.source]
        first, last = text.token_range(place.start, place.end)
        return len(wanted & {token.term for token in text.tokens[first:last]}), first - last

    said = [place for place in evidence if not place.text.endswith("?")]
    return max(said or evidence, key=shared, default=None)


def _ruled(statement: Statement, values: Sequence[Anchor]) -> Statement:
    """The statement under the typed values: a number that no source bears out is not supported by its words."""
    wrong = next((value for value in values if value.status == "contradicted"), None)
    wrong = wrong or next((value for value in values if value.status == "unsupported"), None)
    if wrong is None or statement.status == "contradicted":
        return statement
    status: SentenceStatus = "contradicted" if wrong.status == "contradicted" else "not_stated"
    return replace(
        statement, status=status, by="values", reason=wrong.reason, evidence=wrong.evidence or statement.evidence
    )


def _clear(asked: _Asked, reply: Text, passages: Iterable[Text]) -> Statement | None:
    """The statement of a sentence that a rule can hardly be wrong about; None when the model has to read it."""
    raw, piece = asked.raw, asked.piece
    figures = [*(value.start for value in reply.values), *(contact.start for contact in reply.contacts)]
    has_figures = any(piece.start <= start < piece.end for start in figures)
    if not has_figures and (kind := _no_claim(raw, words=piece.last - piece.first)) is not None:
        return Statement(raw, piece.start, piece.end, "no_claim", "rule", kind)
    copied = _copied(asked.text, passages) if all(value.holds for value in asked.values) else None
    if copied is None:
        return None
    reason = f"copied from {copied.source}"
    return Statement(raw, piece.start, piece.end, "supported", "rule", reason, evidence=(copied,))


def _no_claim(raw: str, *, words: int) -> str | None:
    """Why a sentence without figures states nothing that could be checked, if that is plain."""
    if words < MIN_WORDS:
        return "too short to claim anything"
    if raw.rstrip(" \n\"')").endswith("?") and words <= SHORT_QUESTION and not TELLING.search(folded(raw)):
        return "a question"
    return "a courtesy" if _is_courtesy(raw) else None


def _is_courtesy(raw: str) -> bool:
    """Whether nothing is left but function words and filler once kind phrases are taken out."""
    said = folded(raw)
    for name in KIND_PHRASES:
        said = pattern(name, table="tone.txt").sub(" ", said)
    light = resource.words("stopwords.txt") | resource.words("filler.txt") | resource.words("opinions.txt")
    return all(match[0] in light for match in WORD.finditer(said))


def _copied(spelled: str, passages: Iterable[Text]) -> Evidence | None:
    """The source sentence that says the same words in the same order, and adds nothing that binds them."""
    wanted = [match[0] for match in WORD.finditer(folded(spelled)) if match[0] not in LOOSE]
    if len(wanted) < MIN_COPY:
        return None
    lead = term(wanted[0])
    for passage in passages:
        places = passage.positions.get(lead, ())[:MAX_PLACES]
        for sentence in dict.fromkeys(passage.sentence_at(passage.tokens[at].start) for at in places):
            if sentence is None:
                continue
            found = [token.word for token in passage.tokens[sentence.first : sentence.last] if token.word not in LOOSE]
            if _holds(found, wanted) and not passage.raw[sentence.start : sentence.end].endswith("?"):
                text = passage.raw[sentence.start : sentence.end]
                return Evidence(passage.name, sentence.start, sentence.end, text)
    return None


def _holds(found: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the wanted words appear together among those found, with nothing binding around them."""
    size = len(wanted)
    for at in range(len(found) - size + 1):
        if found[at] == wanted[0] and list(found[at : at + size]) == list(wanted):
            return not any(word in BINDING or word.endswith("n't") for word in chain(found[:at], found[at + size :]))
    return False
