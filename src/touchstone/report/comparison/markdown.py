"""ComparisonView -> Markdown, for a pull request or a step summary."""

from collections.abc import Iterable, Iterator

from touchstone.report.comparison.view import ChangeLine, ComparisonView
from touchstone.report.inert import literal, prose

_FLIPS = 20


def render_comparison_markdown(view: ComparisonView) -> str:
    """The answer, the changes as tables, and the cases that changed sides."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: ComparisonView) -> Iterator[str]:
    yield f"## Touchstone: {literal(view.before.title)} → {literal(view.after.title)}"
    yield f"\n**{prose(view.sentence)}** {prose(view.pairs)}\n"
    yield from _table("measure", view.headline)
    for title, head, lines in (("Grades", "criterion", view.grades), ("Categories", "category", view.categories)):
        if lines:
            yield f"\n### {title}\n"
            yield from _table(head, lines)
    remarks = (*view.differing, *view.remarks)
    if remarks:
        yield "\n### Remarks\n"
        yield from (f"- {prose(remark)}" for remark in remarks)
    yield f"\n### Flips: {view.regressed:,} regressed, {view.improved:,} improved\n"
    for flip in view.flips[:_FLIPS]:
        what = f": {prose('; '.join(flip.changes))}" if flip.changes else ""
        yield f"- {flip.direction} {literal(flip.id)} ({prose(flip.totals)}){what}"
    if (more := len(view.flips) - _FLIPS) > 0:
        yield f"- {more:,} more"
    yield f"\nRuns {literal(view.before.id)} and {literal(view.after.id)}."


def _table(head: str, lines: Iterable[ChangeLine]) -> Iterator[str]:
    yield f"| {head} | before | after | change | 95 % interval | chance | |"
    yield "|---|---|---|---|---|---|---|"
    for line in lines:
        cells = (line.before, line.after, line.difference, line.interval or "–", line.chance or "–", line.standing)
        yield f"| {literal(line.name)} | {' | '.join(map(prose, cells))} |"
