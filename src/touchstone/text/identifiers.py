"""Lexemes -> identifiers: order and reference numbers, codes, versions and numbered names, which are no quantities."""

from collections.abc import Sequence

from touchstone.core import resource
from touchstone.core.reading import Measure, Value
from touchstone.text.dates import MONTHS, WEEKDAYS
from touchstone.text.lexemes import Found, Lexeme, Lexemes, grammar
from touchstone.text.numbers import GLUED_SCALES, figure
from touchstone.text.units import currency_before, unit_after

SIGNS = frozenset({"#", "№"})
JOINTS = frozenset({"-", "_", "/", "."})
GLUED_TO_FIGURES = frozenset({"st", "nd", "rd", "th", "am", "pm", "a", "p", "x", "h", *GLUED_SCALES})
NUMBERED_THINGS = frozenset(
    "step page section chapter terminal gate room platform error version question level bus train flight line route "
    "tram status rule clause".split()
)
NUMBER_WORDS = frozenset({"number", "no", "code", "id", "reference", "ref", ":", "is", ".", "(", '"'})
# `Account: 48213` is an identifier, `Age for the account: 18` is not.
MIN_LISTED_DIGITS = 4
# What has grown together: TR-88213 · v2.3 · 401(k).
CODE = grammar(r"{any}(?:~[-_/.]~(?:{word}|{figure})|~\( {word}~\)|~(?:{word}|{figure})){0,11}")
# The `1.` or `2)` of a list.
NUMBERING = grammar(r"\d+~[.)](?!~)")


def code_end(lexemes: Lexemes, index: int) -> int | None:
    """The position after the reference, code or version that starts here, or None."""
    lexeme, following = lexemes[index], lexemes[index + 1]
    if lexeme.text in SIGNS and (following.is_figure or following.glued):
        return _code_end(lexemes, index + 1)
    if lexeme.is_word and _is_code(lexemes, index):
        return _code_end(lexemes, index)
    if lexeme.is_figure and (not figure(lexeme.text) or _is_code(lexemes, index) or _is_numbering(lexemes, index)):
        return _code_end(lexemes, index)
    return None


def _is_numbering(lexemes: Lexemes, index: int) -> bool:
    if not lexemes.match(NUMBERING, index):
        return False
    lexeme, sign, before = lexemes[index], lexemes[index + 1].text, lexemes[index - 1].text
    follows = (lexeme.text == "1" and before in (":", "(", ";", ",")) or (sign == ")" and before in (",", ";", "and"))
    return lexeme.opens or (follows and (lexemes[index + 2].capital or sign == ")"))


def is_label(lexemes: Lexemes, index: int) -> bool:
    """step 6 · Terminal 5 · order 12345 · error 401 · iPhone 15 · 0042: a name that ends in a number."""
    text, before, labels = lexemes[index].text, lexemes[index - 1], resource.words("labels.txt")
    if text.isdecimal() and len(text) > 1 and text[0] == "0":
        return True
    is_behind_label = before.text in NUMBER_WORDS and lexemes[index - 2].text in labels
    if before.text in labels or is_behind_label:
        return before.text != ":" or len(text) >= MIN_LISTED_DIGITS
    if before.text == ":" and lexemes[index - 3].text in labels:
        return len(text) >= MIN_LISTED_DIGITS
    is_name = before.is_word and before.capital and not before.opens
    if not is_name or before.text in MONTHS or before.text in WEEKDAYS or not text.replace(".", "", 1).isdecimal():
        return False
    if before.text in resource.words("stopwords.txt") or currency_before(lexemes, index - 1):
        return False
    return lexemes[index + 1].text not in ("-", "to", ":", "/", ">")


def is_numbered(lexemes: Lexemes, index: int, found: Found[Value]) -> bool:
    """`Step 3 asks`: what looks like a counted noun behind a numbered thing is its verb."""
    reading = found.item.readings[0]
    is_count = isinstance(reading, Measure) and reading.dimension.startswith("count:")
    return found.item.kind == "quantity" and is_count and lexemes[index - 1].text in NUMBERED_THINGS


def _is_code(lexemes: Lexemes, index: int) -> bool:
    """Letters and figures grown together (TR-88213, S24, 7Q4K) that are no figure with its unit."""
    parts = [lexemes[at] for at in range(index, _code_end(lexemes, index))]
    words = [part for part in parts if part.is_word]
    if not words or not any(part.is_figure for part in parts):
        return False
    if parts[0].is_word:
        return not _is_spelt(lexemes, index, parts)
    if _starts_amount(lexemes, index):
        return False
    return len(parts) > 2 or not words[0].text.isalpha() or len(words[0].text) <= 3


def _is_spelt(lexemes: Lexemes, index: int, parts: Sequence[Lexeme]) -> bool:
    """USD20, mid-2025, pre-2020, Mar-3, from/to words: a word that merely touches a figure."""
    if currency_before(lexemes, index) or parts[0].text in MONTHS:
        return True
    hyphenated = len(parts) >= 3 and parts[1].text in ("-", "/", ".")
    all_capital = parts[0].capital and (parts[0].end - parts[0].start) <= 5
    return hyphenated and not all_capital and not any(len(part.text) > 4 for part in parts if part.is_figure)


def _starts_amount(lexemes: Lexemes, index: int) -> bool:
    following, inner = lexemes[index + 1], lexemes[index + 2]
    has_unit = unit_after(lexemes, index + 1) is not None
    if following.text in ("-", "/"):
        return inner.is_figure or has_unit or inner.text in MONTHS or len(inner.text) > 3
    return following.text in GLUED_TO_FIGURES or has_unit or (following.text == "." and not inner.is_word)


def _code_end(lexemes: Lexemes, index: int) -> int:
    match = lexemes.match(CODE, index)
    return lexemes.after(match) if match else index + 1
