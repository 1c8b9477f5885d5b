"""A case -> the JSON that a bot is given.

Never the expected reply, the labels or a reply that came with the case: a bot must not see the answer.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from touchstone.core.case import Case
from touchstone.core.codec import case_to_dict


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
