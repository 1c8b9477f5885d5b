"""Excerpt <-> the small file beside each shard that the job's summary and report are made from."""

import gzip
import json
from pathlib import PurePosixPath

from touchstone.core.errors import InputError
from touchstone.io.locations import Location
from touchstone.runs.excerpt import Excerpt, excerpt_from_dict, excerpt_to_dict

# Tools that read a directory of results pass over names that begin with an underscore.
FOLDER = "_report"


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
