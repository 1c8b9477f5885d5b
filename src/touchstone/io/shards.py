"""Results -> the bytes of a part, and parts -> the bytes of a shard's file: the same bytes wherever it is done.

Parts are encoded where they are scored; putting them together costs the driver little.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from touchstone.core.codec import result_to_dict
from touchstone.core.result import Result
from touchstone.io.arrow_results import kept_name, results_to_batch

if TYPE_CHECKING:
    from pyarrow import RecordBatch

ShardFormat = Literal["parquet", "jsonl"]
SHARD_FORMATS: tuple[ShardFormat, ...] = get_args(ShardFormat)
ENDINGS: Mapping[ShardFormat, str] = {"parquet": ".parquet", "jsonl": ".jsonl.gz"}

Texts = Mapping[str, Sequence[str | None]]


def encode(results: Sequence[Result], *, beside: Texts, format: ShardFormat) -> bytes:
    """A part: results in order with the columns of text that stand beside them."""
    if format == "jsonl":
        return _lines(results, beside)
    import pyarrow as pa

    kept = {name: pa.array(column, pa.string()) for name, column in beside.items()}
    batch = results_to_batch(results, kept=kept)
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def assemble(parts: Sequence[bytes], *, format: ShardFormat) -> bytes:
    """The file of a shard: one row group, or gzipped lines without a time stamp."""
    if format == "jsonl":
        return gzip.compress(b"".join(parts), compresslevel=6, mtime=0)
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.Table.from_batches([batch for part in parts for batch in _batches(part)]).combine_chunks()
    with pa.BufferOutputStream() as sink:
        parquet.write_table(table, sink, compression="zstd", row_group_size=max(1, table.num_rows))
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def shard_name(*, source: int, number: int, format: ShardFormat) -> str:
    """`part-00002-00007.parquet`: the eighth shard of the third file of cases; by name they are in input order."""
    return f"part-{source:05}-{number:05}{ENDINGS[format]}"


def _lines(results: Sequence[Result], beside: Texts) -> bytes:
    columns = {kept_name(name): column for name, column in beside.items()}
    rows = (
        result_to_dict(result) | {name: column[at] for name, column in columns.items()}
        for at, result in enumerate(results)
    )
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _batches(part: bytes) -> "list[RecordBatch]":
    import pyarrow as pa

    with pa.ipc.open_stream(part) as reader:
        return list(reader)
