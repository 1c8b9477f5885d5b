"""Explanation -> a terminal. Texts from outside are only ever `Text`, never markup."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from touchstone.report.explain import (
    AnchorView,
    Breach,
    CriterionLine,
    Explanation,
    GradingView,
    MetricLine,
    Proof,
    Segment,
    VerifierView,
)
from touchstone.report.terminal.marks import (
    NARROW,
    STANDING_STYLES,
    STATUS_STYLES,
    SUSPICION_STYLE,
    VIOLATION_STYLE,
    WIDE,
    bar,
    indented,
    number,
    ruling,
    titled,
)
from touchstone.rubric.model import TOP


def show_explanation(explanation: Explanation, *, console: Console) -> None:
    """Print one case: rulings, question, the reply beside its evidence (below it where it is narrow), scores."""
    grading = explanation.grading
    console.print(_heading(explanation))
    console.print(Text(f"  {explanation.why}", style="bold"), Text(f"  {explanation.chance}"), sep="\n")
    for reason in (*explanation.reasons, *(outcome_reason(grading) if grading else ()), *explanation.failures):
        console.print(Text(f"  {reason}"))
    body = Group(titled("Question", Text(explanation.question or "not given")), titled("Reply", _reply(explanation)))
    found = _found(explanation)
    if console.width >= WIDE:
        beside = Table.grid(padding=(0, 4), expand=True)
        beside.add_column(ratio=1)
        beside.add_column(ratio=1)
        beside.add_row(body, found)
        console.print(beside)
    else:
        console.print(body, found, sep="")
    console.print(titled("Metrics", (_metric_lines if console.width < NARROW else _metric_table)(explanation.metrics)))
    if grading:
        console.print(grading_section(grading, width=console.width))
    console.print()


def _heading(explanation: Explanation) -> Text:
    verdict, decision = ruling(explanation.verdict, absent="none"), ruling(explanation.decision, absent="")
    outcome = ruling(explanation.grading.outcome if explanation.grading else None, absent="none")
    return Text.assemble((explanation.id, "bold"), "  ", decision, "  outcome ", outcome, "  verdict ", verdict)


def _reply(explanation: Explanation) -> RenderableType:
    reply = Text()
    for segment in explanation.reply:
        reply.append_text(_segment(segment))
    legend = _legend(explanation)
    return Group(reply if reply.plain.strip() else Text("empty"), *([legend] if legend else []))


def _segment(segment: Segment) -> Text:
    status = STATUS_STYLES[segment.status] if segment.status else ""
    return Text.assemble(
        (segment.text, VIOLATION_STYLE if segment.violates else SUSPICION_STYLE if segment.suspected else status),
        *((f"[{number}]", "dim") for number in segment.ends),
        *((f"[!{number}]", "bold magenta") for number in segment.violation_ends),
        *((f"[?{number}]", "bold yellow") for number in segment.suspicion_ends),
    )


def _legend(explanation: Explanation) -> Text | None:
    """What the marks and colours in the reply mean, as far as it has any; anchors alone explain themselves below."""
    grading = explanation.grading
    if not (grading and (grading.breaches or grading.suspicions)):
        return None
    present = {finding.status for finding in explanation.findings}
    shown = [Text(status, style=style) for status, style in STATUS_STYLES.items() if status in present]
    marks = [Text.assemble("[n] anchor: ", Text(", ").join(shown))] if shown else []
    if grading.breaches:
        marks.append(Text.assemble(("[!n]", "bold magenta"), " ", ("violation", VIOLATION_STYLE)))
    if grading.suspicions:
        marks.append(Text.assemble(("[?n]", "bold yellow"), " ", ("suspected", SUSPICION_STYLE)))
    return Text.assemble("\n", Text(" · ").join(marks))


def _found(explanation: Explanation) -> RenderableType:
    """The violations and suspicions, if any, then the anchors."""
    grading = explanation.grading
    breaches = (*grading.breaches, *grading.waived) if grading else ()
    anchors = [line for finding in explanation.findings for line in _finding(finding)]
    sections = []
    if breaches:
        sections.append(titled("Violations", Group(*(line for breach in breaches for line in _breach(breach)))))
    if grading and grading.suspicions:
        doubts = (line for suspicion in grading.suspicions for line in _breach(suspicion, sign="?"))
        sections.append(titled("Suspected, for a person to look at", Group(*doubts)))
    if grading and grading.dismissed:
        rejected = (line for each in grading.dismissed for line in _breach(each, sign="–"))
        sections.append(titled("Found by the checks, dismissed by the judge", Group(*rejected)))
    sections.append(titled("Anchors", Group(*anchors) if anchors else Text("none")))
    if explanation.verifier:
        sections.append(titled(f"Verifier {explanation.verifier.title}", Group(*_sentences(explanation.verifier))))
    return Group(*sections)


# A violation, a suspicion, and what a judge dismissed.
_SIGNS = {"!": ("magenta", VIOLATION_STYLE), "?": ("yellow", SUSPICION_STYLE), "–": ("green", "dim")}


def _sentences(verifier: VerifierView) -> Iterable[RenderableType]:
    for line in verifier.lines:
        sure = "" if line.probability is None else f" {line.probability:.2f}"
        status = Text(line.status.replace("_", " "), style=STANDING_STYLES[line.status])
        yield Text.assemble(status, f"{sure}: {line.text}")
        yield indented(Text(line.reason), 4)
        for proof in line.proofs:
            yield indented(_proof(proof), 4)
    yield Text(verifier.remark, style="dim")


def _breach(breach: Breach, *, sign: str = "!") -> Iterable[RenderableType]:
    colour, style = _SIGNS[sign]
    found = f" ({breach.found})" if breach.found else ""
    yield Text.assemble((f"[{sign}{breach.number}]", f"bold {colour}"), " ", (breach.kind, style), f": {breach.text}")
    yield indented(Text(f"{breach.reason}{found}"), 4)
    if breach.waived:
        yield indented(Text(breach.waived, style="bold"), 4)
    for proof in breach.proofs:
        yield indented(_proof(proof), 4)


def _finding(finding: AnchorView) -> Iterable[RenderableType]:
    status = STATUS_STYLES[finding.status]
    yield Text.assemble((f"[{finding.number}] ", "dim"), (finding.status, status), f" {finding.kind}: {finding.text}")
    yield indented(Text(finding.reason), 4)
    for proof in finding.proofs:
        yield indented(_proof(proof), 4)


def _proof(proof: Proof) -> Text:
    return Text.assemble((f"{proof.source}: ", "dim"), proof.before, (proof.text, "underline"), proof.after)


def _metric_table(metrics: Iterable[MetricLine]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    for column in ("name", "bar", "score", "flag"):
        table.add_column(column, no_wrap=True)
    table.add_column("reason", ratio=1)
    for line in metrics:
        table.add_row(Text(line.name), bar(line.score), number(line.score), _flag(line), Text(line.reason))
    return table


def _metric_lines(metrics: Iterable[MetricLine]) -> RenderableType:
    lines: list[RenderableType] = []
    for line in metrics:
        lines.append(Text(" ").join((Text(line.name), number(line.score), _flag(line))))
        lines.append(indented(Text(line.reason), 4))
    return Group(*lines)


def _flag(line: MetricLine) -> Text:
    return ruling(line.flag, absent="")


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
