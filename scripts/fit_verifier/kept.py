"""Pairs that take minutes to make, kept in the fit's folder: made anew when the folder is emptied."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")


def kept(path: Path, make: Callable[[], Made]) -> Made:
    """What was made before and kept under this path, or made now; only this script writes and reads these files."""
    if path.exists():
        return pickle.loads(path.read_bytes())  # type: ignore[no-any-return]
    made = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_bytes(pickle.dumps(made))
    partial.rename(path)
    return made
