"""A judge's request and how it is to be answered -> a call, known by the hash of everything that shapes its answer."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.core.codec import canonical_json
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.request import Request

# Enough for "yes" with marks around it; a model that thinks aloud is stopped.
WORD_TOKENS = 16
# Part of every key: a change in what a record holds must not be taken for an old one.
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the model is to choose its words; `seed` is that of the first vote, each further one adds 1."""

    temperature: float = 0.0
    seed: int = 7
    max_tokens: int = 1600


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the server counts them."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    def times(self, count: float) -> "Usage":
        return Usage(round(self.input * count), round(self.output * count))

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input + other.input, self.output + other.output)

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(self.input - other.input, self.output - other.output)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with what it used."""

    answer: Answer
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Call:
    """One question to one model. The server's address is no part of it: a record holds wherever it was made.

    `judge` is what the model is called where that is not its own name: two servers may have a model of one name.
    `is_word` asks for yes or no with its probability.
    """

    model: str
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any]
    temperature: float
    seed: int
    max_tokens: int
    judge: str | None = None
    is_word: bool = False

    @property
    def key(self) -> str:
        """The call's name among records."""
        return hashlib.sha256(canonical_json(self.to_dict()).encode("utf-8")).hexdigest()

    @property
    def length(self) -> int:
        """Characters sent."""
        return sum(len(message["content"]) for message in self.messages)

    def to_dict(self) -> dict[str, Any]:
        optional = {name: value for name, value in (("judge", self.judge), ("is_word", self.is_word)) if value}
        required = ("model", "messages", "schema", "temperature", "seed", "max_tokens")
        return {"format": FORMAT} | {name: getattr(self, name) for name in required} | optional


def call_for(request: Request, *, model: str, sampling: Sampling, vote: int = 1, judge: str | None = None) -> Call:
    """The call of one vote, counted from 1; `judge` is what the model is called, if that is not its name."""
    return Call(
        model=model,
        messages=tuple({"role": message.role, "content": message.content} for message in request.messages),
        schema=request.schema,
        temperature=sampling.temperature,
        seed=sampling.seed + vote - 1,
        max_tokens=min(WORD_TOKENS, sampling.max_tokens) if request.item else sampling.max_tokens,
        judge=None if judge == model else judge,
        is_word=request.item is not None,
    )
