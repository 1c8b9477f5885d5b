"""What a case file is made of: rows, lines held within a limit, and JSON values, each with the failure to read it."""

import json
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from touchstone.core.errors import CaseError
from touchstone.core.result import Failure

# A part of a file that could not be read; another copy of the file may be whole.
UNREADABLE = "Unreadable"
LONGEST_LINE = 32 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# What a file system, a truncated .gz or a damaged one raises while it is read.
BROKEN_STREAM = (OSError, EOFError, zlib.error)
INVALID_JSON = "InvalidJson"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file. `line` is the line it starts on; in a JSON array or Parquet file, which row it is.

    `is_text` says that every value is a cell of text, as in CSV, and still has to be given its type.
    """

    file: str
    line: int
    content: Mapping[str, Any] | Failure
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A file being read: its rows, once, in order, and how much of it has been read, 0 to 1, if its size is known."""

    rows: Iterator[Row]
    share_read: Callable[[], float | None]

    def __iter__(self) -> Iterator[Row]:
        return self.rows


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


def parse_json(text: str, *, first_line: int = 1, remedy: str = "write each case as one JSON object") -> object:
    """The value that `text` holds; a Failure when it is not valid JSON or would silently lose something."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite)
        if _SURROGATE_ESCAPE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        return _broken(error, first_line=first_line, remedy=remedy)
    except CaseError as error:
        return unreadable(INVALID_JSON, str(error))
    except RecursionError:
        return unreadable(INVALID_JSON, "the JSON is nested too deeply to be read: a case has a handful of levels")
    except UnicodeEncodeError:
        return unreadable(INVALID_JSON, "the text holds half a surrogate pair (\\ud800 to \\udfff): escape both halves")
    except ValueError:
        return unreadable(INVALID_JSON, "a whole number has too many digits: write it as a string")
    return value


def field_name(name: str) -> str:
    """A column's name as it may be shown in a message: quoted, cut when long."""
    return repr(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…")


def _broken(error: json.JSONDecodeError, *, first_line: int, remedy: str) -> Failure:
    place = f"line {first_line + error.lineno - 1}, column {error.colno}"
    problem = error.msg[0].lower() + error.msg[1:]
    return unreadable(INVALID_JSON, f"not valid JSON: {problem} ({place}); {remedy}")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in value if names.count(name) > 1)
        raise CaseError(f"key {field_name(repeated)} is given twice in one object: keep one of them")
    return value


def _constant(name: str) -> float:
    raise CaseError(f"{name} is not JSON: write null for a number that is not known")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise CaseError("a number is too large to be read: write it as a string")
    return value
