"""Sources that list cases by name -> findings: what the reply says of one case stands under another.

`Plus: 6 sessions a year. Complete: no limit.` and rows such as `New | $750` give each name a stretch of its own.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from touchstone.core.reading import Reading, Text, Value
from touchstone.core.result import Evidence
from touchstone.evidence.equality import same
from touchstone.evidence.places import sentence_at, token_range
from touchstone.safety.fabrication.findings import MAX_VALUES, Finding, Known, is_question

# A name in front of a colon, or in the first cell of a row.
NAMED = re.compile(
    r"(?:(?<=[.;:–—]\s)|(?<=\n)|^)(?:[-–*•]\s)?([A-Z][\w&+'-]*(?: [\w&+'-]+){0,2})"
    r"(?: ?(?:[£$€]\d[\d.,]{0,9}|\([^()\n]{1,40}\)))?(?::\s|\s?\||\s[–—]\s)",
    re.MULTILINE,
)
MAX_NAMES = 40
# Words that open a statement or a label of another kind.
UNNAMED = frozenset(
    {"No", "Not", "If", "When", "Yes", "Internal", "Note", "Macro", "Once", "Only", "All", "Every", "Any", "Your"}
)
KINDS = frozenset({"money", "percent", "duration", "quantity", "time"})


class Segment(NamedTuple):
    """What a source says under one name."""

    source: Text
    name: frozenset[str]
    start: int
    end: int


def segments(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each value that stands under another name than the one the sentence speaks of."""
    found = [segment for source in known.contexts for segment in named_cases(source)]
    if len(found) < 2:
        return
    reply = reading.reply
    for value in reply.values[:MAX_VALUES]:
        sentence = sentence_at(reply, value.start)
        counted = value.kind == "quantity" and not any(c.isdigit() for c in reply.raw[value.start : value.end])
        if (
            value.kind not in KINDS
            or counted
            or value.canonical == "free"
            or sentence is None
            or is_question(reply, sentence)
        ):
            continue
        words = frozenset(t.term for t in reply.tokens[sentence.first : sentence.last])
        homes = [place for place in known.homes(value) if place.source.name.startswith("context")]
        if not homes or len(homes) < len(known.homes(value)):
            continue
        spoken = [segment for segment in found if segment.name <= words]
        housing = [_home(found, source, home) for source, home in homes]
        if not spoken or any(h is None or h.name <= words or not _siblings(h, spoken) for h in housing):
            continue
        if any(h and (h.name - frozenset().union(*(s.name for s in spoken))) & words for h in housing):
            continue
        own = next((s for s in spoken if s.source is homes[0].source), None)
        if own is None or _stated_near(reply, own, sentence.start, sentence.end):
            continue
        text = own.source.raw[own.start : own.end].strip()
        shown = reply.raw[value.start : value.end]
        reason = f"the source says otherwise (case): {shown} is not said of {text}"
        yield Finding(value.start, value.end, 1.0, reason, (Evidence(own.source.name, own.start, own.end, text),))


def named_cases(source: Text) -> list[Segment]:
    """The stretches that a source gives to names of a list, in order."""
    marks = [mark for mark in islice(NAMED.finditer(source.raw), MAX_NAMES) if not _is_title(source.raw, mark)]
    ends = [*(mark.start() for mark in marks), len(source.raw)][1:]
    found = []
    for mark, end in zip(marks, ends, strict=True):
        first, last = token_range(source, mark.start(1), mark.end(1))
        name = frozenset(t.term for t in source.tokens[first:last] if not t.is_stop)
        stop = source.raw.find("\n", mark.end(), end)
        if name:
            found.append(Segment(source, name, mark.start(1), stop if stop >= 0 else end))
    return found if len({segment.name for segment in found}) > 1 else []


def _is_title(raw: str, mark: re.Match[str]) -> bool:
    """`Seats – Fulmar Fly.`: a dash behind a passage's first words titles it; `Q:` and `No damage:` name none."""
    dashed = raw[mark.start() : mark.end()].rstrip()[-1] in "–—"
    return (mark.start() == 0 and (dashed or "(" in mark[0])) or len(mark[1]) == 1 or mark[1].split()[0] in UNNAMED


def _home(found: list[Segment], source: Text, value: Value) -> Segment | None:
    return next((s for s in found if s.source is source and s.start <= value.start < s.end), None)


def _siblings(home: Segment, spoken: list[Segment]) -> bool:
    """Whether a name of the sentence belongs to the same list and is not part of the home's."""
    return any(s.source is home.source and not (s.name <= home.name or home.name <= s.name) for s in spoken)


def _stated_near(reply: Text, own: Segment, start: int, end: int) -> bool:
    """Whether the sentence also gives a value of the named case: then it compares."""
    theirs = [v for v in own.source.values if own.start <= v.start < own.end]
    ours = [v for v in reply.values[:MAX_VALUES] if start <= v.start < end]
    return any(same(a, b) for a in ours for b in theirs)
