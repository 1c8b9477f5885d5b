"""The Spark example gives what Touchstone gives by itself."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.engines.gold import gold_rows

import touchstone
from touchstone.arrow import results_from_batch, score_batch
from touchstone.core.codec import result_to_dict

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="PYSPARK IS NOT INSTALLED: the example was not tested"),
    pytest.mark.skipif(which("java") is None, reason="JAVA IS NOT INSTALLED: the Spark example was not tested"),
]

EXAMPLE = Path(__file__).parents[2] / "examples/spark/score_replies.py"


def test_the_example_scores_a_table_as_touchstone_does(tmp_path):
    rows = [{**row, "dt": f"2025-06-0{1 + at % 2}"} for at, row in enumerate(gold_rows(20))]
    table = pa.Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / "cases.parquet")
    source = str(Path(touchstone.__file__).parents[1])
    ended = subprocess.run(
        [sys.executable, str(EXAMPLE), str(tmp_path / "cases.parquet"), str(tmp_path / "results")],
        env=os.environ | {
            "PYTHONPATH": source, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_SUBMIT_ARGS": "--master local[1] --conf spark.ui.enabled=false pyspark-shell",
        },
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = parquet.read_table(tmp_path / "results")
    assert set(found["dt"].to_pylist()) == {"2025-06-01", "2025-06-02"}
    expected = pa.Table.from_batches([score_batch(batch) for batch in table.to_batches()])
    assert by_id(found) == by_id(expected)


def by_id(table):
    results = results_from_batch(table)
    assert len({result.id for result in results}) == table.num_rows
    return {result.id: result_to_dict(result) for result in results}
