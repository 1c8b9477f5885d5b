"""A path or an object-store URL -> a place that can be listed, read and written; a file there is whole or not there.

PyArrow opens s3, gs, abfs and hdfs itself; any other scheme is fsspec's.
"""

import io
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from touchstone.core.errors import InputError

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

_KEYS = re.compile("://[^/?]*@")
_NATIVE = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "file")
# What is left by a writer that was killed; names that begin with a dot are never read as input.
_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True)
class Location:
    """A name that may be shown, the file system it is on, and its path there.

    A URL may hold keys (`s3://key:secret@bucket`, `?…`): the name is without them, `address` is what it is opened by.
    """

    name: str
    system: "FileSystem"
    path: str
    is_local: bool
    address: str

    def child(self, name: str) -> "Location":
        """A file in this directory."""
        return self.at(f"{self.path.rstrip('/')}/{name}", name=f"{self.name.rstrip('/')}/{name}")

    def at(self, path: str, *, name: str) -> "Location":
        """Another place on the same file system, by its path there and its name."""
        return Location(name, self.system, path, self.is_local, _address(name, like=self.address))

    def info(self) -> "FileInfo":
        """What is there, with size and time."""
        return self.system.get_file_info(self.path)

    def files(self) -> "list[FileInfo]":
        """Every file below this directory, by path."""
        from pyarrow.fs import FileSelector, FileType

        found = self.system.get_file_info(FileSelector(self.path, recursive=True, allow_not_found=True))
        return sorted((info for info in found if info.type == FileType.File), key=lambda info: info.path)

    def read(self) -> bytes | None:
        """The whole content; None when there is no such file."""
        # PyArrow would unpack, and pack, what is called .gz; here bytes are bytes.
        try:
            with self.system.open_input_stream(self.path, compression=None) as stream:
                return cast(bytes, stream.read())
        except FileNotFoundError:
            return None

    def write(self, content: bytes) -> None:
        """Put the content there at once: a reader sees the former file or this one, and never half of it."""
        if self.is_local:
            with whole_file(self.path) as part:
                part.write(content)
            return
        # An object comes into being when its upload ends; a killed writer leaves none.
        with self.system.open_output_stream(self.path, compression=None) as stream:
            stream.write(content)


def is_url(name: str) -> bool:
    """Whether a name says which store it is in."""
    return "://" in name


def shown_name(name: str) -> str:
    """The name without what a URL may hold beside it: keys in front of `@`, options behind `?`."""
    return _KEYS.sub("://", name.partition("?")[0]) if is_url(name) else name


def locate(name: str) -> Location:
    """Where a path or URL leads; InputError when no library that is installed can go there."""
    try:
        from pyarrow import fs
    except ImportError as error:
        raise InputError(f"{shown_name(name)}: this needs PyArrow: pip install 'touchstone-eval[parquet]'") from error
    if not is_url(name):
        return Location(name, fs.LocalFileSystem(), str(Path(name).absolute()), True, name)  # noqa: FBT003 - a field
    scheme = name.partition("://")[0].lower()
    try:
        system, path = fs.FileSystem.from_uri(name) if scheme in _NATIVE else _other(name)
    except (ImportError, OSError, ValueError) as error:
        remedy = "check the URL, or install the store's fsspec driver with touchstone-eval[object-store]"
        raise InputError(f"{shown_name(name)} cannot be opened ({type(error).__name__}): {remedy}") from None
    return Location(shown_name(name), system, path, scheme == "file", name)


def open_location(location: Location) -> io.BufferedReader:
    """A binary stream of the file there; OSError when it cannot be opened."""
    stream: Any = location.system.open_input_file(location.path)
    return io.BufferedReader(stream, 1024 * 1024)


@contextmanager
def whole_file(target: str, *, is_private: bool = False) -> Iterator[IO[bytes]]:
    """A file beside `target` that takes its name once all is written, and is removed if something fails before.

    With `is_private`, a new file is for its owner alone.
    """
    path = Path(target).resolve()
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}{_UNFINISHED}")
    try:
        part.touch(mode=0o600 if is_private else 0o666, exist_ok=False)
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            part.chmod(path.stat().st_mode)
        part.replace(path)
        # Some file systems keep a rename only once its directory is synced; some cannot sync one.
        with suppress(OSError):
            directory = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A file that is there whole or not at all, for its owner alone: what comes out of the store quotes customers."""
    try:
        with whole_file(str(path), is_private=True) as stream:
            stream.write(text.encode("utf-8", "replace"))
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be written ({problem}): free some space, or name another place") from error


def clear_unfinished(directory: Location) -> None:
    """Remove what killed writers left behind."""
    if directory.is_local:
        for path in Path(directory.path).glob(f".*{_UNFINISHED}"):
            path.unlink(missing_ok=True)


def _address(name: str, *, like: str) -> str:
    """The URL of a name with the keys and options of another; a path is its own address."""
    if not is_url(like):
        return name
    keys = _KEYS.search(like)
    _, mark, options = like.partition("?")
    return (name.replace("://", keys[0], 1) if keys else name) + mark + options


def _other(name: str) -> "tuple[FileSystem, str]":
    from fsspec.core import url_to_fs
    from pyarrow import fs

    system, path = url_to_fs(name)
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path
