"""Sources that list cases by name -> findings: what the reply says of one case stands under another.

`Plus: 6 sessions a year. Complete: no limit.` and rows such as `New | $750` give each name a stretch of its own.
"""

from collections.abc import Iterator, Sequence

from touchstone.core.reading import Reading, Text, Value
from touchstone.core.result import Evidence
from touchstone.evidence.equality import same
from touchstone.evidence.places import sentence_at
from touchstone.safety.fabrication.findings import MAX_VALUES, Finding, Known, is_question
from touchstone.safety.fabrication.listing import Segment

KINDS = frozenset({"money", "percent", "duration", "quantity", "time"})


def segments(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each value that stands under another name than the one the sentence speaks of."""
    found = known.cases
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


def _home(found: Sequence[Segment], source: Text, value: Value) -> Segment | None:
    return next((s for s in found if s.source is source and s.start <= value.start < s.end), None)


def _siblings(home: Segment, spoken: list[Segment]) -> bool:
    """Whether a name of the sentence belongs to the same list and is not part of the home's."""
    return any(s.source is home.source and not (s.name <= home.name or home.name <= s.name) for s in spoken)


def _stated_near(reply: Text, own: Segment, start: int, end: int) -> bool:
    """Whether the sentence also gives a value of the named case: then it compares."""
    theirs = [v for v in own.source.values if own.start <= v.start < own.end]
    ours = [v for v in reply.values[:MAX_VALUES] if start <= v.start < end]
    return any(same(a, b) for a in ours for b in theirs)
