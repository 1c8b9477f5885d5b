"""What a model wrote -> the JSON object in it, as far as it is there: strict JSON first, then with its usual faults.

Prose and code fences around the object, trailing commas, single quotes and a missing end are read. What is ambiguous is
not: two objects that differ, or one key with two values, have no answer that could be taken without choosing it.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

# Longer answers, deeper objects and later openings are no answers to what was asked.
LONGEST = 200_000
DEEPEST = 12
MOST_OPENINGS = 40
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?")
_SPACE, _GAP, _WORD = re.compile(r"\s*"), re.compile(r"[\s,]*"), re.compile(r"\w*")
_STRINGS = {quote: re.compile(rf"{quote}((?:[^\\{quote}]|\\.)*){quote}", re.DOTALL) for quote in "\"'"}
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object read from an answer; `is_whole` is False when its end was missing."""

    value: dict[str, Any]
    is_whole: bool = True


def read_object(text: str, *, keys: Sequence[str]) -> FoundObject | None:
    """The one object in `text` that has any of the `keys`; None when there is none, or more than one that differ."""
    text = _THOUGHT.sub("", text[:LONGEST])
    for read in (_strict, _tolerant):
        found = _all_objects(text, read, keys=keys)
        if found:
            return found[0] if all(each == found[0] for each in found) else None
    return None


def _all_objects(text: str, read: "Callable[[str, int], _Read]", *, keys: Sequence[str]) -> list[FoundObject]:
    objects: list[FoundObject] = []
    at = text.find("{")
    for _ in range(MOST_OPENINGS):
        if at < 0:
            break
        value, end, is_whole = read(text, at)
        fits = isinstance(value, dict) and any(key in value for key in keys)
        if fits:
            objects.append(FoundObject(value, is_whole))
        at = text.find("{", end if fits else at + 1)
    return objects


_Read = tuple[Any, int, bool]


def _strict(text: str, at: int) -> _Read:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at + 1, False
    return value, end, True


def _tolerant(text: str, at: int) -> _Read:
    reader = _JsonReader(text, at)
    value = reader.value(0)
    return value, max(reader.at, at + 1), not reader.is_cut


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a mapping; a key with two values has none."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = None if key in found and found[key] != value else value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats)


class _JsonReader:
    """Reads forward, never back: linear in the text, however broken it is."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.is_cut = False

    def value(self, depth: int) -> Any:
        """The value that starts here; `_MISSING` when none does, or when its end is missing and it has no parts."""
        self.take(_SPACE)
        letter = self.peek()
        if depth > DEEPEST:
            return self.cut()
        if letter == "{":
            return self.object(depth)
        if letter == "[":
            return self.array(depth)
        return self.string(letter) if letter in _STRINGS else self.plain()

    def object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        pairs: list[tuple[str, Any]] = []
        while not self.is_cut:
            self.take(_GAP)
            letter = self.peek()
            if letter == "}":
                self.at += 1
                break
            key = self.string(letter) if letter in _STRINGS else self.take(_WORD) or _MISSING
            self.take(_SPACE)
            if key is _MISSING or self.peek() != ":":
                self.cut()
                break
            self.at += 1
            if (value := self.value(depth + 1)) is not _MISSING:
                pairs.append((key, value))
        return _without_repeats(pairs)

    def array(self, depth: int) -> Any:
        self.at += 1
        items: list[Any] = []
        while not self.is_cut:
            self.take(_GAP)
            if self.peek() == "]":
                self.at += 1
                return items
            if (value := self.value(depth + 1)) is not _MISSING and not self.is_cut:
                items.append(value)
        # Of a list that breaks off nobody knows what else was in it.
        return _MISSING

    def string(self, quote: str) -> Any:
        found = _STRINGS[quote].match(self.text, self.at)
        if found is None:
            self.at = len(self.text)
            return self.cut()
        self.at = found.end()
        return _ESCAPED.sub(_unescaped, found[1])

    def plain(self) -> Any:
        """A number or a word. A number that the text ends with may have lost its last digits."""
        if digits := self.take(_NUMBER):
            if self.at == len(self.text):
                return self.cut()
            return int(digits) if digits.lstrip("-").isdigit() else float(digits)
        word = self.take(_WORD)
        return _WORDS.get(word, _MISSING) if word else self.cut()

    def take(self, pattern: re.Pattern[str]) -> str:
        """What matches here, which is then read; empty when nothing does."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def cut(self) -> Any:
        self.is_cut = True
        return _MISSING


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPES.get(escape, escape)
