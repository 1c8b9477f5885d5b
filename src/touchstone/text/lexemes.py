"""Normalised text -> lexemes: the figures, words and signs that value grammars read one after the other.

Grammars look at a bounded number of lexemes from each position, so reading is linear in the length of the text.
"""

import re
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

LEXEME = re.compile(r"\d+(?:[.,']\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*|[^\s\w]|_", re.UNICODE)


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


Lexemes = Sequence[Lexeme]
END = Lexeme("\n", -1, -1, glued=False, capital=False, opens=False)


class Found(NamedTuple, Generic[T]):
    """What a grammar recognised, and the position after it."""

    item: T
    end: int


def lex(text: str) -> list[Lexeme]:
    """All lexemes; `opens` marks the first of a line or sentence."""
    lexemes: list[Lexeme] = []
    end = -1
    word = ""
    for match in LEXEME.finditer(text):
        raw, (start, stop) = match[0], match.span()
        # Nothing lies between lexemes that touch; before the first one a line begins.
        opens = start != end and (end < 0 or "\n" in text[end:start] or word in ".!?")
        word = raw.casefold().removesuffix("'s")
        lexemes.append(Lexeme(word, start, stop, start == end, raw[0].isupper(), opens))
        end = stop
    return lexemes


def at(lexemes: Lexemes, index: int) -> Lexeme:
    """The lexeme at a position, or an empty end mark outside the text."""
    try:
        return lexemes[index] if index >= 0 else END
    except IndexError:
        return END
