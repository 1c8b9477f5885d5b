"""Results <-> Arrow record batches of the stable schema; nothing is lost on the way there and back.

A batch may carry columns beside the result's own, such as the partition its rows come from. A column whose name
a result needs for itself is called `input_<name>`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from touchstone.core.codec import result_from_dict, result_to_dict
from touchstone.core.result import Result
from touchstone.io.result_tables import nested_schema

if TYPE_CHECKING:
    from pyarrow import Array, Field, RecordBatch, Schema


def results_schema(kept: "Iterable[Field]" = ()) -> "Schema":
    """The columns of results, then those kept beside them."""
    import pyarrow as pa

    own = nested_schema()
    return pa.schema([*own, *(field.with_name(kept_name(field.name)) for field in kept)])


def kept_name(name: str) -> str:
    """What a kept column is called beside a result's own."""
    return f"input_{name}" if name in nested_schema().names else name


def results_to_batch(results: Iterable[Result], *, kept: "Mapping[str, Array] | None" = None) -> "RecordBatch":
    """One row for each result, with the kept columns beside it."""
    import pyarrow as pa

    own = pa.RecordBatch.from_pylist([result_to_dict(result) for result in results], schema=nested_schema())
    beside = {kept_name(name): column for name, column in (kept or {}).items()}
    return pa.RecordBatch.from_arrays([*own.columns, *beside.values()], names=[*own.schema.names, *beside])


def results_from_batch(batch: "RecordBatch") -> list[Result]:
    """The results in a batch, or in a table read from Parquet; kept columns are passed over."""
    # Results of before there was a verifier have no column for it.
    own = batch.select([name for name in nested_schema().names if name in batch.schema.names])
    return [result_from_dict(_contract(row)) for row in own.to_pylist()]


def _contract(row: dict[str, Any]) -> dict[str, Any]:
    """The contract's object: what has no value because it was never there is left out again."""
    metrics, rubric = row["metrics"], row["rubric"]
    if metrics is not None:
        metrics = {name: score for name, score in metrics.items() if score is not None}
    if rubric is not None:
        # Arrow gives a map as pairs.
        rubric = {**rubric, "criteria": dict(rubric["criteria"])}
    return {**row, "metrics": metrics, "rubric": rubric}
