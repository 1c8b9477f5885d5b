"""Values -> text that SQLite and PostgreSQL both keep, and back, character for character."""

import json
import re
from typing import Any

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

# PostgreSQL refuses NUL, and no database takes half a surrogate pair; SUBSTITUTE marks what stands for them.
_MARK = "\x1a"
_REFUSED = re.compile("[\x00\x1a\ud800-\udfff]")
_MARKED = re.compile("\x1a([0-9a-f]{4})")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


class Words(TypeDecorator[str]):
    """A text column for what people and bots write: any Python string, also in comparisons."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else _REFUSED.sub(_marked, value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or _MARK not in value:
            return value
        return _MARKED.sub(lambda match: chr(int(match[1], 16)), value)


def to_json(value: Any, *, sorts: bool = False) -> str:
    """JSON without spare space. What JSON has no form for, such as a date among metadata, becomes its text."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sorts, default=str)
    if text.isascii():
        return text
    return _HALF_PAIR.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def from_json(text: str) -> Any:
    return json.loads(text)


def _marked(match: re.Match[str]) -> str:
    return f"{_MARK}{ord(match[0]):04x}"
