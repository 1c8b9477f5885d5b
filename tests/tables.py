"""The rows of an example table under tests/tables."""

import json
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parent / "tables"


def rows(name: str) -> list[dict[str, Any]]:
    """Every row of a table, in order."""
    lines = (TABLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]
