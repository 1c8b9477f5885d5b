"""The shapes of cases, results and problems as the API's description shows them, with an example of each."""

from typing import Any

from touchstone.io.columns import ALIASES, METADATA
from touchstone.text.reading import REFERENCE_DATE_FIELDS

CASE: dict[str, Any] = {
    "title": "Case",
    "type": "object",
    "description": "A reply to be judged and what is known about it. Other keys are kept as metadata; the names that "
    "DeepEval, ragas, autoevals and MLflow use are understood, and those that `columns` in touchstone.yaml maps.",
    "required": ["response"],
    "properties": {
        "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "input": {
            "description": "The customer's message, or the turns of a chat.",
            "anyOf": [
                {"type": "string"},
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["role", "content"],
                        "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
                    },
                },
            ],
        },
        "response": {"type": "string", "description": "The reply."},
        "context": {
            "description": "What the drafting model was given.",
            "anyOf": [
                {"type": "string"},
                {
                    "type": "array",
                    "items": {
                        "anyOf": [
                            {"type": "string"},
                            {
                                "type": "object",
                                "required": ["text"],
                                "properties": {"id": {"type": "string"}, "text": {"type": "string"}},
                            },
                        ]
                    },
                },
            ],
        },
        "expected_output": {"type": "string"},
        "category": {"type": "string"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "labels": {"type": "array", "items": {"type": "object"}, "description": "People's grades; not used to score."},
        "reference_date": {"type": "string", "description": "The ISO date on which `tomorrow` was said."},
    },
}
SCORED_CASE: dict[str, Any] = {
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
CASE_EXAMPLE: dict[str, Any] = {
    "id": "c-17",
    "input": "How long do I have to return my headphones?",
    "response": "You have 30 days to return your headphones.",
    "context": ["You have 14 days after delivery to return headphones."],
}
BATCH: dict[str, Any] = {
    "title": "Batch",
    "type": "object",
    "additionalProperties": False,
    "required": ["cases"],
    "properties": {"cases": {"type": "array", "minItems": 1, "items": SCORED_CASE}},
}
PRODUCTION: dict[str, Any] = {
    "title": "ProductionReplies",
    "type": "object",
    "additionalProperties": False,
    "required": ["cases"],
    "properties": {
        "cases": {
            "type": "array",
            "minItems": 1,
            "items": CASE,
            "description": "Give each an id of its own; one without is known by its content.",
        },
        "labels": {
            "type": "object",
            "maxProperties": 20,
            "additionalProperties": {"type": "string"},
            "description": "Labels of the run. `version`, `bot`, `prompt` and `model` tell the report of a new bot.",
        },
    },
}
ADDED: dict[str, Any] = {
    "title": "Added",
    "type": "object",
    "required": ["run", "added", "repeated", "failed", "replies", "conflicts"],
    "properties": {
        "run": {"type": "string"},
        "added": {"type": "integer", "description": "Replies scored and stored just now."},
        "repeated": {"type": "integer", "description": "Replies that the run had already."},
        "failed": {"type": "integer", "description": "Of those added, how many could not be scored."},
        "replies": {"type": "integer", "description": "How many the run has now."},
        "conflicts": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids that the run has with another text; these were not stored.",
        },
    },
}
ADDED_EXAMPLE: dict[str, Any] = {
    "run": "2026-W12",
    "added": 250,
    "repeated": 6,
    "failed": 0,
    "replies": 1_874,
    "conflicts": [],
}
RESULT: dict[str, Any] = {
    "title": "Result",
    "type": "object",
    "required": ["id", "decision", "verdict", "reasons", "metrics", "rubric", "failures"],
    "properties": {
        "id": {"type": ["string", "null"]},
        "line": {"type": "integer", "description": "Which case of the batch, from 1; of one that failed."},
        "decision": {"enum": ["send", "review", "block"]},
        "verdict": {"enum": ["PASS", "WARN", "FAIL", None]},
        "reasons": {"type": "array", "items": {"type": "string"}},
        "metrics": {"type": ["object", "null"]},
        "rubric": {"type": ["object", "null"]},
        "failures": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("stage", "error", "message")},
            },
        },
    },
}
RESULTS: dict[str, Any] = {
    "title": "Results",
    "type": "object",
    "required": ["results"],
    "properties": {"results": {"type": "array", "items": RESULT}},
}
RESULT_EXAMPLE: dict[str, Any] = {
    "id": "c-17",
    "decision": "block",
    "verdict": "FAIL",
    "reasons": ["hallucination 1.00 > 0.50"],
    "metrics": {
        "hallucination": {
            "score": 1.0,
            "flag": "FAIL",
            "reason": "…",
            "anchors": [
                {
                    "kind": "duration",
                    "text": "30 days",
                    "start": 9,
                    "end": 16,
                    "value": "30 day",
                    "status": "contradicted",
                    "reason": "reply says 30 days, source says 14 days",
                    "evidence": [{"source": "context[0]", "start": 9, "end": 16, "text": "14 days", "path": None}],
                }
            ],
        }
    },
    "rubric": {"name": "supportai", "version": "1.0", "judge": "offline", "outcome": "FAIL", "reasons": ["safety"]},
    "failures": [],
}
PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "RFC 9457 problem details.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {"type": "array", "items": {"type": "object"}},
    },
}
_MEANINGS = {
    400: "The body is not JSON.",
    401: "Nobody has signed in.",
    403: "For another role, or from another site's page.",
    404: "There is no such thing.",
    408: "The body did not arrive.",
    409: "Something newer is there, or it is closed.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    422: "What was sent cannot be used.",
    429: "Too many requests of one caller; Retry-After says when to come again.",
    503: "Too much to do, or the store cannot be used; Retry-After says when to come again.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides its result: those named, and those that every route may."""
    return {
        status: {"description": _MEANINGS[status], "content": {"application/problem+json": {"schema": PROBLEM}}}
        for status in sorted({401, 403, 429, 503, *statuses})
    }


def body(schema: dict[str, Any], *, description: str, example: Any = None) -> dict[str, Any]:
    """A result of a route that writes its JSON itself."""
    shown = {} if example is None else {"example": example}
    return {"description": description, "content": {"application/json": {"schema": schema, **shown}}}
