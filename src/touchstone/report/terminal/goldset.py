"""A gold set's problems, figures, sample and size -> a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from touchstone.goldset.check import Findings
from touchstone.goldset.problems import KINDS, SEVERITIES, Kind, Problem
from touchstone.goldset.stats import GoldsetStats, Labelling, SizeNeeded
from touchstone.goldset.strata import StratifiedSample
from touchstone.report.figures import count, figure
from touchstone.report.goldset import precision_sentence, size_sentences
from touchstone.report.terminal.layout import bar, indented, line, table

SEVERITY_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "cyan"}
# Lines and ids of one problem that are named; the rest is counted.
MOST_PLACES = 6
_LONGEST = 400


def show_findings(findings: Findings, *, name: str, examples: int, console: Console) -> None:
    """Print how many problems there are, then each kind with its meaning, first examples and remedy."""
    counted = ((severity, findings.count(severity)) for severity in SEVERITIES)
    counts = [Text(count(n, kind), style=SEVERITY_STYLES[kind] if n else "") for kind, n in counted]
    total = Text(" · ").join(counts) if findings.problems else Text("no problems found", style="green")
    console.print(Text.assemble(line(name, "bold"), f": {count(findings.cases, 'case')}, ", total))
    if findings.skipped:
        console.print(Text(f"not checked: {', '.join(findings.skipped)}"))
    for kind in KINDS:
        if problems := [problem for problem in findings.problems if problem.code == kind.code]:
            _show_kind(kind, problems, examples=examples, console=console)


def show_stats(stats: GoldsetStats, *, name: str, console: Console) -> None:
    """Print what a gold set holds: categories, fields, lengths, labels, agreement, and what it can measure."""
    unread = f", {count(stats.unread, 'unreadable row')}" if stats.unread else ""
    console.print(Text.assemble(line(name, "bold"), f": {count(stats.cases, 'case')}{unread}"))
    if stats.precision is None:
        return
    console.print(Text(precision_sentence(stats.precision)))
    largest = max(category.share for category in stats.categories)
    rows: Iterable[Sequence[RenderableType]] = (
        (each.name, f"{each.cases:,}", f"{each.share:.1%}", bar(each.share / largest)) for each in stats.categories
    )
    _show_table("category", "cases", "share", "", rows=rows, console=console)
    lengths = {each.field: each for each in stats.lengths}
    fields = (
        (field, f"{given:,}", *(f"{n:,}" for n in (found.median, found.most, found.longest)))
        if (found := lengths.get(field))
        else (field, f"{given:,}")
        for field, given in stats.fields.items()
    )
    _show_table("field", "given", "median words", "9 of 10 within", "longest", rows=fields, console=console)
    if stats.labelling:
        _show_labelling(stats.labelling, console=console)
    if stats.agreement:
        rows = (
            (each.on, " and ".join(each.raters), f"{each.cases:,}", f"{each.equal:.0%}", figure(each.kappa, "unit"))
            for each in stats.agreement
        )
        _show_table("agreement", "raters", "cases", "equal", "kappa", rows=rows, console=console)


def show_sample(sample: StratifiedSample, *, console: Console) -> None:
    """Print how many rows of each stratum were drawn."""
    rows = ((each.name or "all", f"{each.rows:,}", f"{each.drawn:,}") for each in sample.strata)
    console.print(_table(" · ".join(sample.fields) or "all", "rows", "drawn", rows=rows))


def show_size(size: SizeNeeded, *, console: Console) -> None:
    """Print how many cases are needed, and for what."""
    for sentence in size_sentences(size):
        console.print(Text(sentence))


def _show_kind(kind: Kind, problems: Sequence[Problem], *, examples: int, console: Console) -> None:
    title = (kind.severity, SEVERITY_STYLES[kind.severity])
    console.print(Text.assemble("\n", title, " ", (kind.code, "bold"), f" {len(problems):,}: {kind.meaning}"))
    for problem in problems[:examples]:
        remedy = "" if problem.remedy == kind.remedy else f"; {problem.remedy}"
        text = line(f"{_places(problem)}{problem.message}{remedy}")
        if len(text) > _LONGEST:
            text = text[:_LONGEST] + "…"
        console.print(indented(text, 2))
    if len(problems) > examples:
        console.print(indented(Text(f"… and {len(problems) - examples:,} more"), 2))
    console.print(indented(Text(f"→ {kind.remedy}", style="green"), 2))


def _places(problem: Problem) -> str:
    """Where the problem is: lines with the ids of their cases."""
    if not problem.lines:
        return ""
    ids = problem.ids or ("",) * len(problem.lines)
    named = [f"{number} ({id})" if id else f"{number}" for number, id in zip(problem.lines, ids, strict=True)]
    more = f" and {len(named) - MOST_PLACES:,} more" if len(named) > MOST_PLACES else ""
    return f"line{'' if len(named) == 1 else 's'} {', '.join(named[:MOST_PLACES])}{more}: "


def _show_labelling(labelling: Labelling, *, console: Console) -> None:
    raters = ", ".join(f"{rater} {labels:,}" for rater, labels in labelling.raters.items())
    labelled = f"{count(labelling.labelled, 'labelled case')}, {count(labelling.labels, 'label')}"
    console.print(line(f"{labelled}: {raters}", before="\n"))
    if labelling.interval is not None:
        rate = labelling.passed / labelling.concluded
        ends = f"{labelling.interval.low:.1%} to {labelling.interval.high:.1%}"
        console.print(Text(f"outcome by labels: {rate:.1%} PASS of {labelling.concluded:,} ({ends})"))
    found = [f"{kind} {number:,}" for kind, number in labelling.violations.items() if number]
    replies = f" in {count(labelling.unsafe, 'reply', 'replies')}" if found else ""
    console.print(line(f"violations by labels: {' · '.join(found) or 'none'}{replies}"))


def _show_table(*heads: str, rows: Iterable[Sequence[RenderableType]], console: Console) -> None:
    console.print("", _table(*heads, rows=rows), sep="\n")


def _table(*heads: str, rows: Iterable[Sequence[RenderableType]]) -> RenderableType:
    right = [at for at, head in enumerate(heads) if at and head]
    return table(*heads, rows=rows, right=right, gap=3, style="bold")
