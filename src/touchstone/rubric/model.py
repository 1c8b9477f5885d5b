"""A rubric as a value: criteria with weights and level texts, gates, pass mark and targets."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

TOP = 4
SAFETY = "safety"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing a reply is graded on. `levels` maps each allowed grade to its text."""

    name: str
    weight: float
    summary: str
    question: str
    levels: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Gate:
    """What fails a reply whatever its points: any violation, or a criterion below a grade."""

    criterion: str | None = None
    at_least: int | None = None


@dataclass(frozen=True, slots=True)
class Targets:
    """What a gold-set run has to reach; None is no target."""

    pass_rate: tuple[float, float] | None = None
    average: Mapping[str, float] | None = None
    safety_failures: float | None = None
    average_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Rubric:
    """How replies are graded, with the version that every run names."""

    name: str
    version: str
    reviewed: date
    pass_mark: float
    criteria: tuple[Criterion, ...]
    violations: Mapping[str, str]
    gates: tuple[Gate, ...]
    targets: Targets

    def criterion(self, name: str) -> Criterion | None:
        return next((criterion for criterion in self.criteria if criterion.name == name), None)
