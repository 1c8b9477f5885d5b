"""RunView -> summary.json: the figures as numbers, for other programs."""

from dataclasses import asdict
from typing import Any

from touchstone.report.run.view import RunView
from touchstone.report.trust.json import standing_to_dict
from touchstone.runs.patterns import Pattern
from touchstone.runs.summary import Summary


def run_to_dict(view: RunView) -> dict[str, Any]:
    """The run, its gate and judge, summary, patterns and the examples' ids as one JSON object."""
    return {
        "run": asdict(view.run),
        "gate": _gate(view),
        "judge": standing_to_dict(view.judge.standing),
        "summary": figures_to_dict(view.summary),
        "patterns": [pattern_to_dict(pattern) for pattern in view.patterns],
        "examples": {"best": [each.id for each in view.best], "worst": [each.id for each in view.worst]},
        "waived": [{"id": row.id, "draft": row.draft, "violation": line} for row in view.rows for line in row.waived],
    }


def _gate(view: RunView) -> dict[str, Any] | None:
    if view.gate is None:
        return None
    return {
        "open": view.gate.is_open,
        "standing": view.gate.standing,
        "checks": [asdict(check) for check in view.gate.checks],
    }


def figures_to_dict(summary: Summary) -> dict[str, Any]:
    """The summary as one JSON object."""
    row = asdict(summary)
    for figures in (*row["criteria"], *(each for group in row["categories"] for each in group["criteria"])):
        figures["counts"] = {str(grade): number for grade, number in figures["counts"].items()}
    return row


def pattern_to_dict(pattern: Pattern) -> dict[str, Any]:
    """The pattern as one JSON object."""
    row = asdict(pattern)
    row["owners"] = dict(pattern.owners)
    row["examples"] = [{"id": id, "detail": detail} for id, detail in pattern.examples]
    return row
