"""Tables of values and dates -> how often Touchstone gives the status, and the kind, that the row expects."""

from collections import Counter
from typing import Any

import touchstone
from benchmarks.cases import ROOT, rows
from benchmarks.record import write
from touchstone.core.result import Anchor

# Rows agreeing in status and kind when the code first ran on the table, before any fix.
FIRST_RUN = {
    "values": {"agree": 354, "rows": 420, "note": "written without sight of the code, committed before it first ran"},
    "values_held": {"agree": 144, "rows": 180, "note": "written later and independently"},
}


def run() -> None:
    """Write results/values.json and name the rows that disagree."""
    write("values", {"tables": {name: _table(name) for name in FIRST_RUN}})


def _table(name: str) -> dict[str, Any]:
    table = rows(ROOT / "tests/tables" / f"{name}.jsonl")
    total, agree = Counter(row["group"] for row in table), Counter()
    wrong: list[dict[str, str]] = []
    status_agrees = 0
    for row in table:
        status, kind = _found(row)
        status_agrees += status == row["status"]
        if status == row["status"] and kind == row["kind"]:
            agree[row["group"]] += 1
        else:
            wrong.append({"id": row["id"], "expected": f"{row['status']} {row['kind']}", "found": f"{status} {kind}"})
    first = FIRST_RUN[name]
    print(f"{name}: status {status_agrees}/{len(table)}, status and kind {agree.total()}/{len(table)}", end="")
    print(f" (first run {first['agree']}/{first['rows']})", flush=True)
    for row in wrong:
        print(f"  {row['id']}: expected {row['expected']}, found {row['found']}")
    return {
        "rows": len(table),
        "status": {"agree": status_agrees, "share": status_agrees / len(table)},
        "status_and_kind": {"agree": agree.total(), "share": agree.total() / len(table)},
        "first_run_status_and_kind": {**first, "share": first["agree"] / first["rows"]},
        "by_group": {group: {"agree": agree[group], "rows": count} for group, count in sorted(total.items())},
        "disagree": wrong,
    }


def _found(row: dict[str, Any]) -> tuple[str, str | None]:
    """Status and kind of what Touchstone finds where the row's phrase stands; no anchor there is `none`."""
    case = touchstone.Case(response=row["reply"], context=[row["source"]], metadata=row.get("metadata"))
    result = touchstone.score(case)
    start = row["reply"].index(row["anchor"])
    hits = [anchor for anchor in _values(result) if anchor.start < start + len(row["anchor"]) and anchor.end > start]
    if not hits:
        return "none", None
    return "+".join(anchor.status for anchor in hits), "+".join(anchor.kind for anchor in hits)


def _values(result: touchstone.Result) -> list[Anchor]:
    anchors = result.metrics["hallucination"].anchors if result.metrics else None
    return [anchor for anchor in anchors or () if anchor.kind != "claim"]
