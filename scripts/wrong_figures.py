"""A sound reply -> the same reply with one figure made wrong, for every figure written in digits that its sources hold.

Used to fit how far unheld figures are to be trusted as signs, and by the law that a wrong figure never helps.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.reading import Reading, Text
from touchstone.evidence.check import check
from touchstone.text.frame import body_of
from touchstone.text.reading import read

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# How a figure goes wrong: slips of the pen and of memory. The first result that no source knows is taken.
SLIPS = (lambda n: n + 1, lambda n: n * 2, lambda n: n + 5, lambda n: n * 10, lambda n: n + 13, lambda n: n * 3 + 2)


class Wrong(NamedTuple):
    """The case with the wrong figure, and where that stands."""

    case: Case
    start: int
    end: int


def wrong_figures(case: Case) -> Iterator[Wrong]:
    """One case for each typed value of the body that a source states; the new value is one that nothing states."""
    reading = body_of(read(case))
    known = (*(reading.sources or ()), *((reading.expected,) if reading.expected else ()))
    for anchor in check(reading, plan=Plan()) or ():
        if anchor.kind == "claim" or anchor.status != "supported":
            continue
        if changed := _changed(case, reading, anchor.start, anchor.end, known):
            yield changed


def _changed(case: Case, reading: Reading, start: int, end: int, known: tuple[Text, ...]) -> Wrong | None:
    found = NUMBER.search(case.response, start, end)
    digits = re.sub(r"\D", "", found[0]) if found else ""
    if found is None or not digits or len(digits) > 9:
        return None
    kinds = {value.kind for value in reading.reply.values if value.start == start}
    for slip in SLIPS:
        written = _written(found[0], slip(int(digits)))
        if written and not any(re.search(rf"(?<![\d.,]){re.escape(written)}(?![\d])", text.raw) for text in known):
            text = case.response[: found.start()] + written + case.response[found.end() :]
            wrong = Wrong(replace(case, response=text), start, end + len(written) - len(found[0]))
            if _is_wrong(wrong, kinds=kinds, known=known):
                return wrong
    return None


def _is_wrong(wrong: Wrong, *, kinds: set[str], known: tuple[Text, ...]) -> bool:
    """Whether the text still reads as one value of the same kind, such as a date that exists, and none that is known.

    24:00 is midnight, and 0:15 is 00:15.
    """
    stated = {reading for text in known for value in text.values for reading in value.readings}
    values = [v for v in read(wrong.case).reply.values if (v.start, v.end) == (wrong.start, wrong.end)]
    return any(value.kind in kinds and stated.isdisjoint(value.readings) for value in values)


def _written(before: str, number: int) -> str | None:
    """The number in the form of the one before: thousands parted, decimals kept."""
    if before.isdecimal():
        return str(number)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", before):
        return f"{number:,}"
    if match := re.fullmatch(r"(\d+(?:,\d{3})*)([.,])(\d{1,2})", before):
        digits = str(number).rjust(len(match[3]) + 1, "0")
        whole, part = digits[: -len(match[3])], digits[-len(match[3]) :]
        return f"{int(whole):,}{match[2]}{part}" if "," in match[1] else f"{int(whole)}{match[2]}{part}"
    return None
