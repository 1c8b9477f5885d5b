"""Engines -> their rates in one run, memory as a job grows, and a long job killed in the middle and gone on with.

Each engine scores the same varied replies into shards, in a process of its own; the shards must be the same bytes.
Engines take turns, several rounds of them, and a ratio is the median of the rounds' ratios: only ratios within a round
mean something elsewhere. Rates are taken between the first and the last batch, so that loading models does not count.

`python -m benchmarks engines` takes about eight minutes on two cores; `--job-rows 200000` adds the long job, of short
replies, and `--only job` runs nothing else: what was measured of the engines before then stays as it is.
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
from statistics import median
from typing import Any

from benchmarks.cases import ROOT
from benchmarks.record import RESULTS, code_hash, read, write
from benchmarks.replies import write_replies
from touchstone.app.config import Settings
from touchstone.app.jobs.job import Order, open_job
from touchstone.app.jobs.run import JobProgress, Watch, run_job
from touchstone.engines.choice import engine
from touchstone.io.shards import MANIFEST

TARGETS = {"processes_to_serial": 1.8, "ray_to_processes": 0.85, "memory_growth": 1.1}
# Where memory is read off; it is measured at the first batch behind each.
MARKS = (100, 1_000, 10_000, 50_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
# Until here the caches of texts and sentences, which are bounded, fill.
SETTLED = 10_000


@dataclass(slots=True)
class Timed:
    """What one scoring came to: rows and seconds between its first and last batch, and bytes held on the way.

    `driver` is the processor time of the driver alone, `own` the most bytes that it alone held. `marks` are bytes held
    by rows of the whole job, those of an earlier run included.
    """

    rows: int = 0
    seconds: float = 0.0
    total_seconds: float = 0.0
    driver: float = 0.0
    peak: int = 0
    own: int = 0
    marks: dict[int, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return self.rows / self.seconds


def run(arguments: Sequence[str] = ()) -> None:
    """Write results/engines.json."""
    options = _options(arguments)
    known = read("engines") if (RESULTS / "engines.json").exists() else {}
    # Each part says which state of the code it is of, since one of them may be older.
    job = {"job": known["job"]} if "job" in known else {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if options.only == "job":
            figures = {name: value for name, value in known.items() if name not in ("job", "targets")}
        else:
            figures = {"rows": options.rows, "workers": options.workers, **_ratios(folder, options)}
        if options.job_rows:
            job = {"job": {"code": code_hash(), **_job(folder, options)}}
    write("engines", {**figures, **job, "targets": TARGETS})


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks engines")
    parser.add_argument("--rows", type=int, default=1500, help="replies that every engine scores in a round")
    parser.add_argument("--rounds", type=int, default=3, help="how often each engine takes its turn")
    parser.add_argument("--job-rows", type=int, default=0, help="replies of the job that is killed half-way")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=("ratios", "job"), help="measure one part, keep what is known of the other")
    options = parser.parse_args(list(arguments))
    if options.only == "job" and not (options.job_rows and (RESULTS / "engines.json").exists()):
        parser.error("--only job needs --job-rows N, and results/engines.json with the ratios it is added to")
    if options.only == "ratios" and options.job_rows:
        parser.error("--job-rows is for the job, which --only ratios leaves out: give one of them")
    return options


def _ratios(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    write_replies(folder / "in", rows=options.rows)
    names = ["serial", "processes", *(["ray"] if find_spec("ray") else [])]
    rounds: list[dict[str, Timed]] = []
    bytes_: set[str] = set()
    for number in range(options.rounds):
        # Whoever is first in one round is last in the next: a machine that warms up or slows down favours nobody.
        order = names if number % 2 == 0 else names[::-1]
        rounds.append({})
        for name in order:
            target = folder / f"{name}-{number}"
            rounds[-1][name] = timed = _child(name, folder / "in", target, workers=options.workers)
            bytes_.add(json.dumps(_shards(target)))
            print(f"round {number + 1}: {name:10} {timed.rate:8.1f} replies/s", flush=True)
    ratios = {"processes_to_serial": median(each["processes"].rate / each["serial"].rate for each in rounds)}
    if "ray" in names:
        ratios["ray_to_processes"] = median(each["ray"].rate / each["processes"].rate for each in rounds)
    for name, ratio in ratios.items():
        print(f"{name:24} {ratio:.2f}", flush=True)
    rates = {name: median(each[name].rate for each in rounds) for name in names}
    source, target = _size(folder / "in"), _size(folder / "serial-0")
    return {
        "rounds": options.rounds,
        "replies_per_second": rates,
        "replies_per_second_by_round": [{name: each[name].rate for name in names} for each in rounds],
        "seconds_with_start": {name: median(each[name].total_seconds for each in rounds) for name in names},
        "peak_megabytes": {name: max(each[name].peak for each in rounds) / 1e6 for name in names},
        "driver_megabytes": max(each["processes"].own for each in rounds) / 1e6,
        "driver_ms_per_row": 1000 * median(each["processes"].driver / each["processes"].rows for each in rounds),
        "input_bytes_per_row": source / options.rows,
        "output_bytes_per_row": target / options.rows,
        "ratios": ratios,
        "identical": len(bytes_) == 1,
        "replies_per_core_hour": 3600 * rates["serial"],
    }


def _job(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """A long job by processes, killed without warning when half of its rows are written, then finished."""
    source, target = folder / "job", folder / "out"
    write_replies(source, rows=options.job_rows, files=10, is_short=True)
    (folder / "marks").touch()
    half = _start("processes", source, target, workers=options.workers, marks=folder / "marks")
    while _rows_written(target) < options.job_rows / 2:
        time.sleep(1)
        if half.poll() is not None:
            raise RuntimeError("the job ended before it could be killed: give more --job-rows")
    half.kill()
    half.wait()
    kept = _rows_written(target)
    print(f"job of {options.job_rows:,} killed with {kept:,} rows written", flush=True)
    rest = _child("processes", source, target, workers=options.workers)
    before = [json.loads(line) for line in (folder / "marks").read_text().splitlines()]
    content = json.loads((target / MANIFEST).read_text())
    ids = _ids(target)
    marks = {int(rows): held for rows, held in [*before, *rest.marks.items()]}
    settled = marks.get(SETTLED)
    growth = max(held for rows, held in marks.items() if rows >= SETTLED) / settled if settled else None
    print(f"finished: {_rows_written(target):,} rows; most memory by that at {SETTLED:,} rows: {growth}", flush=True)
    return {
        "rows": _rows_written(target),
        "kept_when_killed": kept,
        "complete": content["complete"],
        "each_row_once": ids == [f"{number:08}" for number in range(options.job_rows)],
        "seconds_after_resume": rest.total_seconds,
        "replies_per_second": rest.rate,
        "workers": options.workers,
        "peak_megabytes": {"processes": rest.peak / 1e6},
        "driver_megabytes": rest.own / 1e6,
        "megabytes_by_rows": {str(rows): held / 1e6 for rows, held in marks.items()},
        "memory_growth": growth,
    }


def _ids(target: Path) -> list[str]:
    from pyarrow import parquet

    return [
        id
        for path in sorted(target.glob("part-*"))
        for id in parquet.read_table(path, columns=["id"])["id"].to_pylist()
    ]


def _size(folder: Path) -> int:
    return sum(
        path.stat().st_size for path in folder.rglob("*") if path.name.startswith(("part-", "cases")) and path.is_file()
    )


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


def _start(
    name: str, source: Path, target: Path, *, workers: int, marks: Path | None = None
) -> "subprocess.Popen[str]":
    """A child that scores; with `marks` it writes each mark there at once, since it will not live to print them."""
    command = [sys.executable, "-m", "benchmarks.engines", name, str(source), str(target), str(workers)]
    command += [str(marks)] if marks else []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def _measure(name: str, source: str, target: str, workers: str, marks: str = os.devnull) -> None:
    """In the child: score, and print what it came to as the last line."""
    timed, start = Timed(), time.monotonic()
    earlier = _rows_written(Path(target))
    first: list[tuple[float, float, int]] = []

    def follow(progress: JobProgress) -> None:
        now, spent = time.monotonic(), time.process_time()
        first.append((now, spent, progress.rows)) if not first else None
        timed.rows, timed.seconds = progress.rows - first[0][2], now - first[0][0]
        timed.driver = spent - first[0][1]
        timed.peak = max(timed.peak, progress.memory or 0)
        timed.own = max(timed.own, _own())
        rows = earlier + progress.rows
        for mark in MARKS:
            if earlier < mark <= rows and mark not in timed.marks:
                timed.marks[mark] = progress.memory or 0
                with Path(marks).open("a") as stream:
                    stream.write(json.dumps([mark, progress.memory or 0]) + "\n")

    order = Order(inputs=[source], output=target, shard_rows=500)
    chosen = engine(name, workers=None if name == "serial" else int(workers))
    with open_job(order, settings=Settings()) as job:
        run_job(job, engine=chosen, watch=Watch(on_progress=follow))
    timed.total_seconds = time.monotonic() - start
    print(json.dumps(asdict(timed)), flush=True)


def _own() -> int:
    """The bytes that this process alone holds."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGESIZE") if pages.exists() else 0


if __name__ == "__main__":
    _measure(*sys.argv[1:])
