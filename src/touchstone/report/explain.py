"""Case and Result -> what is shown to explain them: plain values, in the order a reader needs them."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from touchstone.core.case import Case
from touchstone.core.result import (
    Anchor,
    Dismissed,
    Evidence,
    Finding,
    Flag,
    Grade,
    Grading,
    Result,
    Score,
    Standing,
    Statement,
    Status,
    Verification,
    Waived,
)
from touchstone.report.plain import excerpt, one_line, plain
from touchstone.runs.decision import explain_chance, explain_decision, explain_origin

Spanned = TypeVar("Spanned", Anchor, Finding)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the reply: the status of the innermost anchor it is in, whether it is part of a violation or of a
    suspicion, and the numbers of the anchors, violations and suspicions that end with it."""

    text: str
    status: Status | None = None
    ends: tuple[int, ...] = ()
    violates: bool = False
    violation_ends: tuple[int, ...] = ()
    suspected: bool = False
    suspicion_ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """A place in a source, with the words around it."""

    source: str
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class AnchorView:
    """An anchor by its number in the reply, what became of it, and where the sources speak of it."""

    number: int
    kind: str
    text: str
    status: Status
    reason: str
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Breach:
    """A violation or suspicion by its number in the reply, why it is one, and the sources that speak against it.

    Its kind and span name it; `found` says which rule found it and how sure it is, as far as that is known. Of a waived
    one, `waived` says by whom and why, and `made` when.
    """

    number: int
    kind: str
    start: int
    end: int
    text: str
    reason: str
    proofs: tuple[Proof, ...]
    found: str = ""
    waived: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True)
class MetricLine:
    """A metric as one line."""

    name: str
    score: float | None
    flag: Flag | None
    reason: str


@dataclass(frozen=True, slots=True)
class CriterionLine:
    """A criterion as one line."""

    name: str
    grade: int | None
    points: float | None
    confidence: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class GradingView:
    """What the rubric says of the reply: its criteria, the total, the outcome with its reasons, what was missed.

    Violations that count are `breaches`; those that people waived are kept apart, and so are `suspicions`, which only
    ask for a person, and what the checks found and a model `dismissed`.
    """

    title: str
    criteria: tuple[CriterionLine, ...]
    total: float | None
    outcome: str | None
    reasons: tuple[str, ...]
    issues: tuple[str, ...]
    breaches: tuple[Breach, ...]
    waived: tuple[Breach, ...]
    suspicions: tuple[Breach, ...]
    dismissed: tuple[Breach, ...] = ()


@dataclass(frozen=True, slots=True)
class SentenceLine:
    """A sentence of the reply as the verifier sees it; `probability` is None where the model did not decide."""

    text: str
    status: Standing
    probability: float | None
    reason: str
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class VerifierView:
    """Which verifier spoke, and what it says of the sentences that claim something."""

    title: str
    lines: tuple[SentenceLine, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything shown about one case; every text in it is safe to print.

    `why` is the decision with its reason in one sentence, `chance` the pass probability or why it is not known.
    """

    id: str
    question: str
    reply: tuple[Segment, ...]
    findings: tuple[AnchorView, ...]
    metrics: tuple[MetricLine, ...]
    grading: GradingView | None
    verdict: str | None
    decision: str
    why: str
    chance: str
    reasons: tuple[str, ...]
    failures: tuple[str, ...]
    verifier: VerifierView | None = None


def explain(case: Case, result: Result) -> Explanation:
    """The view of a case and its result."""
    scores = tuple((result.metrics or {}).values())
    anchors = [anchor for score in scores for anchor in score.anchors or ()]
    violations, suspicions = (result.rubric.violations, result.rubric.suspicions) if result.rubric else ((), ())
    return Explanation(
        id=one_line(result.id or case.id or ""),
        question=plain(case.question),
        reply=tuple(_segments(case.response, anchors, violations, suspicions)),
        findings=tuple(_finding(number, anchor, case) for number, anchor in enumerate(anchors, 1)),
        metrics=tuple(map(_metric, scores)),
        grading=_grading(result.rubric, case) if result.rubric else None,
        verdict=result.verdict,
        decision=result.decision,
        why=one_line(explain_decision(result)),
        chance=one_line(explain_chance(result)),
        reasons=tuple(map(one_line, result.reasons)),
        failures=tuple(one_line(failure.message) for failure in result.failures),
        verifier=_verifier(result.verifier, case) if result.verifier else None,
    )


def waived_line(waived: Waived) -> str:
    """Who waived a violation, and why."""
    return one_line(f"waived by {waived.by} because {waived.reason}")


def source_text(case: Case, source: str) -> str | None:
    """The text an evidence's `source` names (input, input[0], context[2], expected_output), if there is one."""
    name, _, rest = source.partition("[")
    if not rest:
        whole = {"input": case.question, "expected_output": case.expected_output, "response": case.response}
        return whole.get(name)
    at = int(rest.rstrip("]")) if rest.rstrip("]").isdecimal() else -1
    texts: Sequence[str] = ()
    if name == "context":
        texts = [passage.text for passage in case.context or ()]
    elif name == "input" and not isinstance(case.input, str):
        texts = [turn.content for turn in case.input]
    return texts[at] if 0 <= at < len(texts) else None


def _segments(
    reply: str, anchors: Sequence[Anchor], violations: Sequence[Finding], suspicions: Sequence[Finding]
) -> Iterator[Segment]:
    """The reply cut wherever an anchor or a finding starts or ends; an erased reply has nothing to cut."""
    spans: tuple[Anchor | Finding, ...] = (*anchors, *violations, *suspicions)
    cuts = sorted({0, len(reply), *(place for span in spans for place in (span.start, span.end) if place < len(reply))})
    covered = (_covering(anchors, cuts), _covering(violations, cuts), _covering(suspicions, cuts))
    for (start, end), checked, broken, doubted in zip(pairwise(cuts), *covered, strict=True):
        innermost = min(checked, key=lambda numbered: numbered[1].end - numbered[1].start, default=None)
        yield Segment(
            text=plain(reply[start:end]),
            status=innermost[1].status if innermost else None,
            ends=tuple(number for number, anchor in checked if anchor.end == end),
            violates=bool(broken),
            violation_ends=tuple(number for number, violation in broken if violation.end == end),
            suspected=bool(doubted),
            suspicion_ends=tuple(number for number, suspicion in doubted if suspicion.end == end),
        )


def _covering(spans: Sequence[Spanned], cuts: Sequence[int]) -> Iterator[list[tuple[int, Spanned]]]:
    """For each piece between two cuts, the spans it is in, with their numbers."""
    waiting = deque(sorted(enumerate(spans, 1), key=lambda numbered: numbered[1].start))
    current: list[tuple[int, Spanned]] = []
    for start, _ in pairwise(cuts):
        while waiting and waiting[0][1].start <= start:
            current.append(waiting.popleft())
        current = [(number, span) for number, span in current if span.end > start]
        yield current


def _grading(grading: Grading, case: Case) -> GradingView:
    return GradingView(
        title=one_line(f"{grading.rubric} {grading.version}, judge {grading.judge}{_flips(grading)}"),
        criteria=tuple(map(_criterion, grading.grades)),
        total=grading.total,
        outcome=grading.outcome,
        reasons=tuple(map(one_line, grading.reasons)),
        issues=tuple(map(one_line, grading.issues)),
        breaches=tuple(_breach(number, violation, case) for number, violation in enumerate(grading.violations, 1)),
        waived=tuple(
            replace(_breach(number, each.violation, case), waived=waived_line(each), made=each.made)
            for number, each in enumerate(grading.waived, len(grading.violations) + 1)
        ),
        suspicions=tuple(_breach(number, suspicion, case) for number, suspicion in enumerate(grading.suspicions, 1)),
        dismissed=tuple(_dismissed(number, each, case) for number, each in enumerate(grading.dismissed, 1)),
    )


def _flips(grading: Grading) -> str:
    """How often the judge changed its mind, where it was asked several times."""
    return "" if grading.flip_rate is None else f", whose outcome flips in {grading.flip_rate:.0%} of its votes"


def _criterion(grade: Grade) -> CriterionLine:
    return CriterionLine(one_line(grade.criterion), grade.grade, grade.points, grade.confidence, one_line(grade.reason))


def _breach(number: int, violation: Finding, case: Case) -> Breach:
    return Breach(
        number=number,
        kind=violation.kind,
        start=violation.start,
        end=violation.end,
        text=one_line(violation.text),
        reason=one_line(violation.reason),
        proofs=tuple(_proof(evidence, case) for evidence in violation.evidence),
        found=one_line(explain_origin(violation)),
    )


def _dismissed(number: int, dismissed: Dismissed, case: Case) -> Breach:
    """The finding with why the model rejects it, and the words that show it."""
    reason = f"{dismissed.finding.reason}. Dismissed: {dismissed.reason} It quotes '{dismissed.quote}'"
    return replace(_breach(number, dismissed.finding, case), reason=one_line(reason))


def _verifier(verification: Verification, case: Case) -> VerifierView:
    shown = [statement for statement in verification.statements if statement.status != "no_claim"]
    silent = len(verification.statements) - len(shown)
    remarks = [f"{verification.spared} of {len(verification.statements)} sentences were clear without the model"]
    remarks += [f"{silent} claim nothing"] if silent else []
    remarks += [f"{verification.unread} were not read"] if verification.unread else []
    return VerifierView(
        title=one_line(f"{verification.name} {verification.version}"),
        lines=tuple(_sentence(statement, case) for statement in shown),
        remark=", ".join(remarks),
    )


def _sentence(statement: Statement, case: Case) -> SentenceLine:
    return SentenceLine(
        text=one_line(statement.text),
        status=statement.status,
        probability=statement.probability,
        reason=one_line(statement.reason),
        proofs=tuple(_proof(evidence, case) for evidence in statement.evidence),
    )


def _finding(number: int, anchor: Anchor, case: Case) -> AnchorView:
    return AnchorView(
        number=number,
        kind=anchor.kind,
        text=one_line(anchor.text),
        status=anchor.status,
        reason=one_line(anchor.reason),
        proofs=tuple(_proof(evidence, case) for evidence in anchor.evidence),
    )


def _proof(evidence: Evidence, case: Case) -> Proof:
    text = source_text(case, evidence.source)
    where = one_line(f"{evidence.source} {evidence.path}" if evidence.path else evidence.source)
    if text is None:
        return Proof(where, "", one_line(evidence.text), "")
    return Proof(where, *excerpt(text, evidence.start, evidence.end))


def _metric(score: Score) -> MetricLine:
    return MetricLine(score.metric, score.score, score.flag, one_line(score.reason))
