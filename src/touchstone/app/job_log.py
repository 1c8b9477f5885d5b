"""What happens to a job -> lines of JSON with a time, for the tools that watch long jobs. No line quotes a customer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from touchstone.core.errors import ConfigError


class Log(Protocol):
    """Takes an event and plain values about it: names of files, counts, kinds of errors."""

    def __call__(self, event: str, **values: Any) -> None: ...


def no_log(event: str, **values: Any) -> None:
    """Takes the place of a log."""


@contextmanager
def open_log(path: str | None) -> Iterator[Log]:
    """A log that is added to the file at `path`, line by line; None keeps none."""
    if path is None:
        yield no_log
        return
    try:
        stream = Path(path).open("a", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed below
    except OSError as error:
        raise ConfigError(f"--log {path} cannot be written ({error.strerror}): name another file") from error

    def write(event: str, **values: Any) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        stream.write(json.dumps({"time": time, "event": event, **values}, ensure_ascii=False) + "\n")
        stream.flush()

    with stream:
        yield write
