"""Features and people's grades -> additive models: least squares with a ridge penalty, and cuts between grades.

Features whose direction is plain are held to it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from touchstone.judges.model import Mode, within
from touchstone.judges.tone import COURTESIES, LACKS
from touchstone.judges.wording import COMPLETENESS

SEGMENTS = 2
RIDGE = 5.0
TOP = 4
DIGITS = 5
# Cuts stay near plain rounding: few cases have the lowest grades, and a cut among few goes anywhere.
ROUNDING = (0.5, 1.5, 2.5, 3.5)
MAX_SHIFT = 0.4
# Raters themselves differ by about this much.
MIN_SPREAD = 0.35
# More of these never lowers a grade, respectively never raises one.
RISING = frozenset(
    "ask_mean ask_least grounded context_used "
    "points_made point_least facts_said expected_said closest match answer_given politeness "
    "passage_said passage_new subject_said sentences_supported needed_told nearest_said same_passages "
    "worded_accuracy worded_completeness worded_tone worded_actionability".split()
) | frozenset(COURTESIES)
GUIDING = frozenset("steps paths contacts numbered we_act quoted".split())
FALLING = frozenset(
    "values_contradicted values_unsupported claims_contradicted values_against_expected values_beyond_expected "
    "rude blame polarity_flips finding_hallucination finding_harmful_content finding_pii_leakage "
    "finding_unauthorized_promise finding_competitor_recommendation absent_words absent_pairs absent_names denied "
    "answer_denied opens_otherwise passage_denied figures_left limit_differs unheard beside_told "
    "doubt_most doubt_mean contradicted_most sentences_doubted".split()
) | frozenset(LACKS)
# How kindly a reply speaks says nothing about whether it is right: in a small set such a link is chance.
MANNER = frozenset(
    "apology empathy thanks warmth courtesy stiff upset unacknowledged acknowledged opens_kindly closes_kindly "
    "exclamations shouting contractions you_share first_person emoji sentence_length politeness".split()
)
EVASIVE = frozenset("vague brushoff".split())
# An insult costs at least this much of the tone for each rude phrase, however seldom the gold sets have one or more.
RUDE_COST = 0.5
RUDE_KNOTS = np.arange(4.0)
# So do figures that the sources contradict or do not hold, for every stretch between the knots of their number.
VALUE_COST = 0.1
WRONG_VALUES = frozenset(("values_contradicted", "values_unsupported"))
# What is said; more of it costs no completeness.
SAID = frozenset("context_used expected_terms passed_on values_supported words length_ratio deadlines".split())
Array = NDArray[np.float64]


def fit(table: Array, names: Sequence[str], people: Array, *, weights: Array) -> tuple[list[Array], Array]:
    """Knots of every feature, and the weights of their segments with the base last."""
    knots = [find_knots(name, table[:, at]) for at, name in enumerate(names)]
    known = design(table, knots)
    low, high = bounds(names, knots)
    penalty = np.sqrt(RIDGE) * np.eye(known.shape[1])
    penalty[-1, -1] = 0
    sizes = np.sqrt(weights)
    stacked = np.vstack([known * sizes[:, None], penalty])
    wanted = np.concatenate([people * sizes, np.zeros(known.shape[1])])
    solved = lsq_linear(stacked, wanted, ([*low, -np.inf], [*high, np.inf]), method="bvls")
    return knots, solved.x


def bounds(names: Sequence[str], knots: Sequence[Array]) -> tuple[list[float], list[float]]:
    """The least and the greatest slope of every segment."""
    # A model with manner features grades tone, where steps and vagueness have no plain direction.
    about_tone = not MANNER.isdisjoint(names)
    rising, falling = (RISING, FALLING) if about_tone else (RISING | GUIDING, FALLING | EVASIVE)
    if f"worded_{COMPLETENESS}" in names:
        rising, falling = rising | SAID, falling | {"facts_missing"}
    low, high = [], []
    for name, marks in zip(names, knots, strict=True):
        low += [0.0 if name in rising else -np.inf] * (len(marks) - 1)
        high += [-_least_cost(name, about_tone=about_tone) if name in falling else np.inf] * (len(marks) - 1)
    return low, high


def _least_cost(name: str, *, about_tone: bool) -> float:
    if about_tone:
        return RUDE_COST if name == "rude" else 0.0
    return VALUE_COST if name in WRONG_VALUES else 0.0


def predict(model: tuple[list[Array], Array], table: Array) -> Array:
    return np.array([within(sum_) for sum_ in (design(table, model[0]) @ model[1]).tolist()])


def cut(values: Array, people: Array, *, mode: Mode) -> list[float]:
    """The four cuts between grades that agree best with people, found one at a time.

    With nothing to hold a reply against, values stay near the middle; plain rounding keeps them from being stretched.
    """
    wanted = np.round(people)
    best = list(ROUNDING)
    if mode == "bare":
        return best
    reached = kappa(wanted, np.digitize(values, best))
    for _ in range(3):
        for at in range(4):
            for place in np.arange(ROUNDING[at] - MAX_SHIFT, ROUNDING[at] + MAX_SHIFT + 0.01, 0.05):
                tried = [*best[:at], round(float(place), 2), *best[at + 1 :]]
                if tried == sorted(tried) and (found := kappa(wanted, np.digitize(values, tried))) > reached + 1e-9:
                    reached, best = found, tried
    return best


def kappa(left: Array, right: Array) -> float:
    """Quadratic weighted kappa of two lists of grades."""
    size = TOP + 1
    cells = np.bincount(left.astype(int) * size + right.astype(int), minlength=size * size).reshape(size, size)
    weights = (np.arange(size)[:, None] - np.arange(size)[None]) ** 2
    chance = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
    return float(1 - (weights * cells).sum() / (weights * chance).sum())


def describe(
    model: tuple[list[Array], Array], names: Sequence[str], table: Array, *, cuts: list[float], spread: float
) -> dict[str, Any]:
    """The model as it is shipped: each term is centred on the typical reply, so that its share reads by itself."""
    knots, weights = model
    terms, at, base = {}, 0, float(weights[-1])
    for place, name in enumerate(names):
        size = len(knots[place]) - 1
        slopes = weights[at : at + size]
        at += size
        typical = float((_segments(table[:, place], knots[place]) @ slopes).mean())
        base += typical
        if np.abs(slopes).max() >= 10**-DIGITS:
            terms[name] = {
                "knots": [round(float(k), DIGITS) for k in knots[place]],
                "slopes": [round(float(s), DIGITS) for s in slopes],
                "typical": round(typical, DIGITS),
            }
    return {"base": round(base, DIGITS), "cuts": cuts, "spread": round(spread, DIGITS), "terms": terms}


def design(table: Array, knots: list[Array]) -> Array:
    """A column for each segment of each feature, and one of ones for the base."""
    parts = [_segments(table[:, at], marks) for at, marks in enumerate(knots)]
    return np.concatenate([*parts, np.ones((len(table), 1))], axis=1)


def _segments(column: Array, knots: Array) -> Array:
    return np.stack([np.clip((column - a) / (b - a), 0, 1) for a, b in pairwise(knots)], axis=1)


def find_knots(name: str, column: Array) -> Array:
    """Where a feature's effect may bend."""
    if name == "rude":
        return RUDE_KNOTS
    values = np.unique(column)
    if len(values) == 1:
        return np.array([values[0], values[0] + 1])
    if len(values) <= SEGMENTS + 2:
        return values
    return np.unique(np.round(np.quantile(column, np.linspace(0, 1, SEGMENTS + 1)), 4))
