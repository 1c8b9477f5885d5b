"""What is judged: a Case and its parts, as immutable values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

CUSTOMER_ROLES = frozenset({"customer", "user", "human", "client", "visitor"})


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a chat."""

    role: str
    content: str

    @property
    def by_customer(self) -> bool:
        return self.role.casefold() in CUSTOMER_ROLES


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of context the drafting model was given."""

    text: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """One person's grades of the reply; `None` is a criterion they left open."""

    rater: str
    grades: Mapping[str, int | None]
    violations: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, init=False)
class Case:
    """A customer's message, the reply to be judged and what is known about both.

    `context=None` means none was recorded; `context=[]` means retrieval found nothing.
    """

    id: str | None
    input: str | tuple[Turn, ...]
    response: str
    context: tuple[Passage, ...] | None
    expected_output: str | None
    category: str | None
    confidence: float | None
    labels: tuple[Label, ...]
    metadata: Mapping[str, Any]

    def __init__(
        self,
        *,
        response: str,
        input: str | Iterable[Turn | Mapping[str, str]] = "",
        context: str | Iterable[str | Passage | Mapping[str, str]] | None = None,
        expected_output: str | None = None,
        id: str | None = None,
        category: str | None = None,
        confidence: float | None = None,
        labels: Iterable[Label] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        values = {
            "id": id,
            "input": input if isinstance(input, str) else tuple(map(_turn, input)),
            "response": response,
            "context": _passages(context),
            "expected_output": expected_output,
            "category": category,
            "confidence": confidence,
            "labels": tuple(labels),
            "metadata": MappingProxyType(dict(metadata or {})),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in self.__slots__}
        return _rebuild, ({**fields, "metadata": dict(self.metadata)},)

    @property
    def question(self) -> str:
        """The customer's message that the reply answers; of a chat, the last customer turn."""
        if isinstance(self.input, str):
            return self.input
        return self.input[at].content if (at := self._question_at()) is not None else ""

    @property
    def earlier_turns(self) -> tuple[tuple[int, Turn], ...]:
        """The other turns of a chat with their positions; they are evidence."""
        if isinstance(self.input, str):
            return ()
        last = self._question_at()
        return tuple((at, turn) for at, turn in enumerate(self.input) if at != last)

    def _question_at(self) -> int | None:
        turns = [at for at, turn in enumerate(self.input) if isinstance(turn, Turn) and turn.by_customer]
        return turns[-1] if turns else None


def _rebuild(fields: dict[str, Any]) -> Case:
    return Case(**fields)


def _turn(turn: Turn | Mapping[str, str]) -> Turn:
    return turn if isinstance(turn, Turn) else Turn(turn["role"], turn["content"])


def _passages(context: str | Iterable[str | Passage | Mapping[str, str]] | None) -> tuple[Passage, ...] | None:
    if context is None:
        return None
    if isinstance(context, str):
        return (Passage(context),)
    return tuple(map(_passage, context))


def _passage(passage: str | Passage | Mapping[str, str]) -> Passage:
    if isinstance(passage, Passage):
        return passage
    if isinstance(passage, str):
        return Passage(passage)
    return Passage(passage["text"], passage.get("id"))
