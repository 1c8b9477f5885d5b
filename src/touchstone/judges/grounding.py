"""Reply and sources -> how closely the reply keeps to their words: features for accuracy.

A reply made up of the sources' words can still be wrong, but one that is not made up of them seldom has their support.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from touchstone.core.reading import Sentence, Text, Token

MAX_NAMES = 4
# Two sentences speak of the same thing when their shared content is this much of both.
SAME_THING = 0.5
NEGATIONS = frozenset("not no never cannot nothing without none nor neither unable unfortunately".split())


class Match(NamedTuple):
    """A sentence of the reply, the source sentence nearest to it, and how many content terms the two have and share."""

    sentence: Sentence
    near: Sequence[Token]
    size: int
    near_size: int
    shared: int

    @property
    def likeness(self) -> float:
        """How nearly both say the same: 1 when they share all content."""
        both = self.size + self.near_size
        return 2 * self.shared / both if both else 0.0


class Statements(NamedTuple):
    """A passage, where its sentences begin, and which of them state something."""

    passage: Text
    starts: Sequence[int]
    stated: Sequence[bool]


def grounding_features(reply: Text, sources: Sequence[Text]) -> dict[str, float]:
    """Shares of the reply's words, pairs of words and sentences that the sources have; names and figures they have not.

    Words are sought in the passages, since customers' own words support nothing; names in everything that was given.
    """
    passages = [source for source in sources if not source.is_said] or list(sources)
    known = frozenset().union(*(passage.positions for passage in passages))
    terms = [token.term for token in reply.tokens]
    pairs = {pair for passage in passages for pair in _pairs([token.term for token in passage.tokens])}
    told = [_statements(passage) for passage in passages]
    matches = [_nearest(reply, sentence, told) for sentence in reply.sentences]
    return {
        "absent_words": _share([term not in known for term in terms]),
        "absent_pairs": _share([pair not in pairs for pair in _pairs(terms)]),
        "absent_names": float(min(MAX_NAMES, _absent_names(reply, sources))),
        "closest": _closest(matches),
        "match": max((match.likeness for match in matches), default=0.0),
        "denied": float(_denied(reply, matches)),
    }


def statements(text: Text) -> list[Sentence]:
    """The sentences that are no questions."""
    return [sentence for sentence in text.sentences if not is_question(text, sentence)]


def is_question(text: Text, sentence: Sentence) -> bool:
    """Whether a sentence ends as questions do; the heading of an FAQ entry states nothing."""
    return text.raw[sentence.start : sentence.end].rstrip(" \n\"')").endswith("?")


def is_negated(tokens: Sequence[Token]) -> bool:
    """Whether the words deny something."""
    return any(token.word in NEGATIONS or token.word.endswith("n't") for token in tokens)


def content(tokens: Sequence[Token]) -> list[str]:
    """The terms that count."""
    return [token.term for token in tokens if not token.is_stop]


def _pairs(terms: Sequence[str]) -> Iterator[tuple[str, str]]:
    return pairwise(terms)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _absent_names(reply: Text, sources: Sequence[Text]) -> int:
    """Capitalised words within a sentence, and figures, that were nowhere given."""
    opening = {sentence.first for sentence in reply.sentences}
    named = {
        token.term
        for at, token in enumerate(reply.tokens)
        if token.word[0].isdecimal() or (at not in opening and not token.is_stop and reply.raw[token.start].isupper())
    }
    return sum(not any(term in source.positions for source in sources) for term in named)


def _statements(passage: Text) -> Statements:
    stated = [not is_question(passage, sentence) for sentence in passage.sentences]
    return Statements(passage, [sentence.first for sentence in passage.sentences], stated)


def _nearest(reply: Text, sentence: Sentence, told: Sequence[Statements]) -> Match:
    """The statement of the passages that shares most content terms with a sentence of the reply, the shorter of two."""
    wanted = set(content(reply.tokens[sentence.first : sentence.last]))
    best: tuple[int, int, Sequence[Token]] = (0, 0, ())
    for passage, starts, stated in told:
        found: Counter[int] = Counter()
        for term in wanted:
            places = passage.positions.get(term)
            if places:
                found.update({bisect_right(starts, place) - 1 for place in places})
        for at, shared in found.items():
            near = passage.sentences[at]
            rank = (shared, near.first - near.last)
            if stated[at] and rank > best[:2]:
                best = (*rank, passage.tokens[near.first : near.last])
    return Match(sentence, best[2], len(wanted), len(set(content(best[2]))), best[0])


def _closest(matches: Sequence[Match]) -> float:
    """How much of each sentence's content stands in one sentence of the passages, over all sentences."""
    size = sum(match.size for match in matches)
    return sum(match.shared for match in matches) / size if size else 1.0


def _denied(reply: Text, matches: Sequence[Match]) -> bool:
    """Whether a statement and the source sentence on the same thing differ in that one is negated."""
    return any(
        match.likeness >= SAME_THING
        and not is_question(reply, match.sentence)
        and is_negated(reply.tokens[match.sentence.first : match.sentence.last]) != is_negated(match.near)
        for match in matches
    )
