"""A run and its outcomes -> one line of a list of runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.report.plain import one_line
from touchstone.runs.run import Run


@dataclass(frozen=True, slots=True)
class RunLine:
    """What a list shows of a run; `pass_rate` is over the replies that have an outcome, None without any."""

    id: str
    started: str
    state: str
    goldset: str
    labels: str
    replies: int
    scored: int
    pass_rate: float | None


def run_line(run: Run, outcomes: Mapping[str | None, int]) -> RunLine:
    """The line of a run whose replies have these outcomes."""
    passed = outcomes.get("PASS", 0)
    scored = passed + outcomes.get("FAIL", 0)
    return RunLine(
        id=one_line(run.id),
        started=run.started,
        state="finished" if run.finished else "interrupted",
        goldset=one_line(run.receipt.goldset),
        labels=one_line(", ".join(f"{name}={value}" for name, value in run.labels.items())),
        replies=sum(outcomes.values()),
        scored=scored,
        pass_rate=passed / scored if scored else None,
    )


def lines_to_dicts(lines: tuple[RunLine, ...]) -> list[dict[str, Any]]:
    """The lines as JSON objects."""
    return [{name: getattr(line, name) for name in RunLine.__slots__} for line in lines]
