"""Errors that were read -> how many of each class there were, and how many of them are errors still.

errors.jsonl holds what was read, by id, since the texts of the public sets stay out of the repository;
error_classes.txt says what the classes are and whose they are.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.cases import ROOT, rows

SORTS = ("missed", "false alarm")


class ErrorClass(NamedTuple):
    """A kind of mistake, whose it is, and what happens."""

    name: str
    whose: str
    what: str


def classes() -> list[ErrorClass]:
    """All classes, ours first."""
    lines = (ROOT / "benchmarks/error_classes.txt").read_text(encoding="utf-8").splitlines()
    return [ErrorClass(*line.split(" | ")) for line in lines if line and not line.startswith("#")]


def tally(name: str, wrong_now: Mapping[str, str]) -> dict[str, dict[str, dict[str, int]]]:
    """Sort -> class -> how many of the set's read errors are of it, and how many are wrong in the same way still."""
    read: Counter[tuple[str, str]] = Counter()
    still: Counter[tuple[str, str]] = Counter()
    for row in rows(ROOT / "benchmarks/errors.jsonl"):
        if row["set"] == name:
            read[row["sort"], row["class"]] += 1
            still[row["sort"], row["class"]] += wrong_now.get(row["id"]) == row["sort"]
    return {
        sort: {
            kind.name: {"read": read[sort, kind.name], "still": still[sort, kind.name]}
            for kind in classes()
            if read[sort, kind.name]
        }
        for sort in SORTS
    }
