"""A file of replies, before anything is scored or kept -> what would be read of it, column by column and row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.app.config import Settings
from touchstone.app.replies import check_replies
from touchstone.core.case import Case
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.cases import read_cases
from touchstone.io.columns import SeenColumns, giving
from touchstone.io.files import known_format, open_rows
from touchstone.io.rows import field_name

# What a column can be mapped to, in the order of a conversation; people's labels come with gold sets.
MAPPED_FIELDS = ("input", "response", "context", "expected_output", "category", "confidence", "id")
ROWS = 5
# Rows that could not be read and are named.
NAMED = 10
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Preview:
    """A file as it would be read: `fields` has the column that gives each field, `first` its first replies by field,
    `unread` the first rows that are no reply; `problem` says why none of it can be scored."""

    format: str
    rows: int
    columns: tuple[str, ...]
    fields: Mapping[str, str]
    first: tuple[tuple[int, Mapping[str, str]], ...]
    unread_count: int
    unread: tuple[tuple[int, str], ...]
    problem: str = ""

    @property
    def readable(self) -> int:
        return self.rows - self.unread_count

    @property
    def unused(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in self.fields.values())


def preview_file(path: Path, *, name: str, settings: Settings, mapped: Mapping[str, str]) -> Preview:
    """What would be read with these columns mapped as well; InputError for a file that is none that can be read."""
    seen, columns, file = SeenColumns(), {**settings.columns, **mapped}, f"the file {name}"
    with open_rows(str(path)) as rows:
        entries = list(read_cases(seen.watch(rows), file=file, columns=columns))
    problem = ""
    try:
        check_replies(entries, kind="production", seen=seen, columns=columns, file=file)
    except InputError as error:
        problem = str(error)
    cases = [(entry.line, entry.case) for entry in entries if isinstance(entry.case, Case)]
    unread = [(entry.line, entry.case.message) for entry in entries if isinstance(entry.case, Failure)]
    given = giving(seen.names, columns=columns)
    fields = {field: given[field][0] for field in MAPPED_FIELDS if given[field]}
    return Preview(
        format=known_format(str(path)) or "",
        rows=len(entries),
        columns=seen.names,
        fields=fields,
        first=tuple((line, {field: _text(case, field) for field in fields}) for line, case in cases[:ROWS]),
        unread_count=len(unread),
        unread=tuple(unread[:NAMED]),
        problem=problem,
    )


def map_columns(chosen: Mapping[str, str], *, names: Sequence[str], settings: Settings) -> dict[str, str]:
    """The columns that are to give another field than they would, theirs -> ours; one that is to give none -> "".

    `chosen` has the column for each field, or nothing for a field that none is to give.
    """
    usual = giving(names, columns=settings.columns)
    mapped: dict[str, str] = {}
    taken: dict[str, str] = {}
    for field, column in chosen.items():
        if not column:
            continue
        if column not in names:
            raise InputError(f"the file has no column {field_name(column)}: choose one that it has")
        if other := taken.get(column):
            raise InputError(
                f"column {field_name(column)} is chosen for '{other}' and for '{field}': change one of them"
            )
        taken[column] = field
        if column != next(iter(usual[field]), None):
            mapped[column] = field
    for field, column in chosen.items():
        if not column:
            mapped |= {name: "" for name in usual[field] if name not in taken}
    return mapped


def _text(case: Case, field: str) -> str:
    """The field as it was read, in short."""
    value = getattr(case, field)
    if value is None:
        return ""
    if field == "context":
        text = " · ".join(passage.text for passage in value)
    elif isinstance(value, tuple):
        text = " · ".join(f"{turn.role}: {turn.content}" for turn in value)
    else:
        text = f"{value:g}" if field == "confidence" else value
    return text if len(text) <= _LONGEST else text[:_LONGEST].rstrip() + "…"
