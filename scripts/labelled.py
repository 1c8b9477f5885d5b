"""The labelled sets, read once as each mode of grading sees them: what the judge is fitted on and measured with."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.check import anchors_of, check
from touchstone.judges.model import Mode
from touchstone.rubric.model import SAFETY, TOP
from touchstone.rubric.outcome import points_of
from touchstone.rubric.parse import packaged
from touchstone.safety.detectors import notice
from touchstone.safety.signs import Sign
from touchstone.text.frame import body_of
from touchstone.text.reading import read

ROOT = Path(__file__).parent.parent
DATA = ROOT / "src/touchstone/data"
# Sets that stay out of the repository: a folder with agents/ and public/. None of them is there if it is not named.
SHARED = Path(os.environ.get("TOUCHSTONE_DATA") or "TOUCHSTONE_DATA is not set")
AGENTS = SHARED / "agents/cases.jsonl"
SETS = {
    "support": DATA / "goldsets/support.jsonl",
    "industries": DATA / "goldsets/industries.jsonl",
    "everyday": ROOT / "data/judge/everyday.jsonl",
    "matched": ROOT / "data/judge/matched.jsonl",
    # Published agents' replies (MIT); their texts stay out of the repository.
    "agents": AGENTS,
}
# Good replies of other trades that nothing was fitted on and nobody read: counted, never looked at.
UNREAD = ROOT / "tests/tables/ordinary_second.jsonl"
CRITERIA = ("accuracy", "completeness", "tone", "actionability")
HIDDEN: Mapping[Mode, tuple[str, ...]] = {
    "expected": (),
    "open": ("expected_output",),
    "bare": ("expected_output", "context"),
}
FOLDS = 10
RUBRIC = packaged("supportai")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A graded reply as one mode of grading sees it; `fold` is left out together: all of a domain or task."""

    set: str
    row: Mapping[str, Any]
    case: Case
    reading: Reading
    body: Reading
    anchors: tuple[Anchor, ...] | None
    signs: tuple[Sign, ...]
    fold: int

    @property
    def labels(self) -> Sequence[Mapping[str, Any]]:
        labels: Sequence[Mapping[str, Any]] = self.row["labels"]
        return labels

    @property
    def passes(self) -> bool:
        """Whether the first rater's grades pass it."""
        return passes(self.labels[0])

    def violates(self, kind: str) -> bool:
        return any(kind in label["violations"] for label in self.labels)

    def mean(self, criterion: str) -> float:
        return sum(float(label[criterion]) for label in self.labels) / len(self.labels)


@cache
def rows() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Every labelled row with its set; a set that is not on this machine is named and left out."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for name, path in SETS.items():
        if not path.exists():
            sys.stderr.write(f"{name}: not on this machine, left out\n")
            continue
        found += [(name, json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return tuple(found)


@cache
def labelled(mode: Mode) -> tuple[Labelled, ...]:
    """All labelled replies; with an expected reply only those that have one."""
    wanted = [(name, row) for name, row in rows() if mode != "expected" or row.get("expected_output")]
    return tuple(read_row(name, row, mode=mode) for name, row in wanted)


def unread() -> list[tuple[Case, bool]]:
    """Replies that no fit has seen, without expected replies, and whether the first rater's grades pass each."""
    situations = [json.loads(line) for line in UNREAD.read_text("utf-8").splitlines()]
    return [
        (Case(input=row["input"], response=reply["text"], context=row["context"]), passes(reply["labels"][0]))
        for row in situations
        for reply in row["replies"]
    ]


def read_row(name: str, row: Mapping[str, Any], *, mode: Mode) -> Labelled:
    """A row as a mode of grading sees it."""
    case = case_from_dict({field: value for field, value in row.items() if field not in HIDDEN[mode]})
    reading = read(case)
    body = body_of(reading)
    anchors = anchors_of(body, check(reading, plan=Plan()))
    signs = tuple(notice(body, anchors, policy=Policy()))
    return Labelled(name, row, case, reading, body, anchors, signs, fold_of(domain_of(row)))


def domain_of(row: Mapping[str, Any]) -> str:
    return str(row["meta"]["task"] if "meta" in row else row["domain"])


def fold_of(domain: str) -> int:
    """The same domain is always in the same fold, whatever else is there."""
    return int(sha256(domain.encode()).hexdigest(), 16) % FOLDS


def folds(cases: Sequence[Labelled]) -> Iterator[tuple[list[int], list[int]]]:
    """(inside, left out) places of each fold."""
    for fold in range(FOLDS):
        out = [at for at, case in enumerate(cases) if case.fold == fold]
        if out:
            yield [at for at, case in enumerate(cases) if case.fold != fold], out


def passes(label: Mapping[str, Any]) -> bool:
    """Whether a reply with these grades and violations passes."""
    grades = {**label, SAFETY: 0 if label["violations"] else TOP}
    total = sum(points_of(grades[criterion.name], criterion.weight) for criterion in RUBRIC.criteria)
    return not label["violations"] and total >= RUBRIC.pass_mark
