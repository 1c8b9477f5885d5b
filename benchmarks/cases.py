"""Case files -> the cases benchmarks run on: the shipped gold sets and the public sets kept outside the repository."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.labelled import SHARED

from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict

ROOT = Path(__file__).parent.parent
GOLD_SETS = ("support", "industries")
PUBLIC_SETS = ("summedits", "wice", "begin", "mtrag", "dstc9")
DATA = SHARED / "public"


@dataclass(frozen=True, slots=True)
class Judged:
    """A case of a public set with what people said about it."""

    case: Case
    gold: Mapping[str, float]
    unsupported: bool


def gold_set(name: str) -> list[Case]:
    """The cases of a shipped gold set, labels included."""
    return [case_from_dict(row) for row in rows(ROOT / "src/touchstone/data/goldsets" / f"{name}.jsonl")]


def public_set(name: str) -> list[Judged] | None:
    """The cases of a public set in which support was judged; None, with a message, when the set is not there."""
    found = public_rows(name)
    if found is None:
        return None
    judged = []
    for row in found:
        gold = row.pop("gold")
        judged.append(Judged(case_from_dict(row), gold, _is_unsupported(name, gold)))
    return judged


def public_rows(name: str) -> list[dict[str, Any]] | None:
    """The rows of any public set, `gold` included; None, with a message, when the set is not there."""
    path = DATA / f"{name}.jsonl"
    if path.exists():
        return rows(path)
    print(f"{name}: skipped, {path.name} is not in the data folder; set TOUCHSTONE_DATA to where it is", flush=True)
    return None


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _is_unsupported(name: str, gold: Mapping[str, float]) -> bool:
    """What counts as a bad reply: the set's own label, or people's mean grade below its middle of `good`."""
    if name == "mtrag":
        return gold["faithfulness"] < 3
    if name == "dstc9":
        return gold["accuracy"] < 4
    return bool(gold["unsupported"])
