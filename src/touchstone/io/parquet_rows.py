"""Arrow batches and Parquet -> rows; a text that is no text fails its row alone, a damaged part row by row."""

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.json_text import field_name
from touchstone.io.rows import UNREADABLE, Row, unreadable

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema
    from pyarrow.parquet import ParquetFile

_BATCH = 256
_BUFFER = 1024 * 1024


def read_batch(batch: "RecordBatch", *, file: str, first: int = 1) -> Iterator[Row]:
    """One row for each of the batch; `first` is the place of its first row."""
    for line, content in enumerate(_contents(batch), start=first):
        yield Row(file, line, content)


def refuse_repeats(schema: "Schema", *, file: str) -> None:
    """InputError when two columns have one name: no row could hold both."""
    names = schema.names
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{file} names column {field_name(repeated)} twice: rename one of them")


def _contents(batch: "RecordBatch") -> list[dict[str, Any] | Failure]:
    try:
        return batch.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError:
        return [_content(batch.slice(at, 1)) for at in range(batch.num_rows)]


def _content(row: "RecordBatch") -> dict[str, Any] | Failure:
    try:
        content: dict[str, Any] = row.to_pylist()[0]
    except UnicodeDecodeError:
        return unreadable("InvalidUtf8", "a text of the row is not UTF-8: write the file again from valid text")
    return content


class ParquetRows:
    """The rows of an open Parquet file; `line` counts them from 1."""

    def __init__(self, stream: IO[bytes], *, file: str) -> None:
        self._file = file
        self._parquet = _open(stream, file=file)
        self._total = self._parquet.metadata.num_rows
        self._read = 0

    def __iter__(self) -> Iterator[Row]:
        for group in range(self._parquet.num_row_groups):
            yield from self._group(group)

    def share_read(self) -> float | None:
        return self._read / self._total if self._total else None

    def _group(self, group: int) -> Iterator[Row]:
        """The rows of one row group; those behind damage keep their places as failures."""
        from pyarrow import ArrowException

        end = self._read + self._parquet.metadata.row_group(group).num_rows
        try:
            for batch in self._parquet.iter_batches(batch_size=_BATCH, row_groups=[group]):
                for row in read_batch(batch, file=self._file, first=self._read + 1):
                    self._read += 1
                    yield row
        except (ArrowException, OSError) as error:
            problem = f"the file is damaged here ({type(error).__name__})"
            failure = unreadable(UNREADABLE, f"{problem}: write or fetch it again")
            while self._read < end:
                self._read += 1
                yield Row(self._file, self._read, failure)


def _open(stream: IO[bytes], *, file: str) -> "ParquetFile":
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise InputError(f"{file}: reading Parquet needs PyArrow: pip install 'touchstone-eval[parquet]'") from error
    try:
        parquet = ParquetFile(stream, buffer_size=_BUFFER)
    except (ArrowException, OSError) as error:
        raise InputError(f"{file} is not a complete Parquet file: write or fetch it again") from error
    refuse_repeats(parquet.schema_arrow, file=file)
    return parquet
