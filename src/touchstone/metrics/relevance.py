"""Question and reply -> relevance: how much of the question's vocabulary the reply shares (spec: scoring-logic 1)."""

from collections import Counter
from collections.abc import Sequence
from math import log, sqrt
from typing import TypedDict

from touchstone.core.plan import Plan
from touchstone.core.reading import Reading, Text
from touchstone.core.result import Score


class RelevanceParts(TypedDict):
    """What the score is made of."""

    s_cosine: float | None
    s_jaccard: float | None


def relevance(reading: Reading, *, plan: Plan) -> Score:
    """Mean of TF-IDF cosine and Jaccard overlap of question and reply."""
    if reading.question is None:
        return Score("relevance", None, "no customer message to compare with", {"s_cosine": None, "s_jaccard": None})
    question, reply = reading.question.terms, reading.reply.terms
    cosine = tfidf_cosine(question, reply)
    jaccard = overlap(frozenset(question), frozenset(reply))
    score = (cosine + jaccard) / 2
    shared = _shared_words(reading.question, frozenset(reply))
    reason = f"shares {_count(len(shared))} with the question" + (f": {', '.join(shared[:6])}" if shared else "")
    parts = {"s_cosine": cosine, "s_jaccard": jaccard}
    return Score("relevance", score, reason, parts, flag="FAIL" if score < plan.relevance_fail else None)


def _shared_words(question: Text, terms: frozenset[str]) -> list[str]:
    """The question's own words whose terms the reply has, each term once, in order."""
    counted = frozenset(question.terms) & terms
    words = {token.term: token.word for token in reversed(question.tokens) if token.term in counted}
    return [words[term] for term in dict.fromkeys(t.term for t in question.tokens) if term in words]


def tfidf_cosine(question: Sequence[str], reply: Sequence[str]) -> float:
    """Cosine of the two texts' TF-IDF vectors, fitted on this pair alone with smoothed IDF."""
    left, right = Counter(question), Counter(reply)
    if not left or not right:
        return 0.0
    weights = {term: _idf((term in left) + (term in right)) for term in left | right}
    dot = sum(left[term] * right[term] * weights[term] ** 2 for term in left.keys() & right.keys())
    return min(1.0, dot / (_norm(left, weights) * _norm(right, weights)))


def overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard overlap; nothing shared by nothing is 0."""
    union = left | right
    return len(left & right) / len(union) if union else 0.0


def _idf(documents: int) -> float:
    """Smoothed inverse document frequency among two documents, as scikit-learn defines it."""
    return log((1 + 2) / (1 + documents)) + 1


def _norm(counts: Counter[str], weights: dict[str, float]) -> float:
    return sqrt(sum((count * weights[term]) ** 2 for term, count in counts.items()))


def _count(number: int) -> str:
    return f"{number} term{'' if number == 1 else 's'}"
