"""Case and Result -> a failed reply as the rules for tags see it: read, with its grades, anchors and gaps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from touchstone.core.case import Case
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Finding, Result, Score
from touchstone.runs.faults.needs import Need, find_needs, owner_of_gap
from touchstone.runs.record import Owner
from touchstone.text.reading import read

LONGEST_DETAIL = 200


class Sign(NamedTuple):
    """That a tag applies: who could cure it, and the evidence."""

    owner: Owner
    detail: str


@dataclass(frozen=True, slots=True)
class Failing:
    """A failed reply."""

    case: Case
    result: Result
    reading: Reading
    grades: Mapping[str, int | None]
    anchors: tuple[Anchor, ...]
    violations: tuple[Finding, ...]
    needs: tuple[Need, ...]

    def is_low(self, criterion: str, *, at_most: int) -> bool:
        """Whether a criterion is graded so low; one without a grade speaks neither for nor against the reply."""
        grade = self.grades.get(criterion)
        return grade is None or grade <= at_most

    def score(self, metric: str) -> Score | None:
        return (self.result.metrics or {}).get(metric)

    def is_flagged(self, metric: str) -> bool:
        score = self.score(metric)
        return score is not None and score.flag == "FAIL"

    @property
    def is_ungrounded(self) -> bool:
        """Whether the verdict is FAIL for what the reply states: only two metrics can fail it."""
        return self.is_flagged("hallucination") or (self.result.verdict == "FAIL" and not self.is_flagged("relevance"))

    @property
    def gap_owner(self) -> Owner:
        return owner_of_gap(self.needs, self.case)


def find_failing(case: Case, result: Result) -> Failing:
    """The reply read again; its texts were read a moment ago and are kept."""
    reading = read(case)
    scores = (result.metrics or {}).values()
    grading = result.rubric
    return Failing(
        case=case,
        result=result,
        reading=reading,
        grades={grade.criterion: grade.grade for grade in grading.grades} if grading else {},
        anchors=tuple(anchor for score in scores for anchor in score.anchors or ()),
        violations=grading.violations if grading else (),
        needs=find_needs(case, reading),
    )


def quote(text: str) -> str:
    """A text on one line, cut where it gets long."""
    flat = " ".join(text.split())
    return f"{flat[: LONGEST_DETAIL - 1]}…" if len(flat) > LONGEST_DETAIL else flat
