"""Case -> Result: the whole pipeline for one case. Pure: the same case and plan give the same result anywhere."""

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import Decision, Failure, Result, Verdict
from touchstone.evidence.check import check
from touchstone.metrics.completeness import completeness
from touchstone.metrics.hallucination import hallucination
from touchstone.metrics.relevance import relevance
from touchstone.metrics.verdict import decide
from touchstone.text.reading import read


def evaluate(case: Case, *, plan: Plan) -> Result:
    """Read, check, score and decide."""
    if len(case.response) > plan.max_reply_chars:
        return _too_long(case, plan)
    reading = read(case)
    scores = (
        relevance(reading, plan=plan),
        completeness(reading, plan=plan),
        hallucination(reading, check(reading, plan=plan), plan=plan),
    )
    metrics = {score.metric: score for score in scores}
    ruling = decide(metrics, plan=plan)
    return Result(case.id, _decision(ruling.verdict), ruling.verdict, ruling.reasons, metrics)


def _decision(verdict: Verdict | None) -> Decision:
    """What a guard does: nothing is sent before the rubric has graded it."""
    return "block" if verdict == "FAIL" else "review"


def _too_long(case: Case, plan: Plan) -> Result:
    message = f"the reply has {len(case.response):,} characters, at most {plan.max_reply_chars:,} are scored: shorten it"
    return failed(case.id, Failure("score", "ReplyTooLong", message))


def failed(id: str | None, failure: Failure, *, line: int | None = None) -> Result:
    """The result of a row that could not be read or scored: it keeps its place and goes to a person."""
    return Result(id, "review", None, (), None, failures=(failure,), line=line)
