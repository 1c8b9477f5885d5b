"""The shapes of bodies, answers and problems as the API's description names them, with examples; who may ask."""

from dataclasses import asdict, fields
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from touchstone.app.production import Added
from touchstone.core.case import Passage, Turn
from touchstone.core.result import Decision, Failure, Verdict
from touchstone.io.columns import ALIASES, METADATA
from touchstone.review.queue import Item, Progress, Queue
from touchstone.review.review import Difference, Review, Ruling
from touchstone.review.weekly import Action
from touchstone.runs.record import Record
from touchstone.runs.waivers import Waiver
from touchstone.service.context import COOKIE, CSRF_HEADER
from touchstone.store.users import AuditEntry
from touchstone.text.reading import REFERENCE_DATE_FIELDS


def schema_of(shape: Any, **changed: Any) -> dict[str, Any]:
    """The JSON schema of a type, whole in one place."""
    found = TypeAdapter(shape).json_schema()
    definitions = found.pop("$defs", {})

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inline(definitions[part["$ref"].rpartition("/")[2]])
        # A field's title repeats its name, and its default only says that it may be left out.
        return {
            name: inline(value)
            for name, value in part.items()
            if name != "default" and not (name == "title" and isinstance(value, str))
        }

    return {"title": found["title"], **inline(found), **changed}


def ref(name: str) -> dict[str, Any]:
    """Where the description has the schema of that name."""
    return {"$ref": f"#/components/schemas/{name}"}


class _Case(BaseModel):
    """A reply to be judged and what is known about it. Other keys are kept as metadata; the names that DeepEval, ragas,
    autoevals and MLflow use are understood, and those that `columns` in touchstone.yaml maps."""

    model_config = ConfigDict(title="Case")

    id: str | int = ""
    input: Annotated[str | list[Turn], Field(description="The customer's message, or the turns of a chat.")] = ""
    response: Annotated[str, Field(description="The reply.")]
    context: Annotated[str | list[str | Passage], Field(description="What the drafting model was given.")] = ""
    expected_output: str = ""
    category: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 0
    labels: Annotated[list[dict[str, Any]], Field(description="People's grades; not used to score.")] = []
    reference_date: Annotated[str, Field(description="The ISO date on which `tomorrow` was said.")] = ""


class _Result(BaseModel):
    model_config = ConfigDict(title="Result")

    id: str | None
    line: Annotated[int, Field(description="Which case of the batch, from 1; of one that failed.")] = 0
    decision: Decision
    verdict: Verdict | None
    reasons: list[str]
    metrics: dict[str, Any] | None
    rubric: dict[str, Any] | None
    failures: list[Failure]


class _Problem(BaseModel):
    """RFC 9457 problem details."""

    model_config = ConfigDict(title="Problem")

    type: str
    title: str
    status: int
    detail: str
    request_id: Annotated[str, Field(description="X-Request-ID of the answer; the log names it.")] = ""
    errors: list[dict[str, Any]] = []


CASE = schema_of(_Case)
SCORED_CASE = {
    **CASE,
    "title": "ScoredCase",
    "description": "A reply to be judged and what is known about it. A field that is not known is refused; what "
    "`columns` in touchstone.yaml maps is known too.",
    "additionalProperties": False,
    "properties": {
        **CASE["properties"],
        METADATA: {"type": "object", "description": "Whatever else belongs to the case; accepted and not used."},
        **{name: {"description": f"Another tool's name of `{field}`."} for name, field in ALIASES.items()},
        **{name: {"description": "As `reference_date`."} for name in REFERENCE_DATE_FIELDS[1:]},
    },
}
RESULT = schema_of(_Result)
ADDED = schema_of(Added, required=[field.name for field in fields(Added)])
PROBLEM = schema_of(_Problem)


def _object(title: str, *required: str, **properties: Any) -> dict[str, Any]:
    return {"title": title, "type": "object", "required": list(required), "properties": properties}


def _rows(title: str, name: str, row: str, **head: Any) -> dict[str, Any]:
    """One page of a list."""
    shown = {**head, name: {"type": "array", "items": ref(row)}, "next": _NEXT}
    return _object(title, *shown, **shown)


def _given(title: str, *shapes: Any, **more: Any) -> dict[str, Any]:
    """What the fields of stored values and some more are as JSON; each answer has all that is `more`."""
    fields_of = {name: each for shape in shapes for name, each in schema_of(shape)["properties"].items()}
    return _object(title, *more, **{**fields_of, **more})


_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer"}
_OPEN: dict[str, Any] = {"type": "object", "additionalProperties": True}
_OPENS: dict[str, Any] = {"type": "array", "items": _OPEN}
_NEXT = {
    "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}],
    "description": "`after` of the next page.",
}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _list_or_null(name: str) -> dict[str, Any]:
    return _or_null({"type": "array", "items": ref(name)})


RESULTS = _object("Results", "results", results={"type": "array", "items": ref("Result")})
BATCH = _object("Batch", "cases", cases={"type": "array", "minItems": 1, "items": ref("ScoredCase")}) | {
    "additionalProperties": False
}
PRODUCTION = _object(
    "ProductionReplies",
    "cases",
    cases={
        "type": "array",
        "minItems": 1,
        "items": ref("Case"),
        "description": "Give each an id of its own; one without is known by its content.",
    },
    labels={
        "type": "object",
        "maxProperties": 20,
        "additionalProperties": {"type": "string"},
        "description": "Labels of the run. `version`, `bot`, `prompt` and `model` tell the report of a new bot.",
    },
) | {"additionalProperties": False}
CASE_EXAMPLE: dict[str, Any] = {
    "id": "c-17",
    "input": "How long do I have to return my headphones?",
    "response": "You have 30 days to return your headphones.",
    "context": ["You have 14 days after delivery to return headphones."],
}
ADDED_EXAMPLE: dict[str, Any] = asdict(Added(run="2026-W12", added=250, repeated=6, replies=1_874))
_EVIDENCE_EXAMPLE = {"source": "context[0]", "start": 9, "end": 16, "text": "14 days", "path": None}
_ANCHOR_EXAMPLE = {
    "kind": "duration",
    "text": "30 days",
    "start": 9,
    "end": 16,
    "value": "30 day",
    "status": "contradicted",
    "reason": "reply says 30 days, source says 14 days",
    "evidence": [_EVIDENCE_EXAMPLE],
}
RESULT_EXAMPLE: dict[str, Any] = {
    "id": "c-17",
    "decision": "block",
    "verdict": "FAIL",
    "reasons": ["hallucination 1.00 > 0.50"],
    "metrics": {"hallucination": {"score": 1.0, "flag": "FAIL", "reason": "…", "anchors": [_ANCHOR_EXAMPLE]}},
    "rubric": {"name": "supportai", "version": "1.0", "judge": "offline", "outcome": "FAIL", "reasons": ["safety"]},
    "failures": [],
}
_MEANINGS = {
    400: "The body is not JSON.",
    401: "Nobody has signed in.",
    403: "For another role, or from another site's page.",
    404: "Not found.",
    408: "The body took too long.",
    409: "A newer version exists, or the queue is closed.",
    413: "The body is too large.",
    415: "The body is not declared as JSON, or is compressed.",
    422: "Invalid request.",
    429: "Too many requests of one caller; Retry-After says when to try again.",
    503: "Overloaded, or the store is unavailable; Retry-After says when to try again.",
}


_ROW = _given("ResultRow", Record, position=_NUMBER, id=_TEXT, draft=_NUMBER)
_ROW["properties"] |= {
    "tags": {"type": "array", "items": {"type": "array"}, "description": "Each has a name, an owner and a detail."},
    "waived": {"type": "array"},
}
_ANSWERS: tuple[dict[str, Any], ...] = (
    _given(
        "Run", id=_TEXT, kind=_TEXT, started=_TEXT, finished=_or_null(_TEXT), goldset=_TEXT, rubric=_TEXT, labels=_OPEN
    ),
    _rows("Runs", "runs", "Run"),
    _object("RunReport", "patterns", "examples", "waived", patterns=_OPENS, examples=_OPEN, waived=_OPENS),
    _object("Patterns", "run", "patterns", run=_TEXT, patterns=_OPENS),
    _ROW,
    _rows("ResultRows", "results", "ResultRow", run=_TEXT),
    _object("PastResult", "run", "position", run=ref("Run"), position=_NUMBER),
    _rows("History", "history", "PastResult", id=_TEXT),
    _given(
        "StoredReply",
        run=_TEXT,
        position=_NUMBER,
        draft=_NUMBER,
        blind={"type": "boolean"},
        case=_or_null(_OPEN),
        result=_or_null(ref("Result")),
        waivers=_list_or_null("Waiver"),
    ),
    _object("Comparison", "before", "after", "flips", before=_TEXT, after=_TEXT, flips=_OPENS),
    schema_of(Waiver),
    _given("WaiverKept", id=_TEXT, run=_TEXT, position=_NUMBER),
    _given("Queue", Queue, id=_TEXT, progress=_given("Progress", Progress, items=_NUMBER, finished=_NUMBER)),
    _rows("Queues", "queues", "Queue"),
    _given("Item", Item, position=_NUMBER, state=_TEXT),
    _rows("Items", "items", "Item"),
    _given("ItemState", id=_TEXT, queue=_TEXT, position=_NUMBER, state=_TEXT),
    _given(
        "ItemToReview",
        Item,
        blind={"type": "boolean"},
        case_content=_or_null(_OPEN),
        result=_or_null(ref("Result")),
        mine=_or_null(ref("Review")),
        reviews=_list_or_null("Review"),
        differences=_list_or_null("Difference"),
        ruling=_or_null(ref("Ruling")),
        waivers=_list_or_null("Waiver"),
    ),
    schema_of(Review),
    schema_of(Ruling),
    schema_of(Difference),
    _rows("Reviews", "reviews", "Review"),
    _given("Draft", draft=_or_null(_OPEN)),
    _given("Agreement", people=_OPEN, judge=_OPEN),
    _given("WeeklyReport", queue=_OPEN, made=_TEXT, progress=_OPEN, agreement=_OPEN, patterns=_OPENS),
    schema_of(Action),
    _given("Actions", actions={"type": "array", "items": ref("Action")}),
    schema_of(AuditEntry),
    _rows("AuditEntries", "entries", "AuditEntry"),
    _given("Health", status=_TEXT, version=_TEXT),
    _given("Readiness", status=_TEXT, scoring=_TEXT, store=_TEXT),
)
COMPONENTS = {
    each["title"]: each for each in (CASE, SCORED_CASE, BATCH, RESULT, RESULTS, ADDED, PRODUCTION, PROBLEM, *_ANSWERS)
}
SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of `touchstone user token`."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": f"Whoever signed in at /login. A change also needs the session's {CSRF_HEADER}.",
    },
}


def answers(name: str, *statuses: int, status: int = 200, **more: Any) -> dict[int | str, dict[str, Any]]:
    """What a route answers: the schema of that name, or one of the problems."""
    result = {"description": "What was asked for.", "content": {"application/json": {"schema": ref(name), **more}}}
    return {status: result, **problems(*statuses)}


def open_to_all(name: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route answers that knows nobody; `statuses` come with the same body."""
    return {status: answers(name)[200] for status in (200, *statuses)}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides its result: those named, and those that every route may."""
    return {
        status: {"description": _MEANINGS[status], "content": {"application/problem+json": {"schema": ref("Problem")}}}
        for status in sorted({401, 403, 429, 503, *statuses})
    }


def wanted(schema: dict[str, Any], **examples: Any) -> dict[str, Any]:
    """The body of a route that reads its JSON itself."""
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "examples": examples}}}
    }
