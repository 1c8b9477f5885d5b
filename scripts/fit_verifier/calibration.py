"""Answers on rows that were not fitted on -> a temperature and biases, and the cut from which a doubt is an alarm."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scripts.fit_verifier.pairs import CONTRADICTED, LABELS, NOT_STATED

# Rows are half wrong by design, replies are not: precision is what it would be if one sentence in ten were wrong.
PREVALENCE = 0.1
# A false alarm blocks a good reply: nineteen alarms in twenty are to be right.
WANTED_PRECISION = 0.95
CUTS = tuple(round(float(cut), 2) for cut in np.arange(0.3, 0.981, 0.02))
# Biases are pulled to nothing, so that a few rows do not make them.
RIDGE = 0.01


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logits over the temperature, plus a bias for each label."""

    temperature: float
    bias: tuple[float, ...]

    def chances(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Probabilities of the labels, as the product works them out."""
        return np.asarray(softmax(logits.astype(np.float64) / self.temperature + np.array(self.bias), axis=-1))


def calibrate(logits: NDArray[np.float32], labels: Sequence[int]) -> Calibration:
    """The temperature and biases under which the labels are most likely; the biases add up to nothing."""
    rows = np.arange(len(labels))

    def lost(given: NDArray[np.float64]) -> float:
        bias = np.append(given[1:], -given[1:].sum())
        found = log_softmax(logits / np.exp(given[0]) + bias, axis=-1)[rows, list(labels)]
        return float(-found.mean() + RIDGE * (bias**2).sum())

    best = minimize(lost, np.zeros(len(LABELS)), method="L-BFGS-B").x
    bias = (*best[1:], -best[1:].sum())
    return Calibration(round(float(np.exp(best[0])), 4), tuple(round(float(value), 4) for value in bias))


def expected_error(chances: NDArray[np.float64], labels: Sequence[int], *, bins: int = 10) -> float:
    """How far the surest label's chance is from how often it is right, on average."""
    sure, hit = chances.max(-1), chances.argmax(-1) == np.array(labels)
    place = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs(sure[place == at].mean() - hit[place == at].mean()) * (place == at).mean() for at in set(place)]
    return float(sum(gaps))


def doubts(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance that the sources do not bear a sentence out."""
    return np.asarray(chances[:, CONTRADICTED] + chances[:, NOT_STATED])


def curve(doubt: NDArray[np.float64], is_wrong: NDArray[np.bool_]) -> list[list[float]]:
    """[cut, precision, recall] for every cut, precision at the stated prevalence."""
    points = []
    for cut in CUTS:
        recall = float((doubt[is_wrong] >= cut).mean())
        false = float((doubt[~is_wrong] >= cut).mean())
        alarms = PREVALENCE * recall + (1 - PREVALENCE) * false
        points.append([cut, round(PREVALENCE * recall / alarms, 4) if alarms else 1.0, round(recall, 4)])
    return points


def choose_cut(points: Sequence[Sequence[float]]) -> float:
    """The lowest cut from which on precision is what is wanted; where it never is, the most precise."""
    good = [cut for cut, precision, _ in points if precision >= WANTED_PRECISION]
    return min(good) if good else max(points, key=lambda point: point[1])[0]
