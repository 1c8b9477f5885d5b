"""Score a table of replies in a Spark job of your own: `spark-submit score_replies.py INPUT OUTPUT`.

Every Python worker loads the models once and scores the record batches that Spark hands it. The package has to be
installed where the executors run: pip install 'touchstone-eval[parquet]'.
"""

import sys
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

# Columns of the input that are to stand beside each result.
KEEP = ["dt"]


def score_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in the executors: batches of cases to batches of results."""
    from touchstone.arrow import score_batches

    return score_batches(batches, keep=KEEP)


def score_frame(cases: DataFrame) -> DataFrame:
    """A frame of cases to a frame of results, with the columns of `touchstone.arrow.result_schema`."""
    from pyspark.sql.pandas.types import to_arrow_schema

    from touchstone.arrow import result_schema

    schema = result_schema(to_arrow_schema(cases.schema), keep=KEEP)
    return cases.mapInArrow(score_partition, from_arrow_schema(schema))


def main(source: str, target: str) -> None:
    """Read Parquet, score it, write Parquet by day."""
    spark = SparkSession.builder.appName("touchstone").getOrCreate()
    # A batch is what a worker holds at a time; replies are scored one by one, so small ones lose nothing.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "256")
    score_frame(spark.read.parquet(source)).write.mode("overwrite").partitionBy("dt").parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:3])
