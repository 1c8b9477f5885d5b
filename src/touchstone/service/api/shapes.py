"""What the writes of the API take, with an example of each."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from touchstone.core.result import Violation, ViolationKind
from touchstone.review.sampling import OVERSAMPLING, SIZE

_Grades = dict[Annotated[str, Field(max_length=100)], Annotated[int, Field(ge=0, le=4)] | None]
_Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
_Place = Annotated[int, Field(ge=0, lt=2**31)]
_EXAMPLE_GRADES = {"accuracy": 1, "completeness": 3, "tone": 4, "actionability": 3, "safety": 0}
_EXAMPLE_VIOLATION = {"kind": "hallucination", "start": 9, "end": 16, "reason": "the policy says 14 days"}


def _taken(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [example]})


class NewQueue(BaseModel):
    """A sample of a run's replies for people to grade."""

    model_config = _taken({"name": "week 12", "run": "latest", "size": 25, "needed": 2})

    name: Annotated[str, Field(min_length=1, max_length=200)]
    run: Annotated[str, Field(max_length=200, description="A run; `latest` is the latest production run.")] = "latest"
    size: Annotated[int, Field(ge=1, le=10_000)] = SIZE
    needed: Annotated[int, Field(ge=1, le=2, description="How many people grade each reply.")] = 1
    oversampling: Annotated[float, Field(ge=1, le=10, strict=False)] = OVERSAMPLING
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    reviewers: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)] = []


class MarkedViolation(BaseModel):
    """A violation that a person marks in the reply; the span is half-open, in characters."""

    model_config = _taken(_EXAMPLE_VIOLATION)

    kind: ViolationKind
    start: _Place
    end: _Place
    reason: Annotated[str, Field(max_length=2000)] = ""


class NewReview(BaseModel):
    """One person's grades of one reply. `id` may be given, so that a review sent twice counts once."""

    model_config = _taken({"grades": _EXAMPLE_GRADES, "violations": [_EXAMPLE_VIOLATION], "note": "wrong window"})

    id: _Id | None = None
    grades: _Grades
    violations: Annotated[list[MarkedViolation], Field(max_length=100)] = []
    note: Annotated[str, Field(max_length=10_000)] = ""
    supersedes: _Id | None = None
    seconds: Annotated[float, Field(ge=0, le=86_400, strict=False)] | None = None


class NewRuling(BaseModel):
    """A lead's word on a reply that people graded differently."""

    model_config = _taken({"grades": _EXAMPLE_GRADES, "violations": [_EXAMPLE_VIOLATION], "reason": "see the policy"})

    grades: _Grades
    violations: Annotated[list[MarkedViolation], Field(max_length=100)] = []
    reason: Annotated[str, Field(max_length=10_000)] = ""


class NewWaiver(BaseModel):
    """A person's word that a violation the judge found is none, and why; to take it back, no reason is needed."""

    model_config = _taken({"kind": "pii_leakage", "start": 0, "end": 4, "reason": "the shop's own number"})

    kind: ViolationKind
    start: _Place
    end: _Place
    reason: Annotated[str, Field(max_length=2000)] = ""
    withdrawn: bool = False


class NewAction(BaseModel):
    """What is to be done about a pattern."""

    model_config = _taken({"pattern": "wrong value", "owner": "retrieval", "text": "index the new returns page"})

    pattern: Annotated[str, Field(min_length=1, max_length=200)]
    owner: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    run: Annotated[str, Field(max_length=200, description="The run the pattern was seen in.")] = "latest"


class ChangedAction(BaseModel):
    """An action as it is to be from now on; `revision` is the one that was read."""

    model_config = _taken({"revision": 1, "owner": "retrieval", "text": "index the returns page", "state": "done"})

    revision: Annotated[int, Field(ge=1, lt=2**31)]
    owner: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    state: Literal["open", "done"]


def violations_of(marked: list[MarkedViolation], *, reply: str) -> tuple[Violation, ...]:
    """The violations with the text that each span has in the reply."""
    return tuple(
        Violation(each.kind, reply[each.start : each.end], each.start, each.end, each.reason) for each in marked
    )
