"""Arrow record batch -> rows of a case file; a text that is no text fails its row alone."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.json_text import field_name
from touchstone.io.rows import Row, unreadable

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema


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
