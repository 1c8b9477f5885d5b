"""Explanation -> a terminal."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from touchstone.core.result import Evidence, Finding, Grade, Grading, Score
from touchstone.report.explain import Explanation, Segment, dismissed_line, waived_line
from touchstone.report.terminal.layout import (
    NARROW,
    STANDING_STYLES,
    STATUS_STYLES,
    SUSPICION_STYLE,
    VIOLATION_STYLE,
    WIDE,
    bar,
    indented,
    line,
    number,
    ruling,
    table,
    titled,
)
from touchstone.rubric.model import TOP
from touchstone.runs.decision import explain_origin

# A violation, a suspicion, and what a judge dismissed.
_SIGNS = {"!": ("magenta", VIOLATION_STYLE), "?": ("yellow", SUSPICION_STYLE), "–": ("green", "dim")}


def show_explanation(explanation: Explanation, *, console: Console) -> None:
    """Print one case: rulings, question, the reply beside its evidence (below it where it is narrow), scores."""
    result, grading = explanation.result, explanation.grading
    console.print(_heading(explanation))
    console.print(Text(f"  {explanation.why}", style="bold"), Text(f"  {explanation.chance}"), sep="\n")
    failures = (failure.message for failure in result.failures)
    for reason in (*result.reasons, *(_outcome_reason(grading) if grading else ()), *failures):
        console.print(line(reason, before="  "))
    question = Text(explanation.clipped(explanation.case.question) or "not given")
    body = Group(titled("Question", question), titled("Reply", _reply(explanation)))
    found = Group(*_found(explanation))
    if console.width >= WIDE:
        beside = Table.grid(padding=(0, 4), expand=True)
        beside.add_column(ratio=1)
        beside.add_column(ratio=1)
        beside.add_row(body, found)
        console.print(beside)
    else:
        console.print(body, found, sep="")
    console.print(titled("Metrics", _metrics(explanation.metrics, width=console.width)))
    if grading:
        console.print(*_rubric(explanation, grading, width=console.width), sep="")
    console.print()


def _heading(explanation: Explanation) -> Text:
    result = explanation.result
    verdict, decision = ruling(result.verdict, absent="none"), ruling(result.decision, absent="")
    outcome = ruling(result.rubric.outcome if result.rubric else None, absent="none")
    return Text.assemble((explanation.id, "bold"), "  ", decision, "  outcome ", outcome, "  verdict ", verdict)


def _outcome_reason(grading: Grading) -> tuple[str, ...]:
    """One line on why the rubric does not pass the reply; none when it does."""
    if grading.outcome == "PASS":
        return ()
    if grading.outcome is None:
        return (f"no outcome: {', '.join(each.criterion for each in grading.grades if each.grade is None)} not graded",)
    return (f"rubric {grading.outcome}: {' + '.join(grading.reasons)}",)


def _reply(explanation: Explanation) -> RenderableType:
    reply = Text.assemble(*map(_segment, explanation.reply))
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
    if not (grading and (grading.violations or grading.suspicions)):
        return None
    present = {anchor.status for anchor in explanation.anchors}
    shown = [Text(status, style=style) for status, style in STATUS_STYLES.items() if status in present]
    marks = [Text.assemble("[n] anchor: ", Text(", ").join(shown))] if shown else []
    if grading.violations:
        marks.append(Text.assemble(("[!n]", "bold magenta"), " ", ("violation", VIOLATION_STYLE)))
    if grading.suspicions:
        marks.append(Text.assemble(("[?n]", "bold yellow"), " ", ("suspected", SUSPICION_STYLE)))
    return Text.assemble("\n", Text(" · ").join(marks))


def _found(explanation: Explanation) -> Iterator[RenderableType]:
    """The violations and suspicions, if any, then the anchors and the sentences of a verifier."""
    if grading := explanation.grading:
        lines = [*_findings(explanation, grading.violations)]
        for at, each in enumerate(grading.waived, len(grading.violations) + 1):
            lines += _finding(explanation, each.violation, at, waived=waived_line(each))
        if lines:
            yield titled("Violations", Group(*lines))
        if grading.suspicions:
            doubts = _findings(explanation, grading.suspicions, sign="?")
            yield titled("Suspected, for a person to check", Group(*doubts))
        if grading.dismissed:
            rejected = (
                part
                for at, each in enumerate(grading.dismissed, 1)
                for part in _finding(explanation, each.finding, at, sign="–", reason=dismissed_line(each))
            )
            yield titled("Found by the checks, dismissed by the judge", Group(*rejected))
    anchors = list(_anchors(explanation))
    yield titled("Anchors", Group(*anchors) if anchors else Text("none"))
    if verifier := explanation.result.verifier:
        yield titled(f"Verifier {verifier.name} {verifier.version}", Group(*_sentences(explanation)))


def _findings(explanation: Explanation, found: Iterable[Finding], *, sign: str = "!") -> Iterator[RenderableType]:
    for at, each in enumerate(found, 1):
        yield from _finding(explanation, each, at, sign=sign)


def _finding(
    explanation: Explanation, found: Finding, at: int, *, sign: str = "!", reason: str = "", waived: str = ""
) -> Iterator[RenderableType]:
    colour, style = _SIGNS[sign]
    origin = explain_origin(found)
    mark = (f"[{sign}{at}]", f"bold {colour}")
    yield Text.assemble(mark, " ", (found.kind, style), line(f": {found.text}"))
    yield indented(line(f"{reason or found.reason}{f' ({origin})' if origin else ''}"), 4)
    if waived:
        yield indented(Text(waived, style="bold"), 4)
    yield from _proofs(explanation, found.evidence)


def _anchors(explanation: Explanation) -> Iterator[RenderableType]:
    for at, anchor in enumerate(explanation.anchors, 1):
        status = (anchor.status, STATUS_STYLES[anchor.status])
        yield Text.assemble((f"[{at}] ", "dim"), status, line(f" {anchor.kind}: {anchor.text}"))
        yield indented(line(anchor.reason), 4)
        yield from _proofs(explanation, anchor.evidence)


def _sentences(explanation: Explanation) -> Iterator[RenderableType]:
    for each in explanation.statements:
        sure = "" if each.probability is None else f" {each.probability:.2f}"
        status = Text(each.status.replace("_", " "), style=STANDING_STYLES[each.status])
        yield Text.assemble(status, line(f"{sure}: {each.text}"))
        yield indented(line(each.reason), 4)
        yield from _proofs(explanation, each.evidence)
    yield Text(explanation.verifier_remark, style="dim")


def _proofs(explanation: Explanation, evidence: Sequence[Evidence]) -> Iterator[RenderableType]:
    for proof in explanation.proofs(evidence):
        place = (f"{proof.source}: ", "dim")
        yield indented(Text.assemble(place, proof.before, (proof.text, "underline"), proof.after), 4)


def _metrics(scores: Sequence[Score], *, width: int) -> RenderableType:
    if width < NARROW:
        heads = (Text(" ").join((line(each.metric), number(each.score), _flag(each))) for each in scores)
        return _with_reasons(heads, scores)
    rows = ((each.metric, bar(each.score), number(each.score), _flag(each), each.reason) for each in scores)
    return _table(("", "", "", "", ""), rows)


def _flag(score: Score) -> Text:
    return ruling(score.flag, absent="")


def _rubric(explanation: Explanation, grading: Grading, *, width: int) -> Iterator[RenderableType]:
    """The criteria with grade, points, confidence and reason, the total and outcome, and the issues."""
    outcome = ruling(grading.outcome, absent="no outcome")
    reasons = f" ({' + '.join(grading.reasons)})" if grading.reasons else ""
    total = Text.assemble(("total ", "bold"), number(grading.total), " of 100  ", outcome, line(reasons))
    yield titled(f"Rubric {explanation.rubric_title}", Group(_criteria(grading.grades, width=width), total))
    if grading.issues:
        yield titled("Issues", Group(*(line(f"- {issue}") for issue in grading.issues)))


def _criteria(grades: Sequence[Grade], *, width: int) -> RenderableType:
    if width < WIDE:
        return _with_reasons(_criterion_heads(grades, with_bars=width >= NARROW), grades)
    rows = (
        (each.criterion, _bar(each), _grade(each), number(each.points), number(each.confidence), each.reason)
        for each in grades
    )
    return _table(("", "", "grade", "points", "confidence", "reason"), rows, right=(2, 3, 4))


def _criterion_heads(grades: Sequence[Grade], *, with_bars: bool) -> Iterator[Text]:
    widest = max((cell_len(each.criterion) for each in grades), default=0) if with_bars else 0
    for each in grades:
        name = line(each.criterion)
        name.pad_right(max(0, widest - name.cell_len))
        points = Text.assemble(number(each.points), " points")
        if with_bars:
            points.align("right", len("40.00 points"))
        confidence = Text.assemble("confidence ", number(each.confidence))
        yield Text("  ").join((name, *([_bar(each)] if with_bars else []), _grade(each), points, confidence))


def _with_reasons(heads: Iterable[Text], each: Sequence[Score | Grade]) -> Group:
    """Each reason below its numbers, for a terminal that has no room beside them."""
    pairs = zip(heads, each, strict=True)
    return Group(*(part for head, found in pairs for part in (head, indented(line(found.reason), 4))))


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[RenderableType]], *, right: Collection[int] = ()
) -> RenderableType:
    """The last column, the reasons, takes what room there is."""
    made = table(*heads, rows=rows, right=right, wraps=(len(heads) - 1,))
    made.columns[-1].ratio = 1
    return made


def _grade(grade: Grade) -> Text:
    return Text("not graded" if grade.grade is None else f"{grade.grade}/{TOP}")


def _bar(grade: Grade) -> Text:
    return bar(None if grade.grade is None else grade.grade / TOP)
