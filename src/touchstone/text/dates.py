"""Lexemes -> dates: written and numeric forms, partial dates, weekdays, ranges; every plausible reading is kept."""

import calendar
from datetime import date, timedelta

from touchstone.core.reading import Dates, Day, Value
from touchstone.text.lexemes import Found, Lexeme, Lexemes, at
from touchstone.text.numbers import ONES
from touchstone.text.units import unit_after

MONTHS = {name.casefold(): n for n, name in enumerate(calendar.month_name) if name} | {
    name.casefold(): n for n, name in enumerate(calendar.month_abbr) if name
} | {"sept": 9}  # fmt: skip
WEEKDAYS = {name.casefold(): n for n, name in enumerate(calendar.day_name)}
SHORT_WEEKDAYS = ("mon", "tue tues", "wed weds", "thu thur thurs", "fri", "sat", "sun")
WEEKDAYS |= {name: n for n, names in enumerate(SHORT_WEEKDAYS) for name in names.split()}
WEEKDAYS |= {f"{name}s": n for name, n in WEEKDAYS.items() if name.endswith("day")}
WEEK_SPANS = {"weekdays": (0, 4), "weekends": (5, 6), "weekend": (5, 6)}
SHORT_WEEKDAYS_THAT_ARE_WORDS = frozenset({"sat", "sun", "wed", "mon"})
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINAL_WORDS = {word: n for n, word in enumerate(ORDINALS.split(), 1)}
SUFFIXES = frozenset({"st", "nd", "rd", "th"})
JOINTS = frozenset({"-", "to", "until", "till", "through", "and", "or"})
# Days that share a month: 25, 26 December.
DAY_JOINTS = JOINTS | {","}
RELATIVE = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}
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


def written_date(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """The date or range of dates that starts here."""
    if at(lexemes, index).text in WEEK_SPANS:
        first, last = (Day(weekday=n) for n in WEEK_SPANS[at(lexemes, index).text])
        return _value(lexemes, index, index + 1, (Dates(first, last),))
    days = _days(lexemes, index)
    if days is None:
        return None
    ranged = _range(lexemes, days)
    if ranged is None:
        return _value(lexemes, index, days.end, tuple(Dates(day, day) for day in days.item))
    heads, tails, end = ranged
    return _value(lexemes, index, end, tuple(Dates(head, tail) for head in heads for tail in tails))


def relative_date(lexemes: Lexemes, index: int, *, today: date) -> Found[Value] | None:
    """tomorrow · next Monday · in 3 days, counted from the case's reference date."""
    first, second, third = (at(lexemes, index + step) for step in range(3))
    if [first.text, second.text, third.text, at(lexemes, index + 3).text] == ["the", "day", "after", "tomorrow"]:
        return _on(lexemes, index, index + 4, today + timedelta(days=2))
    if first.text in ("next", "this", "last") and second.text == "month":
        month = today.month - 1 + {"next": 1, "this": 0, "last": -1}[first.text]
        day = Day(today.year + month // 12, month % 12 + 1)
        return _value(lexemes, index, index + 2, (Dates(day, day),))
    if first.text in RELATIVE:
        return _on(lexemes, index, index + 1, today + timedelta(days=RELATIVE[first.text]))
    if first.text in ("next", "this", "coming", "last") and second.text in WEEKDAYS:
        ahead = (WEEKDAYS[second.text] - today.weekday()) % 7
        days = [ahead or 7, ahead + 7] if first.text == "next" else [ahead - 7 if first.text == "last" else ahead]
        readings = tuple(Dates(d, d) for d in (_full(today + timedelta(days=n)) for n in days))
        return _value(lexemes, index, index + 2, readings)
    count = ONES.get(second.text, int(second.text) if second.text.isdecimal() and len(second.text) < 4 else None)
    scale = {"day": 1, "days": 1, "week": 7, "weeks": 7}.get(third.text)
    if first.text == "in" and count is not None and scale:
        return _on(lexemes, index, index + 3, today + timedelta(days=count * scale))
    if second.text in ("day", "days", "week", "weeks") and third.text in ("ago", "from"):
        return _ago(lexemes, index, today)
    return None


def is_relative_weekday(lexemes: Lexemes, index: int) -> bool:
    """The weekday of `next Monday`: without a reference date it is no date that could be checked."""
    return at(lexemes, index).text in WEEKDAYS and at(lexemes, index - 1).text in ("next", "last", "this", "coming")


def _ago(lexemes: Lexemes, index: int, today: date) -> Found[Value] | None:
    first, unit, word, now = (at(lexemes, index + step).text for step in range(4))
    count = ONES.get(first, int(first) if first.isdecimal() and len(first) < 4 else None)
    if count is None or (word == "from" and now not in ("now", "today")):
        return None
    days = count * (7 if unit.startswith("week") else 1)
    shift = -days if word == "ago" else days
    return _on(lexemes, index, index + (3 if word == "ago" else 4), today + timedelta(days=shift))


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
    return (
        _with_weekday(lexemes, index)
        or _numeric(lexemes, index)
        or _day_month(lexemes, index)
        or _month_day(lexemes, index)
        or _year(lexemes, index)
        or _lone_ordinal(lexemes, index)
    )


def _range(lexemes: Lexemes, first: Found[tuple[Day, ...]]) -> tuple[tuple[Day, ...], tuple[Day, ...], int] | None:
    """`18-19 November`, `3 March to 5 March`, `Mon-Fri`, `March 3-5`: two ends that complete each other."""
    if at(lexemes, first.end).text not in JOINTS - {"or"}:
        return None
    start = first.end + 1
    start = start + 1 if at(lexemes, start).text == "the" else start
    last = _days(lexemes, start) or _bare_day(lexemes, start, first.item[0])
    if last is None:
        return None
    head, tail = first.item[0], last.item[0]
    if not _same_precision(head, tail) or (
        at(lexemes, first.end).text == "and" and at(lexemes, first.end - 3).text != "between"
    ):
        return None
    ends = tuple(_complete(day, head) for day in last.item)
    dated = _with_year(lexemes, last.end, ends[0]) if ends[0].year is None and ends[0].day else None
    if dated:
        ends = dated.item
    return tuple(_complete(day, ends[0]) for day in first.item), ends, dated.end if dated else last.end


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


def _bare_day(lexemes: Lexemes, index: int, other: Day) -> Found[tuple[Day, ...]] | None:
    lexeme = at(lexemes, index)
    day = _day_of_month(lexeme)
    if day is None or other.day is None:
        return None
    return Found((Day(day=day),), _skip_suffix(lexemes, index + 1))


def _with_weekday(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """Friday · Friday 3 March · Friday, the 3rd."""
    lexeme = at(lexemes, index)
    weekday = WEEKDAYS.get(lexeme.text)
    if weekday is None or (lexeme.text in SHORT_WEEKDAYS_THAT_ARE_WORDS and _is_word(lexemes, index)):
        return None
    step = index + 1
    step += at(lexemes, step).text in (",", ".")
    step += at(lexemes, step).text in ("the", "on")
    more = (
        _numeric(lexemes, step)
        or _day_month(lexemes, step)
        or _month_day(lexemes, step)
        or _lone_ordinal(lexemes, step)
    )
    if more:
        return Found(tuple(day._replace(weekday=weekday) for day in more.item), more.end)
    return Found((Day(weekday=weekday),), index + 1)


def _is_word(lexemes: Lexemes, index: int) -> bool:
    """`he sat`, `Sun Valley`: a short weekday's letters that mean something else."""
    following = at(lexemes, index + 1)
    named = following.is_word and following.capital and following.text not in MONTHS and following.text not in WEEKDAYS
    return not at(lexemes, index).capital or (named and not following.opens)


def _numeric(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """2025-03-03 · 03/04/2025 · 3.4.25 · 3/4: all readings of an ambiguous order."""
    first = at(lexemes, index)
    if not first.is_figure:
        return None
    if first.text.count(".") == 2:
        parts, end, sign = first.text.split("."), index + 1, "."
    elif first.text.count(".") == 1 and at(lexemes, index + 1).text == "." and at(lexemes, index + 1).glued:
        return None
    else:
        sign = at(lexemes, index + 1).text
        if sign not in ("/", "-") or not at(lexemes, index + 1).glued:
            return None
        parts, end = [first.text], index + 1
        while (
            len(parts) < 3
            and at(lexemes, end).text == sign
            and at(lexemes, end).glued
            and _glued_figure(lexemes, end + 1)
        ):
            parts.append(at(lexemes, end + 1).text)
            end += 2
    if not all(part.isdecimal() and len(part) <= 4 for part in parts):
        return None
    if sign == "/" and len(parts) == 2 and unit_after(lexemes, end):
        return None  # 1/2 hour
    if at(lexemes, end).text == sign and at(lexemes, end).glued and at(lexemes, end + 1).glued:
        return None
    days = _orders(parts, sign)
    return Found(days, end) if days else None


def _glued_figure(lexemes: Lexemes, index: int) -> bool:
    return at(lexemes, index).is_figure and at(lexemes, index).glued


def _orders(parts: list[str], sign: str) -> tuple[Day, ...]:
    numbers = [int(part) for part in parts]
    if len(parts) == 3 and len(parts[2]) not in (2, 4):
        return _iso(numbers) if len(parts[0]) == 4 else ()
    if len(parts) == 3:
        if len(parts[0]) == 4:
            orders = [(numbers[0], numbers[1], numbers[2])]
        else:
            year = numbers[2] if len(parts[2]) == 4 else _short_year(numbers[2])
            orders = [(year, numbers[1], numbers[0]), (year, numbers[0], numbers[1])]
        return tuple(dict.fromkeys(Day(y, m, d) for y, m, d in orders if _is_day(y, m, d)))
    if len(parts) == 2 and sign == "/" and all(len(part) <= 2 for part in parts) and numbers != [24, 7]:
        orders = [(2000, numbers[1], numbers[0]), (2000, numbers[0], numbers[1])]
        days = [Day(None, m, d) for y, m, d in orders if _is_day(y, m, d)]
        # MM/YY, as cards expire.
        days += [Day(2000 + numbers[1], numbers[0])] if numbers[0] <= 12 and numbers[1] >= 20 else []
        return tuple(dict.fromkeys(days))
    if len(parts) == 2 and sign in "/-" and len(parts[0]) == 4 and 1 <= numbers[1] <= 12 and len(parts[1]) == 2:
        return (Day(numbers[0], numbers[1]),)
    if len(parts) == 2 and sign == "/" and len(parts[1]) == 4 and 1 <= numbers[0] <= 12:
        return (Day(numbers[1], numbers[0]),)
    return ()


def _iso(numbers: list[int]) -> tuple[Day, ...]:
    year, month, day = numbers
    return (Day(year, month, day),) if _is_day(year, month, day) else ()


def _day_month(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """3 March · 3rd of March 2025 · the third of March · 18-19 November (its first end)."""
    day = _day_of_month(at(lexemes, index)) or ORDINAL_WORDS.get(at(lexemes, index).text)
    if day is None:
        return None
    end = _skip_suffix(lexemes, index + 1)
    if at(lexemes, end).text in DAY_JOINTS and _range_of_days(lexemes, end + 1):
        return Found((Day(day=day),), end)
    end += at(lexemes, end).text == "of"
    end += at(lexemes, end).text == "-" and at(lexemes, end + 1).text in MONTHS
    month = MONTHS.get(at(lexemes, end).text)
    if month is None or not (
        at(lexemes, end).capital or end > index + 1 or at(lexemes, end).text not in ("may", "march", "mar", "sat")
    ):
        return None
    return _with_year(lexemes, end + 1, Day(month=month, day=day))


def _range_of_days(lexemes: Lexemes, index: int) -> bool:
    """Whether `19 November` stands here, so that `18-` before it is a day too."""
    if _day_of_month(at(lexemes, index)) is None:
        return False
    end = _skip_suffix(lexemes, index + 1)
    end += at(lexemes, end).text == "of"
    return at(lexemes, end).text in MONTHS


def _month_day(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """March 3 · March 3rd, 2025 · March 2025 · in March."""
    lexeme = at(lexemes, index)
    month = MONTHS.get(lexeme.text)
    if month is None:
        return None
    end = index + 1
    end += at(lexemes, end).text == "." and at(lexemes, end).glued and len(lexeme.text) <= 4
    end += at(lexemes, end).text == "-" and at(lexemes, end).glued and at(lexemes, end + 1).is_figure
    end += at(lexemes, end).text == "the"
    day = _day_of_month(at(lexemes, end))
    if day is not None and not _is_hour(lexemes, end):
        return _with_year(lexemes, _skip_suffix(lexemes, end + 1), Day(month=month, day=day))
    if not lexeme.capital:
        return None
    step = index + 1 + (at(lexemes, index + 1).text in (",", "of"))
    if (year := _as_year(at(lexemes, step))) is not None:
        return Found((Day(year=year, month=month),), step + 1)
    if lexeme.opens or (at(lexemes, index - 1).text not in MONTH_CUES and at(lexemes, index + 1).text not in JOINTS):
        return None
    return Found((Day(month=month),), index + 1)


def _is_hour(lexemes: Lexemes, index: int) -> bool:
    return at(lexemes, index + 1).text in (":", "am", "pm")


def _with_year(lexemes: Lexemes, index: int, day: Day) -> Found[tuple[Day, ...]]:
    step = index + (at(lexemes, index).text in (",", "of", "'", "-"))
    lexeme = at(lexemes, step)
    if (year := _as_year(lexeme)) is not None:
        return Found((day._replace(year=year),), step + 1)
    if at(lexemes, index).text in ("'", "-") and lexeme.glued and len(lexeme.text) == 2 and lexeme.text.isdecimal():
        return Found((day._replace(year=_short_year(int(lexeme.text))),), step + 1)
    return Found((day,), index)


def _year(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    year = _as_year(at(lexemes, index))
    return Found((Day(year=year),), index + 1) if year is not None else None


def _lone_ordinal(lexemes: Lexemes, index: int) -> Found[tuple[Day, ...]] | None:
    """the 16th: a day of a month that is not named."""
    day = _day_of_month(at(lexemes, index))
    suffix = at(lexemes, index + 1)
    if day is None or suffix.text not in SUFFIXES or not suffix.glued or at(lexemes, index - 1).text not in DAY_CUES:
        return None
    following = at(lexemes, index + 2)
    if following.is_word and following.text.partition("'")[0] not in JOINTS | AFTER_LONE_DAY:
        return None  # "the 5th floor"
    return Found((Day(day=day),), index + 2)


def _as_year(lexeme: Lexeme) -> int | None:
    if len(lexeme.text) == 4 and lexeme.text.isdecimal() and MIN_YEAR <= int(lexeme.text) <= MAX_YEAR:
        return int(lexeme.text)
    return None


def _short_year(figure: int) -> int:
    return figure + (1900 if figure >= CENTURY_TURN else 2000)


def _day_of_month(lexeme: Lexeme) -> int | None:
    if lexeme.text.isdecimal() and len(lexeme.text) <= 2 and 1 <= int(lexeme.text) <= 31:
        return int(lexeme.text)
    return None


def _skip_suffix(lexemes: Lexemes, index: int) -> int:
    return index + 1 if at(lexemes, index).glued and at(lexemes, index).text in SUFFIXES else index


def _is_day(year: int, month: int, day: int) -> bool:
    return MIN_YEAR <= year <= MAX_YEAR and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def _full(day: date) -> Day:
    return Day(day.year, day.month, day.day, day.weekday())


def _on(lexemes: Lexemes, index: int, end: int, day: date) -> Found[Value]:
    return _value(lexemes, index, end, (Dates(_full(day), _full(day)),))


def _value(lexemes: Lexemes, index: int, end: int, readings: tuple[Dates, ...]) -> Found[Value]:
    first = readings[0]
    canonical = show(first.first) if first.first == first.last else f"{show(first.first)}/{show(first.last)}"
    return Found(Value("date", at(lexemes, index).start, at(lexemes, end - 1).end, canonical, readings), end)


def show(day: Day) -> str:
    """A day as ISO 8601 as far as it is known; a lone weekday by its name."""
    if day.year is None and day.month is None and day.day is None:
        return calendar.day_name[day.weekday or 0]
    if day.month is None and day.day is None:
        return f"{day.year:04d}"
    year = "-" if day.year is None else f"{day.year:04d}"
    month = "-" if day.month is None else f"-{day.month:02d}"
    return f"{year}{month}" + ("" if day.day is None else f"-{day.day:02d}")
