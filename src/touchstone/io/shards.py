"""What a job writes: shards of results, an excerpt beside each, and the manifest of what is read and written.

The bytes are the same wherever it is done. Parts are encoded where they are scored; putting them together costs the
driver little. The manifest is replaced whole each time.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, get_args

from touchstone.core.codec import result_to_dict
from touchstone.core.errors import InputError
from touchstone.core.result import Result
from touchstone.io.files import Source
from touchstone.io.locations import Location
from touchstone.io.result_tables import kept_name, results_to_batch
from touchstone.runs.excerpt import Excerpt, excerpt_from_dict, excerpt_to_dict

if TYPE_CHECKING:
    from pyarrow import RecordBatch

ShardFormat = Literal["parquet", "jsonl"]
SHARD_FORMATS: tuple[ShardFormat, ...] = get_args(ShardFormat)
ENDINGS: Mapping[ShardFormat, str] = {"parquet": ".parquet", "jsonl": ".jsonl.gz"}

Texts = Mapping[str, Sequence[str | None]]
# Tools that read a directory of results pass over names that begin with an underscore.
FOLDER = "_report"
MANIFEST = "manifest.json"
_VERSION = 1
_KEPT = ("name", "size", "modified", "digest", "partition")
# `damaged`: scored as far as it could be read. `failed`: could not be read at all, nothing is written of it.
SourceState = Literal["pending", "done", "damaged", "failed"]


def encode(results: Sequence[Result], *, beside: Texts, format: ShardFormat) -> bytes:
    """A part: results in order with the columns of text that stand beside them."""
    if format == "jsonl":
        return _lines(results, beside)
    import pyarrow as pa

    kept = {name: pa.array(column, pa.string()) for name, column in beside.items()}
    batch = results_to_batch(results, kept=kept)
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def assemble(parts: Sequence[bytes], *, format: ShardFormat) -> bytes:
    """The file of a shard: one row group, or gzipped lines without a time stamp."""
    if format == "jsonl":
        return gzip.compress(b"".join(parts), compresslevel=6, mtime=0)
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.Table.from_batches([batch for part in parts for batch in _batches(part)]).combine_chunks()
    with pa.BufferOutputStream() as sink:
        parquet.write_table(table, sink, compression="zstd", row_group_size=max(1, table.num_rows))
        return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def shard_name(*, source: int, number: int, format: ShardFormat) -> str:
    """`part-00002-00007.parquet`: the eighth shard of the third file of cases; by name they are in input order."""
    return f"part-{source:05}-{number:05}{ENDINGS[format]}"


def _lines(results: Sequence[Result], beside: Texts) -> bytes:
    columns = {kept_name(name): column for name, column in beside.items()}
    rows = (
        result_to_dict(result) | {name: column[at] for name, column in columns.items()}
        for at, result in enumerate(results)
    )
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _batches(part: bytes) -> "list[RecordBatch]":
    import pyarrow as pa

    with pa.ipc.open_stream(part) as reader:
        return list(reader)


def excerpt_name(shard: str) -> str:
    """The name of a shard's excerpt: part-00002-00007.parquet -> part-00002-00007.json.gz."""
    return f"{PurePosixPath(shard).name.partition('.')[0]}.json.gz"


def excerpt_bytes(excerpt: Excerpt) -> bytes:
    """The excerpt as its file holds it: the same bytes at any time."""
    text = json.dumps(excerpt_to_dict(excerpt), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0)


def read_excerpt(directory: Location, shard: str) -> Excerpt:
    """The excerpt of a shard; InputError when it is not there or not whole."""
    place = directory.child(f"{FOLDER}/{excerpt_name(shard)}")
    try:
        content = place.read()
        if content is not None:
            return excerpt_from_dict(json.loads(gzip.decompress(content)))
        problem = "is missing"
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError):
        problem = "cannot be read"
    raise InputError(f"{place.name} {problem}: remove it and run the same `touchstone score` again, it is written anew")


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
            sources=[Source(**{name: each[name] for name in _KEPT}) for each in raw["sources"]],
            states=[each["state"] for each in raw["sources"]],
            messages={at: each["message"] for at, each in enumerate(raw["sources"]) if "message" in each},
            shards={each["name"]: Shard(**each) for each in raw["shards"]},
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{place.name} is not a job's manifest: name another directory with -o") from error


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest as its file holds it, without the keys that an address may hold."""
    sources = []
    for at, (source, state) in enumerate(zip(manifest.sources, manifest.states, strict=True)):
        kept = {name: value for name, value in asdict(source).items() if name != "address"}
        message = {"message": manifest.messages[at]} if at in manifest.messages else {}
        sources.append(kept | {"state": state} | message)
    shards = sorted(manifest.shards.values(), key=lambda shard: (shard.source, shard.number))
    row = {
        "version": _VERSION,
        "complete": manifest.is_complete,
        "plan": manifest.plan,
        "sources": sources,
        "shards": [asdict(shard) for shard in shards],
    }
    return json.dumps(row, ensure_ascii=False, indent=1).encode()
