"""What the rubric says of a reply -> a section of a terminal page: criteria as bars, total, outcome, issues."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from touchstone.report.explain import CriterionLine, GradingView
from touchstone.report.marks import NARROW, WIDE, bar, indented, number, ruling, titled

TOP = 4


def grading_section(grading: GradingView, *, width: int) -> Group:
    """The criteria with grade, points, confidence and reason, the total and outcome, and the issues."""
    rows = grading.criteria
    criteria = _criterion_table(rows) if width >= WIDE else _criterion_lines(rows, with_bars=width >= NARROW)
    sections = [titled(f"Rubric {grading.title}", Group(criteria, _total(grading)))]
    if grading.issues:
        sections.append(titled("Issues", Group(*(Text(f"- {issue}") for issue in grading.issues))))
    return Group(*sections)


def outcome_reason(grading: GradingView) -> tuple[str, ...]:
    """One line on why the rubric does not pass the reply; none when it does."""
    if grading.outcome == "PASS":
        return ()
    if grading.outcome is None:
        open_ones = [line.name for line in grading.criteria if line.grade is None]
        return (f"no outcome: {', '.join(open_ones)} not graded",)
    return (f"rubric {grading.outcome}: {' + '.join(grading.reasons)}",)


def _total(grading: GradingView) -> Text:
    outcome = ruling(grading.outcome, absent="no outcome")
    reasons = f" ({' + '.join(grading.reasons)})" if grading.reasons else ""
    return Text.assemble(("total ", "bold"), number(grading.total), " of 100  ", outcome, reasons)


def _criterion_table(criteria: Iterable[CriterionLine]) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "", "grade", "points", "confidence"):
        table.add_column(name, no_wrap=True, justify="right" if name else "left")
    table.add_column("reason", ratio=1)
    for line in criteria:
        table.add_row(
            Text(line.name), bar(_share(line)), _grade(line), number(line.points), number(line.confidence),
            Text(line.reason),
        )  # fmt: skip
    return table


def _criterion_lines(criteria: Sequence[CriterionLine], *, with_bars: bool) -> RenderableType:
    """Each criterion's reason below its numbers, for a page that has no room beside them."""
    lines: list[RenderableType] = []
    widest = max((cell_len(line.name) for line in criteria), default=0) if with_bars else 0
    for line in criteria:
        name = Text(line.name + " " * (widest - cell_len(line.name)))
        points = Text.assemble(number(line.points), " points")
        confidence = Text.assemble("confidence ", number(line.confidence))
        if with_bars:
            points.align("right", len("40.00 points"))
        parts = (name, *((bar(_share(line)),) if with_bars else ()), _grade(line), points, confidence)
        lines += [Text("  ").join(parts), indented(Text(line.reason), 4)]
    return Group(*lines)


def _grade(line: CriterionLine) -> Text:
    return Text("not graded" if line.grade is None else f"{line.grade}/{TOP}")


def _share(line: CriterionLine) -> float | None:
    return None if line.grade is None else line.grade / TOP
