"""What a job is, has read and has written <-> manifest.json beside its shards, replaced whole each time."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from touchstone.core.errors import InputError
from touchstone.io.locations import Location
from touchstone.io.sources import Source

MANIFEST = "manifest.json"
_VERSION = 1

# `damaged`: scored as far as it could be read. `failed`: could not be read at all, nothing is written of it.
SourceState = Literal["pending", "done", "damaged", "failed"]


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of results that is complete: where its rows come from, what they came to, and what tells it is whole."""

    name: str
    source: int
    number: int
    rows: int
    size: int
    digest: str
    counts: Mapping[str, int]


@dataclass(slots=True)
class Manifest:
    """The state of a job; `plan` is everything that decides the bytes of its shards."""

    plan: Mapping[str, Any]
    sources: list[Source]
    states: list[SourceState] = field(default_factory=list)
    messages: dict[int, str] = field(default_factory=dict)
    shards: dict[str, Shard] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.states = self.states or ["pending"] * len(self.sources)

    def shards_of(self, source: int) -> list[Shard]:
        """The shards of one source that are written, in order."""
        return sorted((shard for shard in self.shards.values() if shard.source == source), key=lambda s: s.number)

    def forget(self, source: int) -> None:
        """Have a source read from its start."""
        self.states[source] = "pending"
        self.messages.pop(source, None)
        self.shards = {name: shard for name, shard in self.shards.items() if shard.source != source}

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do or to mend."""
        return all(state == "done" for state in self.states)


def read_manifest(directory: Location) -> Manifest | None:
    """The manifest in a directory; None when there is none. InputError when it cannot be understood."""
    place = directory.child(MANIFEST)
    content = place.read()
    if content is None:
        return None
    try:
        raw = json.loads(content)
        if raw["version"] != _VERSION:
            raise ValueError
        return Manifest(
            plan=raw["plan"],
            sources=[_source(each) for each in raw["sources"]],
            states=[each["state"] for each in raw["sources"]],
            messages={at: each["message"] for at, each in enumerate(raw["sources"]) if "message" in each},
            shards={each["name"]: Shard(**each) for each in raw["shards"]},
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{place.name} is no manifest of a job: name another directory with -o") from error


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest as its file holds it."""
    return json.dumps(_to_dict(manifest), ensure_ascii=False, indent=1).encode()


def _to_dict(manifest: Manifest) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "complete": manifest.is_complete,
        "plan": manifest.plan,
        "sources": list(_sources(manifest)),
        "shards": [asdict(shard) for shard in sorted(manifest.shards.values(), key=lambda s: (s.source, s.number))],
    }


def _sources(manifest: Manifest) -> Iterable[dict[str, Any]]:
    for at, (source, state) in enumerate(zip(manifest.sources, manifest.states, strict=True)):
        message = {"message": manifest.messages[at]} if at in manifest.messages else {}
        kept = {name: value for name, value in asdict(source).items() if name != "address"}
        yield kept | {"state": state} | message


def _source(raw: Mapping[str, Any]) -> Source:
    return Source(raw["name"], raw["size"], raw["modified"], raw["digest"], raw["partition"])
