"""A value of the reply -> whether what is known says it in other words, or whether it states no term at all.

`24 hours a day` is the `24-hour line`; `3 days` is in `3 and 10 days`; `5 mm free` is no price; `85 minutes late` is a
case of `more than 45 minutes late`.
"""

import re

from touchstone.core.reading import Measure, Reading, Text, Value
from touchstone.evidence.equality import comparable
from touchstone.evidence.places import sentence_at
from touchstone.safety.fabrication.findings import MAX_VALUES, Known, content, words_between

ALWAYS = re.compile(
    r"\b(?:24/7|a?round[- ]the[- ]clock|day (?:and|or) night|night and day|at all (?:times|hours)"
    r"|(?<!within )(?<!\bin )(?<!after )(?<!every )(?<!\bfor )(?<!than )(?<!least )(?<!up to )24[- ]hours?"
    r"(?! (?:before|of|notice|later|after|in advance|prior|ahead|from)))\b",
    re.IGNORECASE,
)
# The figures of a list whose unit stands behind the last: 3, 5 and 10 days.
LISTED = re.compile(r"((?:\d+(?:, | and | or | & |/))+)$")
LISTED_REACH = 30
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# A figure that may be a time, a day of the month or a plain number: 0.48, 9th, 7 to 22.
UNMARKED = re.compile(r"[\d.]+(?:st|nd|rd|th)?(?: ?(?:to|-|–) ?[\d.]+)?")
HOUR = re.compile(r"(\d{1,2})(?: ?[ap]\.?m\.?| o'clock)?", re.IGNORECASE)
CLOCK = frozenset(
    {"at", "by", "until", "till", "til", "from", "to", "before", "after", "around", "about", "past", "since"}
)
ABOVE = re.compile(
    r"\b(?:(?:more|longer|later|greater|higher|heavier) than|over|above|beyond|at least|exceed(?:s|ing)?) $",
    re.IGNORECASE,
)
OR_ABOVE = re.compile(r" (?:[^\W\d_]+ )?(?:or|and) (?:more|over|above|longer|later|up)\b", re.IGNORECASE)
ABOVE_REACH = 20
# What makes a value of the reply a bound or a duty itself, so that it is no case of one.
BOUNDING = frozenset(
    "than over above beyond least exceeding minimum most within up by until under below after before from must need "
    "needs needed required requires have".split()
)
ROOM = frozenset({"leave", "leaves", "leaving", "keep", "keeps", "keeping", "left", "kept"})
ROOM_REACH = 4


def is_said_otherwise(reading: Reading, value: Value, known: Known) -> bool:
    """Whether the value needs no further source: it is in one under another spelling, or it is no term."""
    reply = reading.reply
    return (
        _is_no_term(reply, value)
        or _is_always(reply, value, known)
        or _is_listed(value, known)
        or _is_unmarked(reply, value, known)
        or _is_hour_asked_for(reading, value)
    )


def is_case_of(reply: Text, value: Value, source: Text, bound: Value) -> bool:
    """`85 minutes late` where the source speaks of `more than 45 minutes`: the rule applies, nothing is changed."""
    ours, theirs = value.readings[0], bound.readings[0]
    if not (isinstance(ours, Measure) and isinstance(theirs, Measure) and ours.dimension == theirs.dimension):
        return False
    before = source.raw[max(0, bound.start - ABOVE_REACH) : bound.start]
    if ours.low <= theirs.high or not (ABOVE.search(before) or OR_ABOVE.match(source.raw, bound.end)):
        return False
    sentence = sentence_at(reply, value.start)
    return sentence is not None and BOUNDING.isdisjoint(words_between(reply, sentence.start, value.start))


def _is_no_term(reply: Text, value: Value) -> bool:
    """`Leave 5 mm free`, `one in the morning and one in the evening`: room that is kept, doses that are counted."""
    sentence = sentence_at(reply, value.start)
    if sentence is None:
        return False
    before = words_between(reply, sentence.start, value.start)
    if reply.raw[value.start : value.end].casefold() == "free":
        beside = any(v.kind == "quantity" and v.end == value.start - 1 for v in reply.values[:MAX_VALUES])
        return beside and not ROOM.isdisjoint(before[-ROOM_REACH:])
    spelled = value.kind == "time" and " in the " in reply.raw[value.start : value.end]
    return (
        spelled and not any(c.isdigit() for c in reply.raw[value.start : value.end]) and CLOCK.isdisjoint(before[-1:])
    )


def _is_always(reply: Text, value: Value, known: Known) -> bool:
    """Whether a source that speaks of the same thing knows it to be there at all hours."""
    sentence = sentence_at(reply, value.start)
    if sentence is None or not (value.canonical == "24/7" or reply.raw[value.start : value.end] == "24-hour"):
        return False
    ours = content(reply, sentence.start, sentence.end)
    found = [(source, sentence_at(source, m.start())) for source in known.contexts for m in ALWAYS.finditer(source.raw)]
    return any(theirs and ours & content(source, theirs.start, theirs.end) for source, theirs in found)


def _is_listed(value: Value, known: Known) -> bool:
    """One of several figures that share the unit behind the last."""
    figure, _, unit = value.canonical.partition(" ")
    for source, last in known.places:
        if unit and last.kind == value.kind and last.canonical.partition(" ")[2] == unit and comparable(value, last):
            listed = LISTED.search(source.raw[max(0, last.start - LISTED_REACH) : last.start])
            if listed and figure in NUMBER.findall(listed[1]):
                return True
    return False


def _is_unmarked(reply: Text, value: Value, known: Known) -> bool:
    """The same figures, which the source's sentence does not show to be a time or a day."""
    text = reply.raw[value.start : value.end]
    if value.kind not in ("time", "date") or not UNMARKED.fullmatch(text):
        return False
    figures = NUMBER.findall(text)
    return any(
        place.value.kind == "number"
        and NUMBER.findall(place.source.raw[place.value.start : place.value.end]) == figures
        for place in known.places
    )


def _is_hour_asked_for(reading: Reading, value: Value) -> bool:
    """`3 pm` to a customer who asked for `3ish` or `till 3`."""
    hour = HOUR.fullmatch(reading.reply.raw[value.start : value.end]) if value.kind == "time" else None
    if hour is None or reading.question is None:
        return False
    asked = rf"\b(?:(?:at|by|un?til+?|around|about|from|before|after) {hour[1]}(?![\d:.,]*\d)|{hour[1]} ?-?ish)\b"
    return re.search(asked, reading.question.raw, re.IGNORECASE) is not None
