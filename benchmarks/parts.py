"""Gold-set and varied replies -> what each part of scoring costs in a job, beside another state of the code.

`python -m benchmarks parts --against FOLDER` names a checkout of the state to compare with. Both states score the same
batches in turn, each in a process of its own that is waiting meanwhile, by the clock of its processor: what else the
machine does falls on both. The bytes they write must be the same.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from benchmarks.cases import GOLD_SETS, ROOT, gold_set
from benchmarks.record import code_hash, write
from benchmarks.replies import replies
from touchstone.app.config import Settings
from touchstone.app.jobs.work import Placed, ShardWork
from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict
from touchstone.io.cases import Entry
from touchstone.io.shards import excerpt_bytes

BATCH = 32
# Scored before anything is timed, so that models and word lists are loaded.
WARM = 20
# Part -> the functions it consists of, by the module that calls them. What is left is handing over and counting.
PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "reading and parsing": (("touchstone.app.score", "read_ahead"), ("touchstone.runs.evaluate", "read")),
    "evidence": (("touchstone.runs.evaluate", "check"),),
    "metrics": tuple(
        ("touchstone.runs.evaluate", name) for name in ("relevance", "completeness", "hallucination", "decide")
    ),
    "detectors": tuple(("touchstone.runs.evaluate", name) for name in ("body_of", "anchors_of", "inspect")),
    "judge": (("touchstone.runs.evaluate", "see"), ("touchstone.runs.evaluate", "judge")),
    "tags": (("touchstone.app.jobs.work", "record"),),
    "excerpt": (("touchstone.app.jobs.work", "excerpt"), ("touchstone.app.jobs.work", "_examples")),
    "encoding": (("touchstone.app.jobs.work", "encode"),),
}


def run(arguments: Sequence[str] = ()) -> None:
    """Write results/parts.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks parts")
    parser.add_argument("--rows", type=int, default=2000, help="varied replies, behind those of the gold sets")
    parser.add_argument("--batches", type=int, help="no more than so many, evenly over all, for a first look")
    parser.add_argument("--against", metavar="FOLDER", help="a checkout of the state to compare with")
    options = parser.parse_args(list(arguments))
    states = {"now": ROOT} | ({"before": Path(options.against)} if options.against else {})
    children = {name: _start(folder, rows=options.rows) for name, folder in states.items()}
    codes = {name: json.loads(_ask(child, "code")) for name, child in children.items()}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in states}
    whole = -(-_count(options.rows) // BATCH)
    chosen = range(0, whole, max(1, whole // options.batches))[: options.batches] if options.batches else range(whole)
    for number, at in enumerate(chosen):
        for name in list(states)[:: 1 if number % 2 else -1]:
            found[name].append(json.loads(_ask(children[name], str(at))))
    for child in children.values():
        child.communicate()
    rows = sum(each["rows"] for each in found["now"])
    write("parts", {"rows": rows, "of": _count(options.rows), "batch": BATCH, "codes": codes, **_figures(found)})


def _figures(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Milliseconds a reply of each part and state; the ratio of all is the median of the batches' ratios."""
    rows = sum(each["rows"] for each in found["now"])
    cost = {
        name: {part: sum(each["ms"].get(part, 0.0) for each in batches) / rows for part in [*PARTS, "rest", "all"]}
        for name, batches in found.items()
    }
    figures: dict[str, Any] = {"ms_per_reply": cost}
    if "before" in found:
        pairs = list(zip(found["before"], found["now"], strict=True))
        figures["now_to_before"] = median(now["ms"]["all"] / before["ms"]["all"] for before, now in pairs)
        figures["identical"] = all(before["digest"] == now["digest"] for before, now in pairs)
        print(f"now / before {figures['now_to_before']:.3f}; same bytes: {figures['identical']}", flush=True)
    for part in [*PARTS, "rest", "all"]:
        print(f"{part:24}" + "".join(f"{name} {cost[name][part]:7.2f} ms   " for name in cost), flush=True)
    return figures


def _start(folder: Path, *, rows: int) -> "subprocess.Popen[str]":
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.parts", str(rows)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )


def _ask(child: "subprocess.Popen[str]", what: str) -> str:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(f"{what}\n")
    child.stdin.flush()
    return child.stdout.readline()


def _count(rows: int) -> int:
    return rows + sum(len(gold_set(name)) for name in GOLD_SETS)


def _cases(rows: int) -> Iterator[Case]:
    for name in GOLD_SETS:
        yield from gold_set(name)
    yield from map(case_from_dict, replies(0, rows))


def _serve(rows: int) -> None:
    """In a child: the batch of each number that comes in, and what it cost in each part as a line that goes out."""
    spent: dict[str, float] = defaultdict(float)
    for part, functions in PARTS.items():
        for module, name in functions:
            _time(module, name, part=part, spent=spent)
    work = ShardWork(Settings(), "parquet")
    work.prepare()
    work(_placed(gold_set(GOLD_SETS[0])[:WARM]))
    cases = list(_cases(rows))
    for line in sys.stdin:
        if line.strip() == "code":
            print(json.dumps(code_hash()), flush=True)
            continue
        first = int(line) * BATCH
        batch = cases[first : first + BATCH]
        spent.clear()
        start = process_time()
        content = work(_placed(batch))
        whole = process_time() - start
        spent["rest"], spent["all"] = whole - sum(spent.values()), whole
        parts = {part: 1000 * seconds for part, seconds in spent.items()}
        counted = json.dumps(content.counts, sort_keys=True).encode()
        digest = hashlib.sha256(content.content + counted + excerpt_bytes(content.excerpt)).hexdigest()
        print(json.dumps({"rows": len(batch), "ms": parts, "digest": digest}), flush=True)


def _placed(cases: Sequence[Case]) -> list[Placed]:
    return [Placed(Entry("cases.jsonl", at, case), {"source": "cases.jsonl"}) for at, case in enumerate(cases, 1)]


def _time(module: str, name: str, *, part: str, spent: dict[str, float]) -> None:
    """Has a function add what it costs to its part."""
    home = import_module(module)
    original: Callable[..., Any] = getattr(home, name)

    def timed(*given: Any, **options: Any) -> Any:
        with _adding(part, spent):
            return original(*given, **options)

    setattr(home, name, timed)


@contextmanager
def _adding(part: str, spent: dict[str, float]) -> Iterator[None]:
    start = process_time()
    try:
        yield
    finally:
        spent[part] += process_time() - start


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
