"""TrustReport, JudgesReport -> a terminal."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from touchstone.report.figures import NONE, change, change_interval, figure, interval, words
from touchstone.report.judge import JudgesReport, TrustReport, hits, kappa_names
from touchstone.report.plain import one_line
from touchstone.report.terminal.layout import line, table
from touchstone.stats.interval import Proportion
from touchstone.trust.pairs import AgreementFigures
from touchstone.trust.trust import GroupTrust

# From how many columns on kappa fits beside the rest.
ROOM_FOR_ALL = 190
# How long a name may be to stay on one line.
_NAME = 26


def show_trust(report: TrustReport, *, console: Console) -> None:
    """Print what the judge is worth, criterion by criterion and group by group."""
    trust = report.trust
    goldset, standing = line(report.goldset), (report.standing, "bold")
    console.print(Text.assemble(line(trust.judge, "bold"), " on ", goldset, ": ", standing))
    console.print(Text(report.sentence))
    if report.coverage_sentence:
        console.print(Text(report.coverage_sentence))
    console.print("", _table(("", "", ""), report.headline), "", sep="\n")
    heads: tuple[str, ...] = ("criterion", "kappa", "95 % interval", "equal", "within 1", "lean", "graded", "open")
    rows: Iterable[tuple[str, ...]] = (
        (
            words(each.name),
            figure(each.kappa, "unit"),
            interval(each.interval, "unit") or NONE,
            figure(each.equal, "share"),
            figure(each.within_one, "share"),
            change(each.lean, "grade"),
            f"{each.n:,}",
            f"{each.left_open:,}",
        )
        for each in trust.criteria
    )
    console.print(_table(heads, rows), "", sep="\n")
    heads = ("violations", "precision", "95 % interval", "recall", "95 % interval")
    rows = ((words(each.name), *_ratio(each.precision), *_ratio(each.recall)) for each in trust.violations)
    console.print(_table(heads, rows))
    if trust.sets:
        console.print()
        _show_figures("gold set", report.set_figures, console=console)
    for title, groups in (("category", trust.categories), ("length of the reply", trust.lengths)):
        if groups:
            console.print("", _groups(title, groups), sep="\n")
    for remark in report.remarks:
        console.print(Text(f"- {remark}"))


def show_judges(report: JudgesReport, *, console: Console) -> None:
    """Print several judges side by side."""
    console.print(Text.assemble((f"{len(report.judges.rows)} judges", "bold"), " on ", line(report.goldset)))
    console.print(Text(report.sentence))
    console.print()
    _show_figures("judge", report.figures, console=console)
    for remark in report.remarks:
        console.print(line(f"- {remark}"))


def _show_figures(first: str, figures: Mapping[str, AgreementFigures], *, console: Console) -> None:
    """A line for each judge or set; where lines are too long for the terminal, in parts below each other."""
    criteria = kappa_names(figures)
    names = [(name,) for name in figures]
    outcomes = [_outcome(each) for each in figures.values()]
    kappas = [tuple(_kappa(each, criterion) for criterion in criteria) for each in figures.values()]
    violations = [(_share(each.precision), _share(each.recall)) for each in figures.values()]
    heads = (first, "replies", "same outcome", "95 % interval", "false passes", "left open")
    if console.width >= ROOM_FOR_ALL:
        more = ("violations: precision", "violations: recall", *(f"kappa {words(name)}" for name in criteria))
        console.print(_table((*heads, *more), map(_joined, names, outcomes, violations, kappas)))
        return
    console.print(_table(heads, map(_joined, names, outcomes)))
    if criteria:
        console.print("", _table(("kappa", *map(words, criteria)), map(_joined, names, kappas)))
    console.print("", _table(("violations", "precision", "recall"), map(_joined, names, violations)))


def _joined(*parts: Sequence[str]) -> list[str]:
    return [cell for part in parts for cell in part]


def _outcome(found: AgreementFigures) -> tuple[str, ...]:
    same, ends = figure(found.outcome.value, "share"), interval(found.outcome.interval, "share")
    false_pass = NONE if found.false_pass is None else f"{found.false_pass:,}"
    return f"{found.labelled:,}", same, ends, false_pass, f"{found.left_open:,}"


def _kappa(found: AgreementFigures, criterion: str) -> str:
    kappa = found.kappas.get(criterion)
    return figure(kappa.value if kappa else None, "unit")


def _share(found: Proportion | None) -> str:
    return f"{figure(found.value, 'share')} ({hits(found)})" if found else NONE


def _ratio(found: Proportion) -> tuple[str, str]:
    share = f"{figure(found.value, 'share')} ({found.hits:,}/{found.of:,})"
    return share, interval(found.interval, "share") or NONE


def _groups(title: str, groups: Sequence[GroupTrust]) -> RenderableType:
    heads = (title, "same outcome", "95 % interval", "points too many", "95 % interval", "replies")
    rows = (
        (
            words(each.name),
            figure(each.agreement, "share"),
            interval(each.interval, "share") or NONE,
            change(each.lean, "points"),
            change_interval(each.lean_interval, "points") or NONE,
            f"{each.n:,}",
        )
        for each in groups
    )
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    """Rich wraps the others first, so that words of a short name are not broken."""
    kept = list(rows)
    is_whole = all(len(one_line(row[0])) <= _NAME for row in kept)
    right = range(1, len(heads))
    return table(*heads, rows=kept, right=right, gap=3, wraps=right if is_whole else None)
