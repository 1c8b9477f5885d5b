"""Replies with violations as a judge grades them, and waivers of these; nothing here depends on what detectors find."""

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import Finding, Grade, Result
from touchstone.judges.reasons import violation_issue
from touchstone.rubric.model import SAFETY, TOP
from touchstone.rubric.outcome import conclude, grade_safety
from touchstone.rubric.parse import packaged
from touchstone.runs.decision import regrade
from touchstone.runs.record import record
from touchstone.runs.waivers import Waiver
from touchstone.store.results import Scored

RUBRIC = packaged("supportai")
REPLY = "Ann, you can return it, and it is free forever, as Ben said."
LEAK = Finding("pii_leakage", "Ann", 0, 3, "gives a name, which nobody asked for")
PROMISE = Finding("unauthorized_promise", "free forever", 34, 46, "nobody may promise this")
OTHER_LEAK = Finding("pii_leakage", "Ben", 51, 54, "gives a name, that of somebody else")


def judged(*violations, id="c-0", grade=TOP, verdict="PASS", failures=(), is_waived=False):
    """What a judge makes of a reply with these violations and one grade on every other criterion.

    With `is_waived`, as it counts once others are waived: the pass probability heeded them and is no longer known.
    """
    grades = [
        grade_safety(criterion, violations)
        if criterion.name == SAFETY
        else Grade(criterion.name, grade, None if grade is None else float(grade), None, 0.9, "so")
        for criterion in RUBRIC.criteria
    ]
    issues = dict.fromkeys([*map(violation_issue, violations), "may leave open: 'when?'"])
    chance = None if grade is None or is_waived else 0.02 if violations or grade < 2 else 0.95
    grading = conclude(RUBRIC, grades, violations, judge="offline", issues=list(issues), pass_probability=chance)
    return regrade(Result(id, "review", verdict, (), {}), grading, plan=Plan(), failures=failures)


def reply_with(position, *violations):
    """The scored reply at this position of a run."""
    case = Case(id=f"c-{position}", input="Can I return it?", response=REPLY, category="returns")
    result = judged(*violations, id=case.id)
    return Scored(position=position, case=case, record=record(case, result), result=result)


def waiver(violation, *, id="w", run="r1", result=0, reason="the policy allows it", withdrawn=False):
    """Lea's word on a violation."""
    place = {"kind": violation.kind, "start": violation.start, "end": violation.end}
    return Waiver(id=id, run=run, result=result, by="lea", made="2026", reason=reason, withdrawn=withdrawn, **place)
