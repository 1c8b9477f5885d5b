"""RunView -> summary.json: the figures as numbers, for other programs."""

from dataclasses import asdict
from typing import Any

from touchstone.report.run.view import RunView
from touchstone.runs.patterns import Pattern


def run_to_dict(view: RunView) -> dict[str, Any]:
    """The run, its gate, summary, patterns and the examples' ids as one JSON object."""
    summary = asdict(view.summary)
    for figures in (*summary["criteria"], *(each for group in summary["categories"] for each in group["criteria"])):
        figures["counts"] = {str(grade): number for grade, number in figures["counts"].items()}
    return {
        "run": asdict(view.run),
        "gate": _gate(view),
        "summary": summary,
        "patterns": [_pattern(pattern) for pattern in view.patterns],
        "examples": {"best": [each.id for each in view.best], "worst": [each.id for each in view.worst]},
    }


def _gate(view: RunView) -> dict[str, Any] | None:
    if view.gate is None:
        return None
    return {"open": view.gate.is_open, "checks": [asdict(check) for check in view.gate.checks]}


def _pattern(pattern: Pattern) -> dict[str, Any]:
    row = asdict(pattern)
    row["owners"] = dict(pattern.owners)
    row["examples"] = [{"id": id, "detail": detail} for id, detail in pattern.examples]
    return row
