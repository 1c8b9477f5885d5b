"""Results -> JSONL, CSV or Parquet, written as they come; a file gets its name only when it is complete."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from touchstone.core.codec import result_from_dict, result_to_dict
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Result
from touchstone.io.locations import whole_file
from touchstone.io.result_tables import flat_columns, flat_row, nested_schema

STDOUT = "-"
_ROW_GROUP = 1000

# A result, or its JSON as the store keeps it.
Write = Callable[[Result | str], None]


@contextmanager
def open_results(target: str, *, is_private: bool = False) -> Iterator[Write]:
    """A function that writes one result to the file at `target`, or to stdout for `-`; the ending is the format."""
    writer = _json_lines if target == STDOUT else _writer(target)
    try:
        opened = _stdout() if target == STDOUT else whole_file(target, is_private=is_private)
        with opened as stream, writer(stream) as write:
            yield write
    except BrokenPipeError:
        raise
    except OSError as error:
        name = "stdout" if target == STDOUT else target
        remedy = "free some space, or name another file with -o"
        raise InputError(f"{name} cannot be written ({error.strerror or type(error).__name__}): {remedy}") from error


def check_target(target: str, *, source: str) -> None:
    """ConfigError, before any work is done, when the ending is unknown or the source itself would be replaced."""
    if target == STDOUT:
        return
    _writer(target)
    if Path(target).exists() and Path(source).exists() and Path(target).samefile(source):
        raise ConfigError(f"-o {target} would replace the cases that are read: give another name")


def _writer(target: str) -> Callable[[IO[bytes]], AbstractContextManager[Write]]:
    writers: dict[str, Callable[[IO[bytes]], AbstractContextManager[Write]]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".csv": partial(_csv, delimiter=","),
        ".tsv": partial(_csv, delimiter="\t"),
        ".parquet": _parquet,
    }
    ending = Path(target).suffix.lower()
    if ending not in writers:
        raise ConfigError(f"-o {target} does not end in one of {', '.join(writers)}: the ending says what to write")
    return writers[ending]


@contextmanager
def _json_lines(stream: IO[bytes]) -> Iterator[Write]:
    def write(result: Result | str) -> None:
        if not isinstance(result, str):
            result = json.dumps(result_to_dict(result), ensure_ascii=False, allow_nan=False)
        stream.write(result.encode("utf-8", "replace") + b"\n")
        if stream is sys.stdout.buffer:
            stream.flush()

    yield write


@contextmanager
def _csv(stream: IO[bytes], *, delimiter: str) -> Iterator[Write]:
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="", write_through=True)
    table = csv.DictWriter(text, flat_columns(), delimiter=delimiter)
    table.writeheader()
    yield lambda result: table.writerow(flat_row(_read(result)))
    text.detach()


@contextmanager
def _parquet(stream: IO[bytes]) -> Iterator[Write]:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise InputError("writing Parquet needs PyArrow: pip install 'touchstone-eval[parquet]'") from error
    schema = nested_schema()
    held: list[dict[str, Any]] = []
    with ParquetWriter(stream, schema, compression="zstd") as parquet:

        def write_held() -> None:
            parquet.write_table(pa.Table.from_pylist(held, schema=schema))
            held.clear()

        def write(result: Result | str) -> None:
            held.append(result_to_dict(_read(result)))
            if len(held) == _ROW_GROUP:
                write_held()

        yield write
        write_held()


def _read(result: Result | str) -> Result:
    return result_from_dict(json.loads(result)) if isinstance(result, str) else result


@contextmanager
def _stdout() -> Iterator[IO[bytes]]:
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
