"""A job on rows of one's own, by a scorer that can be checked by eye."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from touchstone.app import score
from touchstone.app.config import Settings
from touchstone.app.jobs import work
from touchstone.app.jobs.job import Order, open_job
from touchstone.app.jobs.run import Watch, run_job
from touchstone.core.result import Finding, Grade, Grading, Result, Score
from touchstone.engines.engine import Serial
from touchstone.io.shards import MANIFEST


def small_evaluate(case, *, plan, rubric, policy, fitted=None, verifier=None):
    """A scorer small enough to check by eye: a reply passes when it is long, and leaks when it says so."""
    if case.response == "stop":
        raise KeyboardInterrupt
    value = min(1.0, len(case.response) / 10)
    leaks = (Finding("pii_leakage", "leak", 0, 4, "…"),) if "leak" in case.response else ()
    outcome = "PASS" if value > 0.5 and not leaks else "FAIL"
    grades = (Grade("tone", 3, 3.0, 11.25, 0.9, "…"),)
    grading = Grading("own", "1", "offline", grades, leaks, (), 70.0, outcome, ())
    metrics = {"relevance": Score("relevance", value, "by length", {"s_cosine": value, "s_jaccard": value})}
    return Result(case.id, "send", "PASS", (), metrics, rubric=grading)


def score_small(monkeypatch, folder):
    """Jobs are run in this folder, by the small scorer."""
    monkeypatch.setattr(score, "evaluate", small_evaluate)
    monkeypatch.setattr(work, "load_models", lambda: None)
    monkeypatch.chdir(folder)


def rows(count, **more):
    return [{"id": f"r{at}", "input": "q", "response": "reply " * (at % 5), **more} for at in range(count)]


def write_lines(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in content)
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)


def write_table(name, content):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(content), name)


def run(*inputs, settings=None, engine=None, watch=None, **options):
    order = Order(inputs=inputs, output=options.pop("output", "out"), **{"shard_rows": 10, **options})
    with open_job(order, settings=settings or Settings()) as job:
        return run_job(job, engine=engine or Serial(), watch=watch or Watch())


def manifest():
    return json.loads(Path("out", MANIFEST).read_text())


def shards():
    return {path.name: path.read_bytes() for path in sorted(Path("out").glob("part-*"))}


def table():
    return pa.concat_tables([parquet.read_table(path) for path in sorted(Path("out").glob("part-*"))])
