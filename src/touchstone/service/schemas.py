"""The shapes of cases, results and problems as the API's description shows them, with an example of each."""

from dataclasses import asdict, fields
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from touchstone.app.production import Added
from touchstone.core.case import Passage, Turn
from touchstone.core.result import Decision, Failure, Verdict
from touchstone.io.columns import ALIASES, METADATA
from touchstone.text.reading import REFERENCE_DATE_FIELDS


def schema_of(shape: Any, **changed: Any) -> dict[str, Any]:
    """The JSON schema of a type, whole in one place, since a description of routes has no room for `$defs`."""
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


RESULTS = _object("Results", "results", results={"type": "array", "items": RESULT})
BATCH = _object("Batch", "cases", cases={"type": "array", "minItems": 1, "items": SCORED_CASE}) | {
    "additionalProperties": False
}
PRODUCTION = _object(
    "ProductionReplies",
    "cases",
    cases={
        "type": "array",
        "minItems": 1,
        "items": CASE,
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
    415: "The body is not declared as JSON.",
    422: "Invalid request.",
    429: "Too many requests of one caller; Retry-After says when to try again.",
    503: "Overloaded, or the store is unavailable; Retry-After says when to try again.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides its result: those named, and those that every route may."""
    return {
        status: {"description": _MEANINGS[status], "content": {"application/problem+json": {"schema": PROBLEM}}}
        for status in sorted({401, 403, 429, 503, *statuses})
    }


def wanted(schema: dict[str, Any], **examples: Any) -> dict[str, Any]:
    """The body of a route that reads its JSON itself."""
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "examples": examples}}}
    }
