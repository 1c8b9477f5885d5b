"""A gold-set run end to end beside bare scoring, the size of its report, and figures over 100,000 replies."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.clock import whole
from benchmarks.record import write
from touchstone.app.config import Settings
from touchstone.app.evaluation import evaluate_goldset
from touchstone.app.replies import Assignment
from touchstone.app.runs import open_run, open_store_of, view_run
from touchstone.report.html import render_html
from touchstone.runs.comparison import compare
from touchstone.runs.patterns import find_patterns
from touchstone.runs.record import Record
from touchstone.runs.summary import summarise

ROUNDS = 3
MANY = 100_000
REPORT_CASES = 1000
# What the gold-set command is held against: the same cases scored by the package alone, its start left out.
BARE = """
import json, time
from importlib import resources
import touchstone
from touchstone.core.codec import case_from_dict
text = resources.files("touchstone").joinpath("data/goldsets/support.jsonl").read_text(encoding="utf-8")
cases = [case_from_dict(json.loads(line)) for line in text.splitlines()]
touchstone.score(cases[0])
start = time.process_time()
for case in cases:
    touchstone.score(case)
print(time.process_time() - start)
"""


def run() -> None:
    """Write results/evaluation.json."""
    with tempfile.TemporaryDirectory() as place:
        times = [_round(Path(place) / str(at)) for at in range(ROUNDS)]
        records, page = _one_run(Path(place))
    bare, whole_run = (sorted(each[at] for each in times)[ROUNDS // 2] for at in (0, 1))
    figures = {
        "goldset": "support",
        "end_to_end": {"bare_seconds": bare, "eval_seconds": whole_run, "ratio": whole_run / bare, "target": 3},
        "report": {"cases": REPORT_CASES, "bytes": len(page.encode()), "target_bytes": 3_000_000},
        "many": {"replies": MANY, **_many(records)},
    }
    write("evaluation", figures)
    print(json.dumps(figures, indent=1))


def _round(place: Path) -> tuple[float, float]:
    """Processor seconds of bare scoring, and of `touchstone eval` from its start to its exit."""
    place.mkdir()
    bare = float(subprocess.run([sys.executable, "-c", BARE], check=True, capture_output=True, text=True).stdout)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "touchstone", "eval", "support", "-q"]
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return bare, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _one_run(place: Path) -> tuple[Sequence[Record], str]:
    """The records of the shipped set, and a report over as many cases as the target names."""
    settings = Settings(store=str(place / "store.db"), runs=str(place / "runs"))
    with open_store_of(settings, creates=True) as store:
        made = evaluate_goldset(
            Assignment(goldset="support"),
            settings=settings,
            store=store,
            on_start=lambda run, done: None,
            on_step=lambda step: None,
        )
        opened = open_run(made.id, store=store)
        view = view_run(replace(opened, records=_multiplied(opened.records, REPORT_CASES)), store=store)
        return opened.records, render_html(view)


def _many(records: Sequence[Record]) -> dict[str, Any]:
    """Processor seconds over many records, and over as many of a second run in which some outcomes differ."""
    before = _multiplied(records, MANY)
    chance = Random(7)
    after = [replace(each, outcome="PASS", total=90.0) if chance.random() < 0.05 else each for each in before]
    rubric = Settings().rubric
    return {
        "summary_seconds": whole(lambda: summarise(before, rubric=rubric)) / 1000,
        "patterns_seconds": whole(lambda: find_patterns(before)) / 1000,
        "comparison_seconds": whole(lambda: compare(before, after, rubric=rubric)) / 1000,
    }


def _multiplied(records: Sequence[Record], count: int) -> list[Record]:
    """As many records, each with an id of its own; the shipped ones lead, so that examples are found."""
    more = (replace(records[at % len(records)], id=f"more-{at}") for at in range(len(records), count))
    return [*records, *more]
