"""What was measured of a judge, when and on what -> how far it is known; and several judges side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.core import resource
from touchstone.rubric.model import Rubric
from touchstone.trust.pairs import AgreementFigures, Pair, figures_from_dict
from touchstone.trust.trust import in_short

SHIPPED = "measured.json"
# Where figures of a judge come from: the run's own labels, the store, the product, or nowhere.
Origin = Literal["run", "store", "product", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One judge, named as runs name it, on one labelled set. `data` and `rubric_hash` are those of a run's receipt.

    `made` is empty for figures that ship with the product; `note` says what is to be known of them.
    """

    judge: str
    goldset: str
    data: str = ""
    rubric_hash: str = ""
    made: str = ""
    cases: int
    figures: AgreementFigures
    note: str = ""


@dataclass(frozen=True, slots=True)
class JudgeStanding:
    """What is known of the judge of a run, the most telling measurement first; `remark` says what was passed over."""

    judge: str
    origin: Origin
    measurements: tuple[Measurement, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One of several judges: how many labelled cases it graded, and its figures on those that all of them graded."""

    judge: str
    graded: int
    figures: AgreementFigures


@dataclass(frozen=True, slots=True)
class JudgeTable:
    """Several judges on the `common` labelled cases that all of them graded, of `labelled` in all."""

    labelled: int
    common: int
    rows: tuple[JudgeRow, ...]


def side_by_side(judges: Mapping[str, Sequence[Pair]], *, labelled: int, rubric: Rubric) -> JudgeTable:
    """The judges by name, held against people on the same cases."""
    graded = {name: _graded(pairs) for name, pairs in judges.items()}
    common = set.intersection(*(set(pairs) for pairs in graded.values())) if graded else set()
    rows = (
        JudgeRow(name, len(pairs), in_short([pairs[key] for key in pairs if key in common], rubric=rubric))
        for name, pairs in graded.items()
    )
    return JudgeTable(labelled, len(common), tuple(rows))


def _graded(pairs: Sequence[Pair]) -> dict[tuple[str, str], Pair]:
    return {(each.goldset, each.id): each for each in pairs if each.people_grades and each.is_graded}


def shipped(judge: str) -> tuple[Measurement, ...]:
    """What ships with the product under this judge's name."""
    return tuple(
        Measurement(
            judge=judge,
            goldset=row["set"],
            cases=row["cases"],
            figures=figures_from_dict(row),
            note=row["note"],
        )
        for row in json.loads(resource.text(SHIPPED))["judges"].get(judge, ())
    )
