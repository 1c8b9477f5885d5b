"""A sentence of a reply and the sources -> the sentences of the sources that speak to it, in their order.

A sentence is picked for what it says about words that no picked one has spoken to yet, so that a claim merged from two
passages finds both. A question brings its answer along, `it` and `they` the sentence before, a line of a passage the
passage's heading.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, NamedTuple

from touchstone.core.reading import Sentence, Text, Token
from touchstone.core.result import Evidence
from touchstone.evidence.alignment import likeness

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What a model reads grows with the words of the evidence, and so does its time. With a sentence of MAX_WORDS this is
# less than half of the 512 tokens that most models take in.
MOST_WORDS = 120
MOST_EVIDENCE = 6
# A first line of so many words names what the passage is about.
HEADING_WORDS = 8
# How much a word counts again in a sentence when another picked one has it already.
AGAIN = 0.3
# A sentence that adds less than this share of the best one's worth is left out.
LEAST_SHARE = 0.2
# What follows a semicolon is read with what is before it, up to so many characters.
LONGEST_JOINED = 240
# Words that point back to the sentence before.
POINTING = frozenset("it its they their them this that these those he she his her then otherwise afterwards".split())
# Words beyond these say little more about which sentences to pick.
MOST_SOUGHT = 60
# Sources longer than this are cut: a sentence is looked for in the first ones.
MOST_SENTENCES = 2000


class SourceSentence(NamedTuple):
    """A sentence of a source: its words, and the number of the first of its source, which may be a heading."""

    evidence: Evidence
    words: tuple[str, ...]
    terms: frozenset[str]
    heading: int
    # In words, as the model's time depends on them.
    size: int


@dataclass(frozen=True)
class Passages:
    """The sentences of all sources, ready to be looked through; made once for a reply."""

    sentences: tuple[SourceSentence, ...]

    @classmethod
    def of(cls, sources: Iterable[Text]) -> "Passages":
        """Every sentence of the sources; one that recurs counts where it comes first."""
        told: dict[str, SourceSentence] = {}
        for source in sources:
            heading = len(told)
            for sentence in _whole(source):
                text = source.raw[sentence.start : sentence.end].strip()
                if text not in told and len(told) < MOST_SENTENCES:
                    tokens = source.tokens[sentence.first : sentence.last]
                    words = tuple(token.word for token in tokens if not token.is_stop)
                    evidence = Evidence(source.name, sentence.start, sentence.end, text)
                    terms = frozenset(token.term for token in tokens)
                    told[text] = SourceSentence(evidence, words, terms, heading, len(text.split()))
        return cls(tuple(told.values()))

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Every word of the sources, numbered."""
        return {word: at for at, word in enumerate(sorted({word for told in self.sentences for word in told.words}))}

    @cached_property
    def word_numbers(self) -> "tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]":
        """The words of all sentences one after the other, which sentences have any, and where each of those begins."""
        import numpy as np

        filled = [(at, told.words) for at, told in enumerate(self.sentences) if told.words]
        begins = np.cumsum([0, *(len(words) for _, words in filled)], dtype=np.intp)[:-1]
        numbers = [self.vocabulary[word] for _, words in filled for word in words]
        return np.array(numbers, dtype=np.intp), np.array([at for at, _ in filled], dtype=np.intp), begins

    @cached_property
    def by_term(self) -> dict[str, list[int]]:
        """The sentences that have a term."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, told in enumerate(self.sentences):
            for term in told.terms:
                found[term].append(at)
        return found


def evidence_for(sentence: Sequence[Token], passages: Passages) -> tuple[Evidence, ...]:
    """The few sentences that speak to the sentence with these tokens, in the order of the sources."""
    if not passages.sentences:
        return ()
    return tuple(passages.sentences[at].evidence for at in sorted(_pick(_table(sentence, passages), passages)))


def joined(evidence: Sequence[Evidence]) -> str:
    """The evidence as the model reads it."""
    return " ".join(" ".join(sentence.text.split()) for sentence in evidence)


def _whole(source: Text) -> Iterator[Sentence]:
    """The sentences of a source, those that were parted at a semicolon joined again."""
    before: Sentence | None = None
    for sentence in source.sentences:
        if before and source.raw[before.end - 1] == ";" and sentence.end - before.start <= LONGEST_JOINED:
            before = before._replace(end=sentence.end, last=sentence.last)
            continue
        if before:
            yield before
        before = sentence
    if before:
        yield before


def _table(sentence: Sequence[Token], passages: Passages) -> "NDArray[np.float64]":
    """For every sought word (row) and sentence (column) how well the one speaks to the other, rare words first."""
    import numpy as np

    sought = list({token.term: token for token in sentence if not token.is_stop}.values())[:MOST_SOUGHT]
    found = np.zeros((len(sought), len(passages.sentences)))
    if sought and passages.vocabulary:
        alike = likeness([token.word for token in sought], tuple(passages.vocabulary))
        numbers, filled, begins = passages.word_numbers
        found[:, filled] = np.maximum.reduceat(alike[:, numbers], begins, axis=1)
    for row, token in enumerate(sought):
        found[row, passages.by_term.get(token.term, [])] = 1.0
        found[row] *= log(1 + len(passages.sentences) / (1 + float(found[row].sum())))
    return found


def _pick(table: "NDArray[np.float64]", passages: Passages) -> set[int]:
    """The numbers of the picked sentences: each time the one that adds most, with what it brings along."""
    import numpy as np

    picked: set[int] = set()
    spoken = np.zeros(len(table))
    budget = MOST_WORDS
    best: float | None = None
    while len(picked) < min(MOST_EVIDENCE, len(passages.sentences)):
        worth = np.maximum(table - spoken[:, None], 0.0).sum(axis=0) + AGAIN * table.sum(axis=0)
        worth[list(picked)] = -1.0
        at = int(np.argmax(np.round(worth, 6)))
        best = float(worth[at]) if best is None else best
        if picked and worth[at] <= LEAST_SHARE * best:
            break
        for number in _with_company(at, passages):
            if number in picked or len(picked) >= MOST_EVIDENCE:
                continue
            if picked and passages.sentences[number].size > budget:
                return picked
            picked.add(number)
            budget -= passages.sentences[number].size
            spoken = np.maximum(spoken, table[:, number])
    return picked


def _with_company(at: int, passages: Passages) -> Iterator[int]:
    """A sentence, the answer after a question, what its first word points back to, and the heading above it."""
    sentences, told = passages.sentences, passages.sentences[at]
    yield at
    if told.evidence.text.endswith("?") and at + 1 < len(sentences) and sentences[at + 1].heading == told.heading:
        yield at + 1
    if at > told.heading and told.evidence.text.split(maxsplit=1)[0].casefold() in POINTING:
        yield at - 1
    if told.heading != at and sentences[told.heading].size <= HEADING_WORDS:
        yield told.heading
