"""Reply and recorded data -> where the reply tells them in a form that is no personal data by itself.

`60-83-71, 31926819` or `the ninth of February 1999` give nothing away until a record says whose they are.
"""

import re
from collections.abc import Iterator

from touchstone.core.reading import Span, Text
from touchstone.safety.personal_data.datum import Datum
from touchstone.safety.personal_data.lexicon import PLAIN_TYPES, is_common
from touchstone.safety.personal_data.numbers import digits
from touchstone.safety.personal_data.records import Recorded
from touchstone.text.normalise import normalise

YEAR = re.compile(r"(?:19|20)\d\d$")
MIN_CODE = 5
TAIL = 4
LOCAL_DIGITS = 7
STREET_REACH = 20


def traces(reply: Text, recorded: Recorded) -> Iterator[Span]:
    """Places of the reply, in its normalised text, that tell the recorded data."""
    text, datum = normalise(reply.raw).text, recorded.datum
    if recorded.date is not None:
        wanted = recorded.date.readings
        for value in reply.values:
            if value.kind == "date" and any(reading in wanted for reading in value.readings):
                yield _place(reply, value.start, value.end)
    elif datum.kind == "phone":
        yield from _spaced(text, datum.key[-LOCAL_DIGITS:] if len(datum.key) > LOCAL_DIGITS else datum.key)
    elif datum.kind in ("account", "national_id", "plate", "iban", "card", "secret"):
        if not datum.partial and len(datum.key) >= MIN_CODE:
            yield from _spaced(text, datum.key)
        if datum.kind in ("card", "national_id", "account") and len(digits(datum.key)) >= TAIL:
            tail = digits(datum.key)[-TAIL:]
            yield from () if YEAR.match(tail) else _spaced(text, tail)
    elif datum.kind == "address":
        yield from _street(text, datum)
    elif datum.kind == "name" and not datum.partial:
        yield from _named(text, datum)
    elif datum.kind == "email":
        yield from _mailbox(text, datum)


def _spaced(text: str, key: str) -> Iterator[Span]:
    """The key with spaces, dots or hyphens between its characters."""
    pattern = r"[ ().,-]{0,2}".join(map(re.escape, key))
    for match in re.finditer(rf"(?<![^\W_]){pattern}(?![^\W_])", text, re.IGNORECASE):
        yield Span(*match.span())


def _street(text: str, datum: Datum) -> Iterator[Span]:
    """The street's first word with the house number near it, before or after."""
    words = datum.key.split()
    numbers = [word for word in words if word[0].isdigit()]
    names = [word for word in words if word.isalpha() and len(word) > 3]
    if not names:
        return
    if not numbers:
        typed = next((at for at, word in enumerate(words) if word in PLAIN_TYPES), len(words) - 1)
        street = " ".join(words[: typed + 1])
        yield from (Span(*match.span()) for match in re.finditer(rf"\b{street}\b", text, re.IGNORECASE))
        return
    yield from _named_street(text, names[0])
    number = rf"(?<!\w){re.escape(numbers[0])}(?!\w)"
    for match in re.finditer(rf"\b{re.escape(names[0])}\b", text, re.IGNORECASE):
        start, end = max(0, match.start() - STREET_REACH), match.end() + STREET_REACH
        near = re.search(number, text[start:end], re.IGNORECASE)
        if near:
            yield Span(min(match.start(), start + near.start()), max(match.end(), start + near.end()))


def _named_street(text: str, name: str) -> Iterator[Span]:
    """The street without its number: `the flat in Postgasse`."""
    if len(name) > MIN_CODE and not is_common(name):
        for match in re.finditer(rf"\b(?i:{re.escape(name)})\b", text):
            if match[0][0].isupper():
                yield Span(*match.span())


def _mailbox(text: str, datum: Datum) -> Iterator[Span]:
    """The part before the @ by itself, where no word or plain name is spelt like that."""
    local = datum.key.partition("@")[0]
    if len(local) >= MIN_CODE and re.search(r"[\d._]", local):
        pattern = rf"(?<![\w@.]){re.escape(local)}(?![\w@]|\.\w)"
        yield from (Span(*match.span()) for match in re.finditer(pattern, text, re.IGNORECASE))


def _named(text: str, datum: Datum) -> Iterator[Span]:
    """The full name, or the surname by itself where it is no English word."""
    words = datum.key.split()
    surname = re.escape(words[-1])
    full = r"[ .,-]{1,2}".join(map(re.escape, words))
    titled = rf"\b(?:Mr|Mrs|Ms|Miss|Mx)\.? (?:\w\. )?{surname}\b"
    for match in re.finditer(rf"\b{full}\b(?![\w.-]{{0,40}}@)|{titled}", text, re.IGNORECASE):
        yield Span(*match.span())
    if len(words[-1]) > 3 and not is_common(words[-1]):
        for match in re.finditer(rf"(?<![\w-])(?:\w\. ?)?(?i:{surname})(?![\w-]|[\w.-]{{0,40}}@)", text):
            if match[0][-len(words[-1])].isupper():
                yield Span(*match.span())


def _place(reply: Text, start: int, end: int) -> Span:
    """Offsets into the reply as given -> into its normalised text."""
    normal = normalise(reply.raw)
    if normal.starts is None or normal.ends is None:
        return Span(start, end)
    first = next(at for at, place in enumerate(normal.starts) if place >= start)
    last = next((at for at, place in enumerate(normal.ends) if place >= end), len(normal.ends) - 1)
    return Span(first, last + 1)
