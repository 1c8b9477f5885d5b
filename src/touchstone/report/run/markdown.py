"""RunView -> a short Markdown summary, for a pull request or a step summary."""

from collections.abc import Iterable, Iterator

from touchstone.report.figures import sentence
from touchstone.report.plain import literal, prose
from touchstone.report.run.view import PatternView, RunView, bounds_sentences

_PATTERNS = 8
_EXAMPLES = 3
_WAIVED = 20
_FAILED = 5


def render_markdown(view: RunView) -> str:
    """The headline table, remarks and the most frequent patterns."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: RunView) -> Iterator[str]:
    labels = "".join(f" · {literal(label.name + ' ' + label.value)}" for label in view.labels)
    yield f"## Touchstone: {literal(view.title)}{labels}"
    yield ""
    if view.unfinished:
        yield "**This run is not finished.** Every figure covers only what was scored so far.\n"
    yield from _verdict(view)
    yield ""
    yield f"Judge {literal(view.judge.name)}. {prose(view.judge.sentence)}"
    yield ""
    yield from _table(
        ("measure", "value", "95 % interval", "target", "", "rests on"),
        (
            (prose(line.name), f"**{prose(line.value)}**", prose(line.interval or "–"), prose(line.target),
             _mark(line.standing), line.basis)
            for line in view.measures
        ),
    )  # fmt: skip
    yield ""
    decided = ", ".join(f"{each.name} {each.value}" for each in view.decisions)
    yield f"{prose(view.coverage)}. Decisions: {prose(decided)}."
    yield from (f"\n{prose(line)}" for line in bounds_sentences(view))
    remarks = [*(sentence(f"{line.name}: {line.remark}") for line in view.measures if line.remark), *view.remarks]
    if remarks:
        yield "\n### Remarks\n"
        yield from (f"- {prose(remark)}" for remark in remarks)
    if view.pattern_lines:
        yield "\n### What goes wrong\n"
        yield from _patterns(view.pattern_lines)
    if kept := [row for row in view.table if row.outcome == "FAIL" and row.why]:
        yield "\n### Replies that fail\n"
        yield from (f"- {literal(row.id)}: {prose(row.why[0])}" for row in kept[:_FAILED])
        if (more := len(kept) - _FAILED) > 0:
            yield f"- {more} more in the report"
    if waived := [(row.id, line) for row in view.rows for line in row.waived]:
        yield "\n### Waived violations\n"
        yield from (f"- {literal(id)}: {prose(line)}" for id, line in waived[:_WAIVED])
        if (more := len(waived) - _WAIVED) > 0:
            yield f"- {more} more in the report"
    if view.spread:
        yield f"\n{prose(view.spread)}"
    yield ""
    receipt = view.run.receipt
    yield f"Run {literal(view.id)}, rubric {literal(f'{receipt.rubric} {receipt.rubric_version}')}."


def _verdict(view: RunView) -> Iterator[str]:
    if view.verdict is None:
        yield f"**{prose(view.standing)}**"
        return
    mark = {"open": "✅", "undecided": "❔"}.get(view.verdict.standing, "❌")
    yield f"{mark} **Release gate: {view.verdict.standing}.** {prose(view.verdict.sentence)}"
    yield ""
    yield from (
        f"- {check.standing}: {prose(check.name)}, {prose(check.reason)}"
        for check in view.verdict.checks
        if check.standing != "met"
    )


def _patterns(lines: tuple[PatternView, ...]) -> Iterator[str]:
    rows = (
        (
            prose(line.name),
            f"{line.count:,} ({prose(line.share)})",
            prose(line.owner),
            ", ".join(dict.fromkeys(literal(example.id) for example in line.examples[:_EXAMPLES])),
        )
        for line in lines[:_PATTERNS]
    )
    yield from _table(("pattern", "failed replies", "for", "examples"), rows)
    if (more := len(lines) - _PATTERNS) > 0:
        yield f"\n{more} more in the report."


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _mark(standing: str) -> str:
    return {"met": "✅ met", "missed": "❌ missed"}.get(standing, standing)
