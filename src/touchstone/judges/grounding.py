"""Question, reply and sources -> how closely the reply keeps to the sources, and whether it says what they answer.

A reply made up of the sources' words can still be wrong, but one that is not made up of them seldom has their support.
Of the passages, statements count: their own questions, such as the heading of an FAQ entry, say nothing, and neither do
those a reply ends with.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence, Set
from itertools import chain, pairwise
from math import sqrt
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading, Sentence, Text, Token

MAX_NAMES = 4
# Two sentences speak of the same thing when their shared content is this much of both.
SAME_THING = 0.5
NEGATIONS = resource.group("judge_words.txt", "negation")
# Of longer passages, so many statements that share most words with the question are taken for the answer.
MAX_STATEMENTS = 3
MAX_FIGURES = 4
MAX_TERMS = 20
# `Hotel Astoria: Is there parking? …`: what is before the colon is what the passage is about.
MAX_HEADING_WORDS = 9
# The value of a feature where there is nothing to measure it by.
NEITHER = 0.5
YES, NO = resource.group("judge_words.txt", "yes"), resource.group("judge_words.txt", "no")
LIMITS = resource.group("judge_words.txt", "limit")
OPEN = resource.group("judge_words.txt", "open_question")
# Who passes on more tells no more of it.
MOST_TOLD = 20


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


def grounding_features(reply: Text, sources: Sequence[Text]) -> dict[str, float]:
    """Shares of the reply's words, pairs of words and sentences that the sources have; names and figures they have not.

    Words are sought in the passages, since customers' own words support nothing; names in everything that was given.
    """
    passages = [source for source in sources if not source.is_said] or list(sources)
    known = frozenset().union(*(passage.positions for passage in passages))
    terms = [token.term for token in reply.tokens]
    pairs = {pair for passage in passages for pair in pairwise([token.term for token in passage.tokens])}
    starts = [[sentence.first for sentence in passage.sentences] for passage in passages]
    matches = [_nearest(reply, sentence, passages, starts) for sentence in reply.sentences]
    size = sum(match.size for match in matches)
    return {
        "absent_words": _share([term not in known for term in terms]),
        "absent_pairs": _share([pair not in pairs for pair in pairwise(terms)]),
        "absent_names": float(min(MAX_NAMES, _absent_names(reply, sources))),
        "closest": sum(match.shared for match in matches) / size if size else 1.0,
        "match": max((match.likeness for match in matches), default=0.0),
        "denied": float(any(_denies_source(reply, match) for match in matches)),
    }


def passage_features(reading: Reading) -> dict[str, float]:
    """How much of the passages' answer the reply has, whether yes became no, and what it says beyond."""
    passages = passages_of(reading)
    told = answering(passages, reading.question)
    # The reply's words without those of its questions, unless it only asks.
    spoken = [reading.reply.tokens[s.first : s.last] for s in statements(reading.reply)]
    said = list(chain.from_iterable(spoken)) or list(reading.reply.tokens)
    asked = set(content(reading.question.tokens)) if reading.question else set()
    given, answer = set(content(said)), set(content(list(chain.from_iterable(told))))
    known = asked.union(*(set(text.positions) for text in (*passages, reading.expected) if text))
    figures = {term for term in answer if term[0].isdecimal()}
    first_words = reading.question.tokens[:2] if reading.question else ()
    return {
        "passage_said": _part_of(answer, given),
        "passage_new": _part_of(answer - asked, given),
        "passage_size": min(MAX_TERMS, len(answer - asked)) / 10,
        "passage_denied": float(bool(told) and _denies(said) != _denies(told[0])),
        "figures_left": float(min(MAX_FIGURES, len(figures - given))),
        "limit_differs": float(bool(told) and _has(LIMITS, said) != any(_has(LIMITS, tokens) for tokens in told)),
        "subject_said": _subject_said(passages, set(reading.reply.positions)),
        "unheard": 1 - _part_of(given, known),
        "asked_openly": float(_has(OPEN, first_words)),
    }


def telling_features(reading: Reading) -> dict[str, float]:
    """How much is passed on, how much of the passage that is nearest to the question, and of what was expected.

    Passed on is only what the customer has not said already: a reply may use many words of the passages and tell
    nothing of what was asked. Figures are checked elsewhere: a wrong one must not make a reply look better.
    """
    passages = [_words(text) for text in reading.contexts]
    asked: Set[str] = reading.question.positions.keys() if reading.question else frozenset()
    known = frozenset().union(*passages) - asked
    told = known & _words(reading.reply)
    nearest = _nearest_passage(passages, asked) - asked
    found = {
        "passed_on": min(MOST_TOLD, len(told)) / 10,
        "nearest_said": len(nearest & told) / len(nearest) if nearest else NEITHER,
        "nearest_share": len(nearest & told) / len(told) if told else 0.0,
    }
    if reading.expected:
        needed = known & _words(reading.expected)
        found |= {
            "needed_told": _part_of(needed, told),
            "beside_told": len(told - needed) / len(told) if told else 0.0,
            "same_passages": _alike(_used(told, passages), _used(needed, passages)),
        }
    return found


def passages_of(reading: Reading) -> list[Text]:
    """What was given to answer from; an expected reply stands in for passages that were not given."""
    return [source for source in reading.sources or () if not source.is_said]


def answering(passages: Sequence[Text], question: Text | None) -> list[Sequence[Token]]:
    """The statements that share most words with the question, all of a short passage; the reply has no say in it."""
    asked = set(content(question.tokens)) if question else set()
    told: list[Sequence[Token]] = [text.tokens[s.first : s.last] for text in passages for s in statements(text)]
    if len(told) <= MAX_STATEMENTS:
        return told
    return sorted(told, key=lambda tokens: -len(asked.intersection(content(tokens))))[:MAX_STATEMENTS]


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


def opening(tokens: Sequence[Token]) -> int:
    """1 where the words open with yes, -1 where they open with no, 0 where with neither."""
    words = [token.word for token in tokens[:2]]
    if words and words[0] in YES:
        return 1
    return -1 if NO.intersection(words[:1]) or words == ["i'm", "sorry"] else 0


def _nearest(reply: Text, sentence: Sentence, passages: Sequence[Text], starts: Sequence[Sequence[int]]) -> Match:
    """The statement of the passages that shares most content terms with a sentence of the reply, the shorter of two."""
    wanted = set(content(reply.tokens[sentence.first : sentence.last]))
    best: tuple[int, int, Sequence[Token]] = (0, 0, ())
    for passage, firsts in zip(passages, starts, strict=True):
        found: Counter[int] = Counter()
        for term in wanted:
            if places := passage.positions.get(term):
                found.update({bisect_right(firsts, place) - 1 for place in places})
        for at, shared in found.items():
            near = passage.sentences[at]
            rank = (shared, near.first - near.last)
            if rank > best[:2] and not is_question(passage, near):
                best = (*rank, passage.tokens[near.first : near.last])
    return Match(sentence, best[2], len(wanted), len(set(content(best[2]))), best[0])


def _denies_source(reply: Text, match: Match) -> bool:
    """Whether a statement and the source sentence on the same thing differ in that one is negated."""
    return (
        match.likeness >= SAME_THING
        and not is_question(reply, match.sentence)
        and is_negated(reply.tokens[match.sentence.first : match.sentence.last]) != is_negated(match.near)
    )


def _absent_names(reply: Text, sources: Sequence[Text]) -> int:
    """Capitalised words within a sentence, and figures, that were nowhere given."""
    opens = {sentence.first for sentence in reply.sentences}
    named = {
        token.term
        for at, token in enumerate(reply.tokens)
        if token.word[0].isdecimal() or (at not in opens and not token.is_stop and reply.raw[token.start].isupper())
    }
    return sum(not any(term in source.positions for source in sources) for term in named)


def _denies(tokens: Sequence[Token]) -> bool:
    return opening(tokens) < 0 or is_negated(tokens)


def _has(words: frozenset[str], tokens: Sequence[Token]) -> bool:
    return any(token.word in words for token in tokens)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _part_of(wanted: Set[str], given: Set[str]) -> float:
    return len(wanted & given) / len(wanted) if wanted else 1.0


def _subject_said(passages: Sequence[Text], given: set[str]) -> float:
    """How much of what the passages are headed by the reply names; 1 for any one passage named in full."""
    headings = [set(content(text.tokens[: _heading(text)])) for text in passages]
    return max((_part_of(heading, given) for heading in headings if heading), default=NEITHER)


def _heading(text: Text) -> int:
    """How many words are before the colon a passage opens with; 0 where it opens otherwise."""
    colon = text.raw.find(":")
    words = sum(token.end <= colon for token in text.tokens[: MAX_HEADING_WORDS + 1])
    return words if words <= MAX_HEADING_WORDS else 0


def _words(text: Text) -> frozenset[str]:
    return frozenset(term for term in content(text.tokens) if not term[0].isdecimal())


def _nearest_passage(passages: Sequence[frozenset[str]], asked: Set[str]) -> frozenset[str]:
    """The passage that shares most with the question; what many passages say counts less."""
    shared = [passage & asked for passage in passages]
    sums = _used(frozenset().union(*shared), shared)
    return passages[max(range(len(passages)), key=lambda at: sums[at])] if passages else frozenset()


def _used(terms: Set[str], passages: Sequence[Collection[str]]) -> list[float]:
    """How much of each passage the terms are; one that is in several counts for each in part."""
    homes = Counter(term for passage in passages for term in passage if term in terms)
    # Set order must not decide: the sums are of equal fractions, added from the smallest.
    return [sum(sorted(1 / homes[term] for term in passage if term in terms)) for passage in passages]


def _alike(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine; 1 where nothing was needed, 0 where something was and nothing is passed on."""
    if not any(right):
        return 1.0
    sizes = sqrt(sum(x * x for x in left) * sum(x * x for x in right))
    return sum(x * y for x, y in zip(left, right, strict=True)) / sizes if sizes else 0.0
