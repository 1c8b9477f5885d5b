"""Which of two things comes first in reply and sources -> findings: an order that the sources turn round.

`Report damage before you start the trip` puts the report first; `report damage after the trip` puts it last, and so
does `start the trip, then report damage`. Both sides are read as pairs of what comes earlier and what comes later.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations, islice
from typing import NamedTuple

from touchstone.core.reading import Reading, Sentence, Text
from touchstone.core.result import Evidence
from touchstone.safety.fabrication.findings import Finding, Known, content, is_question, sentences_with
from touchstone.text.tokens import term

EARLIER = re.compile(r"\b(?:before|prior to|ahead of)\b", re.IGNORECASE)
LATER = re.compile(r"\b(?:after(?! that\b)|once|as soon as|following)\b", re.IGNORECASE)
THEN = re.compile(
    r"(?:[,;]|\s[-–—])?\s(?:and |but )?(?:then|after that|afterwards)\b[,:]?\s"
    r"|(?:[,;]|\s[-–—]|\s(?:and|but))\s(?:later|next)\b[,:]?\s|\bfirst[,;]\s(?:and |then )?",
    re.IGNORECASE,
)
# Without one of these a sentence puts nothing in order.
CUES = "before prior ahead after once soon following then afterwards later next first".split()
# A numbered or lettered step: `1)`, `(2)`, `3.`
STEP = re.compile(r"(?:^|(?<=[\s;:]))\(?([1-9])[).]\s")
CUT = re.compile(r"[;()\n]|[.!?:](?=\s|$)|\s[-–—]\s")
COMMA = re.compile(r",\s")
NEGATION = re.compile(r"\b(?:not|never|no|cannot|without)\b|n't\b|n’t\b", re.IGNORECASE)
MAX_PAIRS = 60
MAX_STEPS = 8
SPAN = 240
# Share of each part that the other's opposite part must hold.
ALIKE = 0.34
# Fewer words behind an `and` are part of a list.
SHORT = 2


class Pair(NamedTuple):
    """What comes earlier and what later, as terms, and where both stand."""

    earlier: frozenset[str]
    later: frozenset[str]
    start: int
    end: int
    denied: bool


def orders(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each pair of the reply that a source holds the other way round, and none as it is."""
    reply = reading.reply
    said = [sentence for sentence in sentences_with(reply, _cues()) if not is_question(reply, sentence)]
    ours = [pair for sentence in said for pair in _pairs(reply, sentence)][:MAX_PAIRS]
    if not ours:
        return
    theirs = [(source, pair) for source in known.sources for pair in _all_pairs(source)]
    for pair in ours:
        if any(_fits(pair.earlier, other.earlier) and _fits(pair.later, other.later) for _, other in theirs):
            continue
        for source, other in theirs:
            if source in known.contexts and pair.denied == other.denied and _is_crossed(pair, other):
                shown = source.raw[other.start : other.end].strip()
                evidence = Evidence(source.name, other.start, other.end, source.raw[other.start : other.end])
                yield Finding(pair.start, pair.end, 1.0, f"the source says otherwise (order): {shown}", (evidence,))
                break


def _all_pairs(source: Text) -> list[Pair]:
    found = [pair for sentence in sentences_with(source, _cues()) for pair in _pairs(source, sentence)]
    return [*_numbered(source), *found][:MAX_PAIRS]


def _pairs(text: Text, sentence: Sentence) -> Iterator[Pair]:
    raw = text.raw
    for pattern in (EARLIER, LATER, THEN):
        for match in islice(pattern.finditer(raw, sentence.start, sentence.end), 3):
            low = _last(CUT, raw, max(sentence.start, match.start() - SPAN), match.start())
            cut = CUT.search(raw, match.end(), min(sentence.end, match.end() + SPAN))
            high = cut.start() if cut else min(sentence.end, match.end() + SPAN)
            if pattern is THEN:
                yield from _pair(text, (low, match.start()), (match.end(), high), low, high)
                continue
            comma = COMMA.search(raw, match.end(), high)
            leads = len(raw[low : match.start()].split()) <= 1
            below = (match.end(), comma.start() if comma else high)
            main = (comma.end(), high) if leads and comma else (_joined(raw, low, match.start()), match.start())
            if (leads and not comma) or (leads and _is_measured(text, match.end())):
                continue
            first, second = (main, below) if pattern is EARLIER else (below, main)
            yield from _pair(text, first, second, low, high)


def _pair(text: Text, first: tuple[int, int], second: tuple[int, int], start: int, end: int) -> Iterator[Pair]:
    earlier, later = content(text, *first), content(text, *second)
    shared = earlier & later
    if earlier - shared and later - shared:
        denied = bool(NEGATION.search(text.raw, start, end))
        yield Pair(earlier - shared, later - shared, start, end, denied)


def _numbered(text: Text) -> Iterator[Pair]:
    """Each step of a numbered list comes before every later one."""
    marks = list(islice(STEP.finditer(text.raw), MAX_STEPS))
    if [int(m[1]) for m in marks] != list(range(1, len(marks) + 1)):
        return
    ends = [*(m.start() for m in marks), len(text.raw)][1:]
    parts = [(m.end(), min(end, m.end() + SPAN)) for m, end in zip(marks, ends, strict=True)]
    for one, other in combinations(parts, 2):
        yield from _pair(text, one, other, one[0], other[1])


def _is_crossed(pair: Pair, other: Pair) -> bool:
    """Whether what comes earlier here comes later there, and the other way round."""
    crossing = len(pair.earlier & other.later) + len(pair.later & other.earlier)
    straight = len(pair.earlier & other.earlier) + len(pair.later & other.later)
    return crossing > straight + 1 and _fits(pair.earlier, other.later) and _fits(pair.later, other.earlier)


def _fits(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    shared = len(ours & theirs)
    return shared > 0 and shared >= ALIKE * min(len(ours), len(theirs))


def _joined(raw: str, low: int, high: int) -> int:
    """`Go out and ring us once you are outside`: the condition belongs to the last of what an `and` joins."""
    joint = raw.rfind(" and ", low, high)
    return joint if joint >= 0 and len(raw[joint:high].split()) > SHORT else low


def _is_measured(text: Text, at: int) -> bool:
    """`After four hours the fee runs`: a length of time is no event, and no comma shows where it ends."""
    return any(at <= value.start <= at + 1 for value in text.values)


def _last(pattern: re.Pattern[str], raw: str, low: int, high: int) -> int:
    return max((m.end() for m in pattern.finditer(raw, low, high)), default=low)


@cache
def _cues() -> frozenset[str]:
    return frozenset(map(term, CUES))
