"""What a model server's refusals are -> `Failure` values that say what to do. None quotes what the server wrote."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from touchstone.core.result import Failure
from touchstone.judges.llm.answer import STAGE

# Says nothing about the case: the same call may succeed later.
Passing = Literal[
    "Unreachable",
    "Timeout",
    "RateLimited",
    "ServerError",
    "ServerAway",
    "BudgetReached",
    "BatchIncomplete",
    "Stopped",
]
# The same for every case: the settings are wrong.
Standing = Literal["AccessRefused", "NotFound", "NotAServer", "QuotaUsedUp"]
Fault = Literal[Passing, Standing, "ContextTooLong", "BadRequest", "NotRecorded", "NotJson"]
PASSING = frozenset(get_args(Passing))
STANDING = frozenset(get_args(Standing))
# No further case is worth asking about.
ENDING = frozenset({"BudgetReached", "BatchIncomplete", "ServerAway", "Stopped"}) | STANDING


def fault(error: Fault, message: str) -> Failure:
    """The failure of one call."""
    return Failure(STAGE, error, message)


def is_passing(failure: Failure) -> bool:
    """Whether the case may well be graded later, by the same command."""
    return failure.stage == STAGE and failure.error in PASSING | STANDING


def refused(status: int, body: Any, *, place: str, key_variables: Sequence[str]) -> Failure:
    """The failure that a status and an error's body stand for; `place` names the server, whose key is in a variable."""
    if is_too_long(status, body):
        remedy = "shorten its context, lower max_tokens with --judge-set, or use a model with a larger window"
        return fault("ContextTooLong", f"the case does not fit the model's window: {remedy}")
    if _is_bad_answer(_words(body)):
        remedy = "try another model, or --judge-set scope=criterion"
        return fault("NotJson", f"{place} says that the model's answer is not of the form asked for: {remedy}")
    if status in (401, 403):
        remedy = f"check the key in {' or '.join(key_variables)}, and what it may use"
        return fault("AccessRefused", f"{place} answered with status {status}, access refused: {remedy}")
    if status in (404, 405):
        remedy = "check the address, which most often ends in /v1, and the model's name"
        return fault("NotFound", f"{place} answered with status {status}, not found: {remedy}")
    if status == 402 or "insufficient_quota" in _words(body):
        return fault("QuotaUsedUp", f"{place} says that the account's quota is used up: top it up, then run it again")
    if status == 429:
        remedy = "ask less at once with --judge-set concurrency=1, or run it again later"
        return fault("RateLimited", f"{place} answered with status 429, too many requests: {remedy}")
    if status >= 500 or status in (408, 409, 425):
        return fault("ServerError", f"{place} answered with status {status}: look into the server's log")
    return fault("BadRequest", f"{place} answered with status {status}: look into its log why it refuses the request")


def is_too_long(status: int, body: Any) -> bool:
    """Whether the request was refused for its length. Servers agree on no code for it."""
    words = _words(body)
    if status not in (400, 413, 422, 500):
        return False
    named = ("context_length_exceeded", "exceed_context_size", "string_above_max_length")
    told = "context" in words and any(word in words for word in ("exceed", "maximum", "too long", "larger than"))
    return status == 413 or any(name in words for name in named) or told


Option = Literal["format", "limit", "temperature", "seed", "system", "logprobs"]


def refused_option(status: int, body: Any) -> Option | None:
    """Which optional part of a request the server does not take, if that is what it says."""
    words = _words(body)
    if status not in (400, 404, 415, 422, 500, 501) or is_too_long(status, body) or _is_bad_answer(words):
        return None
    if "system role" in words or "system message" in words:
        return "system"
    if "logprobs" in words:
        return "logprobs"
    if any(word in words for word in ("response_format", "json_schema", "json_object", "grammar", "schema")):
        return "format"
    if "max_tokens" in words or "max_completion_tokens" in words:
        return "limit"
    return next((option for option in ("temperature", "seed") if option in words), None)


def _is_bad_answer(words: str) -> bool:
    """Whether the server refuses what the model wrote, as those do that check it against the schema afterwards."""
    return "json_validate_failed" in words or "failed to generate json" in words


def _words(body: Any) -> str:
    """The error's code, kind, parameter and message as one text to look for names in; never shown."""
    row = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(row, Mapping):
        row = " ".join(str(row.get(key) or "") for key in ("code", "type", "param", "message", "detail"))
    return str(row or "")[:4000].lower()
