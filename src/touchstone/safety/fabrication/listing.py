"""A source -> the cases it lists by name, each with its stretch of the text.

`Plus: 6 sessions a year. Complete: no limit.` and rows such as `New | $750` give each name a stretch of its own.
"""

import re
from itertools import islice
from typing import NamedTuple

from touchstone.core.reading import Text
from touchstone.evidence.places import token_range

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


class Segment(NamedTuple):
    """What a source says under one name."""

    source: Text
    name: frozenset[str]
    start: int
    end: int


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
