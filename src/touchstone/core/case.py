"""What is judged, as immutable values of the right types: a Case and its parts, and a Draft, a reply to a case."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal

from touchstone.core.errors import CaseError

CASE_FIELDS = ("id", "input", "response", "context", "expected_output", "category", "confidence", "labels")
Speaker = Literal["customer", "agent", "tool", "system"]
# The names that people use for who speaks in a chat; what is not among them is taken for an agent.
ROLES: Mapping[str, Speaker] = {
    **dict.fromkeys(
        "customer user human client visitor guest caller end_user end-user contact requester".split(), "customer"
    ),
    **dict.fromkeys(
        "assistant agent bot ai model advisor operator staff support representative rep admin".split(), "agent"
    ),
    **dict.fromkeys("tool function tool_result lookup observation api ipython tool_output".split(), "tool"),
    **dict.fromkeys("system developer instructions context".split(), "system"),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a chat."""

    role: str
    content: str

    @property
    def speaker(self) -> Speaker:
        return ROLES.get(self.role.strip().casefold(), "agent")

    @property
    def by_customer(self) -> bool:
        return self.speaker == "customer"

    @property
    def has_known_role(self) -> bool:
        return self.role.strip().casefold() in ROLES


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

    `context=None` means none was recorded; `context=[]` means retrieval found nothing. CaseError names a field that is
    of another type than it says.
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
        id: str | int | None = None,
        category: str | None = None,
        confidence: float | None = None,
        labels: Iterable[Label] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        values = {
            "id": _identifier(id, "id"),
            "input": input if isinstance(input, str) else _turns(input),
            "response": _text(response, "response"),
            "context": _passages(context),
            "expected_output": None if expected_output is None else _text(expected_output, "expected_output"),
            "category": None if category is None else _text(category, "category"),
            "confidence": _confidence(confidence),
            "labels": _labels(labels),
            "metadata": _metadata(metadata),
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


@dataclass(frozen=True, slots=True)
class Draft:
    """One reply drafted for a case, before it is judged, and what its author says of it.

    `confidence` is the author's own, 0 to 1. `context=None` means it named no passages of its own, so the case's
    apply.
    """

    reply: str
    confidence: float | None = None
    context: tuple[Passage, ...] | None = None


def _rebuild(fields: dict[str, Any]) -> Case:
    return Case(**fields)


def wrong_type(field: str, value: Any, allowed: str) -> CaseError:
    """The error of a field that is of another type than it has to be; it quotes no value."""
    return CaseError(f"field '{field}' is {_kind(value)}, allowed is {allowed}")


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), f"a {type(value).__name__}")


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise wrong_type(field, value, "a string")
    return value


def _identifier(value: Any, field: str) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise wrong_type(field, value, "a string or a whole number")
    return str(value)


def _items(value: Any, field: str, allowed: str) -> Iterator[tuple[str, Any]]:
    """Each item with the name that errors call it by."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise wrong_type(field, value, allowed)
    return ((f"{field}[{at}]", item) for at, item in enumerate(value))


def _turns(turns: Any) -> tuple[Turn, ...]:
    items = _items(turns, "input", "a string or a list of turns {role, content}")
    return tuple(_turn(turn, field) for field, turn in items)


def _turn(turn: Any, field: str) -> Turn:
    if isinstance(turn, Turn):
        turn = {"role": turn.role, "content": turn.content}
    if not isinstance(turn, Mapping):
        raise wrong_type(field, turn, "an object {role, content}")
    return Turn(_text(turn.get("role"), f"{field}.role"), _text(turn.get("content"), f"{field}.content"))


def _passages(context: Any) -> tuple[Passage, ...] | None:
    if context is None:
        return None
    if isinstance(context, str):
        return (Passage(context),)
    items = _items(context, "context", "a string, or a list of strings or of {id, text}")
    return tuple(_passage(passage, field) for field, passage in items)


def _passage(passage: Any, field: str) -> Passage:
    if isinstance(passage, str):
        return Passage(passage)
    if isinstance(passage, Passage):
        passage = {"id": passage.id, "text": passage.text}
    if not isinstance(passage, Mapping):
        raise wrong_type(field, passage, "a string or an object {id, text}")
    return Passage(_text(passage.get("text"), f"{field}.text"), _identifier(passage.get("id"), f"{field}.id"))


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number:
        raise wrong_type("confidence", value, "a number from 0 to 1")
    if not 0 <= value <= 1:
        raise CaseError(f"field 'confidence' is {value}, allowed is a number from 0 to 1")
    return float(value)


def _labels(labels: Any) -> tuple[Label, ...]:
    found = tuple(_items(labels, "labels", "a list of Labels"))
    if other := next(((field, label) for field, label in found if not isinstance(label, Label)), None):
        raise wrong_type(*other, "a Label")
    return tuple(label for _, label in found)


def _metadata(metadata: Any) -> Mapping[str, Any]:
    if metadata is None:
        return MappingProxyType({})
    if not isinstance(metadata, Mapping) or not all(isinstance(name, str) for name in metadata):
        raise wrong_type("metadata", metadata, "an object whose names are strings")
    if field := next((name for name in CASE_FIELDS if name in metadata), None):
        raise CaseError(f"metadata has the name of the field '{field}': give it as that field, or by another name")
    return MappingProxyType(dict(metadata))
