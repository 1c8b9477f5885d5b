"""What was fitted for language-model judges on labelled cases: the pass probability, and the checklist's grades.

What a model says of its own certainty is no probability, and on the recorded answers it added nothing to its grades. A
small logistic function of the points, which ships or is a team's own by `touchstone review calibrate`, gives one, so
that the plan's two cuts mean the same for every judge.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from touchstone.core import resource
from touchstone.core.result import Finding, Grade
from touchstone.rubric.model import TOP, Rubric
from touchstone.rubric.outcome import points_of
from touchstone.safety.signs import Logistic

FILE = "model_judge.json"
# Where a team's calibration has its own.
MODEL_JUDGE = "model_judge"
CHANCE_INPUTS = ("points", "suspicion")
CHECKLIST_INPUTS = (
    *("asks", "least_asked", "figures", "claims", "least_claim"),
    *("correct", "addressed", "step", "usable", "polite", "feelings", "cold", "violation"),
)
TENS = 10.0


@dataclass(frozen=True, slots=True)
class GradeWeights:
    """A grade as a sum of a checklist's features; `spread` is how far it is off on labelled cases."""

    base: float
    of: Mapping[str, float]
    spread: float

    def value(self, features: Mapping[str, float]) -> float:
        total = self.base + sum(weight * features[name] for name, weight in self.of.items())
        return min(float(TOP), max(0.0, total))


@dataclass(frozen=True, slots=True)
class ModelFit:
    """All of it: the pass probability, and the grades of a checklist by criterion.

    `violated` is the chance that people pass what the model says has a violation; `judge` the model it was fitted for,
    None for what ships.
    """

    chance: Logistic
    violated: float
    checklist: Mapping[str, GradeWeights]
    judge: str | None = None

    def suits(self, judge: str) -> bool:
        """Whether it may be used for this judge: one model's certainty says nothing of another's."""
        return self.judge in (None, judge)

    @property
    def shape(self) -> dict[str, Any]:
        """What of it names a judge: hashes of judges that runs were made with depend on this form."""
        chance = [self.chance.base, dict(self.chance.weights)]
        return asdict(self) | {"chance": chance}


def chance_inputs(
    rubric: Rubric, grades: Sequence[Grade], suspicions: Sequence[Finding] = ()
) -> dict[str, float] | None:
    """What the chance is computed from: tens of points above the pass mark; None where a grade is missing."""
    if any(grade.grade is None for grade in grades):
        return None
    weights = {criterion.name: criterion.weight for criterion in rubric.criteria}
    total = sum(points_of(grade.grade or 0, weights[grade.criterion]) for grade in grades)
    return {"points": (total - rubric.pass_mark) / TENS, "suspicion": float(bool(suspicions))}


def model_chance(
    rubric: Rubric,
    grades: Sequence[Grade],
    violations: Sequence[Finding],
    suspicions: Sequence[Finding],
    *,
    fit: ModelFit | None = None,
) -> float | None:
    """The calibrated chance of a pass; None where a grade is missing. `fit` is a team's own."""
    inputs, fit = chance_inputs(rubric, grades, suspicions), fit or packaged_fit()
    if inputs is None:
        return None
    chance = fit.chance.of(inputs)
    return round(min(chance, fit.violated) if violations else chance, 4)


@cache
def packaged_fit() -> ModelFit:
    """What ships."""
    return resource.parsed(FILE, lambda text: parse_fit(json.loads(text)))


def parse_fit(content: Mapping[str, Any], *, shipped: ModelFit | None = None) -> ModelFit:
    """The fit a JSON object describes; what it leaves out is the shipped one's."""
    known = fit_to_dict(shipped) if shipped else {"checklist": {}}
    given = known | {"judge": None} | {name: part for name, part in content.items() if part is not None}
    rows = known["checklist"] | given["checklist"]
    chance = given["pass"]
    return ModelFit(
        chance=Logistic(float(chance["base"]), _known(chance["weights"], CHANCE_INPUTS)),
        violated=float(chance["violated"]),
        checklist={
            name: GradeWeights(float(row["base"]), _known(row["weights"], CHECKLIST_INPUTS), float(row["spread"]))
            for name, row in rows.items()
        },
        judge=given["judge"],
    )


def fit_to_dict(fit: ModelFit) -> dict[str, Any]:
    """What `parse_fit` reads."""
    return {
        "judge": fit.judge,
        "pass": {"base": fit.chance.base, "weights": dict(fit.chance.weights), "violated": fit.violated},
        "checklist": {
            name: {"base": each.base, "weights": dict(each.of), "spread": each.spread}
            for name, each in fit.checklist.items()
        },
    }


def _known(weights: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    if unknown := sorted(set(weights) - set(names)):
        raise ValueError(f"unknown input {unknown[0]}")
    return {name: float(weight) for name, weight in weights.items()}
