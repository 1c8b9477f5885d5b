"""CSV and TSV -> rows of text cells; a broken record fails alone."""

import csv
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.json_text import field_name
from touchstone.io.rows import LONGEST_LINE, Line, Row, read_lines, too_long, unreadable

INVALID = "InvalidCsv"
# Characters that may be read again for each character read: keeps recovery linear.
_REREADS = 4


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
    return unreadable(INVALID, f"the record{swallowed} is not valid CSV, {problem}: write a quote inside a cell twice")


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
        return unreadable(INVALID, f"{problem}: quote cells that hold the delimiter or a line break")
    return dict(zip(header, cells, strict=True))
