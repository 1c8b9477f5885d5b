"""Question, reply, passages and expected reply -> what the reply passes on of the passages, and whether it was needed.

Only what the customer has not said already is passed on: a reply may use many words of the passages and tell nothing of
what was asked. Figures are checked elsewhere and not counted here: a wrong one must not make a reply look better.
"""

from collections import Counter
from collections.abc import Sequence, Set
from math import sqrt

from touchstone.core.reading import Reading, Text
from touchstone.judges.grounding import content

# Who passes on more tells no more of it.
MOST_TOLD = 20


def telling_features(reading: Reading) -> dict[str, float]:
    """How much is passed on, how much of the passage that is nearest to the question, and of what was expected."""
    passages = [_words(text) for text in reading.contexts]
    asked: Set[str] = reading.question.positions.keys() if reading.question else frozenset()
    known = frozenset().union(*passages) - asked
    told = known & _words(reading.reply)
    nearest = _nearest(passages, asked) - asked
    found = {
        "passed_on": min(MOST_TOLD, len(told)) / 10,
        "nearest_said": len(nearest & told) / len(nearest) if nearest else 0.5,
        "nearest_share": len(nearest & told) / len(told) if told else 0.0,
    }
    if reading.expected:
        needed = known & _words(reading.expected)
        found |= {
            "needed_told": len(needed & told) / len(needed) if needed else 1.0,
            "beside_told": len(told - needed) / len(told) if told else 0.0,
            "same_passages": _alike(_used(told, passages), _used(needed, passages)),
        }
    return found


def _words(text: Text) -> frozenset[str]:
    return frozenset(term for term in content(text.tokens) if not term[0].isdecimal())


def _nearest(passages: Sequence[frozenset[str]], asked: Set[str]) -> frozenset[str]:
    """The passage that shares most with the question; what many passages say tells them apart less."""
    shared = [passage & asked for passage in passages]
    spread = Counter(term for terms in shared for term in terms)
    # Set order must not decide: the sums are of equal fractions, added from the smallest.
    sums = [sum(sorted(1 / spread[term] for term in terms)) for terms in shared]
    return passages[max(range(len(passages)), key=lambda at: sums[at])] if passages else frozenset()


def _used(terms: Set[str], passages: Sequence[frozenset[str]]) -> list[float]:
    """How much of each passage the terms are; one that stands in several counts for each in part."""
    homes = Counter(term for passage in passages for term in passage & terms)
    return [sum(sorted(1 / homes[term] for term in passage & terms)) for passage in passages]


def _alike(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine; 1 where nothing was needed, 0 where something was and nothing is passed on."""
    if not any(right):
        return 1.0
    sizes = sqrt(sum(x * x for x in left) * sum(x * x for x in right))
    return sum(x * y for x, y in zip(left, right, strict=True)) / sizes if sizes else 0.0
