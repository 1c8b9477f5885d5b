"""Normalised text -> lexemes: its figures, words and signs, and the patterns that value grammars read them by.

Patterns are regular expressions over the lexemes' line: all lexemes in small letters, one after the other. In a pattern
a blank stands for whatever joins two lexemes, `~` for lexemes that touch, `{month}` for one of a grammar's words. Every
repetition is bounded, so reading is linear in the length of the text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

LEXEME = re.compile(r"\d+(?:[.,']\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*|[^\s\w]|_", re.UNICODE)
# In the line, what touches is joined by a sign that no lexeme holds, what one character parts by a blank.
TOUCHING, PARTED, FAR = "\x1f", " ", "\n"
FRAGMENTS = {"{end}": f"(?![^{PARTED}{TOUCHING}{FAR}])", "{word}": f"[^\\W\\d_][^{PARTED}{TOUCHING}{FAR}]*",
             "{any}": f"[^{PARTED}{TOUCHING}{FAR}]+",
             "{figure}": r"\d[\d.,']*", "{suffix}": "(?:st|nd|rd|th)"}  # fmt: skip


class Lexeme(NamedTuple):
    """A figure, word or sign. `glued` says that nothing separates it from the one before."""

    text: str
    start: int
    end: int
    glued: bool
    capital: bool
    opens: bool

    @property
    def is_figure(self) -> bool:
        return self.text[0].isdecimal()

    @property
    def is_word(self) -> bool:
        return self.text[0].isalpha()


# Grammars look no further than this before the first and behind the last lexeme.
AROUND = 32
END = Lexeme("\n", -1, -1, glued=False, capital=False, opens=False)


class Found(NamedTuple, Generic[T]):
    """What a grammar recognised, and the position after it."""

    item: T
    end: int


class Lexemes:
    """The lexemes of a text; outside of it there are empty end marks. `opens` marks the first of a line or sentence."""

    __slots__ = ("_all", "_line", "_size", "_starts")

    def __init__(self, text: str) -> None:
        self._all: list[Lexeme] = []
        self._starts: list[int] = []
        parts: list[str] = []
        end, size, word = -1, 0, ""
        for match in LEXEME.finditer(text):
            raw, (start, stop) = match[0], match.span()
            # Nothing lies between lexemes that touch; before the first one a line begins.
            opens = start != end and (end < 0 or "\n" in text[end:start] or word in ".!?")
            word = raw.casefold().removesuffix("'s")
            parts += (TOUCHING if start == end else PARTED if start == end + 1 else FAR, word)
            self._all.append(Lexeme(word, start, stop, start == end, raw[0].isupper(), opens))
            self._starts.append(size + 1)
            end, size = stop, size + 1 + len(word)
        self._line = "".join(parts)
        self._size = len(self._all)
        self._all += [END] * AROUND

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> Lexeme:
        return self._all[index]

    def texts(self, first: int, last: int) -> list[str]:
        """What lexemes read as, from one position to before another."""
        return [self[index].text for index in range(first, last)]

    def match(self, pattern: re.Pattern[str], index: int) -> re.Match[str] | None:
        """The pattern where it fits at a position."""
        return pattern.match(self._line, self._starts[index]) if 0 <= index < self._size else None

    def after(self, match: re.Match[str], group: str | int = 0) -> int:
        """The position after what a pattern matched, or a group of it."""
        return bisect_left(self._starts, match.end(group))


def grammar(source: str, **words: Iterable[str]) -> re.Pattern[str]:
    """A pattern over lexemes; it ends where a lexeme ends."""
    for name, members in words.items():
        longest_first = sorted(members, key=lambda member: (-len(member), member))
        source = source.replace(f"{{{name}}}", f"(?:{'|'.join(map(re.escape, longest_first))})")
    source = source.replace("\\ ", " ").replace(" ", f"[{PARTED}{TOUCHING}{FAR}]").replace("~", TOUCHING)
    for name, fragment in FRAGMENTS.items():
        source = source.replace(name, fragment)
    return re.compile(f"(?:{source}){FRAGMENTS['{end}']}")
