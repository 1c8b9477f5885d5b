"""Figures of several judges, or of one judge on several sets -> one table in words, a line each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.report.figures import NONE, count, figure, interval, words
from touchstone.report.plain import one_line
from touchstone.runs.trust.figures import AgreementFigures, Kappa, Proportion
from touchstone.runs.trust.measurement import JudgeTable


@dataclass(frozen=True, slots=True)
class FiguresCell:
    """A figure, and the range or the counts it stands for."""

    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class FiguresLine:
    """One judge or set: how many replies, how often the outcome is people's, kappa by criterion, violations, errors."""

    name: str
    replies: str
    outcome: FiguresCell
    kappas: tuple[FiguresCell, ...]
    precision: FiguresCell
    recall: FiguresCell
    false_pass: str
    left_open: str


@dataclass(frozen=True, slots=True)
class FiguresTable:
    """The lines under one head; `first` says what a line is about, `criteria` what the kappas are of."""

    first: str
    criteria: tuple[str, ...]
    lines: tuple[FiguresLine, ...]


@dataclass(frozen=True, slots=True)
class JudgeTableView:
    """Several judges side by side, in words; `judges` is what JSON is made from."""

    goldset: str
    sentence: str
    table: FiguresTable
    remarks: tuple[str, ...]
    judges: JudgeTable


def figures_table(first: str, rows: Mapping[str, AgreementFigures]) -> FiguresTable:
    """The table of figures by the name of their line."""
    criteria = tuple(dict.fromkeys(name for figures in rows.values() for name in figures.kappas))
    lines = (_line(name, figures, criteria=criteria) for name, figures in rows.items())
    return FiguresTable(first, tuple(map(words, criteria)), tuple(lines))


def view_judges(judges: JudgeTable, *, goldset: str, remarks: Sequence[str] = ()) -> JudgeTableView:
    """The view of several judges on the replies that all of them graded."""
    compared = f"{judges.common:,} of {count(judges.labelled, 'labelled reply', 'labelled replies')}"
    unequal = [f"{one_line(row.judge)} graded {row.graded:,}" for row in judges.rows if row.graded > judges.common]
    more = f"; {', '.join(unequal)}, the rest is left out here" if unequal else ""
    return JudgeTableView(
        goldset=one_line(goldset),
        sentence=f"Compared on {compared}, those that every judge graded{more}.",
        table=figures_table("judge", {row.judge: row.figures for row in judges.rows}),
        remarks=tuple(remarks),
        judges=judges,
    )


def _line(name: str, figures: AgreementFigures, *, criteria: Sequence[str]) -> FiguresLine:
    return FiguresLine(
        name=one_line(name),
        replies=f"{figures.labelled:,}",
        outcome=FiguresCell(figure(figures.outcome.value, "share"), interval(figures.outcome.interval, "share")),
        kappas=tuple(_kappa(figures.kappas.get(criterion)) for criterion in criteria),
        precision=_share(figures.precision),
        recall=_share(figures.recall),
        false_pass=NONE if figures.false_pass is None else f"{figures.false_pass:,}",
        left_open=f"{figures.left_open:,}",
    )


def _kappa(found: Kappa | None) -> FiguresCell:
    return (
        FiguresCell(NONE)
        if found is None
        else FiguresCell(figure(found.value, "unit"), interval(found.interval, "unit"))
    )


def _share(found: Proportion | None) -> FiguresCell:
    if found is None:
        return FiguresCell(NONE)
    return FiguresCell(figure(found.value, "share"), f"{found.hits:,} of {found.of:,}")
