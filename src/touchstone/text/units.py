"""Lexemes after or before a number -> its unit: currency, percent, measure, span of time, or the thing counted."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache

from touchstone.core import resource
from touchstone.core.reading import ValueKind
from touchstone.text.lexemes import Found, Lexemes, grammar
from touchstone.text.tokens import term

KINDS: dict[str, ValueKind] = {"%": "percent", "time": "duration", "months": "duration", "nights": "duration",
                               "business": "duration", "business hour": "duration"}  # fmt: skip
PERIODS = {name: name for name in ("day", "night", "week", "month", "year", "hour", "minute", "quarter", "fortnight")}
PERIODS |= {"annum": "year", "yr": "year", "mo": "month", "hr": "hour"}
ADVERBS = {"monthly": "month", "yearly": "year", "annually": "year", "weekly": "week", "daily": "day", "hourly": "hour",
           "nightly": "night"}  # fmt: skip
PERIOD = grammar(
    "(?:(?:per|/|each|every|a|an) )(?P<noun>{periods})|(?P<adverb>{adverbs})", periods=PERIODS, adverbs=ADVERBS
)
# 48-hour: the hyphen between a figure and its unit.
HYPHEN = grammar("(?<=~)-(?=~{word})")
PER_SECOND = grammar("(?:/|per) (?:s|sec|second)")
LENGTHENED = frozenset("calendar consecutive full straight whole more extra additional free".split())
WORDS_NOT_CODES = frozenset({"won", "yen"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: the kind of value it makes, its dimension, how many base units it is, and how it is written."""

    kind: ValueKind
    dimension: str
    factor: Decimal
    name: str


NONE = Unit("number", "", Decimal(1), "")


def unit_after(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    """The unit that follows a number ending at `index`."""
    start = _after_hyphen(lexemes, index)
    first, second, third = lexemes[start], lexemes[start + 1], lexemes[start + 2]
    two = third.text if second.text == "-" else second.text
    if unit := _units().get(f"{first.text} {two}"):
        return Found(unit, start + (3 if second.text == "-" else 2))
    if first.glued and (unit := _units().get(f"{first.text}^")):
        return Found(unit, start + 1)
    if unit := _units().get(first.text):
        # The sign belongs to the figure behind it: in 2025 £349.58. And `s` to a decade: the 1980s.
        is_sign = unit.kind == "money" and not (first.is_word or first.glued) and second.glued and second.is_figure
        if is_sign or (first.text == "s" and first.glued and len(lexemes[start - 1].text) == 4):
            return None
        if unit.dimension == "data" and (rate := lexemes.match(PER_SECOND, start + 1)):
            # Bytes a second are eight times as many bits.
            return Found(Unit("quantity", "rate", unit.factor * 8, f"{unit.name}/s"), lexemes.after(rate))
        return Found(unit, start + 1)
    if first.text in LENGTHENED and (unit := _units().get(second.text)) and _is_span(unit):
        return Found(unit, start + 2)
    return None


def counted(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    """The plural noun a number counts: devices, failed attempts."""
    start = end = _after_hyphen(lexemes, index)
    while lexemes[end].text in _counting("qualifier") and end < start + 2:
        end += 1
    noun = lexemes[end]
    if noun.is_word and not _is_plural(noun.text) and _is_qualified(lexemes, end):
        noun, end = lexemes[end + 1], end + 1
    if not noun.is_word or (noun.glued and end == index):
        return None
    if not (_is_plural(noun.text) or (start > index and len(noun.text) > 2)):
        return None
    kind: ValueKind = "number" if noun.text == "times" else "quantity"
    return Found(Unit(kind, f"count:{term(noun.text)}", Decimal(1), noun.text), end + 1)


def _is_qualified(lexemes: Lexemes, index: int) -> bool:
    """`four small parcels`: one word may be between a number and what it counts."""
    qualifier, noun = lexemes[index], lexemes[index + 1]
    if qualifier.capital or qualifier.glued or len(qualifier.text) <= 2 or qualifier.text.endswith("ly"):
        return False
    plain = qualifier.text not in resource.words("stopwords.txt")
    return plain and noun.is_word and not noun.glued and _is_plural(noun.text)


def currency_before(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    """A currency sign or code in front of a number: $, US$, USD, Rs."""
    one, after, known = lexemes[index], lexemes[index + 1], _currencies()
    if after.glued:
        two = one.text + after.text
        if two in known and not two.isalpha():
            return Found(known[two], index + 2)
        if one.capital and after.is_figure and f"{one.text}^" in known:
            return Found(known[f"{one.text}^"], index + 1)
    unit = known.get(one.text)
    is_code = len(one.text) == 3 and one.text not in WORDS_NOT_CODES
    return Found(unit, index + 1) if unit and (is_code or not one.is_word or one.text == "rs") else None


def is_currency(word: str) -> bool:
    """Whether a word or sign, as written, names a currency."""
    return word.strip(".,;:()").casefold() in _currencies()


def period_after(lexemes: Lexemes, index: int) -> Found[str]:
    """The period of a rate: per month, /year, a week, monthly; "" when there is none."""
    match = lexemes.match(PERIOD, index)
    if match is None:
        return Found("", index)
    return Found(PERIODS[match["noun"]] if match["noun"] else ADVERBS[match["adverb"]], lexemes.after(match))


def _after_hyphen(lexemes: Lexemes, index: int) -> int:
    return index + 1 if lexemes[index].text == "-" and lexemes.match(HYPHEN, index) else index


def _is_span(unit: Unit) -> bool:
    """Whether `5 full` may go on with the unit: a span of time, not of working time."""
    return unit.kind == "duration" and not unit.dimension.startswith("business")


def _is_plural(word: str) -> bool:
    if word in _counting("discourse") or word in _counting("verb") or word in resource.words("stopwords.txt"):
        return False
    regular = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return regular or word in _counting("irregular_plural")


def _counting(name: str) -> frozenset[str]:
    return resource.group("counting.txt", name)


@cache
def _units() -> dict[str, Unit]:
    """Every unit by its spellings."""
    table: dict[str, Unit] = {}
    for line in resource.lines("units.txt"):
        dimension, factor, name, spellings = (part.strip() for part in line.split("|"))
        ratio = Fraction(factor) if "/" not in factor else Fraction(*map(Fraction, factor.split("/")))
        size = Decimal(ratio.numerator) / Decimal(ratio.denominator)
        unit = Unit(KINDS.get(dimension, "quantity"), dimension, size, name)
        table.update((spelling.replace("_", " "), unit) for spelling in spellings.split())
    return table | _currencies()


@cache
def _currencies() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for line in resource.lines("currencies.txt"):
        code, signs, words, hundredths = (part.strip() for part in line.split("|"))
        for spellings, factor in ((f"{signs} {words}", Decimal(1)), (hundredths, Decimal("0.01"))):
            unit = Unit("money", code, factor, code)
            table.update((each.replace("_", " "), unit) for each in spellings.split() if each != "-")
    return table
