"""Rows -> cases with ids, each in its place; a row that is no case is a failure there."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from touchstone.core.case import Case
from touchstone.core.codec import case_from_dict, case_hash
from touchstone.core.errors import CaseError, InputError
from touchstone.core.result import Failure
from touchstone.io.columns import arrange, check_known
from touchstone.io.ids import SeenIds
from touchstone.io.rows import Row, unreadable

Replies = Literal["needed", "optional", "dropped"]
_UNANSWERED = {"response": "", "confidence": None, "labels": None}


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
            return unreadable("DuplicateId", f"the id is that of line {first} already: give each case its own, or none")
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
