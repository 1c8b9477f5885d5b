"""A team's labels -> the judges' fitted models moved towards them, and what that is worth on labels held out.

The shipped models know hundreds of cases, a team has some dozen: a refit from nothing would learn their noise. Each
slope therefore moves only as far as the labels carry it against a ridge penalty, and never changes its direction, so
that a grade's reasons stay true. A model is moved only where that brings labels it has not seen nearer and, for a
criterion of the offline judge, does not cost agreement with them. For a language model the pass probability and the
weights of its checklist are moved in the same way.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from touchstone.judges.features import Features
from touchstone.judges.llm.fits import CHANCE_INPUTS, GradeWeights, ModelFit
from touchstone.judges.model import MODES, Fitted, GradeModel, Mode, Term
from touchstone.safety.signs import Logistic
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
# The chance has few weights, on inputs of which most are 0 to 1.
CHANCE_RIDGE = 4.0
NEWTON_STEPS = 25
LEAST_SPREAD = 0.05


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


_Labelled = TypeVar("_Labelled", Labelled, "ModelLabelled")
_Moved = TypeVar("_Moved", GradeModel, Logistic, GradeWeights)


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

    def moved(some: Sequence[Labelled]) -> GradeModel:
        return move(model, [each.features.of(criterion) for each in some], [each.grades[criterion] for each in some])

    unseen = _unseen(labelled, moved)
    before = [model.value(each.features.of(criterion)) for each in labelled]
    after = [unseen(each).value(each.features.of(criterion)) for each in labelled]
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
    return replace(moved(labelled), spread=round(spread, DIGITS)), gain


def _unseen(
    labelled: Sequence[_Labelled], move: Callable[[Sequence[_Labelled]], _Moved]
) -> Callable[[_Labelled], _Moved]:
    """For each reply what was moved without it, and without the others of its fold."""
    folds = [move([each for each in labelled if fold_of(each.id) != fold]) for fold in range(FOLDS)]
    return lambda each: folds[fold_of(each.id)]


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


@dataclass(frozen=True, slots=True)
class ModelLabelled:
    """A reply as the model judged it: the inputs of its chance, its checklist, and what people say."""

    id: str
    inputs: Mapping[str, float]
    passes: bool
    checklist: Mapping[str, float] | None = None
    grades: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class ModelGain:
    """What moving was worth on labels held out: the mean log loss of the chance, or the mean error of a grade."""

    name: str
    n: int
    before: float
    after: float

    @property
    def taken(self) -> bool:
        return self.after < self.before


@dataclass(frozen=True, slots=True)
class ModelCalibration:
    """The functions as they are now, and what was gained."""

    fit: ModelFit
    gains: tuple[ModelGain, ...]


_Move = Callable[[_Moved, Sequence[ModelLabelled]], _Moved]
_Loss = Callable[[_Moved, ModelLabelled], float]


def calibrate_model(labelled: Sequence[ModelLabelled], *, fit: ModelFit, judge: str) -> ModelCalibration:
    """The fit moved towards the labels, as one of this judge's own."""
    gains: list[ModelGain] = []

    def moved(
        name: str, now: _Moved, mine: Sequence[ModelLabelled], move: _Move[_Moved], loss: _Loss[_Moved]
    ) -> _Moved:
        if len(mine) < LEAST_LABELS:
            return now
        unseen = _unseen(mine, partial(move, now))
        before = fmean(loss(now, each) for each in mine)
        gains.append(ModelGain(name, len(mine), before, fmean(loss(unseen(each), each) for each in mine)))
        return move(now, mine) if gains[-1].taken else now

    chance = moved("pass probability", fit.chance, labelled, move_chance, _surprise)
    checklist = {
        name: moved(
            name,
            weights,
            [each for each in labelled if each.checklist and name in (each.grades or {})],
            partial(move_weights, criterion=name),
            partial(_weights_error, criterion=name),
        )
        for name, weights in fit.checklist.items()
    }
    return ModelCalibration(ModelFit(chance, fit.violated, checklist, judge), tuple(gains))


def move_chance(chance: Logistic, labelled: Sequence[ModelLabelled]) -> Logistic:
    """The logistic function moved towards what people passed, by Newton's steps against the ridge."""
    import numpy as np

    names = CHANCE_INPUTS
    table = np.asarray([[1.0, *(each.inputs[name] for name in names)] for each in labelled])
    wanted = np.asarray([float(each.passes) for each in labelled])
    start = np.asarray([chance.base, *(chance.weights.get(name, 0.0) for name in names)])
    # The base is free to follow the team's own share of passes.
    ridge = np.diag([CHANCE_RIDGE / 10, *([CHANCE_RIDGE] * len(names))])
    now = start.copy()
    for _ in range(NEWTON_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(table @ now, -30, 30)))
        slope = table.T @ (wanted - likely) - ridge @ (now - start)
        bend = (table * (likely * (1 - likely))[:, None]).T @ table + ridge
        now = now + np.linalg.solve(bend, slope)
    kept = np.where(start[1:] * now[1:] < 0, 0.0, now[1:])
    weights = {name: round(float(weight), DIGITS) for name, weight in zip(names, kept, strict=True)}
    return Logistic(round(float(now[0]), DIGITS), weights)


def move_weights(weights: GradeWeights, labelled: Sequence[ModelLabelled], *, criterion: str) -> GradeWeights:
    """A grade's weights moved towards people's grades; none changes its direction."""
    import numpy as np

    names = list(weights.of)
    table = np.asarray([[(each.checklist or {})[name] for name in names] for each in labelled])
    people = np.asarray([(each.grades or {})[criterion] for each in labelled])
    slopes = np.asarray([weights.of[name] for name in names])
    moved, base = descend(table, people - weights.base - table @ slopes, slopes)
    of = {name: round(float(slope), DIGITS) for name, slope in zip(names, slopes + moved, strict=True)}
    found = GradeWeights(round(weights.base + base, DIGITS), of, weights.spread)
    return replace(found, spread=_spread(found, labelled, criterion))


def _spread(weights: GradeWeights, labelled: Sequence[ModelLabelled], criterion: str) -> float:
    """How far grades are off, as a share of the scale's half: what a grade's confidence lacks."""
    off = fmean(abs(weights.value(each.checklist or {}) - (each.grades or {})[criterion]) for each in labelled)
    return round(max(LEAST_SPREAD, min(1.0, off / 2)), DIGITS)


def _surprise(chance: Logistic, labelled: ModelLabelled) -> float:
    """How surprising people's word is under the chance."""
    likely = min(max(chance.of(labelled.inputs), 1e-6), 1 - 1e-6)
    return -log(likely if labelled.passes else 1 - likely)


def _weights_error(weights: GradeWeights, labelled: ModelLabelled, *, criterion: str) -> float:
    return abs(weights.value(labelled.checklist or {}) - (labelled.grades or {})[criterion])
