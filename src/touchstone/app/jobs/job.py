"""Inputs, settings and an output directory -> a Job: what is to be read, what is written, what is left to do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from touchstone import __version__
from touchstone.app.config import Settings
from touchstone.app.plan import models_hash
from touchstone.app.score import WORKER_LOST
from touchstone.app.verifier import verifier_name
from touchstone.core.codec import content_hash, encode
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.resource import PARSER, PARSER_VERSION
from touchstone.io.columns import SeenColumns
from touchstone.io.files import Source, find_sources, look_for_columns
from touchstone.io.formats import Format
from touchstone.io.locations import Location, clear_unfinished, is_url, locate, shown_name
from touchstone.io.rows import UNREADABLE
from touchstone.io.shards import FOLDER, MANIFEST, Manifest, ShardFormat, excerpt_name, manifest_bytes, read_manifest
from touchstone.rubric.card import rubric_to_dict, write_rubric
from touchstone.rubric.model import Rubric
from touchstone.rubric.parse import parse_rubric

SHARD_ROWS = 2000
JUDGE = "offline"
LOCK = ".lock"
# For the report; whether it is another one is told by its hash.
_RUBRIC_TEXT = "rubric_text"
# Failures that may be gone when a job is run again: their shards are written anew.
_PASSING = (f"failure/{WORKER_LOST}", f"failure/{UNREADABLE}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a job was asked to do."""

    inputs: Sequence[str]
    output: str
    format: Format | None = None
    shard_format: ShardFormat = "parquet"
    shard_rows: int = SHARD_ROWS
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """An order with its directory and manifest. `columns` names the texts that stand beside each result."""

    order: Order
    settings: Settings
    directory: Location
    manifest: Manifest
    columns: tuple[str, ...] = field(default=())

    def save(self) -> None:
        """Keep the manifest."""
        self.put(MANIFEST, manifest_bytes(self.manifest))

    def put(self, name: str, content: bytes) -> None:
        """Write a file of the job at once; InputError when there is no room for it."""
        place = self.directory.child(name)
        try:
            place.write(content)
        except OSError as error:
            problem = error.strerror or type(error).__name__
            remedy = "free some space or fix its permissions, then run the same command again"
            kept = f"{len(self.manifest.shards):,} shards are kept"
            raise InputError(f"{place.name} cannot be written ({problem}): {kept}; {remedy}") from error


def is_directory(output: str) -> bool:
    """Whether results are to go to a directory: one that is there, or a name without an ending."""
    if not output or output == "-":
        return False
    name = shown_name(output)
    return name.endswith("/") or not Path(name).suffix or (not is_url(output) and Path(output).is_dir())


def rubric_of(manifest: Manifest) -> Rubric:
    """The rubric that a job grades by."""
    return parse_rubric(manifest.plan[_RUBRIC_TEXT], name="the rubric in the manifest")


@contextmanager
def open_job(order: Order, *, settings: Settings) -> Iterator[Job]:
    """A new job, or the one that was begun in the directory; ConfigError when that was another one."""
    if order.shard_rows < 1:
        raise ConfigError(f"--shard-rows {order.shard_rows} is too few: give at least 1")
    directory = locate(order.output)
    former = _former(directory)
    sources = _sources(order, former=former)
    if former is None:
        check_columns(sources, order, settings=settings)
    columns = tuple(dict.fromkeys(name for source in sources for name in source.partition))
    plan = _plan(order, settings, partitions=columns)
    manifest = Manifest(plan, sources) if former is None else _resumed(former, plan, sources, directory=directory)
    if directory.is_local:
        (Path(directory.path) / FOLDER).mkdir(parents=True, exist_ok=True)
    with _alone(directory):
        clear_unfinished(directory)
        job = Job(order, settings, directory, manifest, ("source", *columns))
        job.save()
        yield job


def check_columns(sources: Sequence[Source], order: Order, *, settings: Settings) -> None:
    """InputError when a column that a flag maps is in no row of any source; one that cannot be read is named later."""
    seen = SeenColumns(settings.mapped)
    for source in sources:
        seen.note(source.partition)
        with suppress(InputError):
            look_for_columns(seen, source.address or source.name, format=order.format)
    seen.check_mapped(file=sources[0].name if len(sources) == 1 else f"the {len(sources):,} files")


def _former(directory: Location) -> Manifest | None:
    former = read_manifest(directory)
    # A job whose manifest could not be written leaves its lock behind.
    if former is None and any(info.base_name != LOCK for info in directory.files()):
        raise ConfigError(f"-o {directory.name} holds files and no {MANIFEST}: name a new or empty directory")
    return former


def _sources(order: Order, *, former: Manifest | None) -> list[Source]:
    """What the inputs stand for; on a second run what has disappeared since is left to the reading to name."""
    if former is None:
        return find_sources(order.inputs, format=order.format, without=order.output)
    found: dict[str, Source] = {}
    for name in order.inputs:
        try:
            sources = find_sources([name], format=order.format, without=order.output)
        except InputError:
            continue
        found |= {source.name: source for source in sources}
    known = {source.name: source for source in former.sources}
    if added := next((name for name in found if name not in known), None):
        raise ConfigError(
            f"{added} was not there when the job in {shown_name(order.output)} began: score it into another directory, "
            "or give the inputs of the former run"
        )
    return [found.get(name, source) for name, source in known.items()]


def _resumed(former: Manifest, plan: Mapping[str, Any], sources: list[Source], *, directory: Location) -> Manifest:
    """The former job with what has to be done again taken out; ConfigError when plan or inputs are others."""
    _refuse_other_plan(former.plan, plan, directory=directory)
    sizes = {info.base_name: info.size for info in directory.files()}
    whole = {
        name: shard
        for name, shard in former.shards.items()
        if sizes.get(name) == shard.size
        and excerpt_name(name) in sizes
        and not any(shard.counts.get(failure) for failure in _PASSING)
    }
    manifest = Manifest(plan, sources, list(former.states), dict(former.messages), dict(former.shards))
    for at, (before, now) in enumerate(zip(former.sources, sources, strict=True)):
        written = manifest.shards_of(at)
        if not now.is_same(before) and manifest.states[at] in ("done", "pending") and written:
            raise ConfigError(
                f"{now.name} has changed since the job in {directory.name} began ({before.size:,} bytes then, "
                f"{now.size:,} now): score it into another directory, or put the former file back"
            )
        if not now.is_same(before):
            manifest.forget(at)
        elif manifest.states[at] != "done" or any(shard.name not in whole for shard in written):
            manifest.states[at] = "pending"
            manifest.messages.pop(at, None)
            for shard in written:
                if shard.name not in whole:
                    del manifest.shards[shard.name]
    return manifest


def _plan(order: Order, settings: Settings, *, partitions: Sequence[str]) -> dict[str, Any]:
    """Everything that decides what the shards hold, as one plain value."""
    return {
        "touchstone": __version__,
        "parser": f"{PARSER} {PARSER_VERSION}",
        "thresholds": encode(settings.plan),
        "verifier": verifier_name(settings.verifier),
        "judge": JUDGE,
        "models": models_hash(),
        "rubric": f"{settings.rubric.name} {settings.rubric.version} {content_hash(rubric_to_dict(settings.rubric))}",
        "policy": content_hash(asdict(settings.policy)),
        "columns": dict(settings.columns),
        "format": order.format,
        "shard_format": order.shard_format,
        "shard_rows": order.shard_rows,
        "keep": list(order.keep),
        "redact": settings.redacts,
        "partitions": list(partitions),
        _RUBRIC_TEXT: write_rubric(settings.rubric),
    }


def _refuse_other_plan(before: Mapping[str, Any], now: Mapping[str, Any], *, directory: Location) -> None:
    for name in (each for each in now if each != _RUBRIC_TEXT):
        was, is_ = before.get(name), now[name]
        if name == "thresholds" and isinstance(was, Mapping) and was != is_:
            name = next(key for key in {**is_, **was} if was.get(key) != is_.get(key))  # noqa: PLW2901 - what changed
            was, is_ = was.get(name), is_.get(name)
        if was != is_:
            raise ConfigError(
                f"the job in {directory.name} was started with another {name} ({was}, now {is_}): "
                "use the former one, or name another directory with -o"
            )


@contextmanager
def _alone(directory: Location) -> Iterator[None]:
    """Keeps a second driver out of a local directory; the lock ends with its process, however that ends."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    if not directory.is_local:
        yield
        return
    with (Path(directory.path) / LOCK).open("wb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigError(
                f"another process is running the job in {directory.name}: wait for it, or stop it"
            ) from error
        yield
