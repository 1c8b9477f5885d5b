"""A store in SQLite -> one file beside it, taken while it is in use, and back."""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from touchstone.core.errors import StoreError
from touchstone.store.database import BEFORE_RESTORE, PATIENCE_SECONDS, faults
from touchstone.store.private import make_directory, make_file, take_from_others
from touchstone.store.tables import HEAD, VERSION_TABLE

_POSTGRESQL = "is kept in PostgreSQL: use its own tools, {tool}"
_MAGIC = b"SQLite format 3\x00"


def back_up(place: str, target: Path) -> None:
    """Copies the store as it is at one moment; the file is there whole or not at all."""
    source = _path(place, tool="pg_dump --format=custom --file=FILE URL")
    if not source.exists():
        raise StoreError(f"the store {place} does not exist: name the one to back up")
    if target.exists():
        raise StoreError(f"{target} exists: name another file, or move it away")
    try:
        make_directory(target.parent)
        # In the same directory, so that it is moved in one step.
        with TemporaryDirectory(dir=target.parent, prefix=".touchstone-") as directory:
            part = Path(directory) / target.name
            make_file(part)
            with faults(place):
                _copy(source, part)
            _check(part)
            part.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error


def restore(place: str, source: Path) -> Path | None:
    """Puts a backup in place of the store; what was there is kept in the file this returns, if anything was."""
    target = _path(place, tool="pg_restore --clean --dbname=URL FILE")
    _check(source)
    kept = _kept_name(target) if target.exists() else None
    if kept is not None:
        back_up(place, kept)
    try:
        make_directory(target.parent)
        make_file(target)
        take_from_others([target])
        # Into the file itself, in one transaction: a process that has it open sees either the old or the new store.
        with faults(place):
            _copy(source, target)
    except OSError as error:
        raise _unwritable(target, error) from error
    return kept


def _copy(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(source, timeout=PATIENCE_SECONDS)) as reading,
        closing(sqlite3.connect(target, timeout=PATIENCE_SECONDS)) as writing,
    ):
        reading.backup(writing)


def _check(path: Path) -> None:
    """StoreError unless the file is a sound store of a version this one knows."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise StoreError(f"{path} cannot be read ({problem}): name a file that touchstone store backup wrote") from None
    if magic != _MAGIC:
        raise StoreError(f"{path} is not a backup: name a file that touchstone store backup wrote")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            sound = connection.execute("PRAGMA quick_check").fetchone()[0] == "ok"
            version = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()[0]
    except (sqlite3.Error, TypeError):
        raise StoreError(f"{path} is not a sound backup of a store: take another one") from None
    if not sound:
        raise StoreError(f"{path} is damaged: take another backup")
    if version > HEAD:
        raise StoreError(f"{path} was made by a newer version of Touchstone: update with pip install --upgrade")


def _kept_name(target: Path) -> Path:
    names = (target.with_name(f"{target.name}{BEFORE_RESTORE}{'' if n == 1 else f'-{n}'}") for n in range(1, 1000))
    return next(name for name in names if not name.exists())


def _path(place: str, *, tool: str) -> Path:
    if place.startswith("sqlite:///"):
        return Path(place.removeprefix("sqlite:///"))
    if "://" in place:
        raise StoreError(f"the store {_POSTGRESQL.format(tool=tool)}")
    return Path(place)


def _unwritable(target: Path, error: OSError) -> StoreError:
    problem = error.strerror or type(error).__name__
    return StoreError(f"{target} cannot be written ({problem}): free some space, or name another file")
