"""An engine's name and options -> the engine."""

from typing import Literal, get_args

from touchstone.core.errors import ConfigError
from touchstone.engines.engine import Engine, OnEvent, Serial, ignore
from touchstone.engines.processes import Processes
from touchstone.engines.ray_actors import RayActors

EngineName = Literal["serial", "processes", "ray"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


def engine(name: str, *, workers: int | None = None, address: str | None = None, on_event: OnEvent = ignore) -> Engine:
    """The engine of this name; ConfigError when there is none or an option does not suit it."""
    if name not in ENGINES:
        raise ConfigError(f"--engine {name} is not known: allowed are {', '.join(ENGINES)}")
    if workers is not None and workers < 1:
        raise ConfigError(f"--workers {workers} is too few: give at least 1, or leave it out to use all cores")
    if address is not None and name != "ray":
        raise ConfigError(f"--ray-address belongs to --engine ray, and the engine is {name}: leave one of them out")
    if name == "serial":
        if workers not in (None, 1):
            raise ConfigError(f"--workers {workers} needs workers: give --engine processes or --engine ray as well")
        return Serial(on_event=on_event)
    if name == "processes":
        return Processes(workers=workers, on_event=on_event)
    return RayActors(address=address, workers=workers, on_event=on_event)
