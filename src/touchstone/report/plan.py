"""A plan and what its cuts come to on labelled replies -> a terminal, and one JSON object."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, ClassVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from touchstone.core.plan import Plan
from touchstone.report.plain import one_line
from touchstone.report.terminal.layout import indented

_DECIDED = {
    "probability": "the pass probability: send from send_at on if nothing speaks against it, block up to block_at or "
    "with a violation, review anything between",
    "outcome": "the rubric's outcome: PASS sends, FAIL blocks",
    "verdict": "the metrics' verdict: PASS sends, FAIL blocks, WARN is reviewed",
    "both": "outcome and verdict: both PASS sends, either FAIL blocks",
}
_LEAD = (
    "What the cuts come to on replies that people labelled, each judged by a fit that saw nothing of its domain, or "
    "nothing of its whole set. Sent and blocked replies are right if people pass and fail them."
)


@dataclass(frozen=True, slots=True)
class Cuts:
    """The pass probabilities that the counts were made with."""

    send_at: float
    block_at: float


@dataclass(frozen=True, slots=True)
class DecidedSet:
    """One labelled set: its replies, those sent and blocked, and how many of these were right.

    `abstained` is on how many replies the judge left a criterion open; they are reviewed unless a violation blocks.
    """

    COUNTS: ClassVar = ("replies", "sent", "sent_right", "blocked", "blocked_right", "abstained")

    name: str
    left_out: str
    replies: int
    sent: int
    sent_right: int
    blocked: int
    blocked_right: int
    abstained: int

    @property
    def reviewed(self) -> int:
        return self.replies - self.sent - self.blocked


@dataclass(frozen=True, slots=True)
class PassShare:
    """How often sent and blocked replies are right where such a share of all replies passes."""

    passing: str
    sent_that_pass: float
    blocked_that_fail: float


@dataclass(frozen=True, slots=True)
class WayFigures:
    """One way to grade, with the expected reply or without: the sets, and what other pass rates would give."""

    way: str
    sets: tuple[DecidedSet, ...]
    shares: tuple[PassShare, ...]


@dataclass(frozen=True, slots=True)
class PlanView:
    """The plan in force with a note on each setting, and the figures that ship with its judge."""

    plan: Plan
    notes: Mapping[str, str]
    hash: str
    judge: str
    is_calibrated: bool
    counted: Cuts
    ways: tuple[WayFigures, ...]

    @property
    def notices(self) -> tuple[str, ...]:
        """Why the figures may not hold for this plan."""
        plan, shipped = self.plan, Plan()
        said = []
        if (plan.send_at, plan.block_at) != (self.counted.send_at, self.counted.block_at):
            said.append(f"counted with send_at {self.counted.send_at:g} and block_at {self.counted.block_at:g}")
        if (plan.violation_at, plan.suspicion_at) != (shipped.violation_at, shipped.suspicion_at):
            said.append(f"counted with violation_at {shipped.violation_at:g} and suspicion_at {shipped.suspicion_at:g}")
        if plan.decide_by != "probability":
            said.append("counted with decide_by probability")
        if self.judge != "offline":
            said.append("counted with the offline judge")
        if self.is_calibrated:
            said.append("counted without your calibration")
        return tuple(said)


def plan_to_dict(view: PlanView) -> dict[str, Any]:
    """The plan, its hash and the figures as one JSON object."""
    return {
        "plan": asdict(view.plan),
        "hash": view.hash,
        "judge": view.judge,
        "notices": list(view.notices),
        "decisions": {
            **asdict(view.counted),
            "ways": [
                {
                    "way": way.way,
                    "sets": [asdict(each) | {"reviewed": each.reviewed} for each in way.sets],
                    "where_so_many_pass": [asdict(each) for each in way.shares],
                }
                for way in view.ways
            ],
        },
    }


def show_plan(view: PlanView, *, console: Console) -> None:
    """Print the settings, then a table of the labelled sets for each way to grade."""
    console.print(Text.assemble(("Plan ", "bold"), f"{view.hash}, judge {one_line(view.judge)}"))
    settings = Table.grid(padding=(0, 2, 0, 0))
    for name, value in asdict(view.plan).items():
        settings.add_row(name, Text(f"{value}"), Text(view.notes.get(name, ""), style="dim"))
    console.print(indented(settings, 2))
    console.print(Text(f"\nDecided by {_DECIDED[view.plan.decide_by]}."))
    console.print(Text(_LEAD))
    if view.notices:
        console.print(Text(f"Your plan differs: these figures are {'; '.join(view.notices)}.", style="bold yellow"))
    for way in view.ways:
        console.print(Text(f"\n{way.way[:1].upper()}{way.way[1:]}", style="bold"))
        for left_out, sets in groupby(way.sets, key=lambda each: each.left_out):
            console.print(indented(_table(left_out, list(sets)), 2))
        for share in way.shares:
            console.print(indented(Text(_share(share)), 2))


def _table(left_out: str, sets: list[DecidedSet]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column(left_out, no_wrap=True, min_width=len("whole sets left out"))
    for name in ("replies", "pass of sent", "fail of blocked", "reviewed", "abstained"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in sets:
        sent, blocked = f"{each.sent_right:,} of {each.sent:,}", f"{each.blocked_right:,} of {each.blocked:,}"
        counts = (f"{each.replies:,}", sent, blocked, f"{each.reviewed:,}", f"{each.abstained:,}")
        table.add_row(Text(one_line(each.name)), *counts)
    return table


def _share(share: PassShare) -> str:
    return (
        f"where {share.passing.replace('%', ' %')} of replies pass: {100 * share.sent_that_pass:.1f} % of those sent "
        f"pass, {100 * share.blocked_that_fail:.1f} % of those blocked fail"
    )
