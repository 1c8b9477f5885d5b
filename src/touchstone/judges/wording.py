"""Reading and checked anchors -> how well replies worded like this one were graded: one feature for each criterion.

Replies that people graded alike share runs of words (`you can`, `under <name>`, `<money> held`), whatever they are
about. Packaged weights (worded.json) say how much each run speaks for a good grade.
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
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.safety.runs import blind, worded

FILE = "worded.json"
COMPLETENESS = "completeness"
TONE = "tone"
WORDED_TONE = f"worded_{TONE}"
TOP = 4.0
Said = Sequence[frozenset[str]]


class Told(NamedTuple):
    """The runs of each sentence of a reply, in how many sentences each run stands, and which runs have weights."""

    said: Said
    counts: Mapping[str, int]
    telling: Sequence[str]


class WordedGrade(NamedTuple):
    """The grade where no run speaks for or against, and what each run adds."""

    base: float
    runs: Mapping[str, float]

    def grade(self, told: Told, criterion: str) -> float:
        """The grade that the wording of a reply's sentences speaks for."""
        weigh = weigh_best if criterion == COMPLETENESS else weigh_all
        return min(TOP, max(0.0, self.base + weigh(told, self.runs)))


def wording_features(reading: Reading, anchors: Sequence[Anchor]) -> dict[str, float]:
    """`worded_` and the criterion -> the grade that the wording alone speaks for."""
    packaged = packaged_weights()
    told = tell(runs_of(reading, anchors), known=packaged[COMPLETENESS].runs)
    return {f"worded_{criterion}": weights.grade(told, criterion) for criterion, weights in packaged.items()}


def worded_tone(reading: Reading, body: Reading, anchors: Sequence[Anchor]) -> float:
    """The tone that the wording of the body speaks for, with as much of the frame as helps."""
    own, every = runs_of(body, anchors), runs_of(reading, anchors)
    frame = [runs for runs in every if runs not in own]
    weights = packaged_weights()[TONE]
    wordings = [own, every, *([*own, runs] for runs in frame)]
    return max(weights.grade(tell(said, known=weights.runs), TONE) for said in wordings)


def tell(said: Said, *, known: Mapping[str, float]) -> Told:
    """The runs counted, and looked up once for all criteria, whose weights are of the same runs."""
    counts = Counter(chain.from_iterable(said))
    return Told(said, counts, [run for run in counts if run in known])


def runs_of(reading: Reading, anchors: Sequence[Anchor]) -> list[frozenset[str]]:
    """The runs of each sentence of the reply, but for what its sources hold or lack: that is judged by its evidence."""
    return [blind(sentence.runs) for sentence in worded(reading, tuple(anchors), policy=Policy())]


def weigh_all(told: Told, weights: Mapping[str, float]) -> float:
    """The weights of all runs together; the more there are, the less each weighs."""
    return fsum([weights[run] for run in told.telling]) / sqrt(len(told.counts) or 1)


def weigh_best(told: Told, weights: Mapping[str, float]) -> float:
    """The same of the best part: sentences are left out as long as that helps.

    So a sentence more hardly ever makes a reply look less complete.
    """
    said, counts = told.said, dict(told.counts)
    total, size = fsum([weights[run] for run in told.telling]), len(counts)
    best = total / sqrt(size or 1)
    kept = set(range(len(said)))
    own = [[run for run in runs if counts[run] == 1] for runs in said]
    lost = [fsum([weights[run] for run in runs if run in weights]) for runs in own]
    sizes = [len(runs) for runs in own]
    while len(kept) > 1:
        left = {at: (total - lost[at]) / sqrt(size - sizes[at]) for at in kept if size > sizes[at]}
        at = max(left, key=left.__getitem__, default=-1)
        if at < 0 or left[at] <= best:
            break
        best, total, size = left[at], total - lost[at], size - sizes[at]
        kept.remove(at)
        for run in said[at]:
            counts[run] -= 1
            if counts[run] == 1:
                heir = next(other for other in kept if run in said[other])
                lost[heir] += weights.get(run, 0.0)
                sizes[heir] += 1
    return best


@cache
def packaged_weights() -> Mapping[str, WordedGrade]:
    """The weights of every criterion that ship with Touchstone."""
    content = json.loads(resource.text(FILE))
    return MappingProxyType(
        {
            criterion: WordedGrade(base, {run: weights[at] for run, weights in content["runs"].items()})
            for at, (criterion, base) in enumerate(content["base"].items())
        }
    )
