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
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


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
        self.skip()
        letter = self.peek()
        if depth > DEEPEST:
            return self.cut()
        if letter == "{":
            return self.object(depth)
        if letter == "[":
            return self.array(depth)
        if letter in ('"', "'"):
            return self.string(letter)
        return self.plain()

    def object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        pairs: list[tuple[str, Any]] = []
        while not self.is_cut:
            self.skip(also=",")
            letter = self.peek()
            if letter == "}":
                self.at += 1
                break
            key = self.string(letter) if letter in ('"', "'") else self.word()
            self.skip()
            if key is _MISSING or self.peek() != ":":
                self.cut()
                break
            self.at += 1
            if (value := self.value(depth + 1)) is not _MISSING:
                pairs.append((key, value))
        return _without_repeats(pairs)

    def array(self, depth: int) -> list[Any] | Any:
        self.at += 1
        items: list[Any] = []
        while not self.is_cut:
            self.skip(also=",")
            if self.peek() == "]":
                self.at += 1
                return items
            if (value := self.value(depth + 1)) is not _MISSING and not self.is_cut:
                items.append(value)
        # Of a list that breaks off nobody knows what else was in it.
        return _MISSING

    def string(self, quote: str) -> str | Any:
        letters: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter == quote:
                return "".join(letters)
            if letter == "\\":
                letter = self.escaped()
            letters.append(letter)
        return self.cut()

    def escaped(self) -> str:
        letter = self.peek()
        self.at += 1
        if letter == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", code := self.text[self.at : self.at + 4]):
            self.at += 4
            return chr(int(code, 16))
        return _ESCAPES.get(letter, letter)

    def plain(self) -> Any:
        """A number or a word. A number that the text ends with may have lost its last digits."""
        if found := _NUMBER.match(self.text, self.at):
            self.at = found.end()
            if self.at == len(self.text):
                return self.cut()
            digits = found[0]
            return int(digits) if digits.lstrip("-").isdigit() else float(digits)
        word = self.word()
        return _WORDS.get(word, _MISSING) if isinstance(word, str) else self.cut()

    def word(self) -> str | Any:
        start = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] == "_"):
            self.at += 1
        return self.text[start : self.at] if self.at > start else _MISSING

    def skip(self, *, also: str = "") -> None:
        while self.at < len(self.text) and (self.text[self.at].isspace() or self.text[self.at] in also):
            self.at += 1

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def cut(self) -> Any:
        self.is_cut = True
        return _MISSING


_MISSING = object()
