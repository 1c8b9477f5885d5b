"""JSON Lines and JSON files -> rows, one value at a time, without holding or parsing the whole."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from touchstone.core.result import Failure
from touchstone.io.json_text import INVALID, parse_json
from touchstone.io.rows import (
    BROKEN_STREAM,
    BYTE_ORDER_MARK,
    LONGEST_LINE,
    Row,
    broken_off,
    not_utf8,
    read_lines,
    too_long,
    unreadable,
)

_OUTSIDE_STRING = re.compile(rb'["\[\]{},]')
_INSIDE_STRING = re.compile(rb'["\\]')
_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one value and the line they start on; `raw` is None when they exceed the limit."""

    line: int
    raw: bytes | None


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
        return unreadable(INVALID, f"{problem}: two commas in a row, or a file cut off before its array is closed")
    try:
        text = piece.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return not_utf8(error)
    return parse_json(text, first_line=piece.line)


def _row(file: str, line: int, value: object) -> Row:
    if isinstance(value, dict | Failure):
        return Row(file, line, value)
    remedy = "a JSON array belongs in a .json file" if isinstance(value, list) else "name the reply 'response'"
    return Row(file, line, unreadable(INVALID, f"the row is {_kind(value)}, not an object {{…}}: {remedy}"))


def _kind(value: object) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "null")
