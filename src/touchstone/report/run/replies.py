"""Records -> the rows of the table of all replies; case and Result -> a reply that is shown in full."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from touchstone.core.case import Case
from touchstone.core.result import Result
from touchstone.report.explain import Explanation, Segment, VerifierView, explain, waived_line
from touchstone.report.figures import NONE, count, figure, points, words
from touchstone.report.plain import one_line, plain
from touchstone.rubric.model import TOP
from touchstone.runs.excerpt import severity
from touchstone.runs.record import Record
from touchstone.runs.summary import NO_CATEGORY

NOT_SCORED = "not scored"
_LONGEST_PROBLEM = 300
# A report is read by people: what is longer than this is cut, and said to be.
_MOST_CHARS = 6_000
_MOST_FINDINGS = 60
NOT_GRADED = "not graded"


@dataclass(frozen=True, slots=True)
class TagLine:
    """One thing that is wrong with a reply, who could cure it, and what it is about."""

    name: str
    owner: str
    detail: str


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """One reply. `number` is its place in the run, from 1; `outcome` is PASS, FAIL or "not scored".

    `faults` names each tag once; `problem` says why the reply could not be scored; `waived` are violations that do not
    count, with who says so and why; `why` is what keeps the reply from being sent.
    """

    number: int
    id: str
    draft: int
    category: str
    decision: str
    verdict: str
    outcome: str
    total: str
    grades: tuple[str, ...]
    violations: tuple[str, ...]
    tags: tuple[TagLine, ...]
    faults: tuple[str, ...]
    failed: bool
    problem: str = ""
    waived: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


def rows_of(records: Sequence[Record], *, criteria: Sequence[str]) -> tuple[ReplyRow, ...]:
    """The rows in run order, with a grade for each criterion."""
    return tuple(_row(number, record, criteria) for number, record in enumerate(records, 1))


def lowest_first(rows: Sequence[ReplyRow], records: Sequence[Record], *, most: int) -> tuple[ReplyRow, ...]:
    """At most so many rows, in run order; those with problems are kept before those without."""
    if len(rows) <= most:
        return tuple(rows)
    ranked = sorted(zip(rows, records, strict=True), key=lambda pair: severity(pair[1]))
    return tuple(sorted((row for row, _ in ranked[:most]), key=lambda row: row.number))


class Places:
    """Where a reply stands in the table. Ids repeat when several drafts were made, so more is compared."""

    def __init__(self, records: Sequence[Record], *, shown: Iterator[int]) -> None:
        kept = set(shown)
        self._by_id: dict[str, list[tuple[int, Record]]] = {}
        for number, record in enumerate(records, 1):
            if number in kept:
                self._by_id.setdefault(record.id, []).append((number, record))

    def tagged(self, id: str, tag: str) -> int | None:
        """The first row of that case with that tag, else its first row."""
        found = self._by_id.get(id, [])
        fitting = (number for number, record in found if any(each.name == tag for each in record.tags))
        return next(fitting, found[0][0] if found else None)

    def scored(self, id: str, total: float | None) -> tuple[int, Record] | None:
        """The first row of that case with that total, else its first row."""
        found = self._by_id.get(id, [])
        return next((each for each in found if each[1].total == total), found[0] if found else None)


def _row(number: int, record: Record, criteria: Sequence[str]) -> ReplyRow:
    return ReplyRow(
        number=number,
        id=one_line(record.id),
        draft=record.draft,
        category=_line(record.category if record.category is not None else NO_CATEGORY),
        decision=record.decision,
        verdict=record.verdict or NONE,
        outcome=record.outcome or NOT_SCORED,
        total=points(record.total),
        grades=tuple(_row_grade(record.grades.get(name)) for name in criteria),
        violations=tuple(_words(kind) for kind in dict.fromkeys(record.violations)),
        tags=tuple(TagLine(_words(tag.name), tag.owner, one_line(tag.detail)) for tag in record.tags),
        faults=tuple(dict.fromkeys(_words(tag.name) for tag in record.tags)),
        failed=record.failed,
        problem=one_line(record.problem or "")[:_LONGEST_PROBLEM],
        waived=tuple(f"{_words(each.violation.kind)} {waived_line(each)}" for each in record.waived),
        why=tuple(one_line(line)[:_LONGEST_PROBLEM] for line in record.why),
    )


def _row_grade(grade: int | None) -> str:
    return NONE if grade is None else str(grade)


# A run has few categories, kinds and tags, each in many rows.
_line = lru_cache(maxsize=4096)(one_line)
_words = lru_cache(maxsize=4096)(words)


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
