"""Rows -> cases with ids, each in its place; a row that is no case is a failure there."""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict, case_hash
from touchstone.core.errors import CaseError, InputError
from touchstone.core.result import Failure
from touchstone.io.columns import arrange, check_known
from touchstone.io.rows import Row, unreadable

Replies = Literal["needed", "optional", "dropped"]
_UNANSWERED = {"response": "", "confidence": None, "labels": None}
_FIRST_SIZE = 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a case file: the case, or why there is none."""

    file: str
    line: int
    case: Case | Failure


def read_cases(
    rows: Iterable[Row],
    *,
    file: str,
    columns: Mapping[str, str] | None = None,
    replies: Replies = "needed",
    is_strict: bool = False,
    may_be_empty: bool = False,
) -> Iterator[Entry]:
    """Every row as an entry, in order; `columns` maps their column names to ours. No row at all is an InputError.

    Replies that come from elsewhere are "dropped" here, with what is said of them; "optional" ones may be missing.
    When `is_strict`, a column that would count for nothing makes its row a failure.
    """
    naming = _Naming()
    is_empty = True
    for row in rows:
        is_empty = False
        case = read_case(row, columns=columns or {}, replies=replies, is_strict=is_strict)
        yield Entry(row.file, row.line, naming.named(case, line=row.line))
    if is_empty and not may_be_empty:
        raise InputError(f"{file} holds no cases: write one for each row, with at least the field 'response'")


def read_case(
    row: Row, *, columns: Mapping[str, str], replies: Replies = "needed", is_strict: bool = False
) -> Case | Failure:
    """The case that a row describes, with the id it was given or none."""
    if isinstance(row.content, Failure):
        return row.content
    try:
        if is_strict:
            check_known(row.content, columns=columns)
        is_needed = replies == "needed"
        fields = arrange(row.content, columns=columns, is_text=row.is_text, needs_response=is_needed)
        return case_from_dict(_answered(fields, replies))
    except CaseError as error:
        return unreadable("CaseError", str(error))


def _answered(fields: Mapping[str, Any], replies: Replies) -> Mapping[str, Any]:
    if replies == "dropped" or (replies == "optional" and fields.get("response") is None):
        return {**fields, **_UNANSWERED}
    return fields


class _Naming:
    """Gives every case of a file an id of its own."""

    def __init__(self) -> None:
        self._lines = SeenIds()
        self._repeats = SeenIds()

    def named(self, case: Case | Failure, *, line: int) -> Case | Failure:
        """The case under its own id, or under its content's hash with an ordinal; a failure when its id is taken."""
        if isinstance(case, Failure):
            return case
        id = case.id or self._free_id(case)
        if first := self._lines.get(id):
            return unreadable("DuplicateId", f"line {first} has the same id: give each case its own, or none")
        self._lines.note(id, line)
        return case if case.id else replace(case, id=id)

    def _free_id(self, case: Case) -> str:
        name = case_hash(case)
        ordinal = self._repeats.get(name)
        while True:
            ordinal += 1
            id = name if ordinal == 1 else f"{name}-{ordinal}"
            if not self._lines.get(id):
                self._repeats.note(name, ordinal)
                return id


class SeenIds:
    """An open-addressing table from the 8-byte hash of an id to a number above 0.

    A dict of the ids themselves costs several times as much on a file of millions of rows. Two ids that share
    a hash would be taken for one; among ten million that has a chance of 3 in a million.
    """

    def __init__(self) -> None:
        self._hashes = array("Q", bytes(8 * _FIRST_SIZE))
        self._numbers = array("Q", bytes(8 * _FIRST_SIZE))
        self._count = 0

    def get(self, id: str) -> int:
        """The number noted for the id, 0 when there is none."""
        return self._numbers[self._slot(_hash(id))]

    def note(self, id: str, number: int) -> None:
        """Remembers the number, in place of an earlier one."""
        key = _hash(id)
        slot = self._slot(key)
        if not self._numbers[slot]:
            self._count += 1
        self._hashes[slot], self._numbers[slot] = key, number
        if self._count * 3 > len(self._hashes) * 2:
            self._grow()

    def _slot(self, key: int) -> int:
        """Where the key is, or the free place where it belongs."""
        last = len(self._hashes) - 1
        slot = key & last
        while self._numbers[slot] and self._hashes[slot] != key:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        noted = [(key, number) for key, number in zip(self._hashes, self._numbers, strict=True) if number]
        size = len(self._hashes) * 2
        self._hashes, self._numbers = array("Q", bytes(8 * size)), array("Q", bytes(8 * size))
        for key, number in noted:
            slot = self._slot(key)
            self._hashes[slot], self._numbers[slot] = key, number


def _hash(id: str) -> int:
    return int.from_bytes(hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
