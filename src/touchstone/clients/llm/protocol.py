"""OpenAI's chat protocol: a call as a request's body, the answer in what a server sends back, and what it refuses."""

from collections.abc import Collection, Mapping
from math import exp
from typing import Any, Literal

from touchstone.clients.faults import fault
from touchstone.clients.http import Peer
from touchstone.clients.llm.call import Answered, Call, Usage
from touchstone.core.result import Failure
from touchstone.judges.llm.answer import Answer, chance_of_yes

# As many as the protocol gives at the most.
MOST_ALTERNATIVES = 20
# From the strictest to none; a server that refuses one is asked in the next.
FORMATS = ("schema", "loose schema", "object", "text")

Option = Literal["format", "limit", "temperature", "seed", "system", "logprobs"]


def body_of(call: Call, *, left_out: Collection[str] = (), form: str = FORMATS[0]) -> dict[str, Any]:
    """The request's body, without the options that the server does not take."""
    messages = [dict(message) for message in call.messages]
    if "system" in left_out:
        # For a model whose chat has no instructions of its own, these come before the data.
        messages = [{"role": "user", "content": "\n\n".join(message["content"] for message in messages)}]
    body: dict[str, Any] = {"model": call.model, "messages": messages}
    body["max_completion_tokens" if "limit" in left_out else "max_tokens"] = call.max_tokens
    body |= {
        name: value for name, value in (("temperature", call.temperature), ("seed", call.seed)) if name not in left_out
    }
    if not call.is_word:
        return body | _response_format(call.schema, form)
    return body if "logprobs" in left_out else {**body, "logprobs": True, "top_logprobs": MOST_ALTERNATIVES}


def _response_format(schema: Mapping[str, Any], form: str) -> dict[str, Any]:
    """How the answer's form is asked for: by schema, by a schema without length limits, as JSON, or not at all."""
    if form == "text":
        return {}
    if form == "object":
        return {"response_format": {"type": "json_object"}}
    asked = schema if form == "schema" else _without_lengths(schema)
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": "grades", "strict": True, "schema": asked}}
    }


def _without_lengths(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_lengths(each) for key, each in value.items() if key not in ("maxLength", "maxItems")}
    return [_without_lengths(each) for each in value] if isinstance(value, list) else value


def read_body(body: Any, call: Call) -> Answered | None:
    """The answer in a server's reply; None when it is not the protocol's."""
    try:
        choice = body["choices"][0]
        message, ended = choice["message"], choice.get("finish_reason")
        text, refusal = _text_of(message), message.get("refusal")
        usage = body.get("usage") or {}
        tokens = Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None
    if not tokens.total:
        # A server that does not count is charged by the rule of thumb of four characters a token.
        tokens = Usage(call.length // 4 + 1, len(text) // 4 + 1)
    is_refusal = bool(refusal) or ended == "content_filter"
    yes = chance_of_yes(_alternatives(choice), text) if call.is_word else None
    return Answered(Answer(text, is_cut=ended == "length", is_refusal=is_refusal, yes=yes), tokens)


def _alternatives(choice: Mapping[str, Any]) -> list[dict[str, float]]:
    """For each token written, those it was chosen from with their probabilities; empty where the server gives none."""
    found = []
    try:
        for place in (choice.get("logprobs") or {}).get("content") or ():
            rows = [place, *(place.get("top_logprobs") or ())]
            found.append({str(row["token"]): exp(min(0.0, float(row["logprob"]))) for row in rows})
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
    return found


def _text_of(message: Mapping[str, Any]) -> str:
    """What the model said. Some servers give it in parts, and some take an answer without thoughts for thoughts."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping) and part.get("type") in ("text", "output_text")]
        content = "".join(str(part.get("text") or "") for part in parts)
    if isinstance(content, str) and content.strip():
        return content
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    is_answer = isinstance(thoughts, str) and thoughts.strip().startswith("{") and thoughts.strip().endswith("}")
    return str(thoughts) if is_answer else ""


def refusal(status: int, body: Any, *, peer: Peer, asked: float | None = None) -> Failure:
    """The failure that a status and an error's body stand for; no word of the server's is quoted."""
    words = _words(body)
    if _is_too_long(status, body):
        remedy = "shorten its context, lower max_tokens with --judge-set, or use a model with a larger window"
        return fault("judge", "ContextTooLong", f"the case does not fit the model's window: {remedy}")
    if _is_bad_answer(words):
        remedy = "try another model, or --judge-set scope=criterion"
        problem = f"{peer.name} says that the model's answer is not of the form asked for"
        return fault("judge", "NotJson", f"{problem}: {remedy}")
    if status == 402 or (status not in peer.refusals and "insufficient_quota" in words):
        problem = f"{peer.name} says that the account's quota is used up"
        return fault("judge", "QuotaUsedUp", f"{problem}: top it up, then run it again")
    return peer.refusal(status, asked=asked)


def _is_too_long(status: int, body: Any) -> bool:
    """Whether the request was refused for its length. Servers agree on no code for it."""
    words = _words(body)
    if status not in (400, 413, 422, 500):
        return False
    named = ("context_length_exceeded", "exceed_context_size", "string_above_max_length")
    told = "context" in words and any(word in words for word in ("exceed", "maximum", "too long", "larger than"))
    return status == 413 or any(name in words for name in named) or told


def refused_option(status: int, body: Any) -> Option | None:
    """Which optional part of a request the server does not take, if that is what it says."""
    words = _words(body)
    if status not in (400, 404, 415, 422, 500, 501) or _is_too_long(status, body) or _is_bad_answer(words):
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
