"""What is said about a case: scores, checked anchors, findings, grades, verdict, decision, failures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from touchstone.core.reading import AnchorKind

Status = Literal["supported", "derived", "contradicted", "unsupported"]
Flag = Literal["WARN", "FAIL"]
Verdict = Literal["PASS", "WARN", "FAIL"]
Outcome = Literal["PASS", "FAIL"]
Decision = Literal["send", "review", "block"]
ViolationKind = Literal[
    "hallucination", "pii_leakage", "harmful_content", "unauthorized_promise", "competitor_recommendation"
]
VIOLATION_KINDS: tuple[ViolationKind, ...] = get_args(ViolationKind)

# What a verifier makes of a sentence, and who said so: a rule before the model, the typed values, or the model.
SentenceStatus = Literal["supported", "contradicted", "not_stated", "no_claim"]
Reader = Literal["rule", "values", "model"]

STATUSES: tuple[Status, ...] = ("supported", "derived", "contradicted", "unsupported")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in a source that speaks for or against an anchor; `path` names the field of a record or the cell."""

    source: str
    start: int
    end: int
    text: str
    path: str | None = None


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
class Finding:
    """What a detector or a judge reports: what kind, where in the reply, why, and the source that speaks against it.

    `rule` is the stable id of the check that spoke; `confidence` the chance that people call it a violation. Both are
    None in results of the earlier contract.
    """

    kind: ViolationKind
    text: str
    start: int
    end: int
    reason: str
    evidence: tuple[Evidence, ...] = ()
    rule: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Waived:
    """A violation that a person found to be none: who, when and why. It is kept and no longer counts."""

    violation: Finding
    by: str
    made: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dismissed:
    """A finding of the offline checks that a model rejected: why, and the words of the case that show it."""

    finding: Finding
    reason: str
    quote: str


class Chances(NamedTuple):
    """A verifier's probabilities for one sentence; they add up to 1."""

    supported: float
    contradicted: float
    not_stated: float
    no_claim: float

    @property
    def doubt(self) -> float:
        """The chance that the sources do not bear the sentence out."""
        return round(self.contradicted + self.not_stated, 4)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the reply as a verifier sees it; `chances` is None where the model was not needed."""

    text: str
    start: int
    end: int
    status: SentenceStatus
    by: Reader
    reason: str
    chances: Chances | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def probability(self) -> float | None:
        """The chance of its status, as far as the model gave it."""
        return None if self.chances is None or self.by == "values" else float(getattr(self.chances, self.status))


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verifier says of the reply, and which one spoke: `hash` is that of its files.

    `unread` counts sentences beyond the most that are read.
    """

    name: str
    version: str
    hash: str
    statements: tuple[Statement, ...]
    unread: int = 0

    @property
    def spared(self) -> int:
        """How many sentences were clear without the model."""
        return sum(statement.chances is None for statement in self.statements)


@dataclass(frozen=True, slots=True)
class Grade:
    """One criterion's grade by one judge; `value` is unrounded. All None when the judge cannot tell."""

    criterion: str
    grade: int | None
    value: float | None
    points: float | None
    confidence: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Grading:
    """A judge's grades under a rubric, and what follows from them.

    A violation counts against the outcome, a suspicion only asks for a person. `pass_probability` is the chance that
    people would pass the reply. A None grade makes the total None, and the outcome too unless a gate has failed the
    reply already. Where the judge was asked several times, `flip_rate` is the share of its votes with another outcome
    than most. `waived` violations are not among `violations`, and nothing else heeds them. What a model `dismissed` is
    kept to be shown, and holds nothing back.
    """

    rubric: str
    version: str
    judge: str
    grades: tuple[Grade, ...]
    violations: tuple[Finding, ...]
    issues: tuple[str, ...]
    total: float | None
    outcome: Outcome | None
    reasons: tuple[str, ...]
    suspicions: tuple[Finding, ...] = ()
    pass_probability: float | None = None
    flip_rate: float | None = None
    waived: tuple[Waived, ...] = ()
    dismissed: tuple[Dismissed, ...] = ()


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
    rubric: Grading | None = None
    verifier: Verification | None = None
