"""A rubric as a value: criteria with weights, level texts and conventions, gates, pass mark and targets."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

TOP = 4
SAFETY = "safety"
GENERAL = "general"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing a reply is graded on. `levels` maps each allowed grade to its text."""

    name: str
    weight: float
    summary: str
    question: str
    levels: Mapping[int, str]

    def nearest_level(self, value: float) -> int:
        """The allowed level next to a value; the lower of two that are as near."""
        return min(sorted(self.levels), key=lambda level: abs(level - value))


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
class Conventions:
    """How levels and kinds of violation are meant where their texts leave it open.

    `texts` maps `general`, a criterion or a kind of violation to its sentences.
    """

    version: str
    texts: Mapping[str, tuple[str, ...]]


NO_CONVENTIONS = Conventions("", {})


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
    conventions: Conventions = NO_CONVENTIONS

    def criterion(self, name: str) -> Criterion | None:
        return next((criterion for criterion in self.criteria if criterion.name == name), None)

    def conventions_of(self, name: str) -> tuple[str, ...]:
        """The conventions of a criterion, a kind of violation, or `general` ones."""
        return self.conventions.texts.get(name, ())
