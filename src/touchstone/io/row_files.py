"""Rows as they were read -> JSONL, CSV or TSV, with their own columns in their own order."""

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from touchstone.core.case import CASE_FIELDS
from touchstone.core.errors import CaseError, ConfigError, InputError
from touchstone.core.result import Failure
from touchstone.core.shown import is_formula
from touchstone.io.columns import ALIASES, cell_value
from touchstone.io.locations import whole_file
from touchstone.io.results import STDOUT
from touchstone.io.rows import Row

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
ENDINGS = (".jsonl", ".ndjson", *_DELIMITERS)


def check_rows_target(target: str, *, source: str) -> None:
    """ConfigError, before any work is done, when the ending is unknown or the source itself would be replaced."""
    if target == STDOUT:
        return
    if Path(target).suffix.lower() not in ENDINGS:
        raise ConfigError(f"-o {target} does not end in one of {', '.join(ENDINGS)}: the ending says what to write")
    if Path(target).exists() and Path(source).exists() and Path(target).samefile(source):
        raise ConfigError(f"-o {target} would replace the cases that are read: give another name")


def write_rows(rows: Sequence[Row], target: str) -> int:
    """Write the rows that could be read; how many cells of a table a spreadsheet might run as a formula.

    Cells are written as they are, since a changed text would be another case.
    """
    try:
        if target == STDOUT:
            return _write(rows, sys.stdout.buffer, delimiter=None)
        with whole_file(target) as stream:
            return _write(rows, stream, delimiter=_DELIMITERS.get(Path(target).suffix.lower()))
    except BrokenPipeError:
        raise
    except OSError as error:
        name = "stdout" if target == STDOUT else target
        problem = error.strerror or type(error).__name__
        raise InputError(f"{name} cannot be written ({problem}): free some space, or name another file") from error


def _write(rows: Sequence[Row], stream: IO[bytes], *, delimiter: str | None) -> int:
    if delimiter is None:
        for row in rows:
            if not isinstance(row.content, Failure):
                line = json.dumps(_object(row.content, is_text=row.is_text), ensure_ascii=False, default=str)
                stream.write(line.encode("utf-8", "replace") + b"\n")
        stream.flush()
        return 0
    contents = [row.content for row in rows if not isinstance(row.content, Failure)]
    columns = list(dict.fromkeys(name for content in contents for name in content))
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="", write_through=True)
    table = csv.writer(text, delimiter=delimiter)
    table.writerow(columns)
    formulas = 0
    for content in contents:
        cells = [_cell(content.get(name)) for name in columns]
        formulas += sum(isinstance(content.get(name), str) and is_formula(content[name]) for name in columns)
        table.writerow(cells)
    text.detach()
    return formulas


def _object(content: Mapping[str, Any], *, is_text: bool) -> dict[str, Any]:
    """The row as a JSON object; a table's cells get the types they stand for, and empty ones are left out."""
    if not is_text:
        return dict(content)
    given = {name: cell for name, cell in content.items() if cell != "" or ALIASES.get(name, name) == "response"}
    return {name: _typed(cell, column=name) for name, cell in given.items()}


def _typed(cell: str, *, column: str) -> Any:
    field = ALIASES.get(column, column)
    if field not in CASE_FIELDS or cell == "":
        return cell
    try:
        return cell_value(cell, field=field, column=column)
    except CaseError:
        # The row fails on that cell when it is scored, and says why; here it stays as it is.
        return cell


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
