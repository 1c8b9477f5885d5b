"""Text -> personal data: the table of patterns run by one matcher, then names; none overlaps another."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from touchstone.core import resource
from touchstone.safety.personal_data.names import find_names
from touchstone.safety.personal_data.patterns import (
    LOOK_BACK,
    PATTERNS,
    UNIT_BEFORE,
    DataPattern,
    DatumKind,
    PatternGate,
    figures,
    is_common,
)

NUMBERS = ("phone", "card")
FIGURE = re.compile(r"\d")
STREETS = resource.group("street_words.txt", "after")
# Neighbours in the table that share a gate, so that it is tried once.
BY_GATE = tuple((gate, tuple(patterns)) for gate, patterns in groupby(PATTERNS, key=lambda pattern: pattern.gate))


@dataclass(frozen=True, slots=True)
class Datum:
    """One piece of personal data and where it stands.

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
    for gate, patterns in BY_GATE:
        stretches = list(_stretches(text, gate)) if has_figures or gate.in_words else []
        for pattern in patterns if stretches else ():
            for start, end in stretches:
                for match in pattern.regex.finditer(text, start, end):
                    if _holds(pattern, match):
                        yield _datum(pattern, match)
    yield from (Datum("name", *name) for name in find_names(text))


def _stretches(text: str, gate: PatternGate) -> Iterator[tuple[int, int]]:
    """Where a pattern may match: around what its gate finds, none overlapping another."""
    start = end = -1
    for match in gate.regex.finditer(text):
        if end < match.start() - gate.before:
            if end > 0:
                yield start, end
            start = max(0, match.start() - gate.before)
        end = min(len(text), match.end() + gate.after)
        if start == 0 and end == len(text):
            break
    if end > 0:
        yield start, end


def _holds(pattern: DataPattern, match: re.Match[str]) -> bool:
    if pattern.unless and pattern.unless.search(match.string, max(0, match.start() - LOOK_BACK), match.start()):
        return False
    return pattern.check is None or pattern.check(match)


def _datum(pattern: DataPattern, match: re.Match[str]) -> Datum:
    told = match[match.lastindex or 0]
    start, end = match.span(0 if pattern.whole else match.lastindex or 0)
    if pattern.kind == "address":
        unit = UNIT_BEFORE.search(match.string, max(0, start - LOOK_BACK), start)
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
        if not is_common(word) or word in STREETS or tail.start() <= 4:
            break
        end = start + tail.start()
    return start + len(text[start:end].rstrip(" .,'-"))
