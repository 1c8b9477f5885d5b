"""Rows of the shipped gold sets, varied so that no reply comes twice."""

import json
from itertools import cycle, islice
from pathlib import Path

import touchstone

GOLD = Path(touchstone.__file__).parent / "data/goldsets"


def gold_rows(count):
    """That many rows with ids of their own; from the second round on each reply opens with another word."""
    shipped = [
        json.loads(line)
        for name in ("support", "industries")
        for line in (GOLD / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for at, row in enumerate(islice(cycle(shipped), count)):
        opening = f"Note {at // len(shipped)}: " if at >= len(shipped) else ""
        kept = {name: row[name] for name in ("input", "context", "expected_output", "category") if name in row}
        yield {"id": f"{at:06}", **kept, "response": opening + row["response"]}


def write_rows(path, count):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in gold_rows(count)), encoding="utf-8")
