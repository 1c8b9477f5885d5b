"""What was found of judges -> plain values for machines."""

from dataclasses import asdict
from typing import Any

from touchstone.report.trust.view import JudgeTableView, TrustView
from touchstone.stats.interval import Proportion
from touchstone.trust.measurement import JudgeStanding
from touchstone.trust.pairs import AgreementFigures, figures_to_dict


def trust_to_dict(view: TrustView) -> dict[str, Any]:
    """Every figure under its own name, with the sentences that sum them up."""
    return {
        "goldset": view.goldset,
        "standing": view.standing,
        "sentence": view.sentence,
        "coverage_sentence": view.coverage_sentence,
        "remarks": list(view.remarks),
        **asdict(view.trust),
    }


def judges_to_dict(view: JudgeTableView) -> dict[str, Any]:
    """Several judges: `graded` is of all labelled replies, the figures are of those that all of them graded."""
    return {
        "goldset": view.goldset,
        "labelled": view.judges.labelled,
        "common": view.judges.common,
        "remarks": list(view.remarks),
        "judges": [{"judge": row.judge, "graded": row.graded, **_figures(row.figures)} for row in view.judges.rows],
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
