"""Lexemes -> numbers: figures in every common grouping, number words, mixed numbers and scales."""

import re
from decimal import Decimal

from touchstone.text.lexemes import Found, Lexeme, Lexemes, at

Readings = tuple[Decimal, ...]

ONES = dict(zip("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
                "seventeen eighteen nineteen".split(), range(20), strict=True))  # fmt: skip
TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
SCALES = {"hundred": 100, "thousand": 1000, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9}
DOZEN = {"dozen": 12}
GLUED_SCALES = {"k": 1000, "mn": 10**6, "mio": 10**6, "bn": 10**9}
# 5m is five metres or minutes, but $5m is five million.
MONEY_SCALES = GLUED_SCALES | {"m": 10**6, "b": 10**9}
PARTS = frozenset({("1", "2"), ("1", "3"), ("2", "3"), ("1", "4"), ("3", "4")})
SIGNS = frozenset("$£€¥₹")
# Longer figures are identifiers, not amounts; this also keeps arithmetic cheap.
MAX_DIGITS = 15
MAX_GROUPS = 4

GROUPED = re.compile(r"[1-9]\d{0,2}([,.'])\d{3}(?:\1\d{3}){0,4}")
DECIMAL_AFTER_GROUPS = re.compile(r"\d{1,3}(?:,\d{3}){1,4}\.\d+|\d{1,3}(?:'\d{3}){1,4}[.,]\d+")
EUROPEAN = re.compile(r"\d{1,3}(?:\.\d{3}){1,4},\d+")
PLAIN = re.compile(r"\d+(?:[.,]\d+)?")
# Indian grouping: 1,00,000
LAKH = re.compile(r"\d{1,2}(?:,\d{2}){1,3},\d{3}")


def figure(text: str) -> Readings:
    """A figure -> every number it can mean (1.200 is 1200 or 1.2); empty when it is none (2.4.1)."""
    if sum(char.isdecimal() for char in text) > MAX_DIGITS:
        return ()
    digits = re.sub(r"[^\d]", "", text)
    if grouped := GROUPED.fullmatch(text):
        whole = Decimal(digits)
        return (whole,) if grouped[1] != "." or text.count(".") > 1 else (Decimal(text), whole)
    if DECIMAL_AFTER_GROUPS.fullmatch(text):
        head, _, tail = text.rpartition("." if "." in text else ",")
        return (Decimal(f"{re.sub('[^0-9]', '', head)}.{tail}"),)
    if EUROPEAN.fullmatch(text):
        return (Decimal(text.replace(".", "").replace(",", ".")),)
    if LAKH.fullmatch(text):
        return (Decimal(digits),)
    if PLAIN.fullmatch(text):
        return (Decimal(text.replace(",", ".")),)
    return ()


def number(lexemes: Lexemes, index: int) -> Found[Readings] | None:
    """The number that starts here: 1,200 · 1.2k · 2 1/2 · two hundred and fifty · one and a half · a dozen."""
    first = at(lexemes, index)
    if first.is_figure:
        return _figure_number(lexemes, index)
    found = _word_number(lexemes, index)
    return _and_a_half(lexemes, _repeated(lexemes, found)) if found else None


def _repeated(lexemes: Lexemes, found: Found[Readings]) -> Found[Readings]:
    """`thirty (30)`: the same number in figures, as contracts write it."""
    figures, sign = at(lexemes, found.end + 1).text, at(lexemes, found.end + 2).text
    is_same = figures.isdecimal() and Decimal(figures) == found.item[0]
    return Found(found.item, found.end + 3) if at(lexemes, found.end).text == "(" and sign == ")" and is_same else found


def _figure_number(lexemes: Lexemes, index: int) -> Found[Readings] | None:
    readings = figure(lexemes[index].text)
    if not readings:
        return None
    end = index + 1
    if part := _part(lexemes, index):
        return Found((part.item,), part.end)
    if grouped := _spaced_thousands(lexemes, index):
        return grouped
    if mixed := _fraction(lexemes, end):
        return Found(tuple(r + mixed.item for r in readings), mixed.end)
    following = at(lexemes, end)
    scales = MONEY_SCALES if at(lexemes, index - 1).text in SIGNS else GLUED_SCALES
    if following.glued and following.text in scales:
        return Found(tuple(r * scales[following.text] for r in readings), end + 1)
    if following.text in SCALES:
        return Found(tuple(r * SCALES[following.text] for r in readings), end + 1)
    if following.text in DOZEN:
        return Found(tuple(r * 12 for r in readings), end + 1)
    return _and_a_half(lexemes, Found(readings, end))


def _spaced_thousands(lexemes: Lexemes, index: int) -> Found[Readings] | None:
    """10 000: groups of three parted by a plain space, unless the first of them is a figure of its own."""
    first = lexemes[index]
    if not (first.text.isdecimal() and len(first.text) <= 3 and first.text[0] != "0"):
        return None
    digits, end = first.text, index + 1
    while (group := at(lexemes, end)).text.isdecimal() and len(group.text) == 3 and end <= index + MAX_GROUPS:
        if group.glued or group.start != at(lexemes, end - 1).end + 1:
            break
        digits, end = digits + group.text, end + 1
    if end == index + 1 or at(lexemes, end).is_figure:
        return None
    return Found((Decimal(digits),), end)


def _fraction(lexemes: Lexemes, index: int) -> Found[Decimal] | None:
    """`1/2` after a space: the fraction of a mixed number."""
    top, slash, bottom = (at(lexemes, index + step) for step in range(3))
    small = top.text in ("1", "2", "3") and bottom.text in ("2", "3", "4")
    if small and not top.glued and slash.text == "/" and slash.glued and bottom.glued:
        return Found(Decimal(top.text) / Decimal(bottom.text), index + 3)
    return None


def _part(lexemes: Lexemes, index: int) -> Found[Decimal] | None:
    """`1/2` in front of a word, where it can only be a part of one: 1/2 hour, 3/4 mile."""
    top, slash, bottom, following = (at(lexemes, index + step) for step in range(4))
    small = (top.text, bottom.text) in PARTS and slash.text == "/" and slash.glued and bottom.glued
    if small and following.is_word and not following.glued and following.text not in ("of", "and", "or", "to"):
        return Found(Decimal(top.text) / Decimal(bottom.text), index + 3)
    return None


def _word_number(lexemes: Lexemes, index: int) -> Found[Readings] | None:
    total = current = 0
    end = index
    seen = False
    for end in range(index, index + 9):
        lexeme = at(lexemes, end)
        word = lexeme.text
        if word in ONES:
            if seen and current % 10 and current % 100 < 20:
                break
            current += ONES[word]
        elif word in TENS:
            if seen and current % 100:
                break
            current += TENS[word]
        elif word == "hundred" and (seen or _article(lexemes, index)):
            current = max(current, 1) * 100
        elif word in SCALES and (seen or _article(lexemes, index)):
            total += max(current, 1) * SCALES[word]
            current = 0
        elif word in DOZEN and (seen or _article(lexemes, index) or end == index):
            current = max(current, 1) * 12
        elif word == "-" and seen and at(lexemes, end - 1).text in TENS and at(lexemes, end + 1).text in ONES:
            continue
        elif word in ("a", "half") and end == index and _opens_number(lexemes, index):
            continue
        elif word == "and" and seen and (current % 100 == 0 and at(lexemes, end + 1).text in ONES | TENS) and current:
            continue
        else:
            break
        seen = True
    return Found((Decimal(total + current),), end) if seen else None


def _article(lexemes: Lexemes, index: int) -> bool:
    return at(lexemes, index).text == "a"


def _opens_number(lexemes: Lexemes, index: int) -> bool:
    return at(lexemes, index).text == "a" and at(lexemes, index + 1).text in SCALES | DOZEN


def _and_a_half(lexemes: Lexemes, found: Found[Readings]) -> Found[Readings]:
    words = [at(lexemes, found.end + step).text for step in range(3)]
    if words == ["and", "a", "half"]:
        return Found(tuple(r + Decimal("0.5") for r in found.item), found.end + 3)
    return found


def is_number_word(lexeme: Lexeme) -> bool:
    """Whether the word alone is a number."""
    return lexeme.text in ONES or lexeme.text in TENS
