"""The verifier that ships with the tests, installed for one test: scripts/make_tiny_verifier.py fitted it."""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from touchstone.clients.verifier import PACKAGE, installed_verifier

HOME = Path(__file__).parent / "tiny"


@contextmanager
def installed(home: Path = HOME) -> Iterator[Path]:
    """The package in `home` is the one that this process finds."""
    before = list(sys.path)
    sys.path.insert(0, str(home))
    _forget()
    try:
        yield home / PACKAGE
    finally:
        sys.path[:] = before
        _forget()


def copied(directory: Path, **changes: object) -> Path:
    """A copy of the package with other settings, to be broken."""
    package = directory / PACKAGE
    shutil.copytree(HOME / PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    if changes:
        card = json.loads((package / "verifier.json").read_text("utf-8"))
        card = {key: value for key, value in {**card, **changes}.items() if value is not None}
        (package / "verifier.json").write_text(json.dumps(card), encoding="utf-8")
    return package


def published(package: Path, model: bytes) -> None:
    """Put another model into a copy, with the hash that goes with it."""
    (package / "model.onnx").write_bytes(model)
    card = json.loads((package / "verifier.json").read_text("utf-8"))
    card["sha256"] = sha256(model).hexdigest()
    (package / "verifier.json").write_text(json.dumps(card), encoding="utf-8")


def _forget() -> None:
    installed_verifier.cache_clear()
    sys.modules.pop(PACKAGE, None)
