"""JSON Lines and JSON files -> rows, one value at a time."""

from collections.abc import Iterator
from typing import IO

from touchstone.core.result import Failure
from touchstone.io.json_split import Piece, Splitter
from touchstone.io.json_text import INVALID, parse_json
from touchstone.io.lines import BROKEN_STREAM, BYTE_ORDER_MARK, LONGEST_LINE, broken_off, not_utf8, read_lines, too_long
from touchstone.io.rows import Row, unreadable

_CHUNK = 256 * 1024


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
