"""Question, reply and passages -> whether the reply says what the passages answer: features for plain questions.

The passages' own questions, such as the heading of an FAQ entry, say nothing, and neither do those a reply ends with.
"""

from collections.abc import Sequence
from itertools import chain

from touchstone.core.reading import Reading, Text, Token
from touchstone.judges.grounding import content, is_negated, statements

# Of longer passages, so many statements that share most words with the question are taken for the answer.
MAX_STATEMENTS = 3
MAX_FIGURES = 4
MAX_TERMS = 20
# `Hotel Astoria: Is there parking? …`: what stands before the colon is what the passage is about.
MAX_HEADING_WORDS = 9
NEITHER = 0.5
YES = frozenset("yes yeah yep absolutely certainly sure definitely indeed".split())
NO = frozenset("no nope unfortunately sorry".split())
LIMITS = frozenset("only except unless".split())
OPEN = frozenset("what what's when where which who whose how why".split())


def passage_features(reading: Reading) -> dict[str, float]:
    """How much of the passages' answer the reply has, whether yes became no, and what it says beyond."""
    passages = passages_of(reading)
    told = answering(passages, reading.question)
    said = _spoken(reading.reply)
    asked = set(content(reading.question.tokens)) if reading.question else set()
    given, answer = set(content(said)), set(content(list(chain.from_iterable(told))))
    known = asked.union(*(set(text.positions) for text in (*passages, reading.expected) if text))
    return {
        "passage_said": _share(answer, given),
        "passage_new": _share(answer - asked, given),
        "passage_size": min(MAX_TERMS, len(answer - asked)) / 10,
        "passage_denied": float(bool(told) and _denies(said) != _denies(told[0])),
        "figures_left": float(min(MAX_FIGURES, len(_figures(answer) - given))),
        "limit_differs": float(bool(told) and _limited(said) != any(map(_limited, told))),
        "subject_said": _subject_said(passages, set(reading.reply.positions)),
        "unheard": 1 - _share(given, known),
        "asked_openly": float(_asks_openly(reading.question)),
    }


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


def opening(tokens: Sequence[Token]) -> int:
    """1 where the words open with yes, -1 where they open with no, 0 where with neither."""
    words = [token.word for token in tokens[:2]]
    if words and words[0] in YES:
        return 1
    return -1 if NO.intersection(words[:1]) or words == ["i'm", "sorry"] else 0


def _spoken(reply: Text) -> list[Token]:
    """The reply's words without those of its questions, unless it only asks."""
    said = [reply.tokens[s.first : s.last] for s in statements(reply)]
    return list(chain.from_iterable(said)) or list(reply.tokens)


def _denies(tokens: Sequence[Token]) -> bool:
    return opening(tokens) < 0 or is_negated(tokens)


def _limited(tokens: Sequence[Token]) -> bool:
    return any(token.word in LIMITS for token in tokens)


def _share(wanted: set[str], given: set[str]) -> float:
    return len(wanted & given) / len(wanted) if wanted else 1.0


def _figures(terms: set[str]) -> set[str]:
    return {term for term in terms if term[0].isdecimal()}


def _subject_said(passages: Sequence[Text], given: set[str]) -> float:
    """How much of what the passages are headed by the reply names; 1 for any one passage named in full."""
    headings = [set(content(text.tokens[: _heading(text)])) for text in passages]
    return max((_share(heading, given) for heading in headings if heading), default=NEITHER)


def _heading(text: Text) -> int:
    """How many words stand before the colon a passage opens with; 0 where it opens otherwise."""
    colon = text.raw.find(":")
    words = sum(token.end <= colon for token in text.tokens[: MAX_HEADING_WORDS + 1])
    return words if words <= MAX_HEADING_WORDS else 0


def _asks_openly(question: Text | None) -> bool:
    return question is not None and any(token.word in OPEN for token in question.tokens[:2])
