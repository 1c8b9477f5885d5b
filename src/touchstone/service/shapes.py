"""What each command takes, with its limits and an example: the body of an API's write, or a form that was filled in."""

from typing import Annotated, Any, Literal, TypeVar, get_origin

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from touchstone.core.result import ViolationKind
from touchstone.review.queue import MAX_OVERSAMPLING, OVERSAMPLING, SIZE
from touchstone.review.review import MAX_NOTE, MAX_VIOLATIONS

_Grades = dict[Annotated[str, Field(max_length=100)], Annotated[int, Field(ge=0, le=4)] | None]
_Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
_Place = Annotated[int, Field(ge=0, lt=2**31)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Text = Annotated[str, Field(min_length=1, max_length=2000)]
_Reason = Annotated[str, Field(max_length=2000)]
_Note = Annotated[str, Field(max_length=MAX_NOTE)]
_Shape = TypeVar("_Shape", bound=BaseModel)
_EXAMPLE_GRADES = {"accuracy": 1, "completeness": 3, "tone": 4, "actionability": 3, "safety": 0}
_EXAMPLE_VIOLATION = {"kind": "hallucination", "start": 9, "end": 16, "reason": "the policy says 14 days"}


def _taken(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [example]})


class NewQueue(BaseModel):
    """A sample of a run's replies for people to grade."""

    model_config = _taken({"name": "week 12", "run": "latest", "size": 25, "needed": 2})

    name: Annotated[str, Field(max_length=200, description="Left out, it says how many of how many replies.")] = ""
    run: Annotated[str, Field(max_length=200, description="A run; `latest` is the latest production run.")] = "latest"
    size: Annotated[int, Field(ge=1, le=10_000)] = SIZE
    needed: Annotated[int, Field(ge=1, le=2, description="How many people grade each reply.")] = 1
    oversampling: Annotated[float, Field(ge=1, le=MAX_OVERSAMPLING, strict=False)] = OVERSAMPLING
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    reviewers: Annotated[list[_Name], Field(max_length=100)] = []


class MarkedViolation(BaseModel):
    """A violation that a person marks in the reply; the span is half-open, in characters."""

    model_config = _taken(_EXAMPLE_VIOLATION)

    kind: ViolationKind
    start: _Place
    end: _Place
    reason: _Reason = ""


class NewReview(BaseModel):
    """One person's grades of one reply. `id` may be given, so that a review sent twice counts once."""

    model_config = _taken({"grades": _EXAMPLE_GRADES, "violations": [_EXAMPLE_VIOLATION], "note": "wrong window"})

    id: _Id | None = None
    grades: _Grades
    violations: Annotated[list[MarkedViolation], Field(max_length=MAX_VIOLATIONS)] = []
    note: _Note = ""
    supersedes: _Id | None = None
    seconds: Annotated[float, Field(ge=0, le=86_400, strict=False)] | None = None


class NewRuling(BaseModel):
    """A lead's word on a reply that people graded differently."""

    model_config = _taken({"grades": _EXAMPLE_GRADES, "violations": [_EXAMPLE_VIOLATION], "reason": "see the policy"})

    grades: _Grades
    violations: Annotated[list[MarkedViolation], Field(max_length=MAX_VIOLATIONS)] = []
    reason: _Note


class NewWaiver(BaseModel):
    """A person's word that a violation the judge found is none, and why; `withdrawn` takes it back and needs no why."""

    model_config = _taken({"kind": "pii_leakage", "start": 0, "end": 4, "reason": "the shop's own number"})

    kind: ViolationKind
    start: _Place
    end: _Place
    reason: _Reason = ""
    withdrawn: bool = False


class NewAction(BaseModel):
    """What is to be done about a pattern."""

    model_config = _taken({"pattern": "wrong value", "owner": "retrieval", "text": "index the new returns page"})

    pattern: _Name
    owner: _Name
    text: _Text
    run: Annotated[str, Field(max_length=200, description="The run the pattern was seen in.")] = "latest"


class ChangedAction(BaseModel):
    """An action as it is to be from now on; `revision` is the one that was read."""

    model_config = _taken({"revision": 1, "owner": "retrieval", "text": "index the returns page", "state": "done"})

    revision: Annotated[int, Field(ge=1, lt=2**31)]
    owner: _Name
    text: _Text
    state: Literal["open", "done"]


def filled(shape: type[_Shape], **fields: Any) -> _Shape:
    """What a form says: a field left empty is not given, and figures are text."""
    given = {name: value for name, value in fields.items() if value not in ("", None, [])}
    try:
        return shape.model_validate(given, strict=False)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error


def form_of(shape: type[_Shape]) -> Any:
    """The dependency of a page's route that takes what an API's route takes, from the form that was sent."""

    async def read(request: Request) -> _Shape:
        form = await request.form()
        lists = {name for name, field in shape.model_fields.items() if get_origin(field.annotation) is list}
        return filled(
            shape, **{name: (form.getlist if name in lists else form.get)(name) for name in shape.model_fields}
        )

    return Depends(read)
