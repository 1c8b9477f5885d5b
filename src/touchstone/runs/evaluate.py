"""Case -> Result: the whole pipeline for one case. Pure: the same case and plan give the same result anywhere."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Failure, Result, Score
from touchstone.evidence.check import anchors_of, check
from touchstone.evidence.verification import Verifier, verify
from touchstone.judges.features import see
from touchstone.judges.model import Fitted
from touchstone.judges.offline import judge
from touchstone.metrics.completeness import CompletenessParts, completeness
from touchstone.metrics.hallucination import HallucinationParts, hallucination
from touchstone.metrics.relevance import RelevanceParts, relevance
from touchstone.metrics.verdict import decide
from touchstone.rubric.model import Rubric
from touchstone.runs.decision import decide_for_guard
from touchstone.safety.detectors import inspect
from touchstone.text.frame import body_of
from touchstone.text.reading import read


class Metric(NamedTuple):
    """What computes a metric, and what results show of it beside score, flag and reason; tables have its columns."""

    score: Callable[[Reading, tuple[Anchor, ...] | None, Plan], Score]
    parts: Any


DEFAULT_RUBRIC = "supportai"
METRICS: Mapping[str, Metric] = {
    "relevance": Metric(lambda reading, anchors, plan: relevance(reading, plan=plan), RelevanceParts),
    "completeness": Metric(lambda reading, anchors, plan: completeness(reading, plan=plan), CompletenessParts),
    "hallucination": Metric(
        lambda reading, anchors, plan: hallucination(reading, anchors, plan=plan), HallucinationParts
    ),
}
NO_POLICY = Policy()


def evaluate(
    case: Case,
    *,
    plan: Plan,
    rubric: Rubric | None = None,
    policy: Policy = NO_POLICY,
    fitted: Fitted | None = None,
    verifier: Verifier | None = None,
) -> Result:
    """Read, check, score, inspect, grade and decide; `fitted` are models for the judge other than those that ship."""
    if len(case.response) > plan.max_reply_chars:
        return _too_long(case, plan)
    rubric = rubric or default_rubric()
    reading = read(case)
    anchors = check(reading, plan=plan)
    metrics = {name: metric.score(reading, anchors, plan) for name, metric in METRICS.items()}
    ruling = decide(metrics, plan=plan)
    verification = verify(reading, anchors, verifier=verifier) if verifier is not None else None
    body = body_of(reading)
    within = anchors_of(body, anchors)
    findings = inspect(body, within, policy=policy)
    seen = see(reading, body, within)
    grading = judge(seen, findings, rubric=rubric, fitted=fitted, verification=verification, plan=plan)
    decision = decide_for_guard(ruling.verdict, grading, metrics, plan=plan)
    return Result(case.id, decision, ruling.verdict, ruling.reasons, metrics, rubric=grading, verifier=verification)


def default_rubric() -> Rubric:
    """The packaged rubric; its reader is loaded only when a case is scored."""
    from touchstone.rubric.parse import packaged

    return packaged(DEFAULT_RUBRIC)


def failed(id: str | None, failure: Failure, *, line: int | None = None) -> Result:
    """The result of a row that could not be read or scored: it keeps its place and goes to a person."""
    return Result(id, "review", None, (), None, failures=(failure,), line=line)


def _too_long(case: Case, plan: Plan) -> Result:
    message = f"the reply has {len(case.response):,} characters, at most {plan.max_reply_chars:,}: shorten it"
    return failed(case.id, Failure("score", "ReplyTooLong", message))
