"""Explanation and Tally -> a terminal. Texts from outside are only ever `Text`, never markup."""

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from touchstone.report.explain import Explanation, Finding, MetricLine, Proof, Segment
from touchstone.report.summary import Tally

# Colour is never the only sign: the status is also written beside each anchor's number.
STATUS_STYLES = {
    "supported": "green",
    "derived": "cyan",
    "contradicted": "bold red",
    "unsupported": "yellow",
}
_RULING_STYLES = {
    "PASS": "bold green",
    "WARN": "bold yellow",
    "FAIL": "bold red",
    "send": "green",
    "review": "yellow",
    "block": "red",
}
_WIDE = 100
_NARROW = 70
_BAR = 10


def show_explanation(explanation: Explanation, *, console: Console) -> None:
    """Print one case: verdict, question, the reply beside its evidence (below it where it is narrow), metrics."""
    console.print(_heading(explanation))
    for reason in (*explanation.reasons, *explanation.failures):
        console.print(Text(f"  {reason}"))
    body = Group(_titled("Question", Text(explanation.question or "not given")), _titled("Reply", _reply(explanation)))
    findings = _findings(explanation.findings)
    if console.width >= _WIDE:
        beside = Table.grid(padding=(0, 4), expand=True)
        beside.add_column(ratio=1)
        beside.add_column(ratio=1)
        beside.add_row(body, findings)
        console.print(beside)
    else:
        console.print(body, findings, sep="")
    console.print(
        _titled("Metrics", (_metric_lines if console.width < _NARROW else _metric_table)(explanation.metrics))
    )
    console.print()


def show_tally(tally: Tally, *, console: Console) -> None:
    """Print what a scoring came to."""
    console.print(
        Text.assemble((f"{tally.rows:,} row{'' if tally.rows == 1 else 's'}", "bold"), f", {tally.failed:,} failed")
    )
    console.print(_counts("decision", tally.decisions.items()), _counts("verdict", tally.verdicts.items()), sep="\n")
    console.print(_counts("anchors", tally.anchors.items()))
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("metric", "mean", "", "scored", "WARN", "FAIL"):
        table.add_column(name, justify="left" if name in ("metric", "") else "right", no_wrap=True)
    for name, metric in tally.metrics.items():
        flags = [f"{metric.flags.get(flag, 0):,}" for flag in ("WARN", "FAIL")]
        table.add_row(Text(name), _number(metric.mean), _bar(metric.mean), f"{metric.scored:,}", *flags)
    if tally.metrics:
        console.print(table)


def _heading(explanation: Explanation) -> Text:
    verdict = explanation.verdict or "no verdict"
    return Text.assemble(
        (explanation.id, "bold"),
        "  ",
        (verdict, _RULING_STYLES.get(verdict, "bold")),
        "  ",
        (explanation.decision, _RULING_STYLES[explanation.decision]),
    )


def _titled(title: str, content: RenderableType) -> Group:
    return Group(Text(f"\n{title}", style="bold"), _indented(content, 2))


def _indented(content: RenderableType, columns: int) -> Padding:
    return Padding(content, (0, 0, 0, columns), expand=False)


def _reply(explanation: Explanation) -> Text:
    reply = Text()
    for segment in explanation.reply:
        reply.append_text(_segment(segment))
    return reply if reply.plain.strip() else Text("empty")


def _segment(segment: Segment) -> Text:
    style = STATUS_STYLES[segment.status] if segment.status else ""
    return Text.assemble((segment.text, style), *((f"[{number}]", "dim") for number in segment.ends))


def _findings(findings: Iterable[Finding]) -> RenderableType:
    lines = [line for finding in findings for line in _finding(finding)]
    return _titled("Anchors", Group(*lines) if lines else Text("none: the reply states no checkable fact"))


def _finding(finding: Finding) -> Iterable[RenderableType]:
    status = STATUS_STYLES[finding.status]
    yield Text.assemble((f"[{finding.number}] ", "dim"), (finding.status, status), f" {finding.kind}: {finding.text}")
    yield _indented(Text(finding.reason), 4)
    for proof in finding.proofs:
        yield _indented(_proof(proof), 4)


def _proof(proof: Proof) -> Text:
    return Text.assemble((f"{proof.source}: ", "dim"), proof.before, (proof.text, "underline"), proof.after)


def _metric_table(metrics: Iterable[MetricLine]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    for column in ("name", "bar", "score", "flag"):
        table.add_column(column, no_wrap=True)
    table.add_column("reason", ratio=1)
    for line in metrics:
        table.add_row(Text(line.name), _bar(line.score), _number(line.score), _flag(line), Text(line.reason))
    return table


def _metric_lines(metrics: Iterable[MetricLine]) -> RenderableType:
    lines: list[RenderableType] = []
    for line in metrics:
        lines.append(Text(" ").join((Text(line.name), _number(line.score), _flag(line))))
        lines.append(_indented(Text(line.reason), 4))
    return Group(*lines)


def _flag(line: MetricLine) -> Text:
    return Text(line.flag, style=_RULING_STYLES[line.flag]) if line.flag else Text()


def _counts(title: str, counts: Iterable[tuple[str, int]]) -> Text:
    styles = _RULING_STYLES | STATUS_STYLES
    parts = [Text.assemble((name, styles.get(name, "")), f" {count:,}") for name, count in counts]
    return Text.assemble(f"{title}: ", Text(" · ").join(parts))


def _number(score: float | None) -> Text:
    return Text("–" if score is None else f"{score:.2f}")


def _bar(score: float | None) -> Text:
    filled = 0 if score is None else round(max(0.0, min(1.0, score)) * _BAR)
    return Text("█" * filled + "░" * (_BAR - filled), style="dim" if score is None else "")
