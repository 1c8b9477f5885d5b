"""Lexemes -> amounts: money, percent, quantities, durations and plain numbers, single or as ranges."""

from decimal import Decimal

from touchstone.core.reading import Measure, Value
from touchstone.text.dates import ORDINAL_WORDS, SUFFIXES
from touchstone.text.lexemes import Found, Lexemes, at
from touchstone.text.numbers import Readings, is_number_word, number
from touchstone.text.units import NONE, PERCENT_UNIT, Unit, counted, currency_before, period_after, unit_after

FRACTIONS = {"half": Decimal(50), "third": Decimal(100) / 3, "thirds": Decimal(100) / 3, "quarter": Decimal(25),
             "quarters": Decimal(25), "fifth": Decimal(20), "fifths": Decimal(20), "tenth": Decimal(10)}  # fmt: skip
OF_A_WHOLE = frozenset("of the price off your its their that this my our what".split())
GRAMS_PER_POUND = Decimal("453.59237")
# Phrase -> open hours a week.
TALK_COUNTS = frozenset("zero two three four five".split())
ROUND_THE_CLOCK = {("24", "/", "7"): 168, ("24", "/", "5"): 120, ("24", "/", "6"): 144, ("round", "the", "clock"): 168,
                   ("24", "hours", "a", "day"): 168}  # fmt: skip
# "Just a second", "it takes a minute" promise no duration.
IDIOMS = frozenset({"second", "minute"})
FREE = (("for", "free"), ("at", "no", "cost"), ("at", "no", "charge"), ("no", "charge"), ("no", "fee"),
        ("no", "fees"), ("no", "extra", "cost"), ("no", "extra", "charge"), ("no", "additional", "cost"),
        ("no", "additional", "charge"), ("without", "charge"))  # fmt: skip
FREE_DIMENSION = "free"
OTHER_FREE = frozenset("feel - set you're be debt gluten dairy sugar nut lactose duty toll hands fat alcohol smoke "
                       "stress hassle carbon rent".split())  # fmt: skip
ORDINAL_NOUNS = frozenset("floor attempt time offence instalment installment payment reminder month week day year row "
                          "edition anniversary warning".split())  # fmt: skip


def amount(lexemes: Lexemes, index: int, *, part: Found[Value] | None) -> Found[Value] | None:
    """The amount that starts here, the longest reading first; `part` is the fraction that starts here, if any does."""
    return (
        _free(lexemes, index)
        or _ordinal(lexemes, index)
        or _times(lexemes, index)
        or _article_duration(lexemes, index)
        or part
        or _range_or_single(lexemes, index)
    )


def _range_or_single(lexemes: Lexemes, index: int) -> Found[Value] | None:
    before = currency_before(lexemes, index)
    start = before.end if before else index
    low = number(lexemes, start)
    if low is None:
        return None
    low_unit = before or unit_after(lexemes, low.end)
    after_low = max(low.end, low_unit.end) if low_unit else low.end
    if before and (scaled := unit_after(lexemes, low.end)) and scaled.item.dimension == before.item.dimension:
        after_low = scaled.end
    return (
        _range(lexemes, index, low, low_unit.item if low_unit else None, after_low)
        or _compound(lexemes, index, low, low_unit, after_low)
        or _single(lexemes, index, low, low_unit.item if low_unit else None, after_low)
    )


def _range(
    lexemes: Lexemes, index: int, low: Found[Readings], low_unit: Unit | None, after: int
) -> Found[Value] | None:
    """3-5 days · $10 to $15 · between 3 and 5 days."""
    joint = at(lexemes, after).text
    between = at(lexemes, index - 1).text == "between"
    if not (joint in ("-", "to") or (joint == "and" and between) or (joint == "or" and low_unit is None)):
        return None
    before = currency_before(lexemes, after + 1)
    high = number(lexemes, before.end if before else after + 1)
    if high is None or not low.item[0] < high.item[0]:
        return None
    if joint == "or" and high.item[0] != low.item[0] + 1:
        return None
    found = before or unit_after(lexemes, high.end) or _counted_or_none(lexemes, high.end)
    end = max(high.end, found.end)
    if before and (again := unit_after(lexemes, high.end)) and again.item.dimension == before.item.dimension:
        end = again.end
    unit = found.item if found.item is not NONE else (low_unit or NONE)
    if (low_unit and low_unit.kind != unit.kind) or (joint == "to" and unit is NONE and not between):
        return None
    factors = ((low_unit or unit).factor, unit.factor)
    pairs = zip(low.item, high.item, strict=False)
    measures = tuple((lo * factors[0], hi * factors[1]) for lo, hi in pairs)
    shown = f"{_plain(low.item[0])}-{_plain(high.item[0])}"
    return _value(lexemes, index, end, unit, measures=measures, shown=shown)


def _compound(
    lexemes: Lexemes, index: int, low: Found[Readings], unit: Found[Unit] | None, after: int
) -> Found[Value] | None:
    """1 hour 30 minutes · 2 days and 3 hours · an hour and a half: one duration made of two."""
    if unit is None or unit.item.dimension not in ("time", "months"):
        return None
    step = after + 1 if at(lexemes, after).text == "and" else after
    base = low.item[0] * unit.item.factor
    if step > after and at(lexemes, step).text == "a" and at(lexemes, step + 1).text == "half":
        total, end = base + unit.item.factor / 2, step + 2
    else:
        more = number(lexemes, step)
        smaller = _smaller(lexemes, more.end, unit.item) if more else None
        if more is None or smaller is None:
            return None
        total, end = base + more.item[0] * smaller.item.factor, smaller.end
    return _value(lexemes, index, end, unit.item, measures=((total, total),), shown=_plain(total / unit.item.factor))


def _smaller(lexemes: Lexemes, index: int, unit: Unit) -> Found[Unit] | None:
    """The unit of a duration's second part; after hours a bare `m` is minutes."""
    if unit.name == "hour" and at(lexemes, index).text == "m":
        return Found(Unit("duration", "time", Decimal(1), "minute"), index + 1)
    found = unit_after(lexemes, index)
    fits = found and found.item.dimension == unit.dimension and found.item.factor < unit.factor
    return found if fits else None


def _single(lexemes: Lexemes, index: int, found: Found[Readings], unit: Unit | None, end: int) -> Found[Value] | None:
    if unit is None:
        noun = _counted_or_none(lexemes, found.end)
        unit, end = noun.item, noun.end
    if at(lexemes, index).text == "one" and found.end == index + 1 and unit.dimension[:5] in ("", "count"):
        return None  # "one of them", "one thing": mostly a pronoun
    if unit.dimension == "" and at(lexemes, index).text in TALK_COUNTS and found.end == index + 1:
        return None  # "two of these", "all three": counts what was just said
    measures = tuple((reading * unit.factor, reading * unit.factor) for reading in found.item)
    shown = found.item[0] * unit.factor if unit.kind == "money" else found.item[0]
    return _value(lexemes, index, end, unit, measures=measures, shown=_plain(shown))


def _counted_or_none(lexemes: Lexemes, index: int) -> Found[Unit]:
    return counted(lexemes, index) or Found(NONE, index)


def _value(
    lexemes: Lexemes, index: int, end: int, unit: Unit, *, measures: tuple[tuple[Decimal, Decimal], ...], shown: str
) -> Found[Value]:
    per = period_after(lexemes, end)
    readings = tuple(Measure(low, high, unit.dimension, per.item) for low, high in measures)
    if at(lexemes, end - 1).text in ("pound", "pounds"):
        readings += tuple(Measure(low * GRAMS_PER_POUND, high * GRAMS_PER_POUND, "mass") for low, high in measures)
    canonical = f"{shown}{'' if unit.name in ('', '%') else ' '}{unit.name}{'/' if per.item else ''}{per.item}"
    last = at(lexemes, per.end - 1) if per.item else at(lexemes, end - 1)
    value = Value(unit.kind, at(lexemes, index).start, last.end, canonical, readings)
    return Found(value, per.end)


def always(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """24/7 and its synonyms: all hours of the week."""
    if at(lexemes, index).text not in ("24", "round") or at(lexemes, index - 1).text in ("on", "by", "until", "before"):
        return None
    for phrase, hours in ROUND_THE_CLOCK.items():
        if _follows(lexemes, index, phrase):
            end = index + len(phrase)
            reading = Measure(Decimal(hours), Decimal(hours), "hours a week")
            start, last = at(lexemes, index).start, at(lexemes, end - 1).end
            return Found(Value("duration", start, last, f"24/{hours // 24}", (reading,)), end)
    return None


def _follows(lexemes: Lexemes, index: int, phrase: tuple[str, ...]) -> bool:
    return all(at(lexemes, index + step).text == word for step, word in enumerate(phrase))


def _free(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """free of charge · at no cost · free: a sum of nothing, in any currency."""
    if at(lexemes, index).text == "free" and not _is_other_free(lexemes, index):
        end = index + 3 if _follows(lexemes, index, ("free", "of", "charge")) else index + 1
        return Found(_nothing(lexemes, index, end), end)
    if phrase := says_free(lexemes, index):
        end = index + len(phrase)
        return Found(_nothing(lexemes, index, end), end)
    return None


def says_free(lexemes: Lexemes, index: int) -> tuple[str, ...] | None:
    """The phrase here that says that something costs nothing."""
    first = at(lexemes, index).text
    return next((phrase for phrase in FREE if first == phrase[0] and _follows(lexemes, index, phrase)), None)


def _nothing(lexemes: Lexemes, index: int, end: int) -> Value:
    reading = Measure(Decimal(0), Decimal(0), FREE_DIMENSION)
    return Value("money", at(lexemes, index).start, at(lexemes, end - 1).end, "free", (reading,))


def _is_other_free(lexemes: Lexemes, index: int) -> bool:
    """feel free · free to go · gluten-free · free up."""
    before, after = at(lexemes, index - 1), at(lexemes, index + 1)
    return before.text in OTHER_FREE or after.text in (
        "to",
        "up",
        "from",
        "-",
        "time",
        "will",
    )


def _ordinal(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """3rd floor · third attempt: a place in an order."""
    lexeme, suffix = at(lexemes, index), at(lexemes, index + 1)
    rank = ORDINAL_WORDS.get(lexeme.text) if lexeme.text != "first" else None
    end = index + 1
    if lexeme.text.isdecimal() and suffix.glued and suffix.text in SUFFIXES and len(lexeme.text) < 4:
        rank, end = int(lexeme.text), index + 2
    if rank is None or at(lexemes, end).text not in ORDINAL_NOUNS:
        return None
    reading = Measure(Decimal(rank), Decimal(rank), f"ordinal:{at(lexemes, end).text}")
    return Found(Value("number", lexeme.start, at(lexemes, end - 1).end, f"no. {rank}", (reading,)), end)


def _times(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """twice · once a day: a number of times."""
    count = {"twice": 2, "thrice": 3, "once": 1}.get(at(lexemes, index).text)
    if count is None or (count == 1 and not period_after(lexemes, index + 1).item):
        return None
    unit = Unit("number", "count:time", Decimal(1), "times")
    return _value(lexemes, index, index + 1, unit, measures=((Decimal(count), Decimal(count)),), shown=str(count))


def _article_duration(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """a fortnight · an hour · half an hour · a quarter of an hour · an hour and a half · half a litre."""
    part = _part_of_one(lexemes, index)
    if part:
        count, start = part.item, part.end
    elif at(lexemes, index).text in ("a", "an", "another"):
        count, start = Decimal(1), index + 1
    else:
        return None
    unit = unit_after(lexemes, start)
    if unit is None or unit.item.kind not in ("duration", "quantity") or unit.item.name == "night":
        return None
    if part is None:
        if unit.item.kind == "quantity" or unit.item.name in IDIOMS or _is_rate(lexemes, index):
            return None
        if found := _compound(lexemes, index, Found((Decimal(1),), start), unit, unit.end):
            return found
    size = count * unit.item.factor
    return _value(lexemes, index, unit.end, unit.item, measures=((size, size),), shown=_plain(count))


def _part_of_one(lexemes: Lexemes, index: int) -> Found[Decimal] | None:
    """half a · a half · (a) quarter of a: the share of one unit."""
    words = [at(lexemes, index + step).text for step in range(4)]
    if words[0] == "half" and words[1] in ("a", "an"):
        return Found(Decimal("0.5"), index + 2)
    if words[0] in ("a", "an") and words[1] == "half":
        return Found(Decimal("0.5"), index + 2)
    skip = 1 if words[0] == "a" else 0
    if words[skip] == "quarter" and words[skip + 1] == "of" and at(lexemes, index + skip + 2).text in ("a", "an"):
        return Found(Decimal("0.25"), index + skip + 3)
    return None


def _is_rate(lexemes: Lexemes, index: int) -> bool:
    """`twice a week`, `10 files a day`: a rate's period, not a duration."""
    before = at(lexemes, index - 1)
    return before.is_figure or is_number_word(before) or before.text in ("once", "twice", "times", "hours", "days")


def fraction(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """half of · two thirds · a quarter of · 1/3 of the fee."""
    first, second, third, fourth = (at(lexemes, index + step) for step in range(4))
    if (first.text, second.text, third.text) in (("half", "a", "percent"), ("half", "a", "per")):
        return _percent(lexemes, index, index + (3 if third.text == "percent" else 4), Decimal("0.5"))
    if (
        first.text == "half"
        and second.text in OF_A_WHOLE | {"price"}
        and at(lexemes, index - 1).text not in ("first", "second")
    ):
        return _percent(lexemes, index, index + 1, FRACTIONS["half"])
    if (
        first.is_figure
        and second.text == "/"
        and second.glued
        and third.is_figure
        and third.glued
        and fourth.text == "of"
    ):
        top, bottom = number(lexemes, index), number(lexemes, index + 2)
        if top and bottom and bottom.item[0]:
            return _percent(lexemes, index, index + 3, 100 * top.item[0] / bottom.item[0])
    top = Found((Decimal(1),), index + 1) if first.text in ("a", "one") else number(lexemes, index)
    if top is None:
        return None
    skip = top.end + 1 if at(lexemes, top.end).text == "-" else top.end
    part = at(lexemes, skip).text
    whole = part.endswith("s") or at(lexemes, skip + 1).text in OF_A_WHOLE
    if (
        part in FRACTIONS
        and whole
        and not (part == "half" and first.text == "a" and at(lexemes, index - 1).text == "and")
    ):
        return _percent(lexemes, index, skip + 1, top.item[0] * FRACTIONS[part])
    return None


def _percent(lexemes: Lexemes, index: int, end: int, share: Decimal) -> Found[Value]:
    return _value(lexemes, index, end, PERCENT_UNIT, measures=((share, share),), shown=_plain(round(share, 2)))


def _plain(figure: Decimal) -> str:
    """A decimal without exponent or trailing zeros."""
    text = format(round(figure, 6), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
