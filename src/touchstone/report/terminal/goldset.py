"""A gold set's problems, figures, sample and size -> a terminal. What a file says is only ever `Text`, never markup."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.goldset.check import Findings
from touchstone.goldset.problems import SEVERITIES, Problem
from touchstone.goldset.stats import GoldsetStats, Labelling, SizeNeeded
from touchstone.goldset.strata import StratifiedSample
from touchstone.report.goldset import ProblemGroup, grouped, precision_sentence, size_sentences
from touchstone.report.plain import one_line
from touchstone.report.terminal.marks import bar, indented

SEVERITY_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "cyan"}
# Lines and ids of one problem that are named; the rest is counted.
MOST_PLACES = 6
_LONGEST = 400


def show_findings(findings: Findings, *, name: str, examples: int, console: Console) -> None:
    """Print how many problems there are, then each kind with its meaning, first examples and remedy."""
    counts = [_counted(findings.count(severity), severity) for severity in SEVERITIES]
    total = Text(" · ").join(counts) if findings.problems else Text("no problems found", style="green")
    console.print(Text.assemble((one_line(name), "bold"), f": {_counted(findings.cases, 'case').plain}, ", total))
    if findings.skipped:
        console.print(Text(f"not looked for: {', '.join(findings.skipped)}"))
    for group in grouped(findings):
        _show_group(group, examples=examples, console=console)


def show_stats(stats: GoldsetStats, *, name: str, console: Console) -> None:
    """Print what a gold set holds: categories, fields, lengths, labels, agreement, and what it can measure."""
    unread = f", {_counted(stats.unread, 'unreadable row').plain}" if stats.unread else ""
    console.print(Text.assemble((one_line(name), "bold"), f": {_counted(stats.cases, 'case').plain}{unread}"))
    if stats.precision is None:
        return
    console.print(Text(precision_sentence(stats.precision)))
    table = _table("category", "cases", "share", "")
    largest = max(category.share for category in stats.categories)
    for category in stats.categories:
        cells = (f"{category.cases:,}", f"{category.share:.1%}", bar(category.share / largest))
        table.add_row(Text(one_line(category.name)), *cells)
    console.print("", table, sep="\n")
    table = _table("field", "given", "median words", "9 of 10 within", "longest")
    lengths = {each.field: each for each in stats.lengths}
    for field, given in stats.fields.items():
        length = lengths.get(field)
        words = (length.median, length.most, length.longest) if length else ("", "", "")
        table.add_row(field, f"{given:,}", *(f"{each:,}" if isinstance(each, int) else each for each in words))
    console.print("", table, sep="\n")
    if stats.labelling:
        _show_labelling(stats.labelling, console=console)
    if stats.agreement:
        _show_agreement(stats, console=console)


def show_sample(sample: StratifiedSample, *, console: Console) -> None:
    """Print how many rows of each stratum were drawn."""
    table = _table(" · ".join(one_line(field) for field in sample.fields) or "all", "rows", "drawn")
    for stratum in sample.strata:
        table.add_row(Text(one_line(stratum.name) or "all"), f"{stratum.rows:,}", f"{stratum.drawn:,}")
    console.print(table)


def show_size(size: SizeNeeded, *, console: Console) -> None:
    """Print how many cases are needed, and for what."""
    for sentence in size_sentences(size):
        console.print(Text(sentence))


def _show_group(group: ProblemGroup, *, examples: int, console: Console) -> None:
    kind = group.kind
    title = (kind.severity, SEVERITY_STYLES[kind.severity])
    console.print(Text.assemble("\n", title, " ", (kind.code, "bold"), f" {len(group.problems):,}: {kind.meaning}"))
    for problem in group.problems[:examples]:
        remedy = "" if problem.remedy == kind.remedy else f"; {problem.remedy}"
        text = one_line(f"{_places(problem)}{problem.message}{remedy}")
        console.print(indented(Text(text if len(text) <= _LONGEST else text[:_LONGEST] + "…"), 2))
    if len(group.problems) > examples:
        console.print(indented(Text(f"… and {len(group.problems) - examples:,} more"), 2))
    console.print(indented(Text(f"→ {kind.remedy}", style="green"), 2))


def _places(problem: Problem) -> str:
    """Where the problem is: lines with the ids of their cases."""
    if not problem.lines:
        return ""
    ids = problem.ids or ("",) * len(problem.lines)
    named = [f"{line} ({id})" if id else f"{line}" for line, id in zip(problem.lines, ids, strict=True)]
    more = f" and {len(named) - MOST_PLACES:,} more" if len(named) > MOST_PLACES else ""
    return f"line{'' if len(named) == 1 else 's'} {', '.join(named[:MOST_PLACES])}{more}: "


def _show_labelling(labelling: Labelling, *, console: Console) -> None:
    raters = ", ".join(f"{one_line(rater)} {count:,}" for rater, count in labelling.raters.items())
    labels = _counted(labelling.labels, "label").plain
    console.print(Text(f"\n{_counted(labelling.labelled, 'labelled case').plain}, {labels}: {raters}"))
    if labelling.interval is not None:
        rate = labelling.passed / labelling.concluded
        ends = f"{labelling.interval.low:.1%} to {labelling.interval.high:.1%}"
        console.print(Text(f"outcome by labels: {rate:.1%} PASS of {labelling.concluded:,} ({ends})"))
    found = [f"{one_line(kind)} {count:,}" for kind, count in labelling.violations.items() if count]
    replies = f" in {labelling.unsafe:,} {'reply' if labelling.unsafe == 1 else 'replies'}" if found else ""
    console.print(Text(f"violations by labels: {' · '.join(found) or 'none'}{replies}"))


def _show_agreement(stats: GoldsetStats, *, console: Console) -> None:
    table = _table("agreement", "raters", "cases", "equal", "kappa")
    for each in stats.agreement:
        kappa = "–" if each.kappa is None else f"{each.kappa:.2f}"
        raters = Text(one_line(" and ".join(each.raters)))
        table.add_row(Text(one_line(each.on)), raters, f"{each.cases:,}", f"{each.equal:.0%}", kappa)
    console.print("", table, sep="\n")


def _counted(number: int, noun: str) -> Text:
    return Text(f"{number:,} {noun}{'' if number == 1 else 's'}", style=SEVERITY_STYLES.get(noun, "") if number else "")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for at, name in enumerate(columns):
        table.add_column(name, justify="left" if at == 0 or not name else "right", no_wrap=at > 0)
    return table
