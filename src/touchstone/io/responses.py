"""A file of replies, each naming its case -> the drafts of each case by id, and the rows that belong to none.

Fields: `id` and `response`, optionally `confidence`, `context` and `draft`, under our names or another tool's.
Several rows with one id are several drafts, numbered by `draft` or else in the order of the file.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from touchstone.core.case import Case, Draft
from touchstone.core.codec import case_from_dict, content_hash
from touchstone.core.errors import CaseError, InputError
from touchstone.core.result import Failure
from touchstone.io.columns import SeenColumns, arrange
from touchstone.io.files import open_rows, shown
from touchstone.io.formats import Format
from touchstone.io.rows import Row, field_name, unreadable

# Looking for the nearest id compares it with every other: done for the first few, in a set of a size people write.
_MOST_NEAREST, _MOST_KNOWN, _LONGEST_NEAREST = 10, 10_000, 100


@dataclass(frozen=True, slots=True)
class Stray:
    """A row that belongs to no case: its id is unknown, or it has none that could be read."""

    line: int
    id: str | None
    failure: Failure


@dataclass(frozen=True, slots=True)
class _Numbered:
    line: int
    number: int
    found: Draft | Failure


@dataclass(frozen=True, slots=True)
class Responses:
    """The replies of a file. `hash` changes with any of them, and with nothing else."""

    file: str
    hash: str
    _drafts: Mapping[str, tuple[_Numbered, ...]] = field(repr=False)
    _unnamed: tuple[Stray, ...] = field(repr=False)

    def of(self, id: str) -> tuple[Draft | Failure, ...]:
        """The drafts for a case in the order of their numbers; a row that could not be read is a failure there."""
        return tuple(each.found for each in self._drafts.get(id, ()))

    def missing(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Those of the cases' ids that no row names."""
        return tuple(id for id in ids if id not in self._drafts)

    def strays(self, ids: Collection[str]) -> tuple[Stray, ...]:
        """The rows that belong to none of the cases, in the order of the file."""
        unknown = [(id, each) for id, drafts in self._drafts.items() if id not in ids for each in drafts]
        named = {id: None for id, _ in unknown}
        known = sorted(ids) if len(ids) <= _MOST_KNOWN else []
        nearest = {id: _nearest(id, known) for id in list(named)[:_MOST_NEAREST]}
        strays = [self._stray(id, each.line, nearest=nearest.get(id)) for id, each in unknown]
        return tuple(sorted([*self._unnamed, *strays], key=lambda stray: stray.line))

    def _stray(self, id: str, line: int, *, nearest: str | None) -> Stray:
        near = f"; nearest is {field_name(nearest)}" if nearest else ""
        problem = f"no case has the id {field_name(id)}{near}"
        return Stray(line, id, _in_file("UnknownId", f"{problem}: correct it, or leave the row out", self.file, line))


def read_responses(
    path: str,
    *,
    columns: Mapping[str, str] | None = None,
    seen: SeenColumns | None = None,
    format: Format | None = None,
) -> Responses:
    """The replies in the file at `path`, its columns noted in `seen`; InputError when none in it names its case."""
    with open_rows(path, format=format) as rows:
        watched = rows if seen is None else seen.watch(rows)
        return collect_responses(watched, file=shown(path), columns=columns)


def collect_responses(rows: Iterable[Row], *, file: str, columns: Mapping[str, str] | None = None) -> Responses:
    """The replies in the rows of a file; `columns` maps their column names to ours."""
    read: dict[str, dict[int, _Numbered]] = {}
    unnamed: list[Stray] = []
    for row in rows:
        id, found, number = _reply(row, columns=columns or {})
        if id is None:
            if not isinstance(found, Failure):
                remedy = "write the case's id into it, or map its column to 'id'"
                found = unreadable("MissingId", f"the reply has no id, so its case is not known: {remedy}")
            unnamed.append(Stray(row.line, None, _located(found, row)))
        else:
            _place(read.setdefault(id, {}), found, number=number, row=row)
    if not read:
        first = f"; the first row: {unnamed[0].failure.message}" if unnamed else ""
        raise InputError(f"{file} holds no replies: write one for each row, with the fields 'id' and 'response'{first}")
    drafts = {id: tuple(found[number] for number in sorted(found)) for id, found in read.items()}
    said = {id: [_plain(each) for each in found] for id, found in drafts.items()}
    return Responses(file, content_hash(said), drafts, tuple(unnamed))


def _reply(row: Row, *, columns: Mapping[str, str]) -> tuple[str | None, Draft | Failure, int | None]:
    """The id, what the row says, and its number if it gives one."""
    if isinstance(row.content, Failure):
        return None, row.content, None
    try:
        case = case_from_dict(arrange(row.content, columns=columns, is_text=row.is_text))
    except CaseError as error:
        return _plain_id(row.content, columns=columns), unreadable("CaseError", str(error)), None
    try:
        return case.id, Draft(case.response, case.confidence, case.context), _number(case)
    except CaseError as error:
        return case.id, unreadable("CaseError", str(error)), None


def _place(drafts: dict[int, _Numbered], found: Draft | Failure, *, number: int | None, row: Row) -> None:
    """Adds one to the drafts of a case under its number or the next free one; no number is taken twice."""
    if number in drafts:
        problem = f"the case has a draft {number} already, on line {drafts[number].line}"
        found, number = unreadable("DuplicateDraft", f"{problem}: number each of them once"), None
    free = number or next(at for at in count(len(drafts) + 1) if at not in drafts)
    drafts[free] = _Numbered(row.line, free, _located(found, row) if isinstance(found, Failure) else found)


def _number(case: Case) -> int | None:
    given = case.metadata.get("draft")
    if given is None:
        return None
    is_number = isinstance(given, str | int | float) and not isinstance(given, bool)
    text = f"{given:g}" if isinstance(given, float) else str(given)
    if not (is_number and text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
        raise CaseError("field 'draft' does not number a draft, allowed is a whole number of at least 1")
    return int(text)


def _plain_id(content: Mapping[str, Any], *, columns: Mapping[str, str]) -> str | None:
    """The id of a row that is wrong in another field, so that its failure stands with its case."""
    names = [theirs for theirs, ours in columns.items() if ours == "id"] + ["id"] * ("id" not in columns)
    ids = [content[name] for name in names if content.get(name) not in (None, "")]
    return str(ids[0]) if ids and isinstance(ids[0], str | int) and not isinstance(ids[0], bool) else None


def _located(failure: Failure, row: Row) -> Failure:
    return _in_file(failure.error, failure.message, row.file, row.line)


def _in_file(error: str, message: str, file: str, line: int) -> Failure:
    return unreadable(error, f"{file}, line {line}: {message}")


def _nearest(id: str, known: Sequence[str]) -> str | None:
    return next(iter(difflib.get_close_matches(id[:_LONGEST_NEAREST], known, n=1)), None)


def _plain(each: _Numbered) -> list[Any]:
    found = each.found
    if isinstance(found, Failure):
        return [each.number, found.error]
    context = None if found.context is None else [[passage.id, passage.text] for passage in found.context]
    return [each.number, found.reply, found.confidence, context]
