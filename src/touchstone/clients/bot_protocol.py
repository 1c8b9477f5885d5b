"""A case -> the JSON that a bot is given; what it wrote -> its reply, or the failure that says why it is none.

A bot is never given the expected reply, the labels or a reply that came with the case: it must not see the answer.
Its reply is plain text, or a JSON object {"response": …, "confidence": …, "context": […]} of which only the first
is required; other keys are passed over.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from touchstone.clients.faults import Fault, fault
from touchstone.core.case import Case, Draft
from touchstone.core.codec import case_from_dict, case_to_dict
from touchstone.core.errors import CaseError
from touchstone.core.result import Failure

LONGEST_ANSWER = 1_000_000
# An object, and not a reply that merely starts with a brace: "{name}, thank you …".
_OBJECT = re.compile(r'\{\s*["}]')
_HTML = ("<!doctype", "<html")
_SHAPE = 'write {"response": "…"}, with "confidence" and "context" if there are any'
_MOST_KEYS, _LONGEST_KEY = 5, 30


def question(case: Case, *, draft: int) -> bytes:
    """One JSON object in ASCII, so that no bot depends on an encoding; every field is there, null when not given."""
    row = case_to_dict(case)
    body = {
        "id": case.id,
        "draft": draft,
        "input": row["input"],
        "context": row.get("context"),
        "category": case.category,
        "metadata": _plain(case.metadata),
    }
    return json.dumps(body, allow_nan=False).encode("ascii")


def read_answer(raw: bytes, *, encoding: str = "utf-8", is_json: bool = False) -> Draft | Failure:
    """The draft in the bytes a bot wrote; `is_json` says that it declared them to be JSON."""
    if len(raw) > LONGEST_ANSWER:
        return too_long()
    try:
        text = raw.decode(encoding).removeprefix("\ufeff").strip()
    except (UnicodeDecodeError, LookupError):
        return _bad("NotText", f"the bot wrote {len(raw):,} bytes that are not {encoding}: write UTF-8")
    if problem := _no_reply(text):
        return problem
    return _from_json(text) if is_json or _OBJECT.match(text) else Draft(text)


def too_long() -> Failure:
    """The failure of an answer that was cut off at the limit."""
    return _bad("TooLong", f"the bot wrote more than {LONGEST_ANSWER:,} bytes: write the reply alone")


def html_reply() -> Failure:
    """The failure of an answer that is a web page."""
    seen = "the bot answered with an HTML page, most often a login or an error page"
    return _bad("HtmlReply", f"{seen}: check the address and the access, and answer with text or JSON")


def _bad(error: Fault, message: str) -> Failure:
    return fault("draft", error, message)


def _plain(value: Any) -> Any:
    """What JSON can hold: a Parquet file may have put dates, decimals or NaN into the metadata."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return str(value)


def _no_reply(text: str) -> Failure | None:
    if not text:
        return _bad("EmptyReply", "the bot answered with no text at all: write the reply as text or JSON")
    return html_reply() if text[:20].casefold().startswith(_HTML) else None


def _from_json(text: str) -> Draft | Failure:
    value = _parsed(text)
    if isinstance(value, Failure):
        return value
    if not isinstance(value, dict):
        return _bad("WrongShape", f"the bot's JSON is not an object: {_SHAPE}")
    if value.get("response") is None:
        return _bad("WrongShape", f"the bot's JSON has {_keys(value)} and no 'response': {_SHAPE}")
    try:
        given = case_from_dict({name: value.get(name) for name in ("response", "confidence", "context")})
    except CaseError as error:
        return _bad("WrongShape", f"in the bot's JSON, {error}")
    reply = given.response.strip()
    return _no_reply(reply) or Draft(reply, given.confidence, given.context)


def _parsed(text: str) -> Any:
    """The value of the text; strict, as in case files: no NaN, no half of a surrogate pair."""
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        return _bad("WrongShape", f"the bot's JSON is broken at {place} of {len(text):,} characters: {_SHAPE}")
    except RecursionError:
        return _bad("WrongShape", f"the bot's JSON is nested too deeply: {_SHAPE}")
    except ValueError:
        problem = "holds NaN, a number with too many digits or half of a surrogate pair"
        return _bad("WrongShape", f"the bot's JSON {problem}: {_SHAPE}")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _keys(value: dict[str, Any]) -> str:
    if not value:
        return "no keys"
    shown = [repr(name if len(name) <= _LONGEST_KEY else name[:_LONGEST_KEY] + "…") for name in value]
    return f"the keys {', '.join(shown[:_MOST_KEYS])}{' …' if len(shown) > _MOST_KEYS else ''}"
