"""Case and Result -> Record: what the figures of a run need of one scored reply, and no more.

A record is small, so that a hundred thousand of them are summarised and compared in memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.core.case import Case
from touchstone.core.result import Decision, Outcome, Result, Verdict, ViolationKind, Waived
from touchstone.runs.decision import explain_result
from touchstone.runs.tags import Tag, find_tags


@dataclass(frozen=True, slots=True)
class Record:
    """One reply of a run, as it is counted. `draft` numbers the replies drafted for one case, from 1.

    `violations` names each kind once, without those that are `waived`; `failed` is a reply that could not be read,
    drafted or scored, and `problem` why. `why` says in words what keeps any other from being sent. `pass_probability`
    is None where the judge gave none, and in runs that were stored before it was kept.
    """

    id: str
    draft: int
    category: str | None
    confidence: float | None
    decision: Decision
    verdict: Verdict | None
    outcome: Outcome | None
    total: float | None
    grades: Mapping[str, int | None]
    violations: tuple[ViolationKind, ...]
    tags: tuple[Tag, ...]
    failed: bool
    problem: str | None = None
    waived: tuple[Waived, ...] = ()
    why: tuple[str, ...] = ()
    pass_probability: float | None = None

    @property
    def fails(self) -> bool:
        """Whether the reply was found bad: by the rubric, or by the verdict where the rubric leaves it open."""
        return self.outcome == "FAIL" or (self.outcome is None and self.verdict == "FAIL")

    @property
    def is_inspected(self) -> bool:
        """Whether violations were looked for in the reply."""
        return not self.failed or bool(self.violations)


def record(case: Case | None, result: Result, *, draft: int = 1) -> Record:
    """The record of a reply; `case` is None for a row that could not be read.

    What could not be scored keeps no outcome, total or grade, so that it can never count as a pass.
    """
    grading = result.rubric
    failed = bool(result.failures) or grading is None
    kept = None if failed else grading
    found = grading.violations if grading else ()
    return Record(
        id=(case.id if case else None) or result.id or f"line {result.line}",
        draft=draft,
        category=case.category if case else None,
        confidence=case.confidence if case else None,
        decision=result.decision,
        verdict=None if failed else result.verdict,
        outcome=kept.outcome if kept else None,
        total=kept.total if kept else None,
        grades={grade.criterion: grade.grade for grade in kept.grades} if kept else {},
        violations=tuple(dict.fromkeys(violation.kind for violation in found)),
        tags=find_tags(case, result) if case and not failed else (),
        failed=failed,
        problem="; ".join(dict.fromkeys(failure.message for failure in result.failures)) or None,
        waived=grading.waived if grading else (),
        why=() if failed else explain_result(result),
        pass_probability=kept.pass_probability if kept else None,
    )
