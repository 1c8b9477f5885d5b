"""JSON text -> plain value, or the failure that says where it is broken and what to do."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from touchstone.core.errors import CaseError
from touchstone.core.result import Failure
from touchstone.io.rows import unreadable

INVALID = "InvalidJson"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_NAME = 60


def parse_json(text: str, *, first_line: int = 1, remedy: str = "write each case as one JSON object") -> object:
    """The value that `text` holds; a Failure when it is not valid JSON or would silently lose something."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite)
        if _SURROGATE_ESCAPE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        return _broken(error, first_line=first_line, remedy=remedy)
    except CaseError as error:
        return unreadable(INVALID, str(error))
    except RecursionError:
        return unreadable(INVALID, "the JSON is nested too deeply to be read: a case has a handful of levels")
    except UnicodeEncodeError:
        return unreadable(INVALID, "the text holds half a surrogate pair (\\ud800 to \\udfff): escape both halves")
    except ValueError:
        return unreadable(INVALID, "a whole number has too many digits: write it as a string")
    return value


def field_name(name: str) -> str:
    """A column's name as it may be shown in a message: quoted, cut when long."""
    return repr(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…")


def _broken(error: json.JSONDecodeError, *, first_line: int, remedy: str) -> Failure:
    place = f"line {first_line + error.lineno - 1}, column {error.colno}"
    problem = error.msg[0].lower() + error.msg[1:]
    return unreadable(INVALID, f"not valid JSON: {problem} ({place}); {remedy}")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in value if names.count(name) > 1)
        raise CaseError(f"key {field_name(repeated)} is given twice in one object: keep one of them")
    return value


def _constant(name: str) -> float:
    raise CaseError(f"{name} is not JSON: write null for a number that is not known")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise CaseError("a number is too large to be read: write it as a string")
    return value
