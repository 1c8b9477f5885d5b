"""A quote and a text -> where the quote stands in it, however the model spaced, cased or typed it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.core.reading import Span

_SAME: Mapping[str, str] = {
    **dict.fromkeys("‘’‚‛′`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "‹": "<",
    "⁅": "[",
    "｜": "|",
}
_IGNORED = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_CUT = re.compile(r"\s*(?:\[?(?:…|\.{3,})\]?)\s*")
# Shorter ones are found anywhere and prove nothing.
SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as quotes are looked up in it, with each character's place in the text as given."""

    text: str
    places: tuple[int, ...]

    def locate(self, quote: str) -> Span | None:
        """Where the quote stands; one cut with "…" stands where its pieces do, in their order."""
        pieces = [piece for piece in (fold(part).text.strip() for part in _CUT.split(_bare(quote))) if piece]
        if sum(map(len, pieces)) < SHORTEST:
            return None
        first, at = -1, 0
        for piece in pieces:
            found = self.text.find(piece, at)
            if found < 0:
                return None
            first = found if first < 0 else first
            at = found + len(piece)
        return Span(self.places[first], self.places[at - 1] + 1)


def fold(text: str) -> Folded:
    """Case folded, white space as single spaces, quotation marks and dashes of one kind."""
    letters: list[str] = []
    places: list[int] = []
    for place, given in enumerate(text):
        if given in _IGNORED:
            continue
        for letter in " " if given.isspace() else _SAME.get(given, given).casefold():
            if letter == " " and (not letters or letters[-1] == " "):
                continue
            letters.append(letter)
            places.append(place)
    return Folded("".join(letters), tuple(places))


def _bare(quote: str) -> str:
    """The quote without the marks a model may have put around it."""
    bare = quote.strip()
    while len(bare) > 1 and bare[0] in "\"'“”‘’«»" and bare[-1] in "\"'“”‘’«»":
        bare = bare[1:-1].strip()
    return bare
