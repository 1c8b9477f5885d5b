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
    """The source sentence nearest to a sentence of the reply: its tokens, and how many content terms they share."""

    tokens: Sequence[Token]
    shared: int


def grounding_features(reply: Text, sources: Sequence[Text]) -> dict[str, float]:
    """Shares of the reply's words, pairs of words and sentences that the sources have; names and figures they have not.

    Words are sought in the passages, since customers' own words support nothing; names in everything that was given.
    """
    passages = [source for source in sources if not source.name.startswith("input")] or list(sources)
    terms = [token.term for token in reply.tokens]
    pairs = {pair for passage in passages for pair in _pairs([token.term for token in passage.tokens])}
    matches = [(sentence, _nearest(reply, sentence, passages)) for sentence in reply.sentences]
    return {
        "absent_words": _share([not any(term in text.positions for text in passages) for term in terms]),
        "absent_pairs": _share([pair not in pairs for pair in _pairs(terms)]),
        "absent_names": float(min(MAX_NAMES, _absent_names(reply, sources))),
        "closest": _closest(reply, matches),
        "match": _match(reply, matches),
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


def _nearest(reply: Text, sentence: Sentence, passages: Sequence[Text]) -> Match:
    """The statement of the passages that shares most content terms with a sentence of the reply, the shorter of two."""
    wanted = set(content(reply.tokens[sentence.first : sentence.last]))
    best: tuple[int, int, Match] = (0, 0, Match((), 0))
    for passage in passages:
        starts = [s.first for s in passage.sentences]
        found: Counter[int] = Counter()
        for term in wanted:
            found.update({bisect_right(starts, place) - 1 for place in passage.positions.get(term, ())})
        for at, shared in found.items():
            near = passage.sentences[at]
            if is_question(passage, near):
                continue
            rank = (shared, near.first - near.last)
            if rank > best[:2]:
                best = (*rank, Match(passage.tokens[near.first : near.last], shared))
    return best[2]


def _closest(reply: Text, matches: Sequence[tuple[Sentence, Match]]) -> float:
    """How much of each sentence's content stands in one sentence of the passages, over all sentences."""
    sizes = [len(set(content(reply.tokens[s.first : s.last]))) for s, _ in matches]
    return sum(match.shared for _, match in matches) / sum(sizes) if sum(sizes) else 1.0


def _match(reply: Text, matches: Sequence[tuple[Sentence, Match]]) -> float:
    """How nearly one sentence of the reply and one of the passages say the same: 1 when they share all content."""
    return max((_likeness(reply, sentence, match) for sentence, match in matches), default=0.0)


def _denied(reply: Text, matches: Sequence[tuple[Sentence, Match]]) -> bool:
    """Whether a statement and the source sentence on the same thing differ in that one is negated."""
    spoken = set(statements(reply))
    return any(
        sentence in spoken
        and _likeness(reply, sentence, match) >= SAME_THING
        and is_negated(reply.tokens[sentence.first : sentence.last]) != is_negated(match.tokens)
        for sentence, match in matches
    )


def _likeness(reply: Text, sentence: Sentence, match: Match) -> float:
    size = len(set(content(reply.tokens[sentence.first : sentence.last]))) + len(set(content(match.tokens)))
    return 2 * match.shared / size if size else 0.0
