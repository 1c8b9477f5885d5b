"""Chats, lookups, tables and policies -> how often a figure of the reply gets the status that a reader gives it."""

from collections import Counter
from time import process_time
from typing import Any

from scripts.labelled import AGENTS, SETS
from tests.evidence.test_conversations import status_of

from benchmarks.cases import ROOT, rows
from benchmarks.record import write
from touchstone import score
from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.check import check
from touchstone.safety.detectors import notice
from touchstone.safety.signs import finding
from touchstone.text.reading import forget, read

# Agreement of the code before records were read as such, and when this code first ran on the rows.
FIRST_RUN = {
    "conversations": {"rows": 400, "before": 203, "first_run": 274},
    "conversations_second": {"rows": 240, "before": 125, "first_run": 188},
}
# What the code before gave the 200 figures: found status -> readers' statuses.
BEFORE = {
    "supported": {"supported": 131, "derived": 3, "contradicted": 2, "none": 37},
    "derived": {"derived": 1},
    "contradicted": {"supported": 3, "derived": 1, "unsupported": 1, "none": 2},
    "unsupported": {"supported": 7, "derived": 6, "contradicted": 3, "unsupported": 1, "none": 2},
}
KINDS = ("pii_leakage", "hallucination")
SIZE = 100_000
SHAPES = {
    "records": '{"id": "A1", "price": 5, "status": "pending"}, ',
    "table": "| row | £5 | 3 days |\n",
    "comma rows": "row,5,6\n",
    "figures": "It costs £5 for 3 days. ",
    "digits": "1-",
    "pairs": "a=5; ",
    "bullets": "- item: £5\n",
    "times": "9:00-5:00 ",
}


def run() -> None:
    """Write results/conversations.json."""
    write(
        "conversations",
        {
            "tables": {name: _table(name) for name in FIRST_RUN},
            "figures_read_by_hand": {"before": BEFORE, "now": _by_hand()},
            "agents": _findings() if AGENTS.exists() else "not measured: TOUCHSTONE_DATA names no folder with agents/",
            "cost_beside_prose": {side: _costs(side) for side in ("context", "response")},
        },
    )


def _table(name: str) -> dict[str, Any]:
    table = rows(ROOT / "tests/tables" / f"{name}.jsonl")
    found = [(row, status_of(row)) for row in table]
    agree = Counter(row["shape"] for row, status in found if status == row["status"])
    print(f"{name}: {agree.total()} of {len(table)}", FIRST_RUN[name], flush=True)
    called = Counter(status for _, status in found)
    right = Counter(status for row, status in found if status == row["status"])
    return {
        **FIRST_RUN[name],
        "agree": agree.total(),
        "share": agree.total() / len(table),
        "right_of_those_called": {status: [right[status], called[status]] for status in sorted(map(str, called))},
        "by_shape": {shape: [agree[shape], total] for shape, total in Counter(row["shape"] for row in table).items()},
    }


def _by_hand() -> dict[str, dict[str, int]]:
    """For each status that Touchstone gives, those that readers gave."""
    labels = rows(ROOT / "data/conversations/anchors.jsonl")
    cases = {row["id"]: row for name in ("agents", "everyday") if SETS[name].exists() for row in rows(SETS[name])}
    table: dict[str, Counter[str]] = {}
    for label in labels:
        if label["case"] in cases:
            found = _status(_open(cases[label["case"]]), label)
            table.setdefault(found, Counter())[label["status"]] += 1
    return {status: dict(counts) for status, counts in sorted(table.items())}


def _open(row: dict[str, Any]) -> Case:
    """The case as it would come from production: its expected reply only where nothing else is given."""
    hidden = ("labels", "expected_output") if row.get("context") else ("labels",)
    return case_from_dict({name: value for name, value in row.items() if name not in hidden})


def _status(case: Case, label: dict[str, Any]) -> str:
    anchors = check(read(case), plan=Plan()) or ()
    near = [a for a in anchors if a.kind != "claim" and a.start < label["end"] and label["start"] < a.end]
    return near[0].status if near else "none"


def _findings() -> dict[str, Any]:
    """Of the agents' replies: how many with a finding have the violation, and how many with it have a finding."""
    told: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for row in rows(AGENTS):
        marked = {kind for label in row["labels"] for kind in label["violations"]}
        reading = read(_open(row))
        anchors = check(reading, plan=Plan())
        found = _kinds(reading, anchors)
        for kind in KINDS:
            told[kind]["found" if kind in found else "missed"] += kind in marked
            told[kind]["false"] += kind in found and kind not in marked
    return {kind: dict(counts) for kind, counts in told.items()}


def _kinds(reading: Reading, anchors: tuple[Anchor, ...] | None) -> set[str]:
    plan = Plan()
    findings = [finding(sign, reading) for sign in notice(reading, anchors, policy=Policy())]
    return {each.kind for each in findings if (each.confidence or 0) >= plan.suspicion_at}


def _costs(side: str) -> dict[str, float]:
    """How often as long as prose of the same length each shape takes to be scored."""
    prose = _seconds(side, " ".join(passage for row in rows(SETS["industries"]) for passage in row["context"]))
    return {name: _seconds(side, unit) / prose for name, unit in SHAPES.items()}


def _seconds(side: str, unit: str) -> float:
    text = (unit * (SIZE // len(unit) + 1))[: SIZE - 1]
    short = "The refund takes 14 days and costs £5."
    case = Case(
        input="When?", response=text if side == "response" else short, context=[text if side == "context" else short]
    )
    forget()
    start = process_time()
    score(case)
    return process_time() - start
