"""Bytes of a case file -> lines, each held within a limit, and rows as values, or the failure to read them."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Protocol

from touchstone.core.result import Failure

# A part of a file that could not be read; another copy of the file may be whole.
UNREADABLE = "Unreadable"
LONGEST_LINE = 32 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# What a file system, a truncated .gz or a damaged one raises while it is read.
BROKEN_STREAM = (OSError, EOFError, zlib.error)


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


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its number and ending; with a failure, `text` is no more than what could be made of it."""

    number: int
    text: str
    failure: Failure | None = None


def read_lines(stream: IO[bytes], *, longest: int = LONGEST_LINE) -> Iterator[Line]:
    """Every line in constant memory; a stream that breaks off ends with a failed line."""
    number = 0
    while True:
        number += 1
        try:
            raw = stream.readline(longest + 1)
            is_too_long = len(raw) > longest
            if is_too_long:
                _skip_line(stream, start=raw)
        except BROKEN_STREAM as error:
            yield Line(number, "", broken_off(error))
            return
        if not raw:
            return
        if number == 1:
            raw = raw.removeprefix(BYTE_ORDER_MARK)
        yield Line(number, "", too_long(longest)) if is_too_long else _decoded(number, raw)


def not_utf8(error: UnicodeDecodeError) -> Failure:
    """The failure of a row whose bytes are no text."""
    return unreadable("InvalidUtf8", f"byte {error.start + 1} is not UTF-8: save the file as UTF-8")


def too_long(longest: int) -> Failure:
    """The failure of a row that is not held in memory."""
    return unreadable("RowTooLong", f"the row is longer than {longest:,} bytes: shorten it or split it")


def broken_off(error: BaseException) -> Failure:
    """The failure of a file that cannot be read to its end."""
    problem = f"the file cannot be read any further ({type(error).__name__})"
    return unreadable(UNREADABLE, f"{problem}: what follows is not scored; fetch or write the file again")


def _decoded(number: int, raw: bytes) -> Line:
    try:
        return Line(number, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Line(number, raw.decode("utf-8", "replace"), not_utf8(error))


def _skip_line(stream: IO[bytes], *, start: bytes) -> None:
    piece = start
    while piece and not piece.endswith(b"\n"):
        piece = stream.readline(1024 * 1024)
