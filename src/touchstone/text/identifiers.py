"""Lexemes -> identifiers: order and reference numbers, codes, versions and numbered names, which are no quantities."""

from touchstone.core import resource
from touchstone.core.reading import Value
from touchstone.text.dates import MONTHS, WEEKDAYS
from touchstone.text.lexemes import Found, Lexeme, Lexemes, at
from touchstone.text.numbers import GLUED_SCALES, figure
from touchstone.text.units import currency_before, unit_after

SIGNS = frozenset({"#", "№"})
JOINTS = frozenset({"-", "_", "/", "."})
ORDINALS = frozenset({"st", "nd", "rd", "th"})
NUMBERED_THINGS = frozenset(
    "step page section chapter terminal gate room platform error version question level bus train flight line route "
    "tram status rule clause".split()
)
# `Account: 48213` is an identifier, `Age for the account: 18` is not.
MIN_LISTED_DIGITS = 4
NUMBERING = frozenset({".", ")"})


def code_end(lexemes: Lexemes, index: int) -> int | None:
    """The position after the reference, code or version that starts here, or None."""
    lexeme = at(lexemes, index)
    if lexeme.text in SIGNS and (at(lexemes, index + 1).is_figure or at(lexemes, index + 1).glued):
        return _code_end(lexemes, index + 1)
    if lexeme.is_word and _is_code(lexemes, index):
        return _code_end(lexemes, index)
    if lexeme.is_figure and (not figure(lexeme.text) or _is_code(lexemes, index) or _is_numbering(lexemes, index)):
        return _code_end(lexemes, index)
    return None


def _is_numbering(lexemes: Lexemes, index: int) -> bool:
    """The `1.` or `2)` of a list."""
    lexeme, sign, item = at(lexemes, index), at(lexemes, index + 1), at(lexemes, index + 2)
    before = at(lexemes, index - 1).text
    starts = (
        lexeme.opens
        or (lexeme.text == "1" and before in (":", "(", ";", ","))
        or (sign.text == ")" and before in (",", ";", "and"))
    )
    return (
        starts
        and lexeme.text.isdecimal()
        and sign.text in NUMBERING
        and sign.glued
        and not item.glued
        and (item.capital or lexeme.opens or sign.text == ")")
    )


def is_label(lexemes: Lexemes, index: int) -> bool:
    """step 6 · Terminal 5 · order 12345 · error 401 · iPhone 15 · 0042: a name that ends in a number."""
    if at(lexemes, index).text.isdecimal() and len(at(lexemes, index).text) > 1 and at(lexemes, index).text[0] == "0":
        return True
    before = at(lexemes, index - 1)
    skip = 2 if before.text in ("number", "no", "code", "id", "reference", "ref", ":", "is", ".", "(", '"') else 1
    cue = at(lexemes, index - skip)
    if before.text in resource.words("labels.txt") or (cue.text in resource.words("labels.txt") and skip == 2):
        return before.text != ":" or len(at(lexemes, index).text) >= MIN_LISTED_DIGITS
    if before.text == ":" and at(lexemes, index - 3).text in resource.words("labels.txt"):
        return len(at(lexemes, index).text) >= MIN_LISTED_DIGITS
    named = (
        before.is_word
        and before.capital
        and not before.opens
        and before.text not in MONTHS
        and before.text not in WEEKDAYS
    )
    short = at(lexemes, index).text.replace(".", "", 1).isdecimal()
    if not (named and short) or before.text in resource.words("stopwords.txt") or currency_before(lexemes, index - 1):
        return False
    return at(lexemes, index + 1).text not in ("-", "to", ":", "/", ">")


def is_numbered(lexemes: Lexemes, index: int, found: Found[Value]) -> bool:
    """`Step 3 asks`: what looks like a counted noun behind a numbered thing is its verb."""
    counted = found.item.kind == "quantity" and found.item.readings[0].dimension.startswith("count:")  # type: ignore[union-attr]
    return counted and at(lexemes, index - 1).text in NUMBERED_THINGS


def _is_code(lexemes: Lexemes, index: int) -> bool:
    """Letters and figures grown together (TR-88213, S24, 7Q4K) that are no figure with its unit."""
    end = _code_end(lexemes, index)
    parts = [at(lexemes, step) for step in range(index, end)]
    words = [part for part in parts if part.is_word]
    figures = [part for part in parts if part.is_figure]
    if not words or not figures:
        return False
    if parts[0].is_word:
        return not _is_spelt(lexemes, index, parts)
    if _starts_amount(lexemes, index):
        return False
    return len(parts) > 2 or not words[0].text.isalpha() or len(words[0].text) <= 3


def _is_spelt(lexemes: Lexemes, index: int, parts: list[Lexeme]) -> bool:
    """USD20, mid-2025, pre-2020, Mar-3, from/to words: a word that merely touches a figure."""
    if currency_before(lexemes, index) or parts[0].text in MONTHS:
        return True
    hyphenated = len(parts) >= 3 and parts[1].text in ("-", "/", ".")
    all_capital = parts[0].capital and (parts[0].end - parts[0].start) <= 5
    return hyphenated and not all_capital and not any(len(part.text) > 4 for part in parts if part.is_figure)


def _starts_amount(lexemes: Lexemes, index: int) -> bool:
    following = at(lexemes, index + 1)
    if following.text in ("-", "/"):
        inner = at(lexemes, index + 2)
        return (
            inner.is_figure or unit_after(lexemes, index + 1) is not None or inner.text in MONTHS or len(inner.text) > 3
        )
    scaled = (
        following.text in GLUED_SCALES
        or following.text in ORDINALS
        or following.text in ("am", "pm", "a", "p", "x", "h")
    )
    return (
        scaled
        or unit_after(lexemes, index + 1) is not None
        or (following.text == "." and not at(lexemes, index + 2).is_word)
    )


def _code_end(lexemes: Lexemes, index: int) -> int:
    end = index + 1
    while end < len(lexemes) and end < index + 12:
        lexeme = at(lexemes, end)
        if not lexeme.glued:
            break
        if lexeme.is_word or lexeme.is_figure:
            end += 1
        elif (
            lexeme.text == "("
            and at(lexemes, end + 1).is_word
            and at(lexemes, end + 2).text == ")"
            and at(lexemes, end + 2).glued
        ):
            end += 3  # 401(k)
        elif (
            lexeme.text in JOINTS
            and at(lexemes, end + 1).glued
            and (at(lexemes, end + 1).is_word or at(lexemes, end + 1).is_figure)
        ):
            end += 2
        else:
            break
    return end
