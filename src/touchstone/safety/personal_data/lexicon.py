"""Text -> words, figures and marks with their places: what names and postal addresses are recognised on."""

import re
from typing import Literal, NamedTuple

from touchstone.core import resource

PIECE = re.compile(r"([^\W\d_]{1,40}(?:['-][^\W\d_]{1,40}){0,4})|(\d[\w/-]{0,15})|(\n)|[^\w\s]")
WORD, FIGURE, BREAK = 1, 2, 3

# Street types that are not much else, so that they name a street without a house number too.
PLAIN_TYPES = frozenset(
    "street st road rd avenue ave lane ln drive terrace crescent mews boulevard blvd gardens close way".split()
)

PieceKind = Literal["word", "figure", "mark", "break"]


class Piece(NamedTuple):
    """One word (without a possessive 's), figure, mark or line break."""

    kind: PieceKind
    low: str
    start: int
    end: int
    capital: bool
    dotted: bool
    opens: bool


def pieces(text: str) -> list[Piece]:
    """All pieces in order; `opens` marks the first word of a sentence or line."""
    found: list[Piece] = []
    add = found.append
    opens = True
    for match in PIECE.finditer(text):
        raw, group = match[0], match.lastindex
        start, end = match.span()
        if group == WORD:
            if end - start > 2 and raw[-2] == "'" and raw[-1] in "sS":
                raw, end = raw[:-2], end - 2
            low = raw.casefold()
            add(Piece("word", low, start, end, low[0] != raw[0], text[end : end + 1] == ".", opens))
            opens = False
        elif group == FIGURE:
            add(Piece("figure", raw, start, end, False, False, opens))  # noqa: FBT003 - this loop is hot
            opens = False
        elif group == BREAK:
            add(Piece("break", raw, start, end, False, False, False))  # noqa: FBT003
            opens = True
        else:
            add(Piece("mark", raw, start, end, False, False, False))  # noqa: FBT003
            if raw in ".!?:;":
                opens = raw != "." or not _is_abbreviation(found)
    return found


def is_given_name(word: str) -> bool:
    """Whether a word is a person's first name, and hardly anything else."""
    return word in resource.words("given_names.txt") and word not in resource.words("name_lookalikes.txt")


def either(head: str) -> str:
    """The members of a group of personal_cues.txt as one alternation, the longest first."""
    members = resource.group("personal_cues.txt", head)
    return "|".join(sorted(members, key=lambda member: (-len(member), member)))


def is_common(low: str) -> bool:
    """An English word that a capital alone does not make a name."""
    return low in resource.words("common_words.txt") or low in resource.words("stopwords.txt")


def _is_abbreviation(found: list[Piece]) -> bool:
    word = found[-2] if len(found) > 1 else None
    if word is None or word.kind != "word" or len(word.low) > 3:
        return False
    return word.capital or word.low in resource.group("street_words.txt", "before")
