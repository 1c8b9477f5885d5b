"""Lexemes after or before a number -> its unit: currency, percent, measure, span of time, or the thing counted."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache

from touchstone.core import resource
from touchstone.core.reading import ValueKind
from touchstone.text.lexemes import Found, Lexeme, Lexemes, at
from touchstone.text.tokens import term

PERCENT = frozenset({"%", "percent", "pct", "pc", "percentage"})
BUSINESS = frozenset({"business", "working", "work", "bank", "trading"})
PERIODS = {name: name for name in ("day", "night", "week", "month", "year", "hour", "minute", "quarter", "fortnight")}
PERIODS |= {"annum": "year", "yr": "year", "mo": "month", "hr": "hour"}
ADVERBS = {"monthly": "month", "yearly": "year", "annually": "year", "weekly": "week", "daily": "day", "hourly": "hour",
           "nightly": "night"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: the kind of value it makes, its dimension, how many base units it is, and how it is written."""

    kind: ValueKind
    dimension: str
    factor: Decimal
    name: str


NONE = Unit("number", "", Decimal(1), "")
PERCENT_UNIT = Unit("percent", "%", Decimal(1), "%")
BUSINESS_DAY = Unit("duration", "business", Decimal(1), "business day")
BUSINESS_HOUR = Unit("duration", "business hour", Decimal(1), "business hour")


def unit_after(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    """The unit that follows a number ending at `index`."""
    start = _after_hyphen(lexemes, index)
    first = at(lexemes, start)
    if first.text in PERCENT:
        return Found(PERCENT_UNIT, start + 1)
    if first.text == "per" and at(lexemes, start + 1).text == "cent":
        return Found(PERCENT_UNIT, start + 2)
    if found := _business(lexemes, start):
        return found
    if found := _currency_after(lexemes, start):
        return found
    if first.text == "s" and first.glued and len(at(lexemes, start - 1).text) == 4:
        return None  # the 1980s
    if unit := _measure(first):
        return _per_second(lexemes, start + 1, unit)
    if first.text in ("calendar", "consecutive", "full", "straight", "whole", "more", "extra", "additional", "free"):
        unit = _measure(at(lexemes, start + 1))
        if unit and unit.kind == "duration":
            return Found(unit, start + 2)
    return None


def counted(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    """The plural noun a number counts: devices, failed attempts."""
    start = end = _after_hyphen(lexemes, index)
    while at(lexemes, end).text in _counting("qualifier") and end < start + 2:
        end += 1
    noun = at(lexemes, end)
    if noun.is_word and not _is_plural(noun.text) and _is_qualified(noun, at(lexemes, end + 1)):
        noun, end = at(lexemes, end + 1), end + 1
    if not noun.is_word or (noun.glued and end == index):
        return None
    if not (_is_plural(noun.text) or (start > index and len(noun.text) > 2)):
        return None
    kind: ValueKind = "number" if noun.text == "times" else "quantity"
    return Found(Unit(kind, f"count:{term(noun.text)}", Decimal(1), noun.text), end + 1)


def _is_qualified(qualifier: Lexeme, noun: Lexeme) -> bool:
    """`four small parcels`: one word may stand between a number and what it counts."""
    plain = qualifier.text not in resource.words("stopwords.txt") and not qualifier.capital and not qualifier.glued
    return (
        plain
        and len(qualifier.text) > 2
        and not qualifier.text.endswith("ly")
        and noun.is_word
        and not noun.glued
        and _is_plural(noun.text)
    )


def currency_before(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    """A currency sign or code in front of a number: $, US$, USD, Rs."""
    one, after, known = at(lexemes, index), at(lexemes, index + 1), _currencies()
    if after.glued:
        two, sign = one.text + after.text, f"{one.text}^"
        if two in known and not two.isalpha():
            return Found(known[two], index + 2)
        if one.capital and after.is_figure and sign in known:
            return Found(known[sign], index + 1)
    if one.text in known and (
        not one.is_word or (len(one.text) == 3 and one.text not in ("won", "yen")) or one.text == "rs"
    ):
        return Found(known[one.text], index + 1)
    return None


def is_currency(word: str) -> bool:
    """Whether a word or sign, as written, names a currency."""
    return word.strip(".,;:()").casefold() in _currencies()


def period_after(lexemes: Lexemes, index: int) -> Found[str]:
    """The period of a rate: per month, /year, a week, monthly; "" when there is none."""
    first, second = at(lexemes, index), at(lexemes, index + 1)
    if first.text in ("per", "/", "each", "every", "a", "an") and (found := PERIODS.get(second.text)):
        return Found(found, index + 2)
    if first.text in ADVERBS:
        return Found(ADVERBS[first.text], index + 1)
    return Found("", index)


def _after_hyphen(lexemes: Lexemes, index: int) -> int:
    """48-hour: the position of `hour`."""
    hyphenated = at(lexemes, index).text == "-" and at(lexemes, index).glued and at(lexemes, index + 1).is_word
    return index + 1 if hyphenated and at(lexemes, index + 1).glued else index


def _business(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    first, second = at(lexemes, index), at(lexemes, index + 1)
    if first.text in ("weekdays", "weekday", "workdays", "workday"):
        return Found(BUSINESS_DAY, index + 1)
    if first.text not in BUSINESS:
        return None
    skip = 1 if second.text == "-" else 0
    noun = at(lexemes, index + 1 + skip).text
    if noun in ("day", "days"):
        return Found(BUSINESS_DAY, index + 2 + skip)
    return Found(BUSINESS_HOUR, index + 2 + skip) if noun in ("hour", "hours") else None


def _currency_after(lexemes: Lexemes, index: int) -> Found[Unit] | None:
    first, second = at(lexemes, index), at(lexemes, index + 1)
    if first.text in ("us", "canadian", "australian") and second.text in ("dollar", "dollars"):
        code = {"us": "usd", "canadian": "cad", "australian": "aud"}[first.text]
        return Found(_currencies()[code], index + 2)
    if not first.is_word and not first.glued and second.glued and second.is_figure:
        return None  # the sign belongs to the figure behind it: in 2025 £349.58
    if first.text in _currencies():
        return Found(_currencies()[first.text], index + 1)
    if first.glued and f"{first.text}^" in _currencies():
        return Found(_currencies()[f"{first.text}^"], index + 1)
    return None


def _measure(lexeme: Lexeme) -> Unit | None:
    return _measures().get(lexeme.text)


def _per_second(lexemes: Lexemes, index: int, unit: Unit) -> Found[Unit]:
    """MB/s: bytes a second are eight times as many bits."""
    second = at(lexemes, index).text in ("/", "per") and at(lexemes, index + 1).text in ("s", "sec", "second")
    if unit.dimension == "data" and second:
        return Found(Unit("quantity", "rate", unit.factor * 8, f"{unit.name}/s"), index + 2)
    return Found(unit, index)


def _is_plural(word: str) -> bool:
    if word in _counting("discourse") or word in _counting("verb") or word in resource.words("stopwords.txt"):
        return False
    return word in _counting("irregular_plural") or (
        len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    )


def _counting(name: str) -> frozenset[str]:
    return resource.group("counting.txt", name)


@cache
def _measures() -> dict[str, Unit]:
    table = {}
    for line in resource.lines("units.txt"):
        dimension, factor, name, spellings = (part.strip() for part in line.split("|"))
        kind: ValueKind = "duration" if dimension in ("time", "months", "nights") else "quantity"
        ratio = Fraction(factor) if "/" not in factor else Fraction(*map(Fraction, factor.split("/")))
        unit = Unit(kind, dimension, Decimal(ratio.numerator) / Decimal(ratio.denominator), name)
        table.update(dict.fromkeys(spellings.split(), unit))
    return table


@cache
def _currencies() -> dict[str, Unit]:
    table = {}
    for line in resource.lines("currencies.txt"):
        code, signs, words, hundredths = (part.strip() for part in line.split("|"))
        whole = Unit("money", code, Decimal(1), code)
        cent = Unit("money", code, Decimal("0.01"), code)
        table.update({spelling: whole for spelling in [*signs.split(), *words.split()] if spelling != "-"})
        table.update({spelling: cent for spelling in hundredths.split() if spelling != "-"})
    return table
