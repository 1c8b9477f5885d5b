"""Packaged phrase groups + tokens -> where which group's phrases stand, the longest first."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Sentence, Text, Token
from touchstone.text.normalise import normalise
from touchstone.text.tokens import term, tokenise

MAX_WORDS = 120
Entry = tuple[tuple[str, ...], str]


class Hit(NamedTuple):
    """A phrase of a group: the tokens it takes, half-open."""

    head: str
    first: int
    last: int


class Book(NamedTuple):
    """First word or term -> the phrases that begin with it, longest first; `column` is the token's part compared."""

    phrases: Mapping[str, tuple[Entry, ...]]
    column: Literal[0, 1]


@cache
def book(name: str, *heads: str, exact: bool = False) -> Book:
    """The given groups of a packaged table, compared by stem, or by the word where it matters (usual, usually)."""
    column: Literal[0, 1] = 0 if exact else 1
    entries: dict[str, list[Entry]] = defaultdict(list)
    for head in heads:
        for phrase in resource.group(name, head):
            terms = tuple(token[column] for token in tokenise(normalise(phrase)))
            entries[terms[0]].append((terms, head))
    ordered = {first: tuple(sorted(found, key=lambda e: (-len(e[0]), e))) for first, found in entries.items()}
    return Book(ordered, column)


@cache
def stems(name: str, *heads: str) -> frozenset[str]:
    """The one-word members of some groups, as terms."""
    return frozenset(term(phrase) for head in heads for phrase in resource.group(name, head) if " " not in phrase)


def sentences(text: Text) -> Iterator[Sentence]:
    """The text's sentences; what is longer than any is no prose and comes in pieces, so that time stays linear."""
    for sentence in text.sentences:
        if sentence.last - sentence.first <= MAX_WORDS:
            yield sentence
            continue
        for first in range(sentence.first, sentence.last, MAX_WORDS):
            last = min(first + MAX_WORDS, sentence.last)
            yield Sentence(text.tokens[first].start, text.tokens[last - 1].end, first, last)


def find(pages: Book, tokens: Sequence[Token], first: int, last: int) -> list[Hit]:
    """All phrases among the tokens of a range, in order, none overlapping another."""
    hits: list[Hit] = []
    phrases, column = pages
    free = first
    for at, token in enumerate(tokens[first:last], first):
        if token[column] not in phrases or at < free:
            continue
        hit = _longest(phrases[token[column]], column, tokens, at, last)
        if hit is not None:
            hits.append(hit)
            free = hit.last
    return hits


def _longest(
    entries: Sequence[Entry], column: Literal[0, 1], tokens: Sequence[Token], at: int, last: int
) -> Hit | None:
    for terms, head in entries:
        end = at + len(terms)
        if end <= last and tuple([token[column] for token in tokens[at:end]]) == terms:
            return Hit(head, at, end)
    return None
