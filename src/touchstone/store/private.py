"""What holds customers' texts -> files and directories for their owner alone; only on POSIX is there anything to do."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

# What others may do with a file or directory.
_OTHERS = 0o077
_IS_POSIX = os.name == "posix"

log = logging.getLogger("touchstone.store")


def make_directory(path: Path) -> None:
    """Make the directory and those above it that are missing; what is there already is somebody's choice and stays."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700 if _IS_POSIX else 0o777, exist_ok=True)


def make_file(path: Path) -> None:
    """Make the file, empty, unless it is there."""
    path.touch(mode=0o600 if _IS_POSIX else 0o666)


def take_from_others(paths: Iterable[Path]) -> None:
    """Mend what is ours and there and others may use, and say so in one line."""
    mended = [str(path) for path in paths if _mend(path)]
    if mended:
        log.warning("other users of this machine could open %s: now only you can", ", ".join(mended))


def _mend(path: Path) -> bool:
    try:
        mode = path.stat().st_mode & 0o7777
        if not _IS_POSIX or not mode & _OTHERS:
            return False
        path.chmod(mode & ~_OTHERS)
    except OSError:
        # It is not there, or belongs to somebody else.
        return False
    return True
