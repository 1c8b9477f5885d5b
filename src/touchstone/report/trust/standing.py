"""JudgeStanding -> what a report says of its judge: a sentence at the top, the figures behind them in a table."""

from dataclasses import dataclass

from touchstone.report.figures import count, figure, interval, moment, sentence
from touchstone.report.plain import one_line
from touchstone.report.trust.view import FEW, FiguresTable, figures_table
from touchstone.trust.measurement import JudgeStanding, Measurement

UNMEASURED = "Nobody has measured this judge: run touchstone review agreement on labelled replies."
# How many measurements the sentence tells; the table has all.
_TOLD = 2


@dataclass(frozen=True, slots=True)
class JudgeView:
    """The judge of a run in words; `standing` is what JSON is made from."""

    name: str
    sentence: str
    table: FiguresTable | None
    notes: tuple[str, ...]
    standing: JudgeStanding


def view_standing(standing: JudgeStanding) -> JudgeView:
    """The view of what is known of a judge."""
    found = standing.measurements
    return JudgeView(
        name=one_line(standing.judge),
        sentence=_sentence(standing) if found else UNMEASURED,
        table=figures_table("measured on", {each.goldset: each.figures for each in found}) if found else None,
        notes=tuple(
            dict.fromkeys(sentence(note) for note in (standing.remark, *(each.note for each in found)) if note)
        ),
        standing=standing,
    )


def _sentence(standing: JudgeStanding) -> str:
    """How often the outcome is people's, what becomes of replies that people call unsafe, and where that is from."""
    first = standing.measurements[0]
    outcomes = [each for each in standing.measurements[:_TOLD] if each.figures.outcome.of]
    if not outcomes:
        return "No reply has both an outcome by this judge and one by people."
    said = f"Same outcome as people for {', '.join(_outcome(each, standing) for each in outcomes)}"
    recall = first.figures.recall
    if recall is not None and recall.of:
        said += f"; of what people call unsafe it finds {recall.hits:,} of {recall.of:,}"
    if standing.origin == "store":
        said += f"; measured {moment(first.made)}"
    elif standing.origin == "product":
        said += "; figures that ship with Touchstone"
    return f"{said}{'; too few to rely on' if outcomes[0].figures.outcome.of < FEW else ''}."


def _outcome(measured: Measurement, standing: JudgeStanding) -> str:
    outcome = measured.figures.outcome
    where = "this run with labels" if standing.origin == "run" else one_line(measured.goldset)
    share, ends = figure(outcome.value, "share"), interval(outcome.interval, "share")
    return f"{share} of {count(outcome.of, 'reply', 'replies')} of {where} ({ends})"
