"""Engines -> their rates in one run, memory as a job grows, and a long job killed in the middle and gone on with.

Each engine scores the same varied replies into shards, in a process of its own; the shards must be the same bytes.
Rates are taken between the first and the last batch, so that loading models does not count. Only ratios within a run
mean something elsewhere. `python -m benchmarks engines --rows 4000 --job-rows 200000` is the full measurement.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.cases import ROOT
from benchmarks.record import write
from benchmarks.replies import write_replies
from touchstone.app.config import Settings
from touchstone.app.job import Order, open_job
from touchstone.app.job_run import Progress, Watch, run_job
from touchstone.engines.choice import engine
from touchstone.io.manifest import MANIFEST

TARGETS = {"processes_to_serial": 1.8, "ray_to_processes": 0.85, "memory_growth": 1.1}
# Where memory is read off; it is measured at the first batch behind each.
MARKS = (1_000, 10_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
# Until here the caches of texts and sentences, which are bounded, fill.
SETTLED = 10_000


@dataclass(slots=True)
class Timed:
    """What one scoring came to: rows and seconds between its first and last batch, and bytes held on the way."""

    rows: int = 0
    seconds: float = 0.0
    total_seconds: float = 0.0
    peak: int = 0
    marks: dict[int, int] = field(default_factory=dict)


def run(arguments: Sequence[str] = ()) -> None:
    """Write results/engines.json."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        figures = {"rows": options.rows, "workers": options.workers, **_ratios(folder, options)}
        if options.job_rows:
            figures["job"] = _job(folder, options)
    write("engines", {**figures, "targets": TARGETS})


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks engines")
    parser.add_argument("--rows", type=int, default=2000, help="replies that every engine scores")
    parser.add_argument("--job-rows", type=int, default=0, help="replies of the job that is killed half-way")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args(list(arguments))


def _ratios(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    write_replies(folder / "in", rows=options.rows)
    names = ["serial", "processes", *(["ray"] if find_spec("ray") else [])]
    timed, bytes_ = {}, {}
    for name in names:
        timed[name] = _child(name, folder / "in", folder / name, workers=options.workers)
        bytes_[name] = _shards(folder / name)
        rate = timed[name].rows / timed[name].seconds
        print(f"{name:10} {rate:8.1f} replies/s, {timed[name].peak / 1e6:,.0f} MB at most", flush=True)
    rates = {name: each.rows / each.seconds for name, each in timed.items()}
    ratios = {"processes_to_serial": rates["processes"] / rates["serial"]}
    if "ray" in rates:
        ratios["ray_to_processes"] = rates["ray"] / rates["processes"]
    for name, ratio in ratios.items():
        print(f"{name:24} {ratio:.2f}", flush=True)
    return {
        "replies_per_second": rates,
        "seconds_with_start": {name: each.total_seconds for name, each in timed.items()},
        "peak_megabytes": {name: each.peak / 1e6 for name, each in timed.items()},
        "ratios": ratios,
        "identical": len({json.dumps(each) for each in bytes_.values()}) == 1,
        "replies_per_core_hour": 3600 * rates["serial"],
    }


def _job(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """A long job by processes, killed without warning when half of its rows are written, then finished."""
    source, target = folder / "job", folder / "out"
    write_replies(source, rows=options.job_rows, files=10)
    half = _start("processes", source, target, workers=options.workers)
    while _rows_written(target) < options.job_rows / 2:
        time.sleep(1)
        if half.poll() is not None:
            raise RuntimeError("the job ended before it could be killed: give more --job-rows")
    half.kill()
    half.wait()
    kept = _rows_written(target)
    print(f"job of {options.job_rows:,} killed with {kept:,} rows written", flush=True)
    rest = _child("processes", source, target, workers=options.workers)
    content = json.loads((target / MANIFEST).read_text())
    marks = {int(rows): held for rows, held in rest.marks.items()}
    settled = marks.get(SETTLED)
    growth = max(held for rows, held in marks.items() if rows >= SETTLED) / settled if settled else None
    print(f"finished: {_rows_written(target):,} rows; most memory by that at {SETTLED:,} rows: {growth}", flush=True)
    return {
        "rows": _rows_written(target),
        "kept_when_killed": kept,
        "complete": content["complete"],
        "seconds_after_resume": rest.total_seconds,
        "megabytes_by_rows": {str(rows): held / 1e6 for rows, held in marks.items()},
        "memory_growth": growth,
    }


def _rows_written(target: Path) -> int:
    try:
        return sum(shard["rows"] for shard in json.loads((target / MANIFEST).read_text())["shards"])
    except FileNotFoundError:
        return 0


def _shards(target: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(target.glob("part-*"))}


def _child(name: str, source: Path, target: Path, *, workers: int) -> Timed:
    process = _start(name, source, target, workers=workers)
    said, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{name} ended with code {process.returncode}")
    return Timed(**json.loads(said.splitlines()[-1]))


def _start(name: str, source: Path, target: Path, *, workers: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "benchmarks.engines", name, str(source), str(target), str(workers)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def _measure(name: str, source: str, target: str, workers: str) -> None:
    """In the child: score, and print what it came to as the last line."""
    timed, start = Timed(), time.monotonic()
    first: list[tuple[float, int]] = []

    def follow(progress: Progress) -> None:
        first.append((time.monotonic(), progress.rows)) if not first else None
        timed.rows, timed.seconds = progress.rows - first[0][1], time.monotonic() - first[0][0]
        timed.peak = max(timed.peak, progress.memory or 0)
        for mark in MARKS:
            if progress.rows >= mark and mark not in timed.marks:
                timed.marks[mark] = progress.memory or 0

    order = Order(inputs=[source], output=target, shard_rows=500)
    chosen = engine(name, workers=None if name == "serial" else int(workers))
    with open_job(order, settings=Settings()) as job:
        run_job(job, engine=chosen, watch=Watch(on_progress=follow))
    timed.total_seconds = time.monotonic() - start
    print(json.dumps(asdict(timed)), flush=True)


if __name__ == "__main__":
    _measure(*sys.argv[1:5])
