"""The bytes of a case file -> its rows, for each format: JSON Lines, JSON, CSV, TSV and Parquet.

Nothing is held but the row that is read, and what cannot be read fails alone. An importer of another tool's export is
one more such reader, `(stream, *, file) -> rows` under our field names: a module of its own, with a line in `READERS`.
"""

import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal, get_args

from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.rows import (
    BROKEN_STREAM,
    BYTE_ORDER_MARK,
    INVALID_JSON,
    LONGEST_LINE,
    UNREADABLE,
    Line,
    Row,
    Rows,
    broken_off,
    field_name,
    not_utf8,
    parse_json,
    read_lines,
    too_long,
    unreadable,
)

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema
    from pyarrow.parquet import ParquetFile

Format = Literal["jsonl", "json", "csv", "tsv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
# Their columns are the same in each row.
TABLES: tuple[Format, ...] = ("csv", "tsv", "parquet")
INVALID_CSV = "InvalidCsv"
# Characters that may be read again for each character read: keeps recovery linear.
_REREADS = 4
_OUTSIDE_STRING = re.compile(rb'["\[\]{},]')
_INSIDE_STRING = re.compile(rb'["\\]')
_CHUNK = 256 * 1024
_BATCH = 256
_BUFFER = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one value and the line they start on; `raw` is None when they exceed the limit."""

    line: int
    raw: bytes | None


def read_json_lines(stream: IO[bytes], *, file: str, longest: int = LONGEST_LINE) -> Iterator[Row]:
    """One row for each line that is not blank."""
    for line in read_lines(stream, longest=longest):
        if line.failure:
            yield Row(file, line.number, line.failure)
        elif line.text.strip():
            yield _row(file, line.number, parse_json(line.text.rstrip(), first_line=line.number))


def read_json(stream: IO[bytes], *, file: str, longest: int = LONGEST_LINE) -> Iterator[Row]:
    """One row for each item of a JSON array, or for each object of a file that holds no array."""
    row = 0
    try:
        for piece in Splitter(longest=longest).split(_chunks(stream)):
            row += 1
            yield _row(file, row, _value(piece, longest=longest))
    except BROKEN_STREAM as error:
        yield Row(file, row + 1, broken_off(error))


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    yield stream.read(_CHUNK).removeprefix(BYTE_ORDER_MARK)
    while chunk := stream.read(_CHUNK):
        yield chunk


def _value(piece: Piece, *, longest: int) -> object:
    if piece.raw is None:
        return too_long(longest)
    if not piece.raw:
        problem = f"an item is missing on line {piece.line}"
        return unreadable(INVALID_JSON, f"{problem}: two commas in a row, or a file cut off before its array is closed")
    try:
        text = piece.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return not_utf8(error)
    return parse_json(text, first_line=piece.line)


def _row(file: str, line: int, value: object) -> Row:
    if isinstance(value, dict | Failure):
        return Row(file, line, value)
    remedy = "a JSON array belongs in a .json file" if isinstance(value, list) else "name the reply 'response'"
    return Row(file, line, unreadable(INVALID_JSON, f"the row is {_kind(value)}, not an object {{…}}: {remedy}"))


def _kind(value: object) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "null")


class Splitter:
    """Cuts a JSON array at the commas between its items, any other file after each closed value."""

    def __init__(self, *, longest: int) -> None:
        self._longest = longest
        self._in_array: bool | None = None
        self._is_closed = False
        self._depth = 0
        self._in_string = False
        self._escaped = 0
        self._line = 1
        self._newlines = 0
        self._held = bytearray()
        self._is_too_long = False

    def split(self, chunks: Iterable[bytes]) -> Iterator[Piece]:
        """The pieces in order, with an empty one for an item that is missing and for an array that is not closed."""
        for chunk in chunks:
            if self._is_closed:
                self._hold(chunk)
            else:
                yield from self._feed(chunk)
        rest = self._cut(b"")
        if rest.raw != b"":
            yield rest
        if self._in_array and not self._is_closed:
            yield Piece(self._line, b"")

    def _feed(self, chunk: bytes) -> Iterator[Piece]:
        start, at = 0, self._escaped
        self._escaped = 0
        while match := (_INSIDE_STRING if self._in_string else _OUTSIDE_STRING).search(chunk, at):
            mark, at = match[0], match.end()
            if mark == b"\\":
                at += 1
                self._escaped = at - len(chunk) if at > len(chunk) else 0
            elif mark == b'"':
                self._in_string = not self._in_string
            elif self._in_array is None and self._opens_array(mark, before=chunk[start : at - 1]):
                start = at
            elif (end := self._end_of_value(mark, at)) is not None:
                piece = self._cut(chunk[start:end])
                if piece.raw != b"" or mark == b",":
                    yield piece
                start = at
                if self._is_closed:
                    break
        self._hold(chunk[start:])

    def _opens_array(self, mark: bytes, *, before: bytes) -> bool:
        """The first bracket decides: an array when nothing but space stands before it."""
        self._in_array = mark == b"[" and not (self._held + before).strip()
        if self._in_array:
            self._depth = 1
            self._cut(before)
        return self._in_array

    def _end_of_value(self, mark: bytes, at: int) -> int | None:
        """Counts brackets; where the value ends that `mark`, the byte before `at`, closes or separates."""
        floor = 1 if self._in_array else 0
        if mark in b"[{":
            self._depth += 1
        elif mark in b"]}" and self._depth > floor:
            self._depth -= 1
            return at if self._depth == 0 else None
        elif self._in_array and self._depth == floor and mark in b"],":
            self._is_closed = mark == b"]"
            return at - 1
        return None

    def _hold(self, raw: bytes) -> None:
        self._newlines += raw.count(b"\n")
        if len(self._held) + len(raw) > self._longest:
            self._is_too_long = True
            self._held.clear()
        if not self._is_too_long:
            self._held += raw

    def _cut(self, raw: bytes) -> Piece:
        """What was held up to here, as a piece; holding starts anew behind it."""
        self._hold(raw)
        text = bytes(self._held)
        space = text[: len(text) - len(text.lstrip())]
        piece = Piece(self._line + space.count(b"\n"), None if self._is_too_long else text.strip())
        self._line += self._newlines
        self._newlines = 0
        self._held.clear()
        self._is_too_long = False
        return piece


def read_csv(stream: IO[bytes], *, file: str, delimiter: str = ",", longest: int = LONGEST_LINE) -> Iterator[Row]:
    """One row of text cells for each record below the header."""
    csv.field_size_limit(longest)
    lines = _Lines(read_lines(stream, longest=longest), longest=longest)
    records = _records(lines, delimiter=_delimiter(lines.peek(), expected=delimiter))
    header: list[str] | None = None
    for cells in records:
        if header is None:
            header = _header(cells, file=file, line=lines.first)
        else:
            content = cells if isinstance(cells, Failure) else _content(header, cells)
            yield Row(file, lines.first, content, is_text=True)


class _Lines:
    """Lines for the csv module, which remember those of the current record.

    A quote that is never closed swallows the lines behind it; `give_back` has them read again.
    """

    def __init__(self, lines: Iterator[Line], *, longest: int) -> None:
        self._lines = lines
        self._longest = longest
        self._again: deque[Line] = deque()
        self._record: list[Line] = []
        self._size = 0
        self._credit = 0
        self.failure: Failure | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._fresh()
        self._record.append(line)
        self._size += len(line.text)
        if self._size > self._longest:
            self.failure = too_long(self._longest)
            raise csv.Error
        self.failure = self.failure or line.failure
        return line.text

    def peek(self) -> str:
        """The line that comes next; empty at the end."""
        if not self._again:
            self._again.extend(line for line in [next(self._lines, None)] if line)
        return self._again[0].text if self._again else ""

    @property
    def first(self) -> int:
        """Where the current record starts."""
        return self._record[0].number

    def start_record(self) -> None:
        self._record, self._size, self.failure = [], 0, None

    def give_back(self) -> int:
        """Has the lines behind the record's first read again; how many could not be, having been so too often."""
        behind = self._record[1:]
        if self._size > self._credit:
            return len(behind)
        self._credit -= self._size
        self._again.extendleft(reversed(behind))
        return 0

    def _fresh(self) -> Line:
        line = next(self._lines)
        self._credit += _REREADS * len(line.text)
        return line


def _records(lines: _Lines, *, delimiter: str) -> Iterator[list[str] | Failure]:
    """Each record's cells, or its failure; blank lines are passed over."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.start_record()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            lost = lines.give_back()
            yield lines.failure or _broken(error, lost=lost)
            continue
        if cells is None:
            return
        if lines.failure or not _is_blank(cells):
            yield lines.failure or cells


def _is_blank(cells: Sequence[str]) -> bool:
    """An empty line, or the row of bare delimiters that spreadsheets leave for one."""
    return len(cells) != 1 and not any(cells)


def _broken(error: csv.Error, *, lost: int) -> Failure:
    problems = {"unexpected end of data": "a quote is opened and never closed"}
    problem = problems.get(str(error), str(error))
    swallowed = f" and the {lost} lines behind it" if lost else ""
    return unreadable(
        INVALID_CSV, f"the record{swallowed} is not valid CSV, {problem}: write a quote inside a cell twice"
    )


def _delimiter(first_line: str, *, expected: str) -> str:
    """Semicolons where a spreadsheet set to a decimal comma wrote them, otherwise what the ending says."""
    return ";" if expected == "," and "," not in first_line and ";" in first_line else expected


def _header(cells: Sequence[str] | Failure, *, file: str, line: int) -> list[str]:
    if isinstance(cells, Failure):
        raise InputError(f"{file}:{line}: the header cannot be read: {cells.message}")
    names = [name.strip() or f"column {at}" for at, name in enumerate(cells, 1)]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{file}:{line}: the header names column {field_name(repeated)} twice: rename one of them")
    return names


def _content(header: Sequence[str], cells: Sequence[str]) -> Mapping[str, str] | Failure:
    if len(cells) != len(header):
        problem = f"the record has {len(cells)} cells, the header {len(header)}"
        return unreadable(INVALID_CSV, f"{problem}: quote cells that hold the delimiter or a line break")
    return dict(zip(header, cells, strict=True))


def read_parquet(stream: IO[bytes], *, file: str) -> Rows:
    """The rows of an open Parquet file; `line` counts them from 1."""
    parquet = _open_parquet(stream, file=file)
    total = parquet.metadata.num_rows
    read = 0

    def rows() -> Iterator[Row]:
        """Row group by row group; those behind damage keep their places as failures."""
        from pyarrow import ArrowException

        nonlocal read
        for group in range(parquet.num_row_groups):
            end = read + parquet.metadata.row_group(group).num_rows
            try:
                for batch in parquet.iter_batches(batch_size=_BATCH, row_groups=[group]):
                    for row in read_batch(batch, file=file, first=read + 1):
                        read += 1
                        yield row
            except (ArrowException, OSError) as error:
                problem = f"the file is damaged here ({type(error).__name__})"
                failure = unreadable(UNREADABLE, f"{problem}: write or fetch it again")
                while read < end:
                    read += 1
                    yield Row(file, read, failure)

    return Rows(rows(), lambda: read / total if total else None)


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
        return [_batch_row(batch.slice(at, 1)) for at in range(batch.num_rows)]


def _batch_row(row: "RecordBatch") -> dict[str, Any] | Failure:
    try:
        content: dict[str, Any] = row.to_pylist()[0]
    except UnicodeDecodeError:
        return unreadable("InvalidUtf8", "a text of the row is not UTF-8: write the file again from valid text")
    return content


def _open_parquet(stream: IO[bytes], *, file: str) -> "ParquetFile":
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


# Readers of a stream of text; Parquet needs a file that can be read from any place.
READERS: Mapping[str, Callable[..., Iterator[Row]]] = {
    "jsonl": read_json_lines,
    "json": read_json,
    "csv": read_csv,
    "tsv": partial(read_csv, delimiter="\t"),
}
