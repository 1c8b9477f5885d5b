"""What is known of judges -> the sentences every form has in common, and their JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from touchstone.report.figures import change, count, figure, interval, moment, sentence, words
from touchstone.report.plain import one_line
from touchstone.stats.interval import Proportion
from touchstone.trust.measurement import JudgeStanding, JudgeTable, Measurement
from touchstone.trust.pairs import AgreementFigures, figures_to_dict
from touchstone.trust.trust import Trust, coverage_sentence

# Landis and Koch (1977) call kappa up to 0.20 slight, 0.40 fair, 0.60 moderate, 0.80 substantial. Their names are soft,
# so only the ends are named here: below the first a judge is no help, from the last on it can replace a person.
NO_HELP, AS_GOOD = 0.4, 0.8
FEW = 30
MANY_GROUPS = 10
UNMEASURED = "Nobody has measured this judge: run touchstone review agreement on labelled replies."
# How many measurements the sentence names; the table has all.
_TOLD = 2


@dataclass(frozen=True, slots=True)
class TrustReport:
    """One judge compared with people's labels of a gold set; its properties are for people."""

    trust: Trust
    goldset: str
    notes: Sequence[str] = ()

    @property
    def standing(self) -> str:
        kappa = self.trust.outcome.kappa
        if kappa is None or self.trust.outcome.n < FEW:
            return "too little to say"
        if kappa < NO_HELP:
            return "not to be trusted"
        return "agrees with people" if kappa >= AS_GOOD else "agrees in part"

    @property
    def sentence(self) -> str:
        outcome = self.trust.outcome
        if outcome.agreement is None:
            return "No reply has both an outcome by the judge and one by people."
        wrong = f"{count(outcome.false_pass, 'false pass', 'false passes')} (people fail the reply), "
        wrong += f"{count(outcome.false_fail, 'false fail')} (people pass it)"
        return (
            f"Judge and people come to the same outcome for {figure(outcome.agreement, 'share')} of "
            f"{count(outcome.n, 'reply', 'replies')} ({interval(outcome.interval, 'share')}); {wrong}."
        )

    @property
    def coverage_sentence(self) -> str:
        """What it would bring to send the least certain replies to people; empty when there is nothing to say."""
        return sentence(coverage_sentence(self.trust.coverage) or "")

    @property
    def headline(self) -> list[tuple[str, str, str]]:
        """Names, values, and the range or the counts behind them."""
        trust, outcome, corrected = self.trust, self.trust.outcome, self.trust.corrected
        return [
            ("same outcome", figure(outcome.agreement, "share"), interval(outcome.interval, "share")),
            ("kappa of the outcome", figure(outcome.kappa, "unit"), interval(outcome.kappa_interval, "unit")),
            ("pass rate by the judge", figure(trust.pass_rate, "share"), count(trust.cases, "reply", "replies")),
            ("pass rate by people", figure(trust.people_pass_rate, "share"), f"{trust.labelled:,} labelled"),
            ("corrected pass rate", figure(corrected.rate, "share"), interval(corrected.interval, "share")),
            ("left open by the judge", f"{outcome.left_open:,}", "without an outcome, so they never agree"),
        ]

    @property
    def set_figures(self) -> dict[str, AgreementFigures]:
        return {each.name: each.figures for each in self.trust.sets}

    @property
    def remarks(self) -> list[str]:
        """What was noted on the way, then what weakens the figures."""
        trust = self.trust
        remarks = list(map(sentence, self.notes))
        if trust.outcome.n < FEW:
            few = count(trust.outcome.n, "reply", "replies")
            remarks.append(f"{few} with both outcomes are few: label at least {FEW}.")
        groups = (*trust.categories, *trust.lengths)
        biased = [each for each in groups if (ends := each.lean_interval) and (ends.low > 0 or ends.high < 0)]
        for group in biased:
            lean = "too kind" if (group.lean or 0) > 0 else "too strict"
            remarks.append(f"The judge is {lean} on {words(group.name)}: {change(group.lean, 'points')} points.")
        if biased and len(groups) > MANY_GROUPS:
            remarks.append(f"With {len(groups)} groups, one in twenty differs by chance.")
        found = trust.confidence
        if found is not None and found.mean_confidence - found.accuracy > 0.1:
            remarks.append(
                f"The judge is surer than it should be: it states {found.mean_confidence:.2f} and is right "
                f"{found.accuracy:.2f} of the time."
            )
        return remarks


@dataclass(frozen=True, slots=True)
class JudgesReport:
    """Several judges side by side on the replies that all of them graded."""

    judges: JudgeTable
    goldset: str
    remarks: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        judges = self.judges
        compared = f"{judges.common:,} of {count(judges.labelled, 'labelled reply', 'labelled replies')}"
        unequal = [f"{one_line(row.judge)} graded {row.graded:,}" for row in judges.rows if row.graded > judges.common]
        more = f"; {', '.join(unequal)}, the rest is left out here" if unequal else ""
        return f"Compared on {compared}, those that every judge graded{more}."

    @property
    def figures(self) -> dict[str, AgreementFigures]:
        return {row.judge: row.figures for row in self.judges.rows}


def kappa_names(rows: Mapping[str, AgreementFigures]) -> list[str]:
    """The criteria that any of the rows has a kappa for."""
    return list(dict.fromkeys(name for figures in rows.values() for name in figures.kappas))


def hits(found: Proportion | None) -> str:
    """The counts behind a share: 4 of 9."""
    return "" if found is None else f"{found.hits:,} of {found.of:,}"


def standing_figures(standing: JudgeStanding) -> dict[str, AgreementFigures]:
    """The figures of a run's judge by what they were measured on."""
    return {each.goldset: each.figures for each in standing.measurements}


def standing_notes(standing: JudgeStanding) -> list[str]:
    """What is to be known of the figures, each note once."""
    notes = (standing.remark, *(each.note for each in standing.measurements))
    return list(dict.fromkeys(sentence(note) for note in notes if note))


def standing_sentence(standing: JudgeStanding) -> str:
    """How often the outcome is people's, what becomes of replies that people call unsafe, and where that is from."""
    if not standing.measurements:
        return UNMEASURED
    first = standing.measurements[0]
    outcomes = [each for each in standing.measurements[:_TOLD] if each.figures.outcome.of]
    if not outcomes:
        return "No reply has both an outcome by this judge and one by people."
    said = f"Same outcome as people for {', '.join(_outcome(each, standing) for each in outcomes)}"
    recall = first.figures.recall
    if recall is not None and recall.of:
        said += f"; of what people call unsafe it finds {hits(recall)}"
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


def trust_to_dict(report: TrustReport) -> dict[str, Any]:
    """Every figure under its own name, with the sentences that sum them up."""
    return {
        "goldset": one_line(report.goldset),
        "standing": report.standing,
        "sentence": report.sentence,
        "coverage_sentence": report.coverage_sentence,
        "remarks": report.remarks,
        **asdict(report.trust),
    }


def judges_to_dict(report: JudgesReport) -> dict[str, Any]:
    """Several judges: `graded` is of all labelled replies, the figures are of those that all of them graded."""
    rows = ({"judge": row.judge, "graded": row.graded, **_figures(row.figures)} for row in report.judges.rows)
    return {
        "goldset": one_line(report.goldset),
        "labelled": report.judges.labelled,
        "common": report.judges.common,
        "remarks": list(report.remarks),
        "judges": list(rows),
    }


def standing_to_dict(standing: JudgeStanding) -> dict[str, Any]:
    """The judge of a run, where its figures come from, and the figures."""
    return {
        "name": standing.judge,
        "measured": standing.origin,
        "measurements": [
            {"goldset": each.goldset, "made": each.made or None, **_figures(each.figures), "note": each.note}
            for each in standing.measurements
        ],
        "remark": standing.remark or None,
    }


def _figures(figures: AgreementFigures) -> dict[str, Any]:
    shares = {"outcome": figures.outcome, "precision": figures.precision, "recall": figures.recall}
    return {**figures_to_dict(figures), **{name: _share(found) for name, found in shares.items()}}


def _share(found: Proportion | None) -> dict[str, Any] | None:
    if found is None:
        return None
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return {"hits": found.hits, "of": found.of, "value": found.value, "low": low, "high": high}
