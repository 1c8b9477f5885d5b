"""A path -> its rows, and what a user names -> the files of cases it stands for.

The format is chosen by the ending, compression by the content. Globs, directories and URLs stand for files, each with
a digest that shows whether it has changed.
"""

import gzip
import hashlib
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import unquote

from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure
from touchstone.io.columns import SeenColumns
from touchstone.io.formats import FORMATS, READERS, TABLES, Format, read_parquet
from touchstone.io.locations import Location, is_url, locate, open_location, shown_name
from touchstone.io.rows import BROKEN_STREAM, Row, Rows

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

STDIN = "-"
_ENDINGS: dict[str, Format] = {f".{name}": name for name in FORMATS} | {".ndjson": "jsonl"}
_BUFFER = 64 * 1024
_COMPRESSED = (".gz", ".zst")
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_WILD = re.compile(r"[*?\[]")
# In a URL a question mark begins its options.
_WILD_IN_URL = re.compile(r"[*\[]")
_HIVE = re.compile(r"^([^=/]+)=([^/]*)$")
# How Hive and Spark write a partition whose value is null.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SAMPLE, _SAMPLES = 64 * 1024, 16


@contextmanager
def open_rows(path: str, *, format: Format | None = None) -> Iterator[Rows]:
    """The rows of the file at `path`, or of stdin for `-`; InputError when it cannot be read at all."""
    chosen, file = format or _format_of(path), shown(path)
    with _open(path) as raw:
        if chosen != "parquet":
            size = _size(raw)
            rows = READERS[chosen](_text(raw, file=file), file=file)
            yield Rows(rows, lambda: min(1.0, raw.tell() / size) if size else None)
        elif path == STDIN:
            raise ConfigError("Parquet cannot be read from stdin, its index is at the end: save it as a file")
        else:
            yield read_parquet(raw, file=file)


@contextmanager
def open_mapped(path: str, *, mapped: Mapping[str, str], format: Format | None = None) -> Iterator[Rows]:
    """The rows of a file that has the mapped columns; InputError when no row has one of them.

    That is known at the start, but for stdin, which cannot be read twice: there it is known at its end.
    """
    seen = SeenColumns(mapped)
    if path != STDIN:
        look_for_columns(seen, path, format=format)
        seen.check_mapped(file=shown(path))
    with open_rows(path, format=format) as rows:
        yield Rows(_checked(rows, seen, file=shown(path)), rows.share_read) if seen.missing else rows


def look_for_columns(seen: SeenColumns, path: str, *, format: Format | None = None) -> None:
    """Reads on until no mapped column is missing; of a table, one row tells all its columns."""
    if not seen.missing:
        return
    is_table = (format or known_format(path)) in TABLES
    with open_rows(path, format=format) as rows:
        for row in seen.watch(rows):
            if not seen.missing or (is_table and not isinstance(row.content, Failure)):
                return


def _checked(rows: Rows, seen: SeenColumns, *, file: str) -> Iterator[Row]:
    yield from seen.watch(rows)
    seen.check_mapped(file=file)


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


def _text(raw: io.BufferedReader, *, file: str) -> IO[bytes]:
    """The file's bytes, decompressed; InputError when they are no UTF-8 text from the start."""
    try:
        stream = _decompressed(raw, file=file)
        start = stream.peek(2)
    except BROKEN_STREAM as error:
        raise InputError(f"{file} cannot be read or decompressed ({type(error).__name__}): fetch it again") from error
    if start[:2] in _UTF16:
        raise InputError(f"{file} is UTF-16: save it as UTF-8")
    return cast(IO[bytes], stream)


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


@dataclass(frozen=True, slots=True)
class Source:
    """One file of cases. `address` is what it is opened by; it may hold keys and is not for showing.

    `digest` is of all bytes, or of samples for a large file, which must then be of one time.
    """

    name: str
    size: int
    modified: str | None
    digest: str
    partition: Mapping[str, str | None] = field(default_factory=dict)
    address: str = ""

    def is_same(self, other: "Source") -> bool:
        """Whether it holds what the other did."""
        if (self.size, self.digest) != (other.size, other.digest):
            return False
        return self.digest.startswith("sha256:") or self.modified == other.modified


def find_sources(inputs: Iterable[str], *, format: Format | None = None, without: str | None = None) -> list[Source]:
    """The files that the inputs stand for, each once, in the order given and by name within an input.

    `without` names a directory to leave out: the one that results go to. InputError when an input stands for nothing.
    """
    found: dict[str, Source] = {}
    for name in inputs:
        for location, info in _files(name, format=format, without=without):
            if location.name not in found:
                found[location.name] = _source(location, info)
    return list(found.values())


def _files(name: str, *, format: Format | None, without: str | None) -> "Iterator[tuple[Location, FileInfo]]":
    from pyarrow.fs import FileType

    location = locate(name)
    wild = _wild(location)
    info = None if wild else location.info()
    if info is not None and info.type == FileType.File:
        yield location, info
        return
    if info is not None and info.type == FileType.NotFound:
        raise InputError(f"{location.name} does not exist: check the path")
    root = _root(location, wild.start()) if wild else location
    pattern = _pattern(location.path) if wild else None
    left_out = None if without is None else locate(without)
    count = 0
    for each in root.files():
        below = each.path[len(root.path) :].lstrip("/")
        if _is_hidden(below) or (format is None and known_format(each.path) is None):
            continue
        if pattern is not None and not pattern.match(each.path):
            continue
        if left_out and left_out.system == root.system and each.path.startswith(left_out.path.rstrip("/") + "/"):
            continue
        count += 1
        yield root.child(below), each
    if not count:
        what = "matches no file of cases" if wild else "is a directory without a file of cases"
        raise InputError(f"{location.name} {what}: known endings are .jsonl, .ndjson, .json, .csv, .tsv, .parquet")


def _wild(location: Location) -> re.Match[str] | None:
    """The first wild part of the path; what the working directory adds to a name is taken as it is."""
    wild = _WILD_IN_URL if is_url(location.name) else _WILD
    return wild.search(location.path) if wild.search(location.name) else None


def _root(location: Location, wild: int) -> Location:
    """The directory above the first wild part of a pattern."""
    path = location.path[:wild].rpartition("/")[0]
    kept = len(location.name) - (len(location.path) - len(path))
    return location.at(path, name=location.name[:kept] if kept > 0 else ".")


def _pattern(path: str) -> re.Pattern[str]:
    """A glob as a regular expression: `**/` is any number of directories, and a match may be a directory above."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]/]+\])", path)
    expression = "".join(
        parts.get(piece) or (piece if piece.startswith("[") and piece.endswith("]") else re.escape(piece))
        for piece in pieces
    )
    return re.compile(f"{expression}(?:/.*)?$")


def _is_hidden(path: str) -> bool:
    """What other tools leave beside data: _SUCCESS, _delta_log, .crc files."""
    return any(part.startswith(("_", ".")) for part in path.split("/") if "=" not in part)


def _source(location: Location, info: "FileInfo") -> Source:
    modified = info.mtime.isoformat() if info.mtime else None
    try:
        digest = _digest(location, info.size)
    except OSError:
        # It is named when it is to be read; until then the others count.
        digest = "unreadable"
    return Source(location.name, info.size, modified, digest, _partition(location.path), location.address)


def _digest(location: Location, size: int) -> str:
    digest = hashlib.sha256()
    with location.system.open_input_file(location.path) as stream:
        if size <= _SAMPLE * _SAMPLES:
            digest.update(stream.read())
            return f"sha256:{digest.hexdigest()}"
        for at in range(_SAMPLES):
            stream.seek((size - _SAMPLE) * at // (_SAMPLES - 1))
            digest.update(stream.read(_SAMPLE))
    return f"sampled:{digest.hexdigest()}"


def _partition(path: str) -> dict[str, str | None]:
    """`…/dt=2025-06-01/channel=chat/x.parquet` -> dt and channel."""
    pairs = (_HIVE.match(part) for part in path.split("/")[:-1])
    values = {unquote(pair[1]): unquote(pair[2]) for pair in pairs if pair}
    return {name: None if value == _NO_VALUE else value for name, value in values.items()}
