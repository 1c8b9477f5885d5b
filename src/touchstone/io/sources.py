"""Files, globs, directories and URLs -> the files of cases they stand for, each with what tells that it changed."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from touchstone.core.errors import InputError
from touchstone.io.files import Format, known_format
from touchstone.io.locations import Location, is_url, locate

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo

_WILD = re.compile(r"[*?\[]")
# In a URL a question mark begins its options.
_WILD_IN_URL = re.compile(r"[*\[]")
_HIVE = re.compile(r"^([^=/]+)=([^/]*)$")
# How Hive and Spark write a partition whose value is null.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SAMPLE, _SAMPLES = 64 * 1024, 16


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
