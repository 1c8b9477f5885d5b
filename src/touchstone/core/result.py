"""What is said about a case: scores, checked anchors, violations, grades, verdict, decision, failures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from touchstone.core.reading import AnchorKind

Status = Literal["supported", "derived", "contradicted", "unsupported"]
Flag = Literal["WARN", "FAIL"]
Verdict = Literal["PASS", "WARN", "FAIL"]
Outcome = Literal["PASS", "FAIL"]
Decision = Literal["send", "review", "block"]

STATUSES: tuple[Status, ...] = ("supported", "derived", "contradicted", "unsupported")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in a source that speaks for or against an anchor."""

    source: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A checkable fact in the reply, with its status and evidence."""

    kind: AnchorKind
    text: str
    start: int
    end: int
    value: str
    status: Status
    reason: str
    evidence: tuple[Evidence, ...] = ()

    @property
    def holds(self) -> bool:
        return self.status in ("supported", "derived")


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's value, 0..1 or None when it cannot be computed, with its parts and reason."""

    metric: str
    score: float | None
    reason: str
    parts: Mapping[str, Any] = field(default_factory=dict)
    flag: Flag | None = None
    anchors: tuple[Anchor, ...] | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be read or scored, and why."""

    stage: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """Everything said about one case. `metrics` is None when the row could not be scored at all."""

    id: str | None
    decision: Decision
    verdict: Verdict | None
    reasons: tuple[str, ...]
    metrics: Mapping[str, Score] | None
    failures: tuple[Failure, ...] = ()
    line: int | None = None
