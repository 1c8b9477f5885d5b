"""Lexemes -> amounts: money, percent, quantities, durations and plain numbers, single or as ranges."""

from decimal import Decimal

from touchstone.core.reading import Measure, Value, ValueKind
from touchstone.text.dates import ORDINAL_WORDS
from touchstone.text.lexemes import Found, Lexemes, grammar
from touchstone.text.numbers import AND_A_HALF, HALF, ONES, TENS, Readings, figure, number
from touchstone.text.units import NONE, Unit, counted, currency_before, period_after, unit_after

FRACTIONS = {"half": Decimal(50), "third": Decimal(100) / 3, "thirds": Decimal(100) / 3, "quarter": Decimal(25),
             "quarters": Decimal(25), "fifth": Decimal(20), "fifths": Decimal(20), "tenth": Decimal(10)}  # fmt: skip
OF_A_WHOLE = frozenset("of the price off your its their that this my our what".split())
GRAMS_PER_POUND = Decimal("453.59237")
TALK_COUNTS = frozenset("zero two three four five".split())
# "Just a second", "it takes a minute" promise no duration.
IDIOMS = frozenset({"second", "minute"})
# `twice a week`, `10 files a day`: a rate's period, not a duration.
RATES = frozenset({"once", "twice", "times", "hours", "days", *ONES, *TENS})
FREE_DIMENSION = "free"
HOURS_A_WEEK = "hours a week"
OTHER_FREE = frozenset("feel - set you're be debt gluten dairy sugar nut lactose duty toll hands fat alcohol smoke "
                       "stress hassle carbon rent".split())  # fmt: skip
ORDINAL_NOUNS = frozenset("floor attempt time offence instalment installment payment reminder month week day year row "
                          "edition anniversary warning".split())  # fmt: skip
TIMES = {"twice": 2, "thrice": 3, "once": 1}
PERCENT_UNIT = Unit("percent", "%", Decimal(1), "%")
TIMES_UNIT = Unit("number", "count:time", Decimal(1), "times")
MINUTE = Unit("duration", "time", Decimal(1), "minute")

# All hours of the week, or of so many days of it.
ALWAYS = grammar("24 / (?P<days>[567])|24 hours a day|round the clock")
# A sum of nothing: a phrase that says so, or `free` by itself but not in `free to go`, `free up`.
SAID_FREE = grammar(
    "for free|at no (?:cost|charge)|no (?:charge|fees?|(?:extra|additional) (?:cost|charge))|without charge"
)
FREE = grammar("free(?! (?:to|up|from|-|time|will){end})(?: of charge)?")
# 3rd floor · third attempt: a place in an order
ORDINAL = grammar(r"(?:(?P<rank>\d{1,3})~{suffix}|(?P<word>{word_rank}))(?= (?P<noun>{noun}){end})",
                  word_rank=ORDINAL_WORDS.keys() - {"first"}, noun=ORDINAL_NOUNS)  # fmt: skip
# half a · a half · (a) quarter of a: the share of one unit
PART_OF_ONE = grammar("(?P<half>half an?|an? half)|(?:a )?quarter of an?")
HALF_PERCENT = grammar("half a (?:percent|per cent)")
HALF_OF = grammar("(?<!first )(?<!second )half(?= {whole}{end})", whole=OF_A_WHOLE)
RATIO_OF = grammar("(?P<top>{figure})~/~(?P<bottom>{figure})(?= of{end})")


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
    low = number(lexemes, before.end if before else index)
    if low is None:
        return None
    after = unit_after(lexemes, low.end)
    unit = before or after
    end = low.end if before or not after else after.end
    if before and after and after.item.dimension == before.item.dimension:
        end = after.end
    return (
        _range(lexemes, index, low, unit.item if unit else None, end)
        or (_compound(lexemes, index, low.item[0], unit.item, end) if unit else None)
        or _single(lexemes, index, low, unit.item if unit else None, end)
    )


def _range(
    lexemes: Lexemes, index: int, low: Found[Readings], low_unit: Unit | None, after: int
) -> Found[Value] | None:
    """3-5 days · $10 to $15 · between 3 and 5 days."""
    joint = lexemes[after].text
    between = lexemes[index - 1].text == "between"
    if not (joint in ("-", "to") or (joint == "and" and between) or (joint == "or" and low_unit is None)):
        return None
    before = currency_before(lexemes, after + 1)
    high = number(lexemes, before.end if before else after + 1)
    if high is None or not low.item[0] < high.item[0]:
        return None
    if joint == "or" and high.item[0] != low.item[0] + 1:
        return None
    behind = unit_after(lexemes, high.end)
    found = before or behind or _counted_or_none(lexemes, high.end)
    end = max(high.end, found.end)
    if before and behind and behind.item.dimension == before.item.dimension:
        end = behind.end
    unit = found.item if found.item is not NONE else (low_unit or NONE)
    if (low_unit and low_unit.kind != unit.kind) or (joint == "to" and unit is NONE and not between):
        return None
    factor = (low_unit or unit).factor
    measures = [(lo * factor, hi * unit.factor) for lo, hi in zip(low.item, high.item, strict=False)]
    shown = f"{_plain(low.item[0])}-{_plain(high.item[0])}"
    return _value(lexemes, index, end, unit, measures=measures, shown=shown)


def _compound(lexemes: Lexemes, index: int, count: Decimal, unit: Unit, after: int) -> Found[Value] | None:
    """1 hour 30 minutes · 2 days and 3 hours · an hour and a half: one duration made of two."""
    if unit.dimension not in ("time", "months"):
        return None
    if half := lexemes.match(AND_A_HALF, after):
        total, end = count * unit.factor + unit.factor / 2, lexemes.after(half)
    else:
        more = number(lexemes, after + (lexemes[after].text == "and"))
        smaller = _smaller(lexemes, more.end, unit) if more else None
        if more is None or smaller is None:
            return None
        total, end = count * unit.factor + more.item[0] * smaller.item.factor, smaller.end
    return _value(lexemes, index, end, unit, measures=[(total, total)], shown=_plain(total / unit.factor))


def _smaller(lexemes: Lexemes, index: int, unit: Unit) -> Found[Unit] | None:
    """The unit of a duration's second part; after hours a bare `m` is minutes."""
    if unit.name == "hour" and lexemes[index].text == "m":
        return Found(MINUTE, index + 1)
    found = unit_after(lexemes, index)
    fits = found and found.item.dimension == unit.dimension and found.item.factor < unit.factor
    return found if fits else None


def _single(lexemes: Lexemes, index: int, found: Found[Readings], unit: Unit | None, end: int) -> Found[Value] | None:
    if unit is None:
        unit, end = _counted_or_none(lexemes, found.end)
    is_word = found.end == index + 1
    if is_word and lexemes[index].text == "one" and unit.dimension[:5] in ("", "count"):
        return None  # "one of them", "one thing": mostly a pronoun
    if is_word and lexemes[index].text in TALK_COUNTS and unit.dimension == "":
        return None  # "two of these", "all three": counts what was just said
    measures = [(reading * unit.factor, reading * unit.factor) for reading in found.item]
    shown = found.item[0] * unit.factor if unit.kind == "money" else found.item[0]
    return _value(lexemes, index, end, unit, measures=measures, shown=_plain(shown))


def _counted_or_none(lexemes: Lexemes, index: int) -> Found[Unit]:
    return counted(lexemes, index) or Found(NONE, index)


def _value(
    lexemes: Lexemes, index: int, end: int, unit: Unit, *, measures: list[tuple[Decimal, Decimal]], shown: str
) -> Found[Value]:
    per = period_after(lexemes, end)
    readings = [Measure(low, high, unit.dimension, per.item) for low, high in measures]
    if lexemes[end - 1].text in ("pound", "pounds"):
        readings += [Measure(low * GRAMS_PER_POUND, high * GRAMS_PER_POUND, "mass") for low, high in measures]
    canonical = f"{shown}{'' if unit.name in ('', '%') else ' '}{unit.name}{'/' if per.item else ''}{per.item}"
    return _found(lexemes, index, per.end, unit.kind, canonical, *readings)


def _found(lexemes: Lexemes, index: int, end: int, kind: ValueKind, canonical: str, *readings: Measure) -> Found[Value]:
    return Found(Value(kind, lexemes[index].start, lexemes[end - 1].end, canonical, readings), end)


def always(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """24/7 and its synonyms: all hours of the week."""
    match = lexemes.match(ALWAYS, index)
    if match is None or lexemes[index - 1].text in ("on", "by", "until", "before"):
        return None
    days = int(match["days"] or 7)
    reading = Measure(Decimal(24 * days), Decimal(24 * days), HOURS_A_WEEK)
    return _found(lexemes, index, lexemes.after(match), "duration", f"24/{days}", reading)


def says_free(lexemes: Lexemes, index: int) -> bool:
    """Whether a phrase here says that something costs nothing."""
    return lexemes.match(SAID_FREE, index) is not None


def _free(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """free of charge · at no cost · free: a sum of nothing, in any currency."""
    match = lexemes.match(SAID_FREE, index)
    if match is None and lexemes[index - 1].text not in OTHER_FREE:
        match = lexemes.match(FREE, index)
    if match is None:
        return None
    reading = Measure(Decimal(0), Decimal(0), FREE_DIMENSION)
    return _found(lexemes, index, lexemes.after(match), "money", "free", reading)


def _ordinal(lexemes: Lexemes, index: int) -> Found[Value] | None:
    match = lexemes.match(ORDINAL, index)
    if match is None:
        return None
    rank = int(match["rank"]) if match["rank"] else ORDINAL_WORDS[match["word"]]
    reading = Measure(Decimal(rank), Decimal(rank), f"ordinal:{match['noun']}")
    return _found(lexemes, index, lexemes.after(match), "number", f"no. {rank}", reading)


def _times(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """twice · once a day: a number of times."""
    count = TIMES.get(lexemes[index].text)
    if count is None or (count == 1 and not period_after(lexemes, index + 1).item):
        return None
    return _value(lexemes, index, index + 1, TIMES_UNIT, measures=[(Decimal(count), Decimal(count))], shown=str(count))


def _article_duration(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """a fortnight · an hour · half an hour · a quarter of an hour · an hour and a half · half a litre."""
    part = lexemes.match(PART_OF_ONE, index)
    if part is None and lexemes[index].text not in ("a", "an", "another"):
        return None
    count = Decimal(1) if part is None else HALF if part["half"] else HALF / 2
    found = unit_after(lexemes, lexemes.after(part) if part else index + 1)
    if found is None or found.item.kind not in ("duration", "quantity") or found.item.name == "night":
        return None
    unit = found.item
    if part is None:
        before = lexemes[index - 1]
        if unit.kind == "quantity" or unit.name in IDIOMS or before.is_figure or before.text in RATES:
            return None
        if longer := _compound(lexemes, index, Decimal(1), unit, found.end):
            return longer
    size = count * unit.factor
    return _value(lexemes, index, found.end, unit, measures=[(size, size)], shown=_plain(count))


def fraction(lexemes: Lexemes, index: int) -> Found[Value] | None:
    """half of · two thirds · a quarter of · 1/3 of the fee."""
    if match := lexemes.match(HALF_PERCENT, index):
        return _percent(lexemes, index, lexemes.after(match), HALF)
    if lexemes.match(HALF_OF, index):
        return _percent(lexemes, index, index + 1, FRACTIONS["half"])
    if match := lexemes.match(RATIO_OF, index):
        over, under = figure(match["top"]), figure(match["bottom"])
        if over and under and under[0]:
            return _percent(lexemes, index, lexemes.after(match), 100 * over[0] / under[0])
    first = lexemes[index].text
    top = Found((Decimal(1),), index + 1) if first in ("a", "one") else number(lexemes, index)
    if top is None:
        return None
    end = top.end + 1 if lexemes[top.end].text == "-" else top.end
    part = lexemes[end].text
    whole = part.endswith("s") or lexemes[end + 1].text in OF_A_WHOLE
    if part not in FRACTIONS or not whole or (part == "half" and first == "a" and lexemes[index - 1].text == "and"):
        return None
    return _percent(lexemes, index, end + 1, top.item[0] * FRACTIONS[part])


def _percent(lexemes: Lexemes, index: int, end: int, share: Decimal) -> Found[Value]:
    return _value(lexemes, index, end, PERCENT_UNIT, measures=[(share, share)], shown=_plain(round(share, 2)))


def _plain(number: Decimal) -> str:
    """A decimal without exponent or trailing zeros."""
    text = format(round(number, 6), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
