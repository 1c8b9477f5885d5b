"""A string as given -> the same string in one spelling, with a way back to the original offsets."""

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from touchstone.core.reading import Span

DASHES = dict.fromkeys("‐‑‒–—―−﹘﹣－", "-")
QUOTES = dict.fromkeys("‘’‚‛′´`", "'") | dict.fromkeys("“”„‟″«»", '"')
# Format characters carry no reading: zero-width and bidirectional marks could hide or reverse text.
INVISIBLE = dict.fromkeys(
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e", ""
) | dict.fromkeys("\u2066\u2067\u2068\u2069\x00", "")
SPELLINGS = DASHES | QUOTES | INVISIBLE
OTHER = re.compile(r"[^\x01-\x7f]")
HARD_SPACES = frozenset("\u00a0\u2007\u2009\u202f")


@dataclass(frozen=True, slots=True)
class Normal:
    """Normalised text; `starts` and `ends` give each character's place in the original, None when nothing moved."""

    text: str
    starts: tuple[int, ...] | None = None
    ends: tuple[int, ...] | None = None

    def at(self, place: int) -> int:
        """An offset into the original -> the offset of the first normalised character from there on."""
        return place if self.starts is None else bisect_left(self.starts, place)

    def span(self, start: int, end: int) -> Span:
        """Offsets into the normalised text -> offsets into the original."""
        if self.starts is None or self.ends is None or start >= end:
            return Span(start, end)
        return Span(self.starts[start], self.ends[end - 1])


@lru_cache(maxsize=256)
def normalise(raw: str) -> Normal:
    """NFKC, plain quotes and dashes, no invisible characters; ASCII text is returned as it is."""
    if raw.isascii() and "\x00" not in raw:
        return Normal(raw)
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(raw):
        if (plain := _plain_until(raw, at)) > at:
            text.append(raw[at:plain])
            starts.extend(range(at, plain))
            ends.extend(range(at + 1, plain + 1))
            at = plain
            continue
        end = at + 1
        while end < len(raw) and unicodedata.combining(raw[end]):
            end += 1
        spelt = _spell(raw, at, end)
        text.append(spelt)
        starts.extend([at] * len(spelt))
        ends.extend([end] * len(spelt))
        at = end
    return Normal("".join(text), tuple(starts), tuple(ends))


def _plain_until(raw: str, at: int) -> int:
    """Where the characters end that stay as they are; the last before another sort may have a mark put on it."""
    other = OTHER.search(raw, at)
    return max(at, other.start() - 1) if other else len(raw)


def _spell(raw: str, at: int, end: int) -> str:
    char = raw[at]
    if char < "\x80" and end == at + 1 and char != "\x00":
        return char
    if char in SPELLINGS:
        return SPELLINGS[char]
    if char in HARD_SPACES:
        # A hard space inside a figure groups thousands: 1 200 -> 1'200.
        grouping = (
            at > 0
            and raw[at - 1].isdecimal()
            and raw[end : end + 3].isdecimal()
            and not raw[end + 3 : end + 4].isdecimal()
        )
        return "'" if grouping else " "
    spelt = unicodedata.normalize("NFKC", raw[at:end])
    if "\u2044" in spelt:
        # A vulgar fraction after a figure is a mixed number: 2½ -> 2 1/2.
        spelt = spelt.replace("\u2044", "/")
        return f" {spelt}" if at > 0 and raw[at - 1].isdecimal() else spelt
    return spelt
