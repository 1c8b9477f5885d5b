"""The rows of a case file as values: the columns as they were written, or the failure to read them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from touchstone.core.result import Failure


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file. `line` is the line it starts on; in a JSON array or Parquet file, which row it is.

    `is_text` says that every value is a cell of text, as in CSV, and still has to be given its type.
    """

    file: str
    line: int
    content: Mapping[str, Any] | Failure
    is_text: bool = False


class RowReader(Protocol):
    """A file being read: its rows, once, in order, and how far reading has come."""

    def __iter__(self) -> Iterator[Row]: ...

    def share_read(self) -> float | None:
        """How much of the file has been read, 0 to 1; None when its size is unknown."""


def unreadable(error: str, message: str) -> Failure:
    """The failure of one row; `message` says what to do and quotes nothing but field names."""
    return Failure("read", error, message)
