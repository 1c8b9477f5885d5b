"""Text -> personal data: the formats run by one matcher, then persons' names; none overlaps another.

Names are capitalised words, read by lists of names, titles and the role before them.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import NamedTuple

from touchstone.core import resource
from touchstone.safety.personal_data.patterns import (
    LOOK_BACK,
    DataPattern,
    DatumKind,
    PatternGate,
    expression,
    figures,
    is_common,
    patterns,
)
from touchstone.text.dates import MONTHS, WEEKDAYS

NUMBERS = ("phone", "card")
FIGURE = re.compile(r"\d")
CUES = "personal_cues.txt"
ENDINGS = tuple(sorted(resource.group(CUES, "surname_ending")))
PARTICLES = resource.group(CUES, "surname_particle")
TITLES = resource.group(CUES, "title")
UNITS = resource.group("street_words.txt", "unit")
ORGANISATIONS = resource.group(CUES, "organisation")
MIN_ENDED = 6
ROLE_REACH = 32
MAX_WORDS = 5


@dataclass(frozen=True, slots=True)
class Datum:
    """One piece of personal data and its place.

    `partial`: only some digits of a number, or only one part of a person's name. `key` is what it is compared by.
    """

    kind: DatumKind
    start: int
    end: int
    key: str
    partial: bool = False


@lru_cache(maxsize=512)
def recognise(text: str) -> tuple[Datum, ...]:
    """All personal data in order; help-centre passages recur, so recent texts are kept."""
    kept: list[Datum] = []
    taken: list[tuple[int, int]] = []
    for datum in _found(text):
        at = bisect_left(taken, (datum.end, 0))
        if at == 0 or taken[at - 1][1] <= datum.start:
            taken.insert(at, (datum.start, datum.end))
            kept.append(datum)
    return tuple(sorted(kept, key=lambda datum: datum.start))


def _found(text: str) -> Iterator[Datum]:
    has_figures = FIGURE.search(text) is not None
    for gate, formats in _by_gate():
        stretches = list(gate.stretches(text)) if has_figures or gate.in_words else []
        for pattern in formats if stretches else ():
            for start, end in stretches:
                for match in pattern.regex.finditer(text, start, end):
                    if pattern.holds(match):
                        yield _datum(pattern, match)
    yield from (Datum("name", *name) for name in find_names(text))


@cache
def _by_gate() -> tuple[tuple[PatternGate, tuple[DataPattern, ...]], ...]:
    """Neighbours in the table that share a gate, so that it is tried once."""
    return tuple((gate, tuple(formats)) for gate, formats in groupby(patterns(), key=lambda pattern: pattern.gate))


def _datum(pattern: DataPattern, match: re.Match[str]) -> Datum:
    told = match[match.lastindex or 0]
    start, end = match.span(0 if pattern.whole else match.lastindex or 0)
    if pattern.kind == "address":
        unit = expression("unit_before").search(match.string, max(0, start - LOOK_BACK), start)
        start, end = unit.start() if unit else start, _address_end(match.string, start, end)
        key = " ".join(re.findall(r"\w+", match.string[start:end].casefold()))
    elif pattern.partial:
        key = figures(told)[-4:]
    elif pattern.kind in NUMBERS:
        key = figures(told)
    elif pattern.kind in ("email", "ip"):
        end = start + len(told.rstrip(".-"))
        key = match.string[start:end].casefold()
    else:
        key = re.sub(r"[ .-]", "", told).casefold()
    return Datum(pattern.kind, start, end, key, pattern.partial)


def _address_end(text: str, start: int, end: int) -> int:
    """Without the words that begin what is said next: `9 Quarry Close Please ring twice`."""
    while tail := re.search(r"(?:,\s?|\s)([^\W\d_]{1,31})[.,']?$", text[start:end]):
        word = tail[1].casefold()
        if not is_common(word) or word in resource.group("street_words.txt", "after") or tail.start() <= 4:
            break
        end = start + tail.start()
    return start + len(text[start:end].rstrip(" .,'-"))


class Name(NamedTuple):
    """A person's name and its place; `partial` where only a first name or only a surname is given."""

    start: int
    end: int
    key: str
    partial: bool


def find_names(text: str) -> Iterator[Name]:
    """All names in order."""
    for run in expression("name_words").finditer(text):
        if is_common(run[0].casefold()):
            continue
        words = [_Word(text, *match.span()) for match in expression("name_word").finditer(text, *run.span())]
        at = 0
        while at < len(words):
            size = _size(text, words, at)
            named = [word for word in words[at : at + size] if word.low not in TITLES]
            if named:
                long = [word for word in named if len(word.low) > 1]
                partial = len(named) < 2 or not long
                yield Name(named[0].start, named[-1].end, " ".join(word.low for word in named), partial)
            at += size or 1


def is_given_name(word: str) -> bool:
    """Whether a word is a person's first name, and hardly anything else."""
    return word in resource.words("given_names.txt") and word not in resource.words("name_lookalikes.txt")


class _Word:
    """One word of a run, without a possessive 's."""

    __slots__ = ("end", "is_name_like", "low", "start")

    def __init__(self, text: str, start: int, end: int) -> None:
        if text.endswith(("'s", "'S"), start, end):
            end -= 2
        self.start, self.end, self.low = start, end, text[start:end].casefold()
        self.is_name_like = text[start].isupper() or self.low in PARTICLES


def _size(text: str, words: list[_Word], at: int) -> int:
    """How many words from here make one name; 0 when none starts here."""
    first = words[at].low
    if not words[at].is_name_like or (first in PARTICLES and at):
        return 0
    if first in TITLES and at + 1 < len(words) and len(first) > 1:
        lead = words[at + 1].low
        return 1 + _extent(words, at + 1) if len(lead) == 1 or not is_common(lead) or _is_listed(lead) else 0
    if first in MONTHS or first in WEEKDAYS or first in TITLES:
        return 0
    size = _extent(words, at)
    if _is_organisation(text, words, at, at + size):
        return 0
    return size if _is_name(text, words, at, size) else 0


def _extent(words: list[_Word], at: int) -> int:
    """The words from here that can belong to one name: it ends before an ordinary word or after a possessive."""
    end = at + 1
    while end < min(len(words), at + MAX_WORDS) and words[end].start - words[end - 1].end <= 2:
        low = words[end].low
        if low in UNITS or (len(low) > 1 and is_common(low) and not _is_listed(low)) or not words[end].is_name_like:
            break
        end += 1
    while end > at + 1 and words[end - 1].low in PARTICLES:
        end -= 1
    return end - at


def _is_organisation(text: str, words: list[_Word], at: int, end: int) -> bool:
    """A company, place or thing that bears a person's name: Victoria Park, Arnold Clark Motors."""
    following = words[end].low if end < len(words) else ""
    inner = {word.low for word in words[at + 1 : end]}
    sure = end - at == 2 and not following and is_given_name(words[at].low) and _is_surname(words[at + 1].low)
    return (
        following in ORGANISATIONS
        or (bool(inner & ORGANISATIONS) and not sure)
        or text[words[end - 1].end :][:2] == " &"
    )


def _is_name(text: str, words: list[_Word], at: int, size: int) -> bool:
    first = words[at].low
    rest = [word.low for word in words[at + 1 : at + size] if len(word.low) > 1 and word.low not in PARTICLES]
    common = is_common(first)
    if is_given_name(first) and not common:
        return True
    if any(map(_is_surname, rest)) and not (common and not _is_listed(first)):
        return not (common and _opens(text, words[at]))
    if common:
        return not all(map(is_common, rest)) and announced(text, words[at].start)
    known = first in resource.words("surnames.txt") or _is_ended(first)
    if known and (rest or not _opens(text, words[at])) and first not in resource.words("name_lookalikes.txt"):
        return True
    return len(first) > 1 and announced(text, words[at].start)


def announced(text: str, start: int) -> bool:
    """Whether what comes before says that this is a person: a role, `named`, `in the name of`."""
    return expression("introduced").search(text[max(0, start - ROLE_REACH) : start].casefold()) is not None


def _opens(text: str, word: _Word) -> bool:
    return expression("sentence_start").search(text, max(0, word.start - 4), word.start) is not None


def _is_listed(low: str) -> bool:
    return low in resource.words("given_names.txt") or low in resource.words("surnames.txt")


def _is_surname(low: str) -> bool:
    return (
        (_is_listed(low) and not is_common(low))
        or _is_ended(low)
        or ("-" in low and any(map(_is_surname, low.split("-"))))
    )


def _is_ended(low: str) -> bool:
    return len(low) >= MIN_ENDED and low.endswith(ENDINGS) and not is_common(low)
