"""Lexemes -> times of day: 9am, 17:00, noon, half past nine, and ranges such as 9-5 or 8am to 8pm."""

from decimal import Decimal

from touchstone.core.reading import Measure, Value
from touchstone.text.dates import WEEK_SPANS, WEEKDAYS
from touchstone.text.lexemes import Found, Lexemes, at
from touchstone.text.numbers import ONES
from touchstone.text.units import period_after, unit_after

NAMED = {"noon": 720, "midday": 720, "midnight": 0}
RANGE_JOINTS = frozenset({"-", "to", "until", "till", "til", "and", "through"})
OPENING_CUES = frozenset({"open", "opens", "opening", "hours", "hour", "between", "from", "office", "lines", "daily"})
OPENING_CUES |= WEEKDAYS.keys() | WEEK_SPANS.keys()
CLOCK = "clock"
TOLD_CUES = frozenset({"at", "by", "until", "till", "before"})
# Summer and standard time of one place count as one zone: people mix them up and mean the wall clock.
ZONES = dict.fromkeys(("et", "est", "edt"), "ET") | dict.fromkeys(("pt", "pst", "pdt"), "PT")
ZONES |= dict.fromkeys(("ct", "cst", "cdt"), "CT") | dict.fromkeys(("mt", "mst", "mdt"), "MT")
ZONES |= (
    dict.fromkeys(("gmt", "bst"), "UK") | dict.fromkeys(("cet", "cest"), "CET") | dict.fromkeys(("aest", "aedt"), "AET")
)
ZONES |= {"utc": "UTC", "ist": "IST", "jst": "JST", "sgt": "SGT"}
HALF_DAY = 720
MERIDIEMS = {"am": 0, "pm": HALF_DAY, "a": 0, "p": HALF_DAY, "noon": HALF_DAY}


class Clock:
    """A time as far as it was written: minutes on a 12-hour face until am or pm is known."""

    __slots__ = ("minute", "sure", "written")

    def __init__(self, minute: int, *, sure: bool, written: bool) -> None:
        self.minute = minute
        self.sure = sure
        self.written = written


def time(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """The time or range of times that starts here."""
    first = _clock(lexemes, index)
    if first is None:
        return None
    if ranged := _range(lexemes, index, first):
        return ranged
    if not first.item.written:
        return None
    return _value(lexemes, index, first.end, _readings(first.item), None)


def _range(lexemes: Lexemes, index: int, first: Found[Clock]) -> Found[Value] | None:
    joint = at(lexemes, first.end).text
    if joint not in RANGE_JOINTS or (joint == "and" and at(lexemes, index - 1).text != "between"):
        return None
    last = _clock(lexemes, first.end + 1)
    if last is None:
        return None
    if not (first.item.written or last.item.written or _sounds_open(lexemes, index, first.item, last.item)):
        return None
    pairs = [(a, b) for b in _readings(last.item) for a in _opening(first.item, last.item, b)]
    pairs.sort(key=lambda pair: pair[0] >= pair[1])
    return _value(lexemes, index, last.end, [a for a, _ in pairs], [b for _, b in pairs]) if pairs else None


def _opening(first: Clock, last: Clock, end: int) -> list[int]:
    """Readings of a range's start: `9-5pm` starts in the morning, `1-5pm` after noon."""
    if first.sure:
        return [first.minute]
    if last.sure and last.written and not first.written:
        likely = (
            [first.minute + HALF_DAY, first.minute] if first.minute == 0 else [first.minute, first.minute + HALF_DAY]
        )
        return [m for m in likely if m < end] or [first.minute]
    return _readings(first)


def _sounds_open(lexemes: Lexemes, index: int, first: Clock, last: Clock) -> bool:
    """`9-5`, `9 to 5`, `8-18` without am or pm: only where opening hours are spoken of."""
    if not 6 * 60 <= first.minute <= 11 * 60 or first.minute <= last.minute <= HALF_DAY:
        return False
    return any(at(lexemes, index - step).text in OPENING_CUES for step in range(1, 5)) or _hours_follow(lexemes, index)


def _hours_follow(lexemes: Lexemes, index: int) -> bool:
    return any(at(lexemes, index + step).text in OPENING_CUES for step in range(3, 6))


def _readings(clock: Clock) -> list[int]:
    if clock.sure or clock.minute >= HALF_DAY:
        return [clock.minute]
    return [clock.minute, clock.minute + HALF_DAY]


def _clock(lexemes: Lexemes, index: int) -> Found[Clock] | None:
    first = at(lexemes, index)
    if first.text in NAMED:
        return Found(Clock(NAMED[first.text], sure=True, written=True), index + 1)
    if first.text == "12" and at(lexemes, index + 1).text in NAMED:
        return Found(Clock(NAMED[at(lexemes, index + 1).text], sure=True, written=True), index + 2)
    if spoken := _spoken(lexemes, index):
        return spoken
    if military := _military(lexemes, index):
        return military
    hour = _hour(first.text)
    if hour is None:
        return None
    minutes = _minutes(lexemes, index)
    if minutes is None:
        return None
    minute, end = minutes
    written = end > index + 1 or "." in first.text
    if half := _meridiem(lexemes, end):
        if not 1 <= hour <= 12:
            return None
        return Found(Clock(hour % 12 * 60 + minute + half.item, sure=True, written=True), half.end)
    if at(lexemes, end).text in ("o'clock", "oclock"):
        return Found(Clock(hour % 12 * 60, sure=hour > 12, written=True), end + 1)
    end = end + 1 if written and at(lexemes, end).text in ("h", "hrs", "hours") else end
    sure = written and (hour > 12 or hour == 0 or first.text.startswith("0"))
    on_face = hour % 12 if hour == 12 and not written else hour
    return Found(Clock(on_face * 60 + minute, sure=sure, written=written), end)


def _minutes(lexemes: Lexemes, index: int) -> Found[int] | None:
    """The minutes of 9:30, 14h30 or 5.30pm, 0 when none are written; None when the figure is no time."""
    figure, colon, digits = (at(lexemes, index + step) for step in range(3))
    end = index + 1
    if colon.text in (":", "h") and colon.glued and digits.glued and len(digits.text) == 2 and digits.text.isdecimal():
        seconds = at(lexemes, end + 3)
        with_seconds = at(lexemes, end + 2).text == ":" and seconds.glued and seconds.text.isdecimal()
        minute, end = int(digits.text), end + (4 if with_seconds else 2)
    elif "." in figure.text:
        fraction = figure.text.partition(".")[2]
        told = _meridiem(lexemes, end) or _is_told(lexemes, index)
        if len(fraction) != 2 or not fraction.isdecimal() or not told:
            return None
        minute = int(fraction)
    else:
        minute = 0
    return Found(minute, end) if minute < 60 else None


def _is_told(lexemes: Lexemes, index: int) -> bool:
    """`leaves at 7.42`, `by 8.30`: a point for the colon, where a time is told and no unit or rate follows."""
    if at(lexemes, index - 1).text not in TOLD_CUES:
        return False
    return unit_after(lexemes, index + 1) is None and not period_after(lexemes, index + 1).item


def _military(lexemes: Lexemes, index: int) -> Found[Clock] | None:
    """0600 hrs."""
    text = at(lexemes, index).text
    if (
        len(text) == 4
        and text.isdecimal()
        and at(lexemes, index + 1).text in ("hrs", "hours")
        and int(text[:2]) < 24
        and int(text[2:]) < 60
    ):
        return Found(Clock(int(text[:2]) * 60 + int(text[2:]), sure=True, written=True), index + 2)
    return None


def _hour(text: str) -> int | None:
    whole = text.partition(".")[0]
    if whole.isdecimal() and len(whole) <= 2 and int(whole) <= 24:
        return int(whole) % 24
    return ONES.get(text) if 1 <= ONES.get(text, 0) <= 12 else None


def _meridiem(lexemes: Lexemes, index: int) -> Found[int] | None:
    first = at(lexemes, index)
    if first.text in ("am", "pm"):
        return Found(MERIDIEMS[first.text], index + 1)
    if first.text in ("a", "p") and at(lexemes, index + 1).text == "." and at(lexemes, index + 2).text == "m":
        closing = index + 4 if at(lexemes, index + 3).text == "." and at(lexemes, index + 3).glued else index + 3
        return Found(MERIDIEMS[first.text], closing)
    evening = ("in", "the", "evening"), ("in", "the", "afternoon"), ("at", "night")
    morning = (("in", "the", "morning"),)
    for half, phrases in ((0, morning), (HALF_DAY, evening)):
        for phrase in phrases:
            if all(at(lexemes, index + step).text == word for step, word in enumerate(phrase)):
                return Found(half, index + len(phrase))
    return None


def _spoken(lexemes: Lexemes, index: int) -> Found[Clock] | None:
    """half past nine · quarter to five · ten past six."""
    words = at(lexemes, index).text, at(lexemes, index + 1).text
    shift = {"half": 30, "quarter": 15, "ten": 10, "five": 5, "twenty": 20}.get(words[0])
    hour = _hour(at(lexemes, index + 2).text)
    if shift is None or words[1] not in ("past", "to") or hour is None or (words[0] == "half" and words[1] == "to"):
        return None
    if words[1] == "to" and words[0] != "quarter" and not _meridiem(lexemes, index + 3):
        return None  # "five to ten" is a range of numbers
    minute = hour * 60 + (shift if words[1] == "past" else -shift)
    if half := _meridiem(lexemes, index + 3):
        return Found(Clock(minute % HALF_DAY + half.item, sure=True, written=True), half.end)
    return Found(Clock(minute, sure=False, written=True), index + 3)


def _value(lexemes: Lexemes, index: int, end: int, starts: list[int], ends: list[int] | None) -> Found[Value]:
    pairs = list(zip(starts, ends or starts, strict=True))
    zone = ZONES.get(at(lexemes, end).text, "") if at(lexemes, end).capital else ""
    readings = tuple(Measure(Decimal(a), Decimal(b), CLOCK, zone) for a, b in pairs)
    end += bool(zone)
    canonical = _show(pairs[0][0]) + (f"-{_show(pairs[0][1])}" if ends else "")
    return Found(Value("time", at(lexemes, index).start, at(lexemes, end - 1).end, canonical, readings), end)


def _show(minute: int) -> str:
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"
