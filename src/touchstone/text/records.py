"""A text as given -> the fields of the JSON in it: lookups, tool outputs, records; read as far as they go.

Offsets are those of the text, so that a field can be shown where it is; json.loads gives none, and refuses a record
that breaks off. A JSON string that itself holds JSON is read as if its inner quotes were not escaped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# Where JSON may begin: an object or list that opens with a key, a string, a number or another of its kind.
OPENING = re.compile(r"""[\[{](?=\s{0,20}(?:\\{0,3}["'\[{\]}]|-?\d|null\b|true\b|false\b|None\b))""")
TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')|(?P<scalar>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\w+)"""
    r"""|(?P<sign>[{}\[\],:])|(?P<blank>\s++)|(?P<other>.)""",
    re.DOTALL,
)
INNER = re.compile(r"""\s{0,20}[\[{]\s{0,20}(?:\\{1,3}["']|["'\[{])""")
ESCAPE = re.compile(r"\\+.", re.DOTALL)
# Deeper than any record that people read.
MAX_DEPTH = 40
MAX_LEAVES = 20_000


class Leaf(NamedTuple):
    """A value of a record: where it is (a string without its quotes), its keys from the outside in."""

    start: int
    end: int
    path: str
    keys: tuple[str, ...]
    # The numbers of the objects it is in, innermost first.
    owners: tuple[int, ...]
    is_text: bool


class JsonRecord(NamedTuple):
    """One JSON value of a text."""

    start: int
    end: int
    leaves: tuple[Leaf, ...]
    # How many entries each list has, by its path.
    lists: tuple[tuple[str, int], ...]
    note: str | None


@dataclass(slots=True)
class _Frame:
    """An object or list that is being read."""

    is_object: bool
    path: str
    keys: tuple[str, ...]
    owners: tuple[int, ...]
    key: str | None = None
    count: int = 0
    is_filled: bool = field(default=False)

    @property
    def child(self) -> str:
        if self.is_object:
            return f"{self.path}.{self.key}" if self.path else str(self.key)
        return f"{self.path}[{self.count}]"

    @property
    def child_keys(self) -> tuple[str, ...]:
        return (*self.keys, str(self.key)) if self.is_object else self.keys


def find_records(text: str) -> Iterator[JsonRecord]:
    """The JSON values of a text that hold any field, in order; what looks like one and is none is passed over."""
    after = 0
    plain = _unescaped(text) if "\\" in text else text
    while opening := OPENING.search(text, after):
        reader = _RecordReader()
        is_encoded = text.startswith("\\", opening.end())
        end, note = reader.read(plain if is_encoded else text, opening.start(), at=0, frame=None)
        if reader.has_field:
            lists = tuple((path, count) for path, count in reader.lists if count)
            yield JsonRecord(opening.start(), end, tuple(reader.leaves), lists, note)
        after = max(end, opening.end())


class _RecordReader:
    """Leaves of one JSON value, gathered in order."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.lists: list[tuple[str, int]] = []
        self.has_field = False
        self._objects = 0

    def read(self, text: str, start: int, *, at: int, frame: _Frame | None) -> tuple[int, str | None]:
        """Read the value that opens at `start`: where it ends, and what is wrong with it.

        `at` is the place of `text` in the whole; `frame` is what holds a value that is a string within another.
        """
        stack: list[_Frame] = [frame] if frame else []
        depth = len(stack)
        for match in TOKEN.finditer(text, start):
            kind, token = match.lastgroup, match[0]
            if kind == "blank":
                continue
            if kind == "other" or len(stack) > MAX_DEPTH or len(self.leaves) >= MAX_LEAVES:
                return match.start(), f"the record is not understood from character {at + match.start() + 1:,} on"
            if token in ("{", "["):
                stack.append(self._open(stack[-1] if stack else None, is_object=token == "{"))
            elif token in ("}", "]"):
                closed = stack.pop()
                if not closed.is_object:
                    self.lists.append((closed.path, closed.count + closed.is_filled))
                if len(stack) == depth:
                    return match.end(), None
            elif token == ",":
                stack[-1].count += not stack[-1].is_object
                stack[-1].key = None
                stack[-1].is_filled = False
            elif token != ":":
                self._scalar(stack[-1], text, match, at)
        return len(text), f"the record breaks off at character {at + len(text):,}"

    def _open(self, holder: _Frame | None, *, is_object: bool) -> _Frame:
        path, keys, owners = (holder.child, holder.child_keys, holder.owners) if holder else ("", (), ())
        if holder:
            holder.is_filled = True
        if is_object:
            self._objects += 1
            owners = (self._objects, *owners)
        return _Frame(is_object, path, keys, owners)

    def _scalar(self, holder: _Frame, text: str, match: re.Match[str], at: int) -> None:
        is_text = match.lastgroup == "string"
        start, end = (match.start() + 1, match.end() - 1) if is_text else match.span()
        # The backslash of an encoded closing quote is a blank here.
        end = start + len(text[start:end].rstrip())
        if holder.is_object and holder.key is None:
            holder.key = text[start:end].strip(" \\\"'")
            self.has_field = True
            return
        holder.is_filled = True
        if is_text and INNER.match(text, start, end):
            inner = _unescaped(text[start:end])
            self.read(inner, 0, at=at + start, frame=holder)
            return
        self.leaves.append(Leaf(at + start, at + end, holder.child, holder.child_keys, holder.owners, is_text))


def _unescaped(text: str) -> str:
    """The text as it was before it was written into a JSON string, of the same length."""
    return ESCAPE.sub(lambda escape: (escape[0][-1] if escape[0][-1] in "\"'" else "").rjust(len(escape[0])), text)
