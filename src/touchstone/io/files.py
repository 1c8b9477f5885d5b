"""A path -> its rows: the format is chosen by the ending, compression by the content."""

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Literal, cast, get_args

from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure
from touchstone.io.columns import SeenColumns
from touchstone.io.csv_rows import read_csv
from touchstone.io.json_rows import read_json, read_json_lines
from touchstone.io.locations import is_url, locate, open_location, shown_name
from touchstone.io.parquet_rows import ParquetRows
from touchstone.io.rows import BROKEN_STREAM, Row, RowReader

Format = Literal["jsonl", "json", "csv", "tsv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
# Their columns are the same in each row.
TABLES: tuple[Format, ...] = ("csv", "tsv", "parquet")
STDIN = "-"
_ENDINGS: dict[str, Format] = {f".{name}": name for name in FORMATS} | {".ndjson": "jsonl"}
_BUFFER = 64 * 1024
_COMPRESSED = (".gz", ".zst")
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class _TextRows:
    """The rows of an open text file, read as far as they are asked for."""

    def __init__(self, raw: io.BufferedReader, *, file: str, format: Format) -> None:
        self._raw = raw
        self._size = _size(raw)
        self._rows = _text_rows(raw, file=file, format=format)

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def share_read(self) -> float | None:
        return min(1.0, self._raw.tell() / self._size) if self._size else None


@contextmanager
def open_rows(path: str, *, format: Format | None = None) -> Iterator[RowReader]:
    """The rows of the file at `path`, or of stdin for `-`; InputError when it cannot be read at all."""
    chosen = format or _format_of(path)
    with _open(path) as raw:
        if chosen != "parquet":
            yield _TextRows(raw, file=shown(path), format=chosen)
        elif path == STDIN:
            raise ConfigError("Parquet cannot be read from stdin, its index is at the end: save it as a file")
        else:
            yield ParquetRows(raw, file=shown(path))


@contextmanager
def open_mapped(path: str, *, mapped: Mapping[str, str], format: Format | None = None) -> Iterator[RowReader]:
    """The rows of a file that has the mapped columns; InputError when no row has one of them.

    That is known at the start, but for stdin, which cannot be read twice: there it is known at its end.
    """
    seen = SeenColumns(mapped)
    if path != STDIN:
        look_for_columns(seen, path, format=format)
        seen.check_mapped(file=shown(path))
    with open_rows(path, format=format) as rows:
        yield _MappedRows(rows, seen, file=shown(path))


def look_for_columns(seen: SeenColumns, path: str, *, format: Format | None = None) -> None:
    """Reads on until no mapped column is missing; of a table, one row tells all its columns."""
    if not seen.missing:
        return
    is_table = (format or known_format(path)) in TABLES
    with open_rows(path, format=format) as rows:
        for row in seen.watch(rows):
            if not seen.missing or (is_table and not isinstance(row.content, Failure)):
                return


class _MappedRows:
    """Rows that are checked for the mapped columns once all are read."""

    def __init__(self, rows: RowReader, seen: SeenColumns, *, file: str) -> None:
        self._rows = rows
        self._seen = seen
        self._file = file

    def __iter__(self) -> Iterator[Row]:
        if not self._seen.missing:
            return iter(self._rows)
        return self._checked()

    def share_read(self) -> float | None:
        return self._rows.share_read()

    def _checked(self) -> Iterator[Row]:
        yield from self._seen.watch(self._rows)
        self._seen.check_mapped(file=self._file)


def shown(path: str) -> str:
    """The name a file goes by in messages."""
    return "stdin" if path == STDIN else shown_name(path)


def known_format(path: str) -> Format | None:
    """The format that a name's ending stands for; None when it stands for none."""
    endings = [ending.lower() for ending in Path(shown_name(path)).suffixes]
    ending = endings[-2] if len(endings) > 1 and endings[-1] in _COMPRESSED else "".join(endings[-1:])
    return _ENDINGS.get(ending)


def _format_of(path: str) -> Format:
    if path == STDIN:
        return "jsonl"
    if format := known_format(path):
        return format
    if Path(path).is_dir():
        raise InputError(f"{path} is a directory: give a file of cases")
    known = ", ".join(_ENDINGS)
    raise ConfigError(f"{path} does not end in one of {known}: say what it is with --format {'|'.join(FORMATS)}")


def _open(path: str) -> AbstractContextManager[io.BufferedReader]:
    if path == STDIN:
        return nullcontext(cast(io.BufferedReader, sys.stdin.buffer))
    try:
        if is_url(path):
            return open_location(locate(path))
        return cast(io.BufferedReader, Path(path).open("rb", buffering=_BUFFER))
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: check the path, or give - to read stdin") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a directory: give a file of cases") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be opened: {getattr(error, 'strerror', 'not a valid path')}") from error


def _size(raw: IO[bytes]) -> int | None:
    """The bytes of a regular file or stored object; None for a pipe."""
    try:
        if not raw.seekable():
            return None
        end = raw.seek(0, os.SEEK_END)
        raw.seek(0)
    except OSError:
        return None
    return end


def _text_rows(raw: io.BufferedReader, *, file: str, format: Format) -> Iterator[Row]:
    try:
        source = _decompressed(raw, file=file)
        start = source.peek(2)
    except BROKEN_STREAM as error:
        raise InputError(f"{file} cannot be read or decompressed ({type(error).__name__}): fetch it again") from error
    if start[:2] in _UTF16:
        raise InputError(f"{file} is UTF-16: save it as UTF-8")
    stream = cast(IO[bytes], source)
    readers: dict[Format, Callable[[], Iterator[Row]]] = {
        "jsonl": lambda: read_json_lines(stream, file=file),
        "json": lambda: read_json(stream, file=file),
        "csv": lambda: read_csv(stream, file=file),
        "tsv": lambda: read_csv(stream, file=file, delimiter="\t"),
    }
    return readers[format]()


def _decompressed(raw: io.BufferedReader, *, file: str) -> io.BufferedReader | gzip.GzipFile:
    start = raw.peek(len(_ZSTD))
    if start.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)
    if not start.startswith(_ZSTD):
        return raw
    try:
        import pyarrow as pa
    except ImportError as error:
        raise InputError(f"{file}: reading Zstandard needs PyArrow: pip install 'touchstone-eval[parquet]'") from error
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"), _BUFFER)
