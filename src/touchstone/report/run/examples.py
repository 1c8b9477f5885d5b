"""Case and Result -> a reply that is shown in full, as plain values."""

from dataclasses import dataclass, replace

from touchstone.core.case import Case
from touchstone.core.result import Result
from touchstone.report.explain import Explanation, Segment, VerifierView, explain
from touchstone.report.figures import NONE, count, figure, points, words
from touchstone.report.plain import one_line, plain
from touchstone.report.run.rows import NOT_SCORED, Places
from touchstone.rubric.model import TOP

# A report is read by people: what is longer than this is cut, and said to be.
_MOST_CHARS = 6_000
_MOST_FINDINGS = 60
NOT_GRADED = "not graded"


@dataclass(frozen=True, slots=True)
class GradeLine:
    """A criterion's grade in one line of an example; one that is not graded has no points."""

    name: str
    grade: str
    points: str
    reason: str


@dataclass(frozen=True, slots=True)
class MetricFigure:
    """A metric in one line of an example."""

    name: str
    score: str
    flag: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One reply in full. `row` is its number in the table, None when it is not in it; `cut` says what was left out."""

    id: str
    category: str
    outcome: str
    total: str
    reasons: tuple[str, ...]
    explanation: Explanation
    grades: tuple[GradeLine, ...]
    metrics: tuple[MetricFigure, ...]
    expected: str
    context: tuple[str, ...]
    cut: tuple[str, ...]
    row: int | None


def example_view(case: Case, result: Result, *, places: Places) -> ExampleView:
    """The case with its reply, cut where it is long, and everything found in it."""
    explanation = explain(case, result)
    grading, given = explanation.grading, result.rubric
    found = places.scored(result.id or case.id or "", given.total if given else None)
    shortened, cut = _shortened(explanation)
    return ExampleView(
        id=explanation.id,
        category=one_line(case.category or NONE),
        outcome=(grading.outcome if grading else None) or NOT_SCORED,
        total=points(grading.total if grading else None),
        reasons=tuple(map(words, grading.reasons)) if grading else (),
        explanation=shortened,
        grades=tuple(
            GradeLine(
                words(line.name), _grade(line.grade), "" if line.points is None else points(line.points), line.reason
            )
            for line in (grading.criteria if grading else ())
        ),
        metrics=tuple(
            MetricFigure(words(line.name), figure(line.score, "unit"), line.flag or "", line.reason)
            for line in explanation.metrics
        ),
        expected=_clipped(plain(case.expected_output or "")),
        context=tuple(_clipped(plain(passage.text)) for passage in (case.context or ())[:_MOST_FINDINGS]),
        cut=cut,
        row=found[0] if found else None,
    )


def _grade(grade: int | None) -> str:
    return NOT_GRADED if grade is None else f"{grade}/{TOP}"


def _shortened(explanation: Explanation) -> tuple[Explanation, tuple[str, ...]]:
    cut: list[str] = []
    reply, length = [], 0
    for segment in explanation.reply:
        if length + len(segment.text) > _MOST_CHARS:
            reply.append(Segment(segment.text[: _MOST_CHARS - length] + " …"))
            whole = sum(len(each.text) for each in explanation.reply)
            cut.append(f"The reply is cut here; it has {count(whole, 'character')}.")
            break
        reply.append(segment)
        length += len(segment.text)
    if (more := len(explanation.findings) - _MOST_FINDINGS) > 0:
        cut.append(f"{count(more, 'further anchor')} are left out.")
    short = replace(
        explanation,
        question=_clipped(explanation.question),
        reply=tuple(reply),
        findings=explanation.findings[:_MOST_FINDINGS],
        verifier=_shorter(explanation.verifier),
    )
    return short, tuple(cut)


def _shorter(verifier: VerifierView | None) -> VerifierView | None:
    return replace(verifier, lines=verifier.lines[:_MOST_FINDINGS]) if verifier else None


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]} … ({count(len(text), 'character')})"
