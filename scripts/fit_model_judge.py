"""Recorded answers and people's labels -> src/touchstone/data/model_judge.json: what is fitted for language models.

Two things: the pass probability, from grades and violations (data/judge/recorded/support.jsonl and
agents.jsonl), and the grades of a checklist, from its chances of yes (checklists.jsonl). Weights point one way: no
better answer lowers a grade. How far they hold is measured with agents' tasks and whole sets left out, and kept beside
them.

`python -m scripts.fit_model_judge`; the agents' labels come from TOUCHSTONE_DATA, without which nothing is fitted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from benchmarks.recorded import RECORDED, replayed
from numpy.typing import NDArray
from scipy.optimize import lsq_linear
from scripts.fit_rules import USUAL_PASSES
from scripts.labelled import AGENTS, DATA, RUBRIC, SETS

from touchstone.core.codec import case_from_dict
from touchstone.judges.llm.fits import CHANCE_INPUTS, FILE, GradeWeights, chance_inputs
from touchstone.rubric.model import TOP
from touchstone.safety.signs import Logistic
from touchstone.stats.agreement import weighted_kappa
from touchstone.trust.pairs import pair, people_means

Array = NDArray[np.float64]
# What each grade may rest on; those that speak against a reply come last.
USED: Mapping[str, tuple[str, ...]] = {
    "accuracy": ("claims", "least_claim", "figures", "correct", "asks", "addressed", "violation"),
    "completeness": ("asks", "least_asked", "addressed", "usable"),
    "tone": ("polite", "feelings", "cold"),
    "actionability": ("step", "usable", "asks", "addressed"),
}
AGAINST = ("cold", "violation")
RIDGE = 1.0
CHANCE_RIDGE = 0.5
STEPS = 40
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Ticked:
    """A case's checklist features with people's mean grades."""

    id: str
    part: str
    features: Mapping[str, float]
    grades: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Judged:
    """A case's chance inputs, with what people say; `group` is left out together."""

    group: str
    part: str
    inputs: Mapping[str, float]
    is_charged: bool
    passes: bool


def main() -> None:
    if not AGENTS.exists():
        raise SystemExit("nothing is fitted, agents/ is missing: set TOUCHSTONE_DATA to the folder that has it")
    ticked, judged = list(read_checklists()), list(read_judged())
    chance = fit_chance(judged)
    content = {
        "fitted_on": "recorded answers, blind to labels (data/judge/recorded): support, industries, agents",
        "method": f"pass: logistic regression, weighted to {USUAL_PASSES:.0%} passing; checklist: ridge, one way",
        "pass": {
            "base": round(chance.base, DIGITS),
            "weights": {name: round(weight, DIGITS) for name, weight in chance.weights.items()},
            "violated": round(violated(judged), DIGITS),
            "left_out": measure_chance(judged),
        },
        "checklist": {name: _row(fit_grade(name, ticked), name, ticked) for name in USED},
    }
    path = DATA / FILE
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=1, ensure_ascii=False))


def read_checklists() -> Iterator[Ticked]:
    labels = {
        row["id"]: people_means(case_from_dict(row), rubric=RUBRIC)
        for name in ("support", "industries", "agents")
        for row in _lines(AGENTS if name == "agents" else SETS[name])
    }
    for row in _lines(RECORDED / "checklists.jsonl"):
        yield Ticked(row["id"], row["set"], row["features"], labels[row["id"]])


def read_judged() -> Iterator[Judged]:
    tasks = {row["id"]: row["meta"]["task"] for row in _lines(AGENTS)}
    for name in ("support", "agents"):
        for each in replayed(name, stale=[]):
            grading = each.model
            inputs = chance_inputs(RUBRIC, grading.grades, grading.suspicions)
            people = pair(each.case, grading, rubric=RUBRIC).people_outcome
            if inputs is not None and people is not None:
                group = tasks.get(each.case.id or "", each.case.category or "")
                yield Judged(group, name, inputs, bool(grading.violations), people == "PASS")


def fit_chance(judged: Sequence[Judged]) -> Logistic:
    """Logistic regression where four of five pass, as for the offline judge, so that the cuts mean the same."""
    mine = [each for each in judged if not each.is_charged]
    table = np.asarray([[1.0, *(each.inputs[name] for name in CHANCE_INPUTS)] for each in mine])
    wanted = np.asarray([float(each.passes) for each in mine])
    share = fmean(each.passes for each in judged)
    weights = np.where(wanted == 1, USUAL_PASSES / share, (1 - USUAL_PASSES) / (1 - share))
    ridge = np.diag([0.0, *([CHANCE_RIDGE] * len(CHANCE_INPUTS))])
    now = np.zeros(table.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(table @ now, -30, 30)))
        slope = table.T @ (weights * (wanted - likely)) - ridge @ now
        bend = (table * (weights * likely * (1 - likely))[:, None]).T @ table + ridge
        now = now + np.linalg.solve(bend, slope)
    # More points never speak against a reply, a suspicion never for it.
    signs = {"suspicion": -1}
    kept = {n: float(w) if w * signs.get(n, 1) > 0 else 0.0 for n, w in zip(CHANCE_INPUTS, now[1:], strict=True)}
    return Logistic(float(now[0]), kept)


def violated(judged: Sequence[Judged]) -> float:
    """The share of what the model charges that people pass, where four of five pass."""
    share = fmean(each.passes for each in judged)
    passed = sum(each.passes for each in judged if each.is_charged) * USUAL_PASSES / share
    failed = sum(not each.passes for each in judged if each.is_charged) * (1 - USUAL_PASSES) / (1 - share)
    return passed / (passed + failed)


def measure_chance(judged: Sequence[Judged]) -> dict[str, Any]:
    """The chance of each case by a fit without its task, and without its whole set: Brier score and cuts' shares."""
    by_task = _left_out(judged, [each.group for each in judged])
    by_set = _left_out(judged, [each.part for each in judged])
    passes = np.asarray([each.passes for each in judged])
    return {
        "cases": len(judged),
        "passing": round(float(passes.mean()), DIGITS),
        "brier, tasks left out": _brier(by_task, passes),
        "brier, sets left out": _brier(by_set, passes),
        "brier, the share alone": round(float(passes.mean() * (1 - passes.mean())), DIGITS),
    }


def _left_out(judged: Sequence[Judged], groups: Sequence[str]) -> Array:
    found = np.zeros(len(judged))
    for group in dict.fromkeys(groups):
        rest = [each for each, own in zip(judged, groups, strict=True) if own != group]
        chance, charged = fit_chance(rest), violated(rest)
        for at, own in enumerate(groups):
            if own == group:
                likely = chance.of(judged[at].inputs)
                found[at] = min(likely, charged) if judged[at].is_charged else likely
    return found


def _brier(chances: Array, passes: NDArray[np.bool_]) -> float:
    return round(float(((chances - passes) ** 2).mean()), DIGITS)


def fit_grade(criterion: str, ticked: Sequence[Ticked]) -> GradeWeights:
    """A grade as a sum of features, none of which may point the wrong way."""
    names = USED[criterion]
    mine = [each for each in ticked if criterion in each.grades]
    table = np.asarray([[1.0, *(each.features[name] for name in names)] for each in mine])
    people = np.asarray([each.grades[criterion] for each in mine])
    penalty = np.diag([0.0, *([RIDGE**0.5] * len(names))])
    low = [-np.inf, *(-np.inf if name in AGAINST else 0.0 for name in names)]
    high = [np.inf, *(0.0 if name in AGAINST else np.inf for name in names)]
    found = lsq_linear(np.vstack([table, penalty]), np.concatenate([people, np.zeros(len(names) + 1)]), (low, high)).x
    of = {name: round(float(weight), DIGITS) for name, weight in zip(names, found[1:], strict=True)}
    weights = GradeWeights(round(float(found[0]), DIGITS), of, 0.0)
    off = fmean(abs(weights.value(each.features) - each.grades[criterion]) for each in mine)
    return GradeWeights(weights.base, of, round(off / 2, DIGITS))


def _row(weights: GradeWeights, criterion: str, ticked: Sequence[Ticked]) -> dict[str, Any]:
    return {
        "base": weights.base,
        "weights": dict(weights.of),
        "spread": weights.spread,
        "left_out": measure_grade(criterion, ticked),
    }


def measure_grade(criterion: str, ticked: Sequence[Ticked]) -> dict[str, float | None]:
    """Kappa with people by set, each graded by a fit without it."""
    found: dict[str, float | None] = {}
    for part in dict.fromkeys(each.part for each in ticked):
        weights = fit_grade(criterion, [each for each in ticked if each.part != part])
        mine = [each for each in ticked if each.part == part and criterion in each.grades]
        ours = [round(weights.value(each.features)) for each in mine]
        kappa = weighted_kappa(
            ours, [min(range(TOP + 1), key=lambda g: abs(g - each.grades[criterion])) for each in mine]
        )
        found[part] = None if kappa is None else round(kappa, DIGITS)
    return found


def _lines(path: Any) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


if __name__ == "__main__":
    main()
