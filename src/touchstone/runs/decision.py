"""Verdict, grading and metrics -> decision: the one answer a guard needs, review wherever it is not sure.

Under another judge's grading a result gets a new decision; metrics and verdict stay as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from touchstone.core.plan import Plan
from touchstone.core.result import Anchor, Decision, Failure, Finding, Grading, Result, Score, Verdict
from touchstone.rubric.model import TOP

# A reply with a grade of this or less on any criterion is not sent unseen.
POOR = 1


def decide_for_guard(
    verdict: Verdict | None, grading: Grading, metrics: Mapping[str, Score] | None, *, plan: Plan
) -> Decision:
    """block on a violation or where a pass is surely out of reach; send where nothing counts against it."""
    if plan.decide_by != "probability":
        return _by_words(verdict, grading, plan=plan)
    chance = grading.pass_probability
    if grading.violations or (chance is not None and chance <= plan.block_at):
        return "block"
    if chance is None or chance < plan.send_at or grading.outcome != "PASS":
        return "review"
    return "review" if _open_points(grading, metrics) else "send"


def explain_decision(result: Result) -> str:
    """Why the reply is sent, reviewed or blocked, in one sentence for people."""
    grading = result.rubric
    if result.failures or grading is None:
        return f"{result.decision}: it {'could not be scored' if result.failures else 'is not graded'}"
    chance = grading.pass_probability
    likely = "" if chance is None else f"pass probability {chance:.2f}"
    failed = f"the outcome is FAIL ({' + '.join(grading.reasons)})" if grading.outcome == "FAIL" else ""
    if result.decision == "send":
        return f"send: {likely or 'it passes'}, and nothing counts against it"
    if result.decision == "block":
        if grading.violations:
            return f"block: {grading.violations[0].reason}"
        worded = "the verdict is FAIL" if result.verdict == "FAIL" and not (likely or failed) else ""
        return "block: " + (", ".join(filter(None, (likely, failed or worded))) or "it fails")
    if points := _open_points(grading, result.metrics):
        return f"review: {points[0]}"
    if grading.waived and chance is None:
        return "review: a person waived what the judge found, so its pass probability is not known"
    return "review: " + (failed or (f"{likely}, which is not sure enough" if likely else "no pass probability"))


def explain_chance(result: Result) -> str:
    """The pass probability, or why it is not known."""
    grading = result.rubric
    if grading is None or result.failures:
        return f"pass probability not known: it {'could not be scored' if result.failures else 'is not graded'}"
    if grading.pass_probability is not None:
        return f"pass probability {grading.pass_probability:.2f}"
    if grading.waived:
        return "pass probability not known: it depended on a violation that was waived"
    left = [grade.criterion for grade in grading.grades if grade.grade is None]
    return "pass probability not known: " + (f"{', '.join(left)} not graded" if left else "the judge gave none")


def explain_origin(finding: Finding) -> str:
    """Which rule found it and how sure it is, as far as that is known."""
    sure = "" if finding.confidence is None else f"confidence {finding.confidence:.2f}"
    return ", ".join(filter(None, (finding.rule, sure)))


def explain_result(result: Result) -> tuple[str, ...]:
    """All that keeps a reply from being sent, a line each, the decision's own sentence first; nothing of one sent."""
    if result.decision == "send":
        return ()
    grading = result.rubric
    if grading is None:
        return (explain_decision(result),)
    return (
        explain_decision(result),
        explain_chance(result),
        *(_finding_line("violation", found) for found in grading.violations),
        *(_finding_line("suspected, for a person to look at:", found) for found in grading.suspicions),
        *(f"{grade.criterion} not graded: {grade.reason}" for grade in grading.grades if grade.grade is None),
    )


def _finding_line(title: str, finding: Finding) -> str:
    origin = explain_origin(finding)
    return f"{title} {finding.kind}{f' ({origin})' if origin else ''}: {finding.reason}"


def unheld_values(metrics: Mapping[str, Score] | None) -> list[Anchor]:
    """The typed values of the reply that no source states or supports."""
    return [anchor for anchor in _anchors(metrics) if anchor.kind != "claim" and not anchor.holds]


def _anchors(metrics: Mapping[str, Score] | None) -> list[Anchor]:
    return [anchor for score in (metrics or {}).values() for anchor in score.anchors or ()]


def _open_points(grading: Grading, metrics: Mapping[str, Score] | None) -> list[str]:
    """What keeps a reply from being sent unseen, however likely it is to pass."""
    points = [f"{grade.criterion} is not graded: {grade.reason}" for grade in grading.grades if grade.grade is None]
    points += [f"suspected: {suspicion.reason}" for suspicion in grading.suspicions]
    denied = [anchor for anchor in _anchors(metrics) if anchor.kind == "claim" and anchor.status == "contradicted"]
    points += [f"'{anchor.text}': {anchor.reason}" for anchor in denied if not _is_dismissed(anchor, grading)]
    unheld = [anchor for anchor in unheld_values(metrics) if not _is_dismissed(anchor, grading)]
    points += [f"no source supports {anchor.text}" for anchor in unheld]
    if left := sum(score.parts.get("unchecked") or 0 for score in (metrics or {}).values()):
        points.append(f"{left:,} of its values and claims are not checked")
    points += [
        f"{grade.criterion} is {grade.grade} of {TOP}: {grade.reason}"
        for grade in grading.grades
        if grade.grade is not None and grade.grade <= POOR
    ]
    points += [
        f"{name} is not scored: {score.reason}" for name, score in (metrics or {}).items() if score.score is None
    ]
    return points


def _is_dismissed(anchor: Anchor, grading: Grading) -> bool:
    """Whether the judge looked at the figure or claim and found it borne out."""
    return any(
        each.finding.text == anchor.text or (each.finding.start < anchor.end and anchor.start < each.finding.end)
        for each in grading.dismissed
        if each.finding.kind == "hallucination"
    )


def _by_words(verdict: Verdict | None, grading: Grading, *, plan: Plan) -> Decision:
    """The specification's own words: FAIL blocks, PASS sends, anything else is reviewed."""
    words = {"verdict": (verdict,), "outcome": (grading.outcome,)}.get(plan.decide_by, (verdict, grading.outcome))
    if "FAIL" in words:
        return "block"
    return "send" if all(word == "PASS" for word in words) and not grading.suspicions else "review"


def regrade(result: Result, grading: Grading, *, plan: Plan, failures: Sequence[Failure] = ()) -> Result:
    """The result with this grading and the decision that follows; what failed goes to a person."""
    decision = decide_for_guard(result.verdict, grading, result.metrics, plan=plan)
    if failures and decision == "send":
        decision = "review"
    return replace(result, rubric=grading, decision=decision, failures=(*result.failures, *failures))
