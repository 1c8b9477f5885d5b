"""Work for the engines' contract: importable, because workers unpickle it."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from touchstone.core.errors import ResourceError


@dataclass(frozen=True)
class Squares:
    """Each number with its square and the worker it was computed in; text does what it says."""

    folder: str = ""
    seconds: float = 0.0

    def prepare(self):
        if self.folder:
            (Path(self.folder) / f"prepared-{os.getpid()}").touch()

    def __call__(self, items):
        return [self._one(item) for item in items]

    def lost(self, item, *, reason):
        return [("lost", item, reason)]

    def _one(self, item):
        time.sleep(self.seconds)
        if item == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "kill once" and not (marker := Path(self.folder) / "killed").exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "defect":
            raise KeyError("the customer's own words")
        if item == "memory":
            raise MemoryError
        if item == "allocate":
            exhaust()
        if item == "unusable":
            raise ResourceError("no parser")
        return item if isinstance(item, str) else item * item


def exhaust():
    """Ask for more memory than this process may have; its limit is as it was afterwards."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 50_000_000, limits[1]))
    try:
        bytearray(500_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@dataclass(frozen=True)
class Starved:
    """Work whose models do not fit into memory."""

    def prepare(self):
        exhaust()

    def __call__(self, items):
        return []

    def lost(self, item, *, reason):
        return []


@dataclass(frozen=True)
class Unprepared:
    """Work whose models are not installed."""

    def prepare(self):
        raise ResourceError("no parser")

    def __call__(self, items):
        return []

    def lost(self, item, *, reason):
        return []


@dataclass(frozen=True)
class Stillborn:
    """Work whose workers are killed while they load."""

    def prepare(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def __call__(self, items):
        return []

    def lost(self, item, *, reason):
        return []
