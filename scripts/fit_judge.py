"""Labelled gold sets -> src/touchstone/data/judge.json: the offline judge's models and how well they agree with people.

    make fit

Additive models by least squares with a ridge penalty; features whose direction is plain are held to it. Every figure
comes from leaving domains out: a case is never graded by a model that saw its domain.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from touchstone.core import resource
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.evidence.check import check
from touchstone.judges.coverage import cover
from touchstone.judges.features import Features, features
from touchstone.judges.model import PLAIN_FILE, Way
from touchstone.safety.detectors import inspect
from touchstone.text.reading import read

ROOT = Path(__file__).parent.parent
PACKAGED = ROOT / "src/touchstone/data/goldsets"
LABELLED = {
    "support": PACKAGED / "support.jsonl",
    "industries": PACKAGED / "industries.jsonl",
    "everyday": ROOT / "data/judge/everyday.jsonl",
}
GOLDSETS = tuple(LABELLED)
# Replies to the same message, and replies nearly all of which are good, say less than as many cases.
WEIGHTS = {"everyday": 0.5}
# The many domains of the everyday cases are left out several at a time.
FOLDS = 8
CRITERIA = ("accuracy", "completeness", "tone", "actionability")
WAYS: tuple[Way, ...] = ("expected", "open", "bare")
SEGMENTS = 2
RIDGE = 20.0
TOP = 4
DIGITS = 5
# Cuts stay near plain rounding: few cases have the lowest grades, and a cut among few goes anywhere.
ROUNDING = (0.5, 1.5, 2.5, 3.5)
MAX_SHIFT = 0.4
# Raters themselves differ by about this much.
MIN_SPREAD = 0.35
# More of these never lowers a grade, respectively never raises one.
RISING = frozenset(
    "ask_mean ask_least points_made point_least facts_said expected_said closest match answer_given politeness "
    "passage_said passage_new subject_said sentences_supported".split()
)
GUIDING = frozenset("steps paths contacts numbered we_act quoted".split())
FALLING = frozenset(
    "values_contradicted values_unsupported claims_contradicted values_against_expected values_beyond_expected "
    "rude blame polarity_flips violation_hallucination violation_harmful_content violation_pii_leakage "
    "violation_unauthorized_promise violation_competitor_recommendation absent_words absent_pairs absent_names denied "
    "answer_denied opens_otherwise passage_denied figures_left limit_differs unheard "
    "doubt_most doubt_mean contradicted_most sentences_doubted".split()
)
# How kindly a reply speaks says nothing about whether it is right: in a small set such a link is chance.
MANNER = frozenset(
    "apology empathy thanks warmth courtesy stiff upset unacknowledged acknowledged opens_kindly closes_kindly "
    "exclamations shouting contractions you_share first_person emoji sentence_length politeness".split()
)
# What tells replies to plain questions apart adds nothing among support replies, which use words of their own.
PLAIN = frozenset(
    "absent_words absent_pairs absent_names closest match denied answer_given answer_denied opens_otherwise politeness "
    "passage_said passage_new passage_size passage_denied figures_left limit_differs subject_said unheard "
    "asked_openly".split()
)
EVASIVE = frozenset("vague brushoff".split())
# An insult costs at least this much of the tone for each rude phrase, however seldom the gold sets have one or more.
RUDE_COST = 0.5
RUDE_KNOTS = np.arange(4.0)
# So do figures that the sources contradict or do not hold, for every stretch between the knots of their number.
VALUE_COST = 0.1
WRONG_VALUES = frozenset(("values_contradicted", "values_unsupported"))
MADE_UP = WRONG_VALUES | {
    "violation_hallucination",
    "claims_contradicted",
    "claims_unsupported",
    "values_against_expected",
    "values_beyond_expected",
    "polarity_flips",
}
Array = NDArray[np.float64]


def main() -> None:
    cases, source = labelled_cases()
    groups, weights = groups_of(cases, source), weights_of(source)
    ways: dict[str, Any] = {}
    agreement: dict[str, Any] = {}
    for way in WAYS:
        rows, _ = feature_rows(cases, way=way)
        ways[way], agreement[way] = {}, {}
        for criterion in CRITERIA:
            people = mean_grades(cases, criterion)
            table, names = feature_table(rows, criterion)
            values, grades = leave_out(table, names, people, groups=groups, weights=weights, way=way)
            spread = max(MIN_SPREAD, float(np.sqrt(np.mean((values - people) ** 2))))
            model = fit(table, names, people, weights=weights)
            ways[way][criterion] = describe(model, names, table, cuts=cut(values, people, way=way), spread=spread)
            agreement[way][criterion] = agreement_by_set(people, with_plain(grades, cases, criterion, way), source)
    written = {
        "version": "1.0",
        "fitted_on": {name: int((source == name).sum()) for name in GOLDSETS},
        "method": f"additive, {SEGMENTS} segments a feature, ridge {RIDGE:g}; monotone where the direction is plain",
        "agreement": {"measure": "quadratic kappa with the raters' mean, domains left out in turn", **agreement},
        "ways": ways,
    }
    target = ROOT / "src/touchstone/data/judge.json"
    target.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(agreement, indent=1) + f"\nwritten to {target.relative_to(ROOT)}\n")


def labelled_cases() -> tuple[list[dict[str, Any]], NDArray[np.str_]]:
    """All labelled cases, and which gold set each is from."""
    texts = {name: path.read_text("utf-8").rstrip("\n") for name, path in LABELLED.items()}
    rows = [(name, json.loads(line)) for name, text in texts.items() for line in text.split("\n")]
    return [case for _, case in rows], np.array([name for name, _ in rows])


def groups_of(cases: Sequence[dict[str, Any]], source: NDArray[np.str_]) -> NDArray[np.str_]:
    """Which cases are left out together: those of a domain, and of the everyday ones those of several domains."""
    domains = [case["domain"] for case in cases]
    shipped = {domain for domain, name in zip(domains, source, strict=True) if name != "everyday"}
    rest = {domain: at % FOLDS for at, domain in enumerate(sorted(set(domains) - shipped))}
    return np.array([f"everyday {rest[domain]}" if domain in rest else domain for domain in domains])


def weights_of(source: NDArray[np.str_]) -> Array:
    """How much each case counts in a fit."""
    return np.array([WEIGHTS.get(str(name), 1.0) for name in source])


def mean_grades(cases: Sequence[dict[str, Any]], criterion: str) -> Array:
    """The raters' mean on one criterion."""
    return np.array([np.mean([label[criterion] for label in case["labels"]]) for case in cases])


def names_of(criterion: str, names: Iterable[str], *, unused: frozenset[str] = PLAIN) -> list[str]:
    """The features a criterion may be graded by."""
    unfit = unused if criterion == "tone" else unused | MANNER
    if criterion == "completeness":
        # A wrong answer leaves no question open.
        unfit |= MADE_UP
    return sorted(name for name in names if name not in unfit)


def feature_rows(cases: Sequence[dict[str, Any]], *, way: Way) -> tuple[list[Features], list[set[str]]]:
    """The features of each case, and the kinds of violation the detectors found."""
    rows, found = [], []
    for case in cases:
        reading = read(case_from_dict(seen(case, way=way)))
        anchors = check(reading, plan=Plan()) or ()
        violations = inspect(reading, anchors, policy=Policy())
        rows.append(features(reading, cover(reading), anchors, violations))
        found.append({violation.kind for violation in violations})
    return rows, found


def feature_table(
    rows: Sequence[Features], criterion: str, *, unused: frozenset[str] = PLAIN
) -> tuple[Array, list[str]]:
    """One row for each case with all features the criterion may be graded by, and their names."""
    seen = [row.of(criterion) for row in rows]
    names = names_of(criterion, seen[0], unused=unused)
    return columns(seen, names), names


def columns(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Array:
    """One row for each case with the features of these names."""
    return np.array([[row[name] for name in names] for row in rows])


def seen(case: dict[str, Any], *, way: Way) -> dict[str, Any]:
    """The case without what this way of grading does not have."""
    hidden = {"expected": (), "open": ("expected_output",), "bare": ("expected_output", "context")}[way]
    return {field: value for field, value in case.items() if field not in hidden}


def with_plain(grades: Array, cases: Sequence[dict[str, Any]], criterion: str, way: Way) -> Array:
    """The grades, those of plain questions by the models that grade them, fitted without their domain (fit_plain)."""
    kinds = json.loads(resource.text(PLAIN_FILE))["held_out"]
    apart = {
        id_: value for kind in kinds if kind.endswith(way) for id_, value in kinds[kind].get(criterion, {}).items()
    }
    given = zip(cases, grades, strict=True)
    return np.array([np.digitize(apart[c["id"]], ROUNDING) if c["id"] in apart else grade for c, grade in given])


def agreement_by_set(people: Array, grades: Array, source: NDArray[np.str_]) -> dict[str, float]:
    """Kappa with people, for each gold set."""
    wanted = np.round(people)
    return {name: round(kappa(wanted[source == name], grades[source == name]), 3) for name in GOLDSETS}


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
    return np.clip(design(table, model[0]) @ model[1], 0, TOP)


def leave_out(
    table: Array, names: Sequence[str], people: Array, *, groups: NDArray[np.str_], weights: Array, way: Way
) -> tuple[Array, Array]:
    """Values and grades of every case by a model and cuts fitted without its group."""
    values, grades = np.zeros(len(people)), np.zeros(len(people))
    for group in np.unique(groups):
        out = groups == group
        model = fit(table[~out], names, people[~out], weights=weights[~out])
        inner = predict(model, table[~out])
        values[out] = predict(model, table[out])
        grades[out] = np.digitize(values[out], cut(inner, people[~out], way=way))
    return values, grades


def cut(values: Array, people: Array, *, way: Way) -> list[float]:
    """The four cuts between grades that agree best with people, found one at a time.

    With nothing to hold a reply against, values stay near the middle; plain rounding keeps them from being stretched.
    """
    wanted = np.round(people)
    best = list(ROUNDING)
    if way == "bare":
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


if __name__ == "__main__":
    main()
