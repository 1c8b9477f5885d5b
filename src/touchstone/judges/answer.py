"""Short expected answer -> whether the reply gives it, in any spelling; longer expected reply -> yes or no alike."""

from collections.abc import Sequence

from touchstone.core.reading import Sentence, Text, Token
from touchstone.evidence.equality import same
from touchstone.judges.grounding import is_negated, statements
from touchstone.judges.passages import opening

# A name, a figure or a phrase; anything longer makes points instead of giving an answer.
MAX_ANSWER_WORDS = 10
# Two spellings of a name share this much of their letters pairs; shorter words must be equal.
SPELT_ALIKE = 0.7
MIN_LETTERS = 5
# What the answer features are when there is no short answer to look for.
NEITHER = 0.5


def answer_features(reply: Text, expected: Text) -> dict[str, float]:
    """How much of a short answer the reply gives, and whether yes has become no."""
    return {
        "answer_given": answer_given(reply, expected) if len(expected.tokens) <= MAX_ANSWER_WORDS else NEITHER,
        "answer_denied": float(_opening_negated(reply) != _opening_negated(expected)),
        "opens_otherwise": abs(opening(reply.tokens) - opening(expected.tokens)) / 2,
    }


def answer_given(reply: Text, expected: Text) -> float:
    """The share of a short answer's words that the reply has; 1 when it has them in a row or states the same value."""
    if expected.values and all(any(same(value, given) for given in reply.values) for value in expected.values):
        return 1.0
    wanted = _answer(expected)
    if not wanted:
        return NEITHER
    words = {token.word for token in reply.tokens}
    return sum(t.term in reply.positions or _is_spelt_alike(t.word, words) for t in wanted) / len(wanted)


def _answer(expected: Text) -> list[Token]:
    """The answer's content words; what stands in brackets explains the answer and is no part of it."""
    outside, depth = [], 0
    places = {token.start: token for token in expected.tokens}
    for at, character in enumerate(expected.raw):
        depth += (character in "([") - (character in ")]")
        if depth <= 0 and at in places:
            outside.append(places[at])
    kept = outside or list(expected.tokens)
    return [token for token in kept if not token.is_stop] or kept


def _is_spelt_alike(word: str, others: set[str]) -> bool:
    if len(word) < MIN_LETTERS:
        return False
    letters = _letter_pairs(word)
    return any(
        abs(len(other) - len(word)) <= 2 and _dice(letters, _letter_pairs(other)) >= SPELT_ALIKE for other in others
    )


def _letter_pairs(word: str) -> set[str]:
    return {word[at : at + 2] for at in range(len(word) - 1)}


def _dice(left: set[str], right: set[str]) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


def _opening_negated(text: Text) -> bool:
    """Whether the first statement, which carries the answer, denies."""
    said: Sequence[Sentence] = statements(text)
    return bool(said) and is_negated(text.tokens[said[0].first : said[0].last])
