"""Runs of words of graded replies -> how much each run speaks for a good grade, and grades by wording alone.

A ridge regression for each criterion. `Worded` gives any reply the grade that the wording of other replies speaks for,
so that no model is ever fitted or measured on a score that has seen its own reply.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from touchstone.judges.wording import Said, WordedGrade, tell

FOLDS = 8
# A run that fewer replies have says more about them than about wording.
LEAST_REPLIES = 6
# A run that most have only tells by its weight among few or many others how long a reply is.
MOST_REPLIES = 0.4
RIDGE = 1.0
DIGITS = 4
Array = NDArray[np.float64]
Places = NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class Worded:
    """Graded replies as rows of runs, what these have in common, and the sentences by which each is scored."""

    criterion: str
    known: Sequence[str]
    rows: csr_array
    common: Array
    scored: Sequence[Said]

    def fit(self, people: Array, *, on: Places) -> WordedGrade:
        """The weights of every run by the grades of some replies."""
        base = float(people[on].mean())
        shares = np.linalg.solve(self.common[np.ix_(on, on)] + RIDGE * np.eye(len(on)), people[on] - base)
        weights = self.rows[on].T @ shares
        found = {run: round(float(each), DIGITS) for run, each in zip(self.known, weights, strict=True)}
        return WordedGrade(round(base, DIGITS), found)

    def score(self, people: Array, *, on: Places, of: Places) -> Array:
        """The grades that the wording of some replies speaks for, by the grades of others."""
        weights = self.fit(people, on=on)
        return np.array([weights.grade(tell(self.scored[at], known=weights.ngrams), self.criterion) for at in of])

    def score_apart(self, people: Array, *, groups: NDArray[np.str_], among: Places) -> Array:
        """The grades of these replies, each by those of them that are in other groups."""
        names = np.unique(groups[among])
        folds = np.searchsorted(names, groups[among]) % FOLDS
        found = np.zeros(len(among))
        for fold in np.unique(folds):
            out = folds == fold
            found[out] = self.score(people, on=among[~out], of=among[out])
        return found


def compare(criterion: str, graded: Sequence[Said], scored: Sequence[Said]) -> Worded:
    """The replies as they were graded, and as they are scored: with other sources, or only in part."""
    replies = [frozenset[str]().union(*said) for said in graded]
    known = vocabulary(replies)
    rows = _matrix(replies, known)
    return Worded(criterion, known, rows, (rows @ rows.T).toarray(), scored)


def vocabulary(replies: Sequence[frozenset[str]]) -> list[str]:
    """The runs that enough replies have, and not too many, in order."""
    counts = Counter(run for runs in replies for run in runs)
    return sorted(run for run, count in counts.items() if LEAST_REPLIES <= count <= MOST_REPLIES * len(replies))


def _matrix(replies: Sequence[frozenset[str]], known: Sequence[str]) -> csr_array:
    """A row for each reply; the more runs it has, the less each weighs."""
    places = {run: at for at, run in enumerate(known)}
    found = [sorted(places[run] for run in runs if run in places) for runs in replies]
    sizes = [1 / np.sqrt(len(runs) or 1) for runs in replies]
    values = np.repeat(sizes, [len(row) for row in found])
    starts = np.cumsum([0, *(len(row) for row in found)])
    columns = np.array([at for row in found for at in row], dtype=int)
    return csr_array((values, columns, starts), (len(found), len(known)))
