"""Lexemes -> numbers: figures in every common grouping, number words, mixed numbers and scales."""

import re
from decimal import Decimal

from touchstone.text.lexemes import Found, Lexemes, grammar

Readings = tuple[Decimal, ...]

ONES = dict(zip("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
                "seventeen eighteen nineteen".split(), range(20), strict=True))  # fmt: skip
TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
SCALES = {"hundred": 100, "thousand": 1000, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9}
DOZEN = {"dozen": 12}
GLUED_SCALES = {"k": 1000, "mn": 10**6, "mio": 10**6, "bn": 10**9}
# 5m is five metres or minutes, but $5m is five million.
MONEY_SCALES = {"m": 10**6, "b": 10**9}
SIZES = SCALES | DOZEN | GLUED_SCALES | MONEY_SCALES
HALF = Decimal("0.5")
# Longer figures are identifiers, not amounts; this also keeps arithmetic cheap.
MAX_DIGITS = 15

# 1,200 · 1'200 · 1.200 · Indian 1,00,000 · 1200
WHOLE = re.compile(r"[1-9]\d{0,2}([,.'])\d{3}(?:\1\d{3}){0,4}|\d{1,2}(?:,\d{2}){1,3},\d{3}|\d+")
# 1,200.50 · 1'200,50 · 1.200,50 · 12.5
DECIMALS = re.compile(r"(?:\d{1,3}(?:,\d{3}){1,4}\.|\d{1,3}(?:'\d{3}){1,4}[.,]|\d{1,3}(?:\.\d{3}){1,4},|\d+[.,])(\d+)")
FIGURE = grammar(
    # A part of one in front of a word: 1/2 hour, 3/4 mile.
    r"(?P<part>1~/~[234]|2~/~3|3~/~4)(?=(?!~) (?!(?:of|and|or|to){end}){word})"
    # 10 000: groups parted by one blank, unless a figure follows that is none of them.
    r"|(?P<spaced>[1-9]\d{0,2}(?:\x20\d{3}{end}){1,4}+)(?! \d)"
    r"|(?P<sign>(?<=[$£€¥₹] ))?(?P<figure>{figure})(?:(?!~) (?P<mixed>[123]~/~[234])|~(?P<glued>{glued})"
    r"|~(?P<of_money>(?(sign)[mb]|(?!)))| (?P<scale>{scale})|(?P<half> and a half))?",
    glued=GLUED_SCALES,
    scale=SCALES | DOZEN,
)
AND_A_HALF = grammar("and a half")
# `thirty (30)`: the same number in figures, as contracts write it.
REPEATED = grammar(r"\( (\d+) \)")


def figure(text: str) -> Readings:
    """A figure -> every number it can mean (1.200 is 1200 or 1.2); empty when it is none (2.4.1)."""
    digits = re.sub(r"\D", "", text)
    if len(digits) > MAX_DIGITS:
        return ()
    number = Decimal(digits)
    if whole := WHOLE.fullmatch(text):
        return (Decimal(text), number) if whole[1] == "." and text.count(".") == 1 else (number,)
    decimals = DECIMALS.fullmatch(text)
    return (number.scaleb(-len(decimals[1])),) if decimals else ()


def number(lexemes: Lexemes, index: int) -> Found[Readings] | None:
    """The number that starts here: 1,200 · 1.2k · 2 1/2 · two hundred and fifty · one and a half · a dozen."""
    if match := lexemes.match(FIGURE, index):
        return _figure_number(match, lexemes.after(match))
    found = _word_number(lexemes, index)
    if found is None:
        return None
    readings, end = found
    if (again := lexemes.match(REPEATED, end)) and Decimal(again[1]) == readings[0]:
        end = lexemes.after(again)
    return Found((readings[0] + HALF,), end + 3) if lexemes.match(AND_A_HALF, end) else Found(readings, end)


def _figure_number(match: re.Match[str], end: int) -> Found[Readings] | None:
    if match["part"]:
        return Found((_ratio(match["part"]),), end)
    if match["spaced"]:
        return Found((Decimal(re.sub(r"\D", "", match["spaced"])),), end)
    readings = figure(match["figure"])
    if not readings:
        return None
    if match["mixed"]:
        return Found(tuple(reading + _ratio(match["mixed"]) for reading in readings), end)
    if scale := match["glued"] or match["of_money"] or match["scale"]:
        return Found(tuple(reading * SIZES[scale] for reading in readings), end)
    return Found(tuple(reading + HALF for reading in readings) if match["half"] else readings, end)


def _ratio(text: str) -> Decimal:
    """1/4 -> 0.25."""
    return Decimal(text[0]) / Decimal(text[-1])


def _word_number(lexemes: Lexemes, index: int) -> Found[Readings] | None:
    total = current = 0
    end = index
    seen = False
    opens = lexemes[index].text == "a"
    for end in range(index, index + 9):
        word, following = lexemes[end].text, lexemes[end + 1].text
        if word in ONES:
            if seen and current % 10 and current % 100 < 20:
                break
            current += ONES[word]
        elif word in TENS:
            if seen and current % 100:
                break
            current += TENS[word]
        elif word == "hundred" and (seen or opens):
            current = max(current, 1) * 100
        elif word in SCALES and (seen or opens):
            total += max(current, 1) * SCALES[word]
            current = 0
        elif word in DOZEN and (seen or opens or end == index):
            current = max(current, 1) * 12
        elif word == "-" and seen and lexemes[end - 1].text in TENS and following in ONES:
            continue
        elif opens and end == index and (following in SCALES or following in DOZEN):
            continue
        elif word == "and" and seen and current and current % 100 == 0 and (following in ONES or following in TENS):
            continue
        else:
            break
        seen = True
    return Found((Decimal(total + current),), end) if seen else None
