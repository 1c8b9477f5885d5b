"""A plan and what its cuts come to on labelled replies -> a terminal, and one JSON object."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from touchstone.core.plan import Plan
from touchstone.report.figures import first_up
from touchstone.report.plain import one_line
from touchstone.report.terminal.layout import indented, line, table

_DECIDED = {
    "probability": "the pass probability: send from send_at on if nothing counts against it, block up to block_at or "
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
class PlanView:
    """The plan in force with a note on each setting, and the figures that ship with its judge.

    `decisions` holds the cuts that were counted with and, for each mode of grading, the labelled sets and what other
    pass rates would give, as its JSON shows them.
    """

    plan: Plan
    notes: Mapping[str, str]
    hash: str
    judge: str
    is_calibrated: bool
    decisions: Mapping[str, Any]

    @property
    def notices(self) -> tuple[str, ...]:
        """Why the figures may not hold for this plan."""
        plan, shipped = self.plan, Plan()
        said = []
        send_at, block_at = self.decisions["send_at"], self.decisions["block_at"]
        if (plan.send_at, plan.block_at) != (send_at, block_at):
            said.append(f"counted with send_at {send_at:g} and block_at {block_at:g}")
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
        "decisions": view.decisions,
    }


def show_plan(view: PlanView, *, console: Console) -> None:
    """Print the settings, then a table of the labelled sets for each mode of grading."""
    console.print(Text.assemble(("Plan ", "bold"), f"{view.hash}, judge {one_line(view.judge)}"))
    settings = [(name, f"{value}", line(view.notes.get(name, ""), "dim")) for name, value in asdict(view.plan).items()]
    console.print(indented(table("", "", "", rows=settings, wraps=None), 2))
    console.print(Text(f"\nDecided by {_DECIDED[view.plan.decide_by]}."))
    console.print(Text(_LEAD))
    if view.notices:
        console.print(Text(f"Your plan differs: these figures are {'; '.join(view.notices)}.", style="bold yellow"))
    for mode in view.decisions["ways"]:
        console.print(Text(f"\n{first_up(mode['way'])}", style="bold"))
        for left_out, sets in groupby(mode["sets"], key=itemgetter("left_out")):
            console.print(indented(_table(left_out, sets), 2))
        for share in mode["where_so_many_pass"]:
            console.print(indented(Text(_share(share)), 2))


def _table(left_out: str, sets: Iterable[Mapping[str, Any]]) -> RenderableType:
    rows = (
        (
            each["name"],
            f"{each['replies']:,}",
            f"{each['sent_right']:,} of {each['sent']:,}",
            f"{each['blocked_right']:,} of {each['blocked']:,}",
            f"{each['reviewed']:,}",
            f"{each['abstained']:,}",
        )
        for each in sets
    )
    heads = (left_out, "replies", "pass of sent", "fail of blocked", "reviewed", "abstained")
    made = table(*heads, rows=rows, right=range(1, 6), gap=1, wraps=())
    made.columns[0].min_width = len("whole sets left out")
    return made


def _share(share: Mapping[str, Any]) -> str:
    return (
        f"where {share['passing'].replace('%', ' %')} of replies pass: {100 * share['sent_that_pass']:.1f} % of those "
        f"sent pass, {100 * share['blocked_that_fail']:.1f} % of those blocked fail"
    )
