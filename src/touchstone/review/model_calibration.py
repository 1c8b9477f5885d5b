"""A team's labels and a language model's answers -> its pass probability and checklist moved towards the labels.

As with the offline judge, the shipped functions know more cases than a team has: they move only as far as the labels
carry them against a ridge penalty, keep their directions, and are taken only where labels they have not seen gain.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from statistics import fmean
from typing import TypeVar

from touchstone.judges.llm.fits import CHANCE_INPUTS, GradeWeights, ModelFit
from touchstone.review.calibration import FOLDS, LEAST_LABELS, descend, fold_of
from touchstone.safety.signs import Logistic

RIDGE = 4.0
STEPS = 25
DIGITS = 5
LEAST_SPREAD = 0.05
Fitted = TypeVar("Fitted", Logistic, GradeWeights)
Move = Callable[[Fitted, Sequence["ModelLabelled"]], Fitted]
Loss = Callable[[Fitted, "ModelLabelled"], float]


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


def calibrate_model(labelled: Sequence[ModelLabelled], *, fit: ModelFit, judge: str) -> ModelCalibration:
    """The fit moved towards the labels, as one of this judge's own."""
    gains: list[ModelGain] = []

    def moved(
        name: str, function: Fitted, mine: Sequence[ModelLabelled], move: Move[Fitted], loss: Loss[Fitted]
    ) -> Fitted:
        if len(mine) < LEAST_LABELS:
            return function
        folds = {fold: move(function, [e for e in mine if fold_of(e.id) != fold]) for fold in range(FOLDS)}
        before = fmean(loss(function, each) for each in mine)
        gains.append(ModelGain(name, len(mine), before, fmean(loss(folds[fold_of(each.id)], each) for each in mine)))
        return move(function, mine) if gains[-1].taken else function

    chance = moved("pass probability", fit.chance, labelled, move_chance, _surprise)
    checklist = {
        name: moved(
            name,
            weights,
            [each for each in labelled if each.checklist and name in (each.grades or {})],
            partial(move_weights, criterion=name),
            partial(_error, criterion=name),
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
    ridge = np.diag([RIDGE / 10, *([RIDGE] * len(names))])
    now = start.copy()
    for _ in range(STEPS):
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


def _error(weights: GradeWeights, labelled: ModelLabelled, *, criterion: str) -> float:
    return abs(weights.value(labelled.checklist or {}) - (labelled.grades or {})[criterion])
