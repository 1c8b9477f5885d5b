"""A team's labels -> the offline judge's models moved towards them, and what that is worth on labels held out.

The shipped models know hundreds of cases, a team has some dozen: a refit from nothing would learn their noise. Each
slope therefore moves only as far as the labels carry it against a ridge penalty, and never changes its direction, so
that a grade's reasons stay true. A criterion is moved only where that brings labels it has not seen nearer and does
not cost agreement with them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from touchstone.judges.features import Features
from touchstone.judges.model import MODES, Fitted, GradeModel, Mode, Term
from touchstone.stats.agreement import weighted_kappa

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 5
# With fewer, held-out figures are chance.
LEAST_LABELS = 20
RIDGE = 20.0
# Enough for bounded least squares on standardised segments to stand still to the fifth digit.
SWEEPS = 200
MIN_SPREAD = 0.35
DIGITS = 5


@dataclass(frozen=True, slots=True)
class Labelled:
    """A reply's features, the mode it is graded in, and people's mean grades."""

    id: str
    mode: Mode
    features: Features
    grades: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gain:
    """One criterion: on how many labels, kappa and mean error on labels held out, before and after, and whether the
    moved model was taken."""

    mode: Mode
    criterion: str
    n: int
    kappa_before: float | None
    kappa_after: float | None
    error_before: float
    error_after: float
    taken: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """The models as they are now, and what was gained; criteria with too few labels are not among the gains."""

    fitted: Fitted
    gains: tuple[Gain, ...]


def calibrate(labelled: Sequence[Labelled], *, fitted: Fitted, version: str) -> Calibration:
    """The models moved towards the labels."""
    modes: dict[Mode, Mapping[str, GradeModel]] = {}
    gains = []
    for mode in MODES:
        known = dict(fitted.modes[mode])
        for criterion, model in known.items():
            mine = [each for each in labelled if each.mode == mode and criterion in each.grades]
            if len(mine) >= LEAST_LABELS:
                moved, gain = _try(model, mine, mode=mode, criterion=criterion)
                gains.append(gain)
                known[criterion] = moved if gain.taken else model
        modes[mode] = known
    return Calibration(Fitted(version, modes), tuple(gains))


def move(model: GradeModel, features: Sequence[Mapping[str, float]], people: Sequence[float]) -> GradeModel:
    """The model with slopes and base moved towards people's grades."""
    import numpy as np

    table = _segments(model, features)
    wanted = np.asarray(people) - np.asarray([model.sum(each) for each in features])
    slopes = np.asarray([slope for term in model.terms for slope in term.slopes])
    deltas, shift = descend(table, wanted, slopes)
    terms, at, base = [], 0, model.base + shift
    for term in model.terms:
        size = len(term.slopes)
        moved = deltas[at : at + size]
        typical = float((table[:, at : at + size] @ moved).mean())
        at += size
        base += typical
        terms.append(
            replace(
                term,
                slopes=tuple(round(s + float(d), DIGITS) for s, d in zip(term.slopes, moved, strict=True)),
                typical=round(term.typical + typical, DIGITS),
            )
        )
    return replace(model, base=round(base, DIGITS), terms=tuple(terms))


def _try(model: GradeModel, labelled: Sequence[Labelled], *, mode: Mode, criterion: str) -> tuple[GradeModel, Gain]:
    """The moved model, and how models moved without a fold fare on that fold."""
    people = [each.grades[criterion] for each in labelled]
    features = [each.features.of(criterion) for each in labelled]
    folds = [fold_of(each.id) for each in labelled]
    before = [model.value(each) for each in features]
    after = list(before)
    for fold in range(FOLDS):
        inside = [at for at, own in enumerate(folds) if own != fold]
        without = move(model, [features[at] for at in inside], [people[at] for at in inside])
        for at, own in enumerate(folds):
            if own == fold:
                after[at] = without.value(features[at])
    error_before, error_after = _error(before, people), _error(after, people)
    kappa_before, kappa_after = _kappa(model, before, people), _kappa(model, after, people)
    gain = Gain(
        mode=mode,
        criterion=criterion,
        n=len(labelled),
        kappa_before=kappa_before,
        kappa_after=kappa_after,
        error_before=error_before,
        error_after=error_after,
        taken=error_after < error_before and (kappa_after or 0.0) >= (kappa_before or 0.0),
    )
    spread = max(MIN_SPREAD, fmean((a - p) ** 2 for a, p in zip(after, people, strict=True)) ** 0.5)
    return replace(move(model, features, people), spread=round(spread, DIGITS)), gain


def descend(
    table: "NDArray[np.float64]", wanted: "NDArray[np.float64]", slopes: "NDArray[np.float64]"
) -> "tuple[NDArray[np.float64], float]":
    """Least squares with a ridge penalty on how far slopes move, none crossing zero, one at a time until they rest."""
    import numpy as np

    deltas, shift = np.zeros(len(slopes)), 0.0
    low = np.where(slopes > 0, -slopes, np.where(slopes < 0, -np.inf, 0.0))
    high = np.where(slopes < 0, -slopes, np.where(slopes > 0, np.inf, 0.0))
    squares = (table**2).sum(axis=0)
    left = wanted.copy()
    for _ in range(SWEEPS):
        step = float(left.sum()) / (len(left) + 1.0)
        shift += step
        left -= step
        for at in range(len(slopes)):
            if squares[at] == 0:
                continue
            best = (float(table[:, at] @ left) + squares[at] * deltas[at]) / (squares[at] + RIDGE)
            best = min(max(best, low[at]), high[at])
            left -= table[:, at] * (best - deltas[at])
            deltas[at] = best
    return deltas, shift


def _segments(model: GradeModel, features: Sequence[Mapping[str, float]]) -> "NDArray[np.float64]":
    import numpy as np

    return np.asarray([[part for term in model.terms for part in _parts(term, each)] for each in features])


def _parts(term: Term, features: Mapping[str, float]) -> list[float]:
    """How far the feature has gone through each segment, 0 to 1."""
    value = features.get(term.feature, 0.0)
    ends = zip(term.knots[:-1], term.knots[1:], strict=True)
    return [min(1.0, max(0.0, (value - low) / (high - low))) for low, high in ends]


def fold_of(id: str) -> int:
    """By the case's id, so that a case is never on both sides."""
    return int.from_bytes(hashlib.sha256(id.encode("utf-8", "surrogatepass")).digest()[:4], "big") % FOLDS


def _error(values: Sequence[float], people: Sequence[float]) -> float:
    return fmean(abs(value - person) for value, person in zip(values, people, strict=True))


def _kappa(model: GradeModel, values: Sequence[float], people: Sequence[float]) -> float | None:
    return weighted_kappa([model.grade(value) for value in values], [int(person + 0.5) for person in people])
