"""Lexemes -> dates: written and numeric forms, partial dates, weekdays, ranges; every plausible reading is kept."""

import calendar
import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from touchstone.core.reading import Dates, Day, Value
from touchstone.text.lexemes import Found, Lexemes, grammar
from touchstone.text.numbers import ONES
from touchstone.text.units import unit_after

MONTHS = {
    name.casefold(): n for names in (calendar.month_name, calendar.month_abbr) for n, name in enumerate(names) if n
}
MONTHS |= {"sept": 9}
WEEKDAYS = {name.casefold(): n for n, name in enumerate(calendar.day_name)}
SHORT_WEEKDAYS = ("mon", "tue tues", "wed weds", "thu thur thurs", "fri", "sat", "sun")
WEEKDAYS |= {name: n for n, names in enumerate(SHORT_WEEKDAYS) for name in names.split()}
WEEKDAYS |= {f"{name}s": n for name, n in WEEKDAYS.items() if name.endswith("day")}
WEEK_SPANS = {"weekdays": (0, 4), "weekends": (5, 6), "weekend": (5, 6)}
SHORT_WEEKDAYS_THAT_ARE_WORDS = frozenset({"sat", "sun", "wed", "mon"})
MONTHS_THAT_ARE_WORDS = frozenset({"may", "march", "mar", "sat"})
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINAL_WORDS = {word: n for n, word in enumerate(ORDINALS.split(), 1)}
JOINTS = frozenset({"-", "to", "until", "till", "through", "and", "or"})
RELATIVE = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2}
MONTH_CUES = frozenset(
    "( in by of since until till before after from during for to this last next early mid late end through and between "
    "starting every".split()
)
# What may follow a day without its month: joints, pronouns and verbs, but no noun (`the 5th floor`).
AFTER_LONE_DAY = frozenset(
    "at we you i if so is it with for or but as when because which of in by before after on that this then not "
    "each every rather instead are was were will would can cannot can't could must may might should has have "
    "had do does don't doesn't isn't aren't won't take takes took apply applies count counts qualify qualifies "
    "go goes get gets come comes become becomes arrive arrives leave leaves ship ships start starts begin "
    "begins end ends run runs stay stays cost costs incur incurs receive receives appear appears reach reaches "
    "fall falls only already still unless until while they he she there they'll you'll we'll you're it's".split()
)
DAY_CUES = frozenset("the on by until till before after from since to and between through due".split())
MIN_YEAR, MAX_YEAR = 1900, 2099
# Years in two figures from here on belong to the last century, as POSIX reads them.
CENTURY_TURN = 69

Form = Callable[[Lexemes, int], Found[tuple[Day, ...]] | None]

DAY = r"(?:0?[1-9]|[12]\d|3[01])"
YEAR = r"(?:19|20)\d\d"
SUFFIX = r"(?:~(?:st|nd|rd|th){end})?"
# 2025-03-03 · 03/04/2025 · 3.4.25 · 3/4
NUMERIC = grammar(
    r"\d{1,4}(?:\.\d{1,4}\.\d{1,4}(?!~\.~)|~(?P<sign>[/-])~\d{1,4}(?:~(?P=sign)~\d{1,4})?(?!~(?P=sign)~))"
)
# 3 March · 3rd of March · the third of March · 18-19 November (its first end)
DAY_MONTH = grammar(
    rf"(?P<day>{DAY}|{{ordinal}}){{end}}{SUFFIX}"
    rf"(?:(?= {{joint}} {DAY}{{end}}{SUFFIX}(?: of)? {{month}}{{end}})|(?: of)?(?: -)? (?P<month>{{month}}))",
    ordinal=ORDINAL_WORDS,
    joint=JOINTS | {","},
    month=MONTHS,
)
# March 3 · Mar. 3rd; not March 3 pm
MONTH_DAY = grammar(
    rf"(?:(?P<month>{{month}})|(?P<short>{{short}})~\.)(?:~-(?= \d))?(?: the)?"
    rf" (?P<day>{DAY}){{end}}(?! (?::|am|pm){{end}}){SUFFIX}",
    month=MONTHS,
    short=[name for name in MONTHS if len(name) <= 4],
)
MONTH_YEAR = grammar(rf"(?P<month>{{month}})(?: (?:,|of))? (?P<year>{YEAR})", month=MONTHS)
LONE_YEAR = grammar(YEAR)
YEAR_BEHIND = grammar(rf"(?:(?:,|of|'|-) )?(?P<year>{YEAR})|['-]~(?P<short>\d\d)")
# the 16th: a day of a month that is not named
LONE_DAY = grammar(rf"(?P<day>{DAY})~{{suffix}}")
# March 3-5: the second
SECOND_DAY = grammar(rf"(?P<day>{DAY}){{end}}{SUFFIX}")
# Friday, the 3rd: what may come between
AFTER_WEEKDAY = grammar(r"{weekday}(?: [,.])?(?: (?:the|on))?", weekday=WEEKDAYS)
RELATIVE_MONTH = grammar("(?P<which>next|this|last) month")
RELATIVE_WEEKDAY = grammar("(?P<which>next|this|coming|last) (?P<weekday>{weekday})", weekday=WEEKDAYS)
RELATIVE_DAY = grammar(
    r"(?P<named>{named})|(?:(?P<in>in) )?(?P<count>\d{1,3}|{count}) (?:days?|(?P<weeks>weeks?))"
    r"(?(in)| (?:(?P<ago>ago)|from (?:now|today)))",
    named=RELATIVE,
    count=ONES,
)


def written_date(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """The date or range of dates that starts here."""
    if span := WEEK_SPANS.get(lexemes[index].text):
        first, last = (Day(weekday=n) for n in span)
        return _value(lexemes, index, index + 1, (Dates(first, last),))
    days = _days(lexemes, index)
    if days is None:
        return None
    return _range(lexemes, index, days) or _value(lexemes, index, days.end, tuple(Dates(day, day) for day in days.item))


def relative_date(lexemes: Lexemes, index: int, *, today: date) -> Found[Value] | None:
    """tomorrow · next Monday · in 3 days, counted from the case's reference date."""
    if match := lexemes.match(RELATIVE_MONTH, index):
        month = today.month - 1 + {"next": 1, "this": 0, "last": -1}[match["which"]]
        days = [Day(today.year + month // 12, month % 12 + 1)]
    elif match := lexemes.match(RELATIVE_WEEKDAY, index):
        ahead = (WEEKDAYS[match["weekday"]] - today.weekday()) % 7
        shifts = {"next": [ahead or 7, ahead + 7], "last": [ahead - 7]}.get(match["which"], [ahead])
        days = [_full(today + timedelta(days=shift)) for shift in shifts]
    elif match := lexemes.match(RELATIVE_DAY, index):
        days = [_full(today + timedelta(days=_shift(match)))]
    else:
        return None
    return _value(lexemes, index, lexemes.after(match), tuple(Dates(day, day) for day in days))


def _shift(match: re.Match[str]) -> int:
    if match["named"]:
        return RELATIVE[" ".join(match["named"].split())]
    count = ONES[match["count"]] if match["count"] in ONES else int(match["count"])
    return count * (7 if match["weeks"] else 1) * (-1 if match["ago"] else 1)


def is_relative_weekday(lexemes: Lexemes, index: int) -> bool:
    """The weekday of `next Monday`: without a reference date it is no date that could be checked."""
    return lexemes.match(RELATIVE_WEEKDAY, index - 1) is not None


def parse_reference(given: object) -> date | None:
    """A case's reference date as metadata gives it: a date or an ISO string that starts with one."""
    if isinstance(given, date):
        return date(given.year, given.month, given.day)
    if isinstance(given, str) and len(given) >= 10:
        try:
            return date.fromisoformat(given[:10])
        except ValueError:
            return None
    return None


def _days(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    return _first(lexemes, index, (_with_weekday, _numeric, _day_month, _month_day, _year, _lone_day))


def _first(lexemes: Lexemes, index: int, forms: Iterable[Form]) -> Found[tuple[Day, ...]] | None:
    return next((found for form in forms if (found := form(lexemes, index))), None)


def _range(lexemes: Lexemes, index: int, first: Found[tuple[Day, ...]]) -> Found[Value] | None:
    """`18-19 November`, `3 March to 5 March`, `Mon-Fri`, `March 3-5`: two ends that complete each other."""
    joint = lexemes[first.end].text
    if joint not in JOINTS or joint == "or" or (joint == "and" and lexemes[first.end - 3].text != "between"):
        return None
    start = first.end + 1 + (lexemes[first.end + 1].text == "the")
    last = _days(lexemes, start)
    if last is None and first.item[0].day is not None and (match := lexemes.match(SECOND_DAY, start)):
        last = Found((Day(day=int(match["day"])),), lexemes.after(match))
    if last is None or not _same_precision(first.item[0], last.item[0]):
        return None
    ends, end = tuple(_complete(day, first.item[0]) for day in last.item), last.end
    if ends[0].year is None and ends[0].day:
        ends, end = _with_year(lexemes, last.end, ends[0])
    starts = [_complete(day, ends[0]) for day in first.item]
    return _value(lexemes, index, end, tuple(Dates(head, tail) for head in starts for tail in ends))


def _same_precision(head: Day, tail: Day) -> bool:
    """Two days, two weekdays, two months or two years: the ends of a range are of one kind."""
    if head.day and tail.day:
        return True
    if head.weekday is not None and tail.weekday is not None:
        return not tail.day
    months = head.month and tail.month and not head.day and not tail.day
    return bool(months or (not head.month and not tail.month and head.year and tail.year))


def _complete(day: Day, other: Day) -> Day:
    month = day.month if day.month is not None or not day.day else other.month
    year = day.year if day.year is not None or month is None else other.year
    return day._replace(month=month, year=year)


def _with_weekday(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """Friday · Friday 3 March · Friday, the 3rd."""
    name = lexemes[index].text
    match = lexemes.match(AFTER_WEEKDAY, index) if name in WEEKDAYS else None
    if match is None or (name in SHORT_WEEKDAYS_THAT_ARE_WORDS and _is_word(lexemes, index)):
        return None
    more = _first(lexemes, lexemes.after(match), (_numeric, _day_month, _month_day, _lone_day))
    days, end = more or Found((Day(),), index + 1)
    return Found(tuple(day._replace(weekday=WEEKDAYS[name]) for day in days), end)


def _is_word(lexemes: Lexemes, index: int) -> bool:
    """`he sat`, `Sun Valley`: a short weekday's letters that mean something else."""
    following = lexemes[index + 1]
    named = following.is_word and following.capital and following.text not in MONTHS and following.text not in WEEKDAYS
    return not lexemes[index].capital or (named and not following.opens)


def _numeric(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """All readings of an ambiguous order."""
    match = lexemes.match(NUMERIC, index)
    if match is None:
        return None
    parts, end = re.findall(r"\d+", match[0]), lexemes.after(match)
    if match["sign"] == "/" and len(parts) == 2 and unit_after(lexemes, end):
        return None  # 1/2 hour
    days = _orders(parts, match["sign"] or ".")
    return Found(days, end) if days else None


def _orders(parts: list[str], sign: str) -> tuple[Day, ...]:
    numbers = [int(part) for part in parts]
    sizes = [len(part) for part in parts]
    if len(parts) == 3:
        first, second, third = numbers
        year = third if sizes[2] == 4 else _short_year(third)
        orders = [(first, second, third)] if sizes[0] == 4 else [(year, second, first), (year, first, second)]
        known = sizes[0] == 4 or sizes[2] in (2, 4)
        return tuple(dict.fromkeys(Day(y, m, d) for y, m, d in orders if known and _is_day(y, m, d)))
    first, second = numbers
    if sign == "/" and max(sizes) <= 2 and numbers != [24, 7]:
        days = [Day(None, m, d) for m, d in ((second, first), (first, second)) if _is_day(2000, m, d)]
        # MM/YY, as cards expire.
        days += [Day(2000 + second, first)] if first <= 12 and second >= 20 else []
        return tuple(dict.fromkeys(days))
    if sizes[0] == 4 and 1 <= second <= 12 and sizes[1] == 2:
        return (Day(first, second),)
    return (Day(second, first),) if sign == "/" and sizes[1] == 4 and 1 <= first <= 12 else ()


def _day_month(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    match = lexemes.match(DAY_MONTH, index)
    if match is None:
        return None
    day, end = ORDINAL_WORDS.get(match["day"]) or int(match["day"]), lexemes.after(match)
    if match["month"] is None:
        return Found((Day(day=day),), end)
    is_sure = lexemes[end - 1].capital or end > index + 2 or match["month"] not in MONTHS_THAT_ARE_WORDS
    return _with_year(lexemes, end, Day(month=MONTHS[match["month"]], day=day)) if is_sure else None


def _month_day(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """March 3 · March 3rd, 2025 · March 2025 · in March."""
    name = lexemes[index].text
    if name not in MONTHS:
        return None
    if match := lexemes.match(MONTH_DAY, index):
        return _with_year(lexemes, lexemes.after(match), Day(month=MONTHS[name], day=int(match["day"])))
    if not lexemes[index].capital:
        return None
    if match := lexemes.match(MONTH_YEAR, index):
        return Found((Day(year=int(match["year"]), month=MONTHS[name]),), lexemes.after(match))
    is_cued = lexemes[index - 1].text in MONTH_CUES or lexemes[index + 1].text in JOINTS
    return Found((Day(month=MONTHS[name]),), index + 1) if is_cued and not lexemes[index].opens else None


def _with_year(lexemes: Lexemes, index: int, day: Day) -> Found[tuple[Day, ...]]:
    match = lexemes.match(YEAR_BEHIND, index)
    if match is None:
        return Found((day,), index)
    year = int(match["year"]) if match["year"] else _short_year(int(match["short"]))
    return Found((day._replace(year=year),), lexemes.after(match))


def _year(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    match = lexemes.match(LONE_YEAR, index)
    return Found((Day(year=int(match[0])),), index + 1) if match else None


def _lone_day(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    match = lexemes.match(LONE_DAY, index)
    if match is None or lexemes[index - 1].text not in DAY_CUES:
        return None
    following = lexemes[index + 2]
    if following.is_word and following.text.partition("'")[0] not in JOINTS | AFTER_LONE_DAY:
        return None  # "the 5th floor"
    return Found((Day(day=int(match["day"])),), index + 2)


def _short_year(figure: int) -> int:
    return figure + (1900 if figure >= CENTURY_TURN else 2000)


def _is_day(year: int, month: int, day: int) -> bool:
    return MIN_YEAR <= year <= MAX_YEAR and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def _full(day: date) -> Day:
    return Day(day.year, day.month, day.day, day.weekday())


def _value(lexemes: Lexemes, index: int, end: int, readings: tuple[Dates, ...]) -> Found[Value]:
    first = readings[0]
    canonical = show(first.first) if first.first == first.last else f"{show(first.first)}/{show(first.last)}"
    return Found(Value("date", lexemes[index].start, lexemes[end - 1].end, canonical, readings), end)


def show(day: Day) -> str:
    """A day as ISO 8601 as far as it is known; a lone weekday by its name."""
    if day.year is None and day.month is None and day.day is None:
        return calendar.day_name[day.weekday or 0]
    if day.month is None and day.day is None:
        return f"{day.year:04d}"
    year = "-" if day.year is None else f"{day.year:04d}"
    month = "-" if day.month is None else f"-{day.month:02d}"
    return f"{year}{month}" + ("" if day.day is None else f"-{day.day:02d}")
