"""A sentence of the reply -> the n-grams of its words, as the fitted weights know them.

Figures stand for their kind (`<money>`, and `<money> held` if a source has it), contacts for theirs, names for whose
they are: the company's (`<ours>`), the customer's (`<theirs>`) or nobody's so far (`<name>`). A word that nobody used
before counts once more by itself (`+cheaper`), and so does how much of the sentence the sources say (`held: most`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from touchstone.core.policy import Policy
from touchstone.core.reading import Contact, Reading, Sentence, Text, Value
from touchstone.core.result import Anchor
from touchstone.text.normalise import normalise
from touchstone.text.tokens import tokenise

LONGEST = 3
START, BREAK, STOP = "^", ",", "."
BREAKS = frozenset(",;:()—–")
SPEAKERS = frozenset("i i'd i'm i've i'll".split())
MOST, HALF = 0.75, 0.4
BY_SOURCES, OF_SOURCES = ("+", "held: "), ("> held", "> new")
NO_POLICY = Policy()
# What is longer than any sentence is no prose and comes in pieces, so that time stays linear.
MAX_WORDS = 120


class SentenceNgrams(NamedTuple):
    """A sentence and its n-grams."""

    sentence: Sentence
    ngrams: frozenset[str]


class SaidBefore(NamedTuple):
    """The words and terms that were there before the reply: the company's, the customer's; and which figures are held.

    `small` are words that a capital does not make a name.
    """

    ours: frozenset[str]
    theirs: frozenset[str]
    our_terms: frozenset[str]
    their_terms: frozenset[str]
    small: frozenset[str]
    held: frozenset[int]
    marks: Mapping[int, Value | Contact]


@dataclass(frozen=True, slots=True, eq=False)
class _CaseKey:
    """A case as the key of what was computed of it: to compare readings by their words would cost more than that."""

    reading: Reading
    anchors: tuple[Anchor, ...]
    policy: Policy

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _CaseKey)
            and self.reading is other.reading
            and self.anchors is other.anchors
            and self.policy == other.policy
        )

    def __hash__(self) -> int:
        return id(self.reading)


def ngrams_of(
    reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy = NO_POLICY
) -> tuple[SentenceNgrams, ...]:
    """The reply's sentences with their n-grams; the detectors ask for them, and right afterwards the judge."""
    return _ngrams_of(_CaseKey(reading, anchors or (), policy))


@lru_cache(maxsize=1)
def _ngrams_of(asked: _CaseKey) -> tuple[SentenceNgrams, ...]:
    reply, said = asked.reading.reply, _said(asked.reading, asked.anchors, asked.policy)
    return tuple([SentenceNgrams(sentence, _ngrams(reply, sentence, said)) for sentence in sentences(reply)])


def sentences(text: Text) -> Iterator[Sentence]:
    """The text's sentences, very long ones in pieces."""
    for sentence in text.sentences:
        if sentence.last - sentence.first <= MAX_WORDS:
            yield sentence
            continue
        for first in range(sentence.first, sentence.last, MAX_WORDS):
            last = min(first + MAX_WORDS, sentence.last)
            yield Sentence(text.tokens[first].start, text.tokens[last - 1].end, first, last)


def _said(reading: Reading, anchors: tuple[Anchor, ...], policy: Policy) -> SaidBefore:
    named = [token for name in (policy.company or "", *policy.domains) for token in tokenise(normalise(name))]
    asked = (reading.question,) if reading.question else ()
    ours = [source for source in reading.sources or () if not source.is_said]
    theirs = [*asked, *(source for source in reading.sources or () if source.is_said)]
    reply = reading.reply
    places: tuple[Value | Contact, ...] = (*reply.values, *reply.contacts)
    return SaidBefore(
        frozenset([token.word for text in ours for token in text.tokens] + [token.word for token in named]),
        frozenset([token.word for text in theirs for token in text.tokens]),
        frozenset([token.term for token in named]).union(*(text.positions for text in ours)),
        frozenset[str]().union(*(text.positions for text in theirs)),
        SPEAKERS.union([token.word for token in reply.tokens if reply.raw[token.start].islower()]),
        frozenset(anchor.start for anchor in anchors if anchor.kind != "claim" and anchor.holds),
        {place.start: place for place in places},
    )


def _ngrams(reply: Text, sentence: Sentence, said: SaidBefore) -> frozenset[str]:
    words = [START, *_spelled(reply, sentence, said)]
    mark = reply.raw[sentence.end - 1 : sentence.end]
    words.append(mark if mark in ("?", "!") else STOP)
    ngrams = set(words)
    for size in range(2, LONGEST + 1):
        ngrams.update(map(" ".join, zip(*(words[at:] for at in range(size)), strict=False)))
    content = {token.term for token in reply.tokens[sentence.first : sentence.last] if not token.is_stop}
    ngrams.update(_alone(reply, sentence, said))
    ngrams.add(f"held: {_share(content, said)}")
    return frozenset(ngrams)


def _spelled(reply: Text, sentence: Sentence, said: SaidBefore) -> Iterator[str]:
    """The sentence's words; a figure, a contact and a name are one mark each."""
    raw, marks = reply.raw, said.marks
    taken = past = sentence.start
    before = ""
    for token in reply.tokens[sentence.first : sentence.last]:
        gap, opens = raw[past : token.start], past == sentence.start
        past = token.end
        if token.start < taken:
            continue
        if gap != " " and not opens and not BREAKS.isdisjoint(gap):
            yield BREAK
            before = BREAK
        place = marks.get(token.start) or marks.get(token.start - 1)  # a currency sign is no token
        if place is not None:
            taken = place.end
            before = f"<{place.kind}>"
            yield before
            continue
        word = token.word
        if not opens and raw[token.start].isupper() and word not in said.small:
            word = _owner(word.removesuffix("'s"), said)
            if word == before:
                continue
        before = word
        yield word


def wording_only(ngrams: frozenset[str]) -> frozenset[str]:
    """The n-grams without what the sources hold or lack: a figure made wrong is worded as well as the right one."""
    return frozenset([each for each in ngrams if not (each.startswith(BY_SOURCES) or each.endswith(OF_SOURCES))])


def _owner(name: str, said: SaidBefore) -> str:
    return "<ours>" if name in said.ours else "<theirs>" if name in said.theirs else "<name>"


def _alone(reply: Text, sentence: Sentence, said: SaidBefore) -> Iterator[str]:
    """What counts by itself: words that nobody used before, and figures by whether a source has them."""
    for token in reply.tokens[sentence.first : sentence.last]:
        if not token.is_stop and token.term not in said.our_terms and token.term not in said.their_terms:
            yield f"+{token.word}"
    for value in reply.values:
        if sentence.start <= value.start < sentence.end:
            yield f"<{value.kind}> {'held' if value.start in said.held else 'new'}"


def _share(content: set[str], said: SaidBefore) -> str:
    """How much of the sentence's content the company's sources say."""
    if not said.our_terms:
        return "no source"
    share = len(content & said.our_terms) / max(1, len(content))
    return "most" if share >= MOST else "half" if share >= HALF else "few"
