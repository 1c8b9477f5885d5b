"""Lexemes -> times of day: 9am, 17:00, noon, half past nine, and ranges such as 9-5 or 8am to 8pm."""

from decimal import Decimal
from typing import NamedTuple

from touchstone.core.reading import Measure, Value
from touchstone.text.dates import WEEK_SPANS, WEEKDAYS
from touchstone.text.lexemes import Found, Lexemes, grammar
from touchstone.text.numbers import ONES
from touchstone.text.units import period_after, unit_after

NAMED = {"noon": 720, "midday": 720, "midnight": 0}
OPENING_CUES = frozenset({"open", "opens", "opening", "hours", "hour", "between", "from", "office", "lines", "daily"})
OPENING_CUES |= WEEKDAYS.keys() | WEEK_SPANS.keys()
CLOCK = "clock"
TOLD_CUES = frozenset({"at", "by", "until", "till", "before"})
# Summer and standard time of one place count as one zone: people mix them up and mean the wall clock.
ZONES = {"ET": "et est edt", "PT": "pt pst pdt", "CT": "ct cst cdt", "MT": "mt mst mdt", "UK": "gmt bst",
         "CET": "cet cest", "AET": "aest aedt", "UTC": "utc", "IST": "ist", "JST": "jst", "SGT": "sgt"}  # fmt: skip
ZONE_OF = {name: zone for zone, names in ZONES.items() for name in names.split()}
HALF_DAY = 720
HOURS = frozenset(word for word, hour in ONES.items() if 1 <= hour <= 12)
SHIFTS = {"half": 30, "quarter": 15, "ten": 10, "five": 5, "twenty": 20}

MERIDIEM = grammar(r"(?P<am>am|a \. m(?:~\.)?|in the morning)|pm|p \. m(?:~\.)?|in the (?:evening|afternoon)|at night")
NAMED_TIME = grammar("(?:12 )?(?P<name>{named})", named=NAMED)
# half past nine · quarter to five · ten past six
SPOKEN = grammar(
    r"(?P<shift>{shift}) (?P<way>past|to) (?P<hour>(?:[01]?\d|2[0-4])(?:\.[\d.,']+)?|{hour})", shift=SHIFTS, hour=HOURS
)
# 0600 hrs
MILITARY = grammar(r"(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d) (?:hrs|hours)")
# 9 · 9:30 · 14h30 · 10:30:15 · 5.30 · nine
WRITTEN = grammar(
    r"(?P<hour>[01]?\d|2[0-4]|{hour})(?:\.(?P<point>[\d.,']+))?(?:~[:h]~(?P<minute>\d\d)(?: :~\d+)?)?", hour=HOURS
)
O_CLOCK = grammar("o'clock|oclock")
IN_HOURS = grammar("h|hrs|hours")
RANGE = grammar("-|to|until|till|til|and|through")


class Clock(NamedTuple):
    """A time as far as it was written: minutes on a 12-hour face until am or pm is known."""

    minute: int
    sure: bool
    written: bool

    @property
    def readings(self) -> list[int]:
        if self.sure or self.minute >= HALF_DAY:
            return [self.minute]
        return [self.minute, self.minute + HALF_DAY]


def time(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """The time or range of times that starts here."""
    first = _clock(lexemes, index)
    if first is None:
        return None
    if ranged := _range(lexemes, index, first):
        return ranged
    clock = first.item
    return _value(lexemes, index, first.end, clock.readings, None) if clock.written else None


def _range(lexemes: Lexemes, index: int, first: Found[Clock]) -> Found[Value] | None:
    joint = lexemes[first.end].text
    if not lexemes.match(RANGE, first.end) or (joint == "and" and lexemes[index - 1].text != "between"):
        return None
    last = _clock(lexemes, first.end + 1)
    if last is None:
        return None
    if not (first.item.written or last.item.written or _sounds_open(lexemes, index, first.item, last.item)):
        return None
    pairs = [(a, b) for b in last.item.readings for a in _opening(first.item, last.item, b)]
    pairs.sort(key=lambda pair: pair[0] >= pair[1])
    return _value(lexemes, index, last.end, [a for a, _ in pairs], [b for _, b in pairs])


def _opening(first: Clock, last: Clock, end: int) -> list[int]:
    """Readings of a range's start: `9-5pm` starts in the morning, `1-5pm` after noon."""
    if first.sure:
        return [first.minute]
    if last.sure and last.written and not first.written:
        likely = [first.minute, first.minute + HALF_DAY]
        likely = likely[::-1] if first.minute == 0 else likely
        return [minute for minute in likely if minute < end] or [first.minute]
    return first.readings


def _sounds_open(lexemes: Lexemes, index: int, first: Clock, last: Clock) -> bool:
    """`9-5`, `9 to 5`, `8-18` without am or pm: only where opening hours are spoken of."""
    if not 6 * 60 <= first.minute <= 11 * 60 or first.minute <= last.minute <= HALF_DAY:
        return False
    around = lexemes.texts(index - 4, index) + lexemes.texts(index + 3, index + 6)
    return not OPENING_CUES.isdisjoint(around)


def _clock(lexemes: Lexemes, index: int) -> Found[Clock] | None:
    if named := lexemes.match(NAMED_TIME, index):
        return Found(Clock(NAMED[named["name"]], sure=True, written=True), lexemes.after(named))
    if spoken := _spoken(lexemes, index):
        return spoken
    if military := lexemes.match(MILITARY, index):
        minute = int(military["hour"]) * 60 + int(military["minute"])
        return Found(Clock(minute, sure=True, written=True), lexemes.after(military))
    return _written(lexemes, index)


def _spoken(lexemes: Lexemes, index: int) -> Found[Clock] | None:
    match = lexemes.match(SPOKEN, index)
    if match is None:
        return None
    shift, end = match["shift"], lexemes.after(match)
    half = _meridiem(lexemes, end)
    # "five to ten" is a range of numbers
    if match["way"] == "to" and (shift == "half" or (shift != "quarter" and not half)):
        return None
    minute = _hour(match["hour"]) * 60 + (SHIFTS[shift] if match["way"] == "past" else -SHIFTS[shift])
    if half:
        return Found(Clock(minute % HALF_DAY + half.item, sure=True, written=True), half.end)
    return Found(Clock(minute, sure=False, written=True), end)


def _written(lexemes: Lexemes, index: int) -> Found[Clock] | None:
    """9am · 9:30 · 14h30 · 5.30pm · 9 o'clock; a bare figure is a time only as an end of a range."""
    match = lexemes.match(WRITTEN, index)
    if match is None:
        return None
    hour, end = _hour(match["hour"]), lexemes.after(match)
    half = _meridiem(lexemes, end)
    minute = 0
    if match["minute"]:
        minute = int(match["minute"])
    elif point := match["point"]:
        if not (len(point) == 2 and point.isdecimal()) or not (half or _is_told(lexemes, index)):
            return None
        minute = int(point)
    if minute >= 60 or (half and not 1 <= hour <= 12):
        return None
    if half:
        return Found(Clock(hour % 12 * 60 + minute + half.item, sure=True, written=True), half.end)
    if lexemes.match(O_CLOCK, end):
        return Found(Clock(hour % 12 * 60, sure=hour > 12, written=True), end + 1)
    written = bool(match["minute"] or match["point"])
    end += written and lexemes.match(IN_HOURS, end) is not None
    sure = written and (hour > 12 or hour == 0 or match["hour"].startswith("0"))
    on_face = hour % 12 if hour == 12 and not written else hour
    return Found(Clock(on_face * 60 + minute, sure=sure, written=written), end)


def _is_told(lexemes: Lexemes, index: int) -> bool:
    """`leaves at 7.42`, `by 8.30`: a point for the colon, where a time is told and no unit or rate follows."""
    if lexemes[index - 1].text not in TOLD_CUES:
        return False
    return unit_after(lexemes, index + 1) is None and not period_after(lexemes, index + 1).item


def _hour(text: str) -> int:
    return ONES[text] if text in ONES else int(text.partition(".")[0]) % 24


def _meridiem(lexemes: Lexemes, index: int) -> Found[int] | None:
    match = lexemes.match(MERIDIEM, index)
    return Found(0 if match["am"] else HALF_DAY, lexemes.after(match)) if match else None


def _value(lexemes: Lexemes, index: int, end: int, starts: list[int], ends: list[int] | None) -> Found[Value]:
    pairs = list(zip(starts, ends or starts, strict=True))
    zone = ZONE_OF.get(lexemes[end].text, "") if lexemes[end].capital else ""
    readings = tuple(Measure(Decimal(a), Decimal(b), CLOCK, zone) for a, b in pairs)
    end += bool(zone)
    canonical = _show(pairs[0][0]) + (f"-{_show(pairs[0][1])}" if ends else "")
    return Found(Value("time", lexemes[index].start, lexemes[end - 1].end, canonical, readings), end)


def _show(minute: int) -> str:
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"
