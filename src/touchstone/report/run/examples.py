"""Records -> which replies are shown in full; Case and Result -> one of them as plain values."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from touchstone.core.case import Case
from touchstone.core.result import Result
from touchstone.report.explain import Explanation, Segment, explain
from touchstone.report.figures import NONE, count, figure, points, words
from touchstone.report.plain import one_line, plain
from touchstone.report.run.rows import NOT_SCORED, Places
from touchstone.rubric.model import TOP
from touchstone.runs.record import Record

Key = tuple[str, int]
# A report is read by people: what is longer than this is cut, and said to be.
_MOST_CHARS = 6_000
_MOST_FINDINGS = 60


@dataclass(frozen=True, slots=True)
class GradeLine:
    """A criterion's grade in one line of an example."""

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


def choose_examples(
    records: Sequence[Record], *, best: int = 3, worst: int = 6
) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
    """The ids and drafts of the best and of the worst replies, one draft of a case at most.

    The worst show the most frequent patterns first, each by its worst reply; of equally good ones,
    those of another category come first.
    """
    return _best([record for record in records if record.outcome == "PASS"], best), _worst(
        [record for record in records if record.fails], worst
    )


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
            GradeLine(words(line.name), _grade(line.grade), points(line.points), line.reason)
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
    return NONE if grade is None else f"{grade}/{TOP}"


def _best(records: Iterable[Record], most: int) -> tuple[Key, ...]:
    chosen: list[Record] = []
    ranked = sorted(records, key=lambda record: (-(record.total or 0.0), record.id, record.draft))
    while ranked and len(chosen) < most:
        seen = {record.category for record in chosen}
        top = [record for record in ranked if record.total == ranked[0].total]
        chosen.append(next((record for record in top if record.category not in seen), top[0]))
        ranked = [record for record in ranked if record.id != chosen[-1].id]
    return tuple((record.id, record.draft) for record in chosen)


def _worst(records: Iterable[Record], most: int) -> tuple[Key, ...]:
    chosen: list[Record] = []
    ranked = sorted(records, key=_badness)
    frequency = Counter(name for record in ranked for name in {tag.name for tag in record.tags})
    waiting = sorted(frequency, key=lambda name: (-frequency[name], name))
    while ranked and len(chosen) < most:
        fitting = (record for record in ranked if waiting and waiting[0] in {tag.name for tag in record.tags})
        if (record := next(fitting, None)) is None and waiting:
            waiting.pop(0)
            continue
        chosen.append(record or ranked[0])
        shown = {tag.name for tag in chosen[-1].tags}
        waiting = [name for name in waiting if name not in shown]
        ranked = [record for record in ranked if record.id != chosen[-1].id]
    return tuple((record.id, record.draft) for record in chosen)


def _badness(record: Record) -> tuple[bool, float, str, int]:
    return not record.violations, record.total or 0.0, record.id, record.draft


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
    )
    return short, tuple(cut)


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]} … ({count(len(text), 'character')})"
