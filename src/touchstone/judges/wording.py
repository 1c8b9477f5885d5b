"""Reading and checked anchors -> how well replies worded like this one were graded: one feature for each criterion.

Replies that people graded alike share n-grams (`you can`, `under <name>`, `<money> held`), whatever they are
about. Packaged weights (worded.json) say how much each n-gram speaks for a good grade.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from math import fsum, sqrt
from types import MappingProxyType
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.safety.ngrams import ngrams_of, wording_only

FILE = "worded.json"
# As the stored weights have it.
KEY = "runs"
COMPLETENESS = "completeness"
TONE = "tone"
WORDED_TONE = f"worded_{TONE}"
TOP = 4.0
Said = Sequence[frozenset[str]]


class Told(NamedTuple):
    """The n-grams of each sentence of a reply, in how many sentences each appears, and which have weights."""

    said: Said
    counts: Mapping[str, int]
    telling: Sequence[str]


class WordedGrade(NamedTuple):
    """The grade where no n-gram speaks for or against, and what each n-gram adds."""

    base: float
    ngrams: Mapping[str, float]

    def grade(self, told: Told, criterion: str) -> float:
        """The grade that the wording of a reply's sentences speaks for."""
        weigh = weigh_best if criterion == COMPLETENESS else weigh_all
        return min(TOP, max(0.0, self.base + weigh(told, self.ngrams)))


def wording_features(reading: Reading, anchors: Sequence[Anchor]) -> dict[str, float]:
    """`worded_` and the criterion -> the grade that the wording alone speaks for."""
    packaged = packaged_weights()
    told = tell(said_in(reading, anchors), known=packaged[COMPLETENESS].ngrams)
    return {f"worded_{criterion}": weights.grade(told, criterion) for criterion, weights in packaged.items()}


def worded_tone(reading: Reading, body: Reading, anchors: Sequence[Anchor]) -> float:
    """The tone that the wording of the body speaks for, with as much of the frame as helps."""
    own, every = said_in(body, anchors), said_in(reading, anchors)
    frame = [ngrams for ngrams in every if ngrams not in own]
    weights = packaged_weights()[TONE]
    wordings = [own, every, *([*own, ngrams] for ngrams in frame)]
    return max(weights.grade(tell(said, known=weights.ngrams), TONE) for said in wordings)


def tell(said: Said, *, known: Mapping[str, float]) -> Told:
    """The n-grams counted, and looked up once for all criteria, whose weights are of the same n-grams."""
    counts = Counter(chain.from_iterable(said))
    return Told(said, counts, [ngram for ngram in counts if ngram in known])


def said_in(reading: Reading, anchors: Sequence[Anchor]) -> list[frozenset[str]]:
    """The n-grams of each sentence, but for what its sources hold or lack: that is judged by its evidence."""
    return [wording_only(sentence.ngrams) for sentence in ngrams_of(reading, tuple(anchors))]


def weigh_all(told: Told, weights: Mapping[str, float]) -> float:
    """The weights of all n-grams together; the more there are, the less each weighs."""
    return fsum([weights[ngram] for ngram in told.telling]) / sqrt(len(told.counts) or 1)


def weigh_best(told: Told, weights: Mapping[str, float]) -> float:
    """The same of the best part: sentences are left out as long as that helps.

    So a sentence more hardly ever makes a reply look less complete.
    """
    said, counts = told.said, dict(told.counts)
    total, size = fsum([weights[ngram] for ngram in told.telling]), len(counts)
    best = total / sqrt(size or 1)
    kept = set(range(len(said)))
    own = [[ngram for ngram in ngrams if counts[ngram] == 1] for ngrams in said]
    lost = [fsum([weights[ngram] for ngram in ngrams if ngram in weights]) for ngrams in own]
    sizes = [len(ngrams) for ngrams in own]
    while len(kept) > 1:
        left = {at: (total - lost[at]) / sqrt(size - sizes[at]) for at in kept if size > sizes[at]}
        at = max(left, key=left.__getitem__, default=-1)
        if at < 0 or left[at] <= best:
            break
        best, total, size = left[at], total - lost[at], size - sizes[at]
        kept.remove(at)
        for ngram in said[at]:
            counts[ngram] -= 1
            if counts[ngram] == 1:
                heir = next(other for other in kept if ngram in said[other])
                lost[heir] += weights.get(ngram, 0.0)
                sizes[heir] += 1
    return best


@cache
def packaged_weights() -> Mapping[str, WordedGrade]:
    """The weights of every criterion that ship with Touchstone."""
    content = json.loads(resource.text(FILE))
    return MappingProxyType(
        {
            criterion: WordedGrade(base, {ngram: weights[at] for ngram, weights in content[KEY].items()})
            for at, (criterion, base) in enumerate(content["base"].items())
        }
    )
