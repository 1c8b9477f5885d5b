"""A sentence of a reply and the sources -> the sentences of the sources that speak to it, in the order they stand.

A sentence is picked for what it says about words that no picked one has spoken to yet, so that a claim merged from two
passages finds both. A question brings its answer along, `it` and `they` the sentence before, a line of a passage the
passage's heading.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

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
# What follows a semicolon is read with what stands before it, up to so many characters.
LONGEST_JOINED = 240
# Words that point back to the sentence before.
POINTING = frozenset("it its they their them this that these those he she his her then otherwise afterwards".split())
# Words beyond these say little more about which sentences to pick.
MOST_SOUGHT = 60
# Sources longer than this are cut: a sentence is looked for in the first ones.
MOST_SENTENCES = 2000


@dataclass(frozen=True)
class Passages:
    """The sentences of all sources, ready to be looked through; made once for a reply."""

    sentences: tuple[Evidence, ...]
    words: tuple[tuple[str, ...], ...]
    terms: tuple[frozenset[str], ...]
    headings: tuple[int, ...]

    @classmethod
    def of(cls, sources: Iterable[Text]) -> "Passages":
        """Every sentence of the sources with its words; a sentence that recurs counts where it stands first."""
        sentences: list[Evidence] = []
        words: list[tuple[str, ...]] = []
        terms: list[frozenset[str]] = []
        headings: list[int] = []
        known: set[str] = set()
        for source in sources:
            first = len(sentences)
            for sentence in _whole(source):
                text = source.raw[sentence.start : sentence.end].strip()
                if text in known or len(sentences) >= MOST_SENTENCES:
                    continue
                known.add(text)
                tokens = source.tokens[sentence.first : sentence.last]
                sentences.append(Evidence(source.name, sentence.start, sentence.end, text))
                words.append(tuple(token.word for token in tokens if not token.is_stop))
                terms.append(frozenset(token.term for token in tokens))
                headings.append(first)
        return cls(tuple(sentences), tuple(words), tuple(terms), tuple(headings))

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Every word of the sources, numbered."""
        return {word: at for at, word in enumerate(sorted({word for words in self.words for word in words}))}

    @cached_property
    def word_numbers(self) -> "tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]":
        """The words of all sentences one after the other, which sentences have any, and where each of those begins."""
        import numpy as np

        filled = [at for at, words in enumerate(self.words) if words]
        begins = np.cumsum([0, *(len(self.words[at]) for at in filled)], dtype=np.intp)[:-1]
        numbers = [self.vocabulary[word] for at in filled for word in self.words[at]]
        return np.array(numbers, dtype=np.intp), np.array(filled, dtype=np.intp), begins

    @cached_property
    def by_term(self) -> dict[str, list[int]]:
        """The sentences that have a term."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, terms in enumerate(self.terms):
            for term in terms:
                found[term].append(at)
        return found

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The words of each sentence, as the model's time depends on them."""
        return tuple(len(sentence.text.split()) for sentence in self.sentences)


def evidence_for(sentence: Sequence[Token], passages: Passages) -> tuple[Evidence, ...]:
    """The few sentences that speak to the sentence with these tokens, in the order of the sources."""
    if not passages.sentences:
        return ()
    return tuple(passages.sentences[at] for at in sorted(_pick(_table(sentence, passages), passages)))


def joined(evidence: Sequence[Evidence]) -> str:
    """The evidence as the model reads it."""
    return " ".join(" ".join(sentence.text.split()) for sentence in evidence)


def _whole(source: Text) -> Iterator[Sentence]:
    """The sentences of a source, those that were parted at a semicolon joined again."""
    open_: Sentence | None = None
    for sentence in source.sentences:
        if open_ and source.raw[open_.end - 1] == ";" and sentence.end - open_.start <= LONGEST_JOINED:
            open_ = Sentence(open_.start, sentence.end, open_.first, sentence.last)
            continue
        if open_:
            yield open_
        open_ = sentence
    if open_:
        yield open_


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
            if picked and passages.sizes[number] > budget:
                return picked
            picked.add(number)
            budget -= passages.sizes[number]
            spoken = np.maximum(spoken, table[:, number])
    return picked


def _with_company(at: int, passages: Passages) -> Iterator[int]:
    """A sentence, the answer after a question, what its first word points back to, and the heading above it."""
    yield at
    heading = passages.headings[at]
    if passages.sentences[at].text.endswith("?") and passages.headings[at + 1 : at + 2] == (heading,):
        yield at + 1
    if at > heading and passages.sentences[at].text.split(maxsplit=1)[0].casefold() in POINTING:
        yield at - 1
    if heading != at and passages.sizes[heading] <= HEADING_WORDS:
        yield heading
