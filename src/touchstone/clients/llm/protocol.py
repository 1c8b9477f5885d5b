"""OpenAI's chat protocol: a call as a request's body, and the answer in what a server sends back."""

from collections.abc import Collection, Mapping
from math import exp
from typing import Any

from touchstone.clients.llm.call import Answered, Call, Usage
from touchstone.judges.llm.answer import Answer, chance_of_yes

# As many as the protocol gives at the most.
MOST_ALTERNATIVES = 20
# From the strictest to none; a server that refuses one is asked in the next.
FORMATS = ("schema", "loose schema", "object", "text")


def body_of(call: Call, *, left_out: Collection[str] = (), form: str = FORMATS[0]) -> dict[str, Any]:
    """The request's body, without the options that the server does not take."""
    body: dict[str, Any] = {"model": call.model, "messages": messages_of(call, takes_system="system" not in left_out)}
    body["max_completion_tokens" if "limit" in left_out else "max_tokens"] = call.max_tokens
    body |= {
        name: value for name, value in (("temperature", call.temperature), ("seed", call.seed)) if name not in left_out
    }
    if not call.is_word:
        return body | response_format(call.schema, form)
    return body if "logprobs" in left_out else {**body, "logprobs": True, "top_logprobs": MOST_ALTERNATIVES}


def response_format(schema: Mapping[str, Any], form: str) -> dict[str, Any]:
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


def messages_of(call: Call, *, takes_system: bool) -> list[dict[str, str]]:
    """The messages; for a model whose chat has no instructions of its own, these stand before the data."""
    messages = [dict(message) for message in call.messages]
    if takes_system:
        return messages
    return [{"role": "user", "content": "\n\n".join(message["content"] for message in messages)}]


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
