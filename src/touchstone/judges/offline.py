"""Reading, anchors, findings and rubric -> grades and a pass probability: the judge that works offline.

It never changes its mind, says what speaks for and against each grade, and grades nothing where it knows nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from touchstone.core.plan import Plan
from touchstone.core.result import Finding, Grade, Grading, Verification
from touchstone.judges.address import conclude_doubting
from touchstone.judges.choice import (
    choose_models,
    mode_of,
    pasted_passage,
    plain_kind,
    reads_as_english,
    speaks_to_customer,
    unlike,
)
from touchstone.judges.features import Features, Seen, features
from touchstone.judges.model import VALUES, Fitted, GradeModel, Mode, pass_model, pass_probability
from touchstone.judges.reasons import NOTHING, explain_grade, find_issues
from touchstone.rubric.model import SAFETY, TOP, Criterion, Rubric
from touchstone.rubric.outcome import grade_safety, open_grade
from touchstone.safety.detectors import doubts

NAME = "offline"
DEFAULTS = Plan()
FOREIGN = "the reply does not read as English, which this judge needs: let a person or a language model grade it"
# What a copied passage, however true, need not do.
ANSWERING = ("completeness", "actionability", "tone")
# Findings about facts: a figure, a date or a contact that is surely wrong.
FACTS = ("value.", "contact.", "verifier.")


class Cap(NamedTuple):
    """The highest grade that a criterion can have, and why."""

    most: int
    reason: str


def judge(
    seen: Seen,
    findings: Sequence[Finding],
    *,
    rubric: Rubric,
    fitted: Fitted | None = None,
    verification: Verification | None = None,
    plan: Plan = DEFAULTS,
) -> Grading:
    """Grades on every criterion the judge knows, and what follows from them; `fitted` are models of one's own.

    A finding is a violation, a suspicion or nothing by its confidence.
    """
    kind, mode = plain_kind(seen.body), mode_of(seen.body)
    pasted = pasted_passage(seen.body)
    found = features(seen, findings, is_plain=kind is not None)
    every = [*findings, *doubts(verification, seen.body.claims)]
    violations = [each for each in every if (each.confidence or 0.0) >= plan.violation_at]
    suspicions = [each for each in every if plan.suspicion_at <= (each.confidence or 0.0) < plan.violation_at]
    models = choose_models(mode, kind, fitted=fitted)
    blind = _blindness(seen, models, mode=mode, pasted=pasted, is_own=fitted is not None)
    caps = find_caps(seen, violations, suspicions, pasted=pasted)
    grades = []
    for criterion in rubric.criteria:
        if criterion.name == SAFETY:
            grades.append(grade_safety(criterion, violations))
        elif criterion.name in blind:
            grades.append(open_grade(criterion.name, blind[criterion.name]))
        elif criterion.name in models:
            grades.append(_grade(criterion, models[criterion.name], seen, found, cap=caps.get(criterion.name)))
    return conclude_doubting(
        seen.reading.reply.raw,
        rubric,
        grades,
        violations,
        judge=NAME,
        issues=find_issues(seen.body, seen.covered, seen.anchors, violations),
        suspicions=suspicions,
        pass_probability=_chance(found, grades, mode=mode),
    )


def _blindness(
    seen: Seen, models: Mapping[str, GradeModel], *, mode: Mode, pasted: str | None, is_own: bool
) -> dict[str, str]:
    """The criteria that are not graded, and why; a team's own models know the team's cases."""
    if not reads_as_english(seen.reading):
        return dict.fromkeys(models, FOREIGN)
    if is_own:
        return {}
    if reason := unlike(seen.body):
        return dict.fromkeys(pass_model().blind[mode], reason)
    if pasted and speaks_to_customer(seen.body):
        return dict.fromkeys(ANSWERING, f"repeats {pasted} word for word, and this judge knows no such replies")
    return {}


def _grade(criterion: Criterion, model: GradeModel, seen: Seen, found: Features, *, cap: Cap | None) -> Grade:
    if not seen.reading.reply.tokens:
        return Grade(criterion.name, 0, 0.0, None, 1.0, "the reply is empty")
    value = model.value(found.of(criterion.name))
    if criterion.name == "tone":
        # Manners never count against a reply.
        value = max(value, model.value(found.body))
    capped = ""
    grade = model.grade(value)
    if cap is not None:
        capped = cap.reason if grade > cap.most else ""
        value, grade = min(value, float(cap.most)), min(grade, cap.most)
    grade = criterion.nearest_level(grade)
    facts = explain_grade(criterion.name, grade, seen)
    reason = facts if not capped or capped in facts else capped if facts == NOTHING else f"{capped}. {facts}"
    return Grade(criterion.name, grade, round(value, 4), None, round(model.confidence(value), 4), reason)


def find_caps(
    seen: Seen, violations: Sequence[Finding], suspicions: Sequence[Finding], *, pasted: str | None
) -> dict[str, Cap]:
    """What a reply cannot reach: accuracy beside a wrong fact; an answer, where it only repeats what staff are told."""
    caps: dict[str, Cap] = {}
    for findings, most in ((suspicions, TOP - 1), (violations, TOP - 2)):
        wrong = next((finding for finding in findings if (finding.rule or "").startswith(FACTS)), None)
        if wrong is not None:
            caps["accuracy"] = Cap(most, wrong.reason)
    if not seen.body.reply.tokens:
        only = "it only greets or thanks"
        caps |= {name: Cap(0, only) for name in ("accuracy", "completeness", "actionability")}
    elif pasted and not speaks_to_customer(seen.body):
        told = f"repeats {pasted}, which does not speak to the customer"
        caps |= dict.fromkeys(ANSWERING, Cap(1, told))
    return caps


def _chance(found: Features, grades: Sequence[Grade], *, mode: Mode) -> float | None:
    """The pass probability; None where a grade that it rests on is missing."""
    values = {grade.criterion: grade.value for grade in grades if grade.value is not None}
    if any(name not in values for name in VALUES):
        return None
    return round(pass_probability(values, found.body, mode=mode), 4)
