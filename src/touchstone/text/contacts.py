"""Normalised text -> contacts: links, e-mail addresses and phone numbers, whose figures are no values."""

import re

from touchstone.core.reading import Contact, ContactKind
from touchstone.text.normalise import Normal
from touchstone.text.units import is_currency

# Every quantifier is bounded or over a single class, so that no input makes a search super-linear.
EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
TLDS = (
    "com|org|net|io|co|dev|app|me|uk|us|eu|de|fr|es|it|nl|ie|ca|au|in|info|biz|shop|store|bank|help|support|example|test|"
    "edu|gov|health|travel"
)
LINK = re.compile(
    r"(?:https?://|www\.)[^\s<>\"')\]]{1,500}"
    rf"|(?<![\w@.-])(?:[a-zA-Z0-9][\w-]{{0,62}}\.){{1,5}}(?:{TLDS})\b(?!\.\w)(?:/[^\s<>\"')\]]{{0,500}})?"
)
PHONE = re.compile(
    r"(?<![\w.,/$£€-])(?:\+\d{1,3}[ .-]?|1[ .-])?(?:\(\d{1,5}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,5}){1,5}(?![\w%])"
    r"|(?<![\w.,/$£€-])\+?\d{9,14}(?![\w%,.]\w)"
)
# A short number is a phone number only where calling or texting is spoken of.
CUED_SHORT = re.compile(
    r"\b(?:call|dial|text|ring|phone|sms|hotline|helpline|line|forward\w*(?: it| the text| this| that)? to)"
    r"(?: us| it)?(?: now| on| at| to)?:? (\d[\d -]{1,12}\d)\b",
    re.IGNORECASE,
)
TIMESTAMP = re.compile(r"(?:19|20)\d\d-[01]\d-[0-3]\d\b")
# A sum of money in figures that a phone number could have: 19774.82 EUR, 12 500 000 kr.
DECIMAL = re.compile(r"\d+\.\d{1,3}")
GROUPED = re.compile(r"\d{1,3}(?:[ .]\d{3}){1,4}")
MONEY_NEAR = 6
MIN_PHONE_DIGITS = 7
TRAILING = ".,;:!?"


def find_contacts(normal: Normal) -> tuple[Contact, ...]:
    """All contacts in order, none overlapping another."""
    text = normal.text
    found: list[tuple[int, int, ContactKind]] = []
    if "@" in text:
        found += [(*m.span(), "email") for m in EMAIL.finditer(text)]
    if "." in text:
        found += [(*m.span(), "link") for m in LINK.finditer(text)]
    if any(char.isdecimal() for char in text):
        found += [(*m.span(), "phone") for m in PHONE.finditer(text) if _is_phone(m[0]) and not _is_sum(m)]
        found += [(*m.span(1), "phone") for m in CUED_SHORT.finditer(text)]
    contacts: list[Contact] = []
    reached = 0
    for start, stop, kind in sorted(found, key=lambda f: (f[0], -f[1])):
        end = start + len(text[start:stop].rstrip(TRAILING))
        if start < reached or end <= start:
            continue
        reached = end
        contacts.append(Contact(kind, *normal.span(start, end), _canonical(kind, text[start:end])))
    return tuple(contacts)


def _is_phone(text: str) -> bool:
    digits = sum(char.isdecimal() for char in text)
    groups = re.split(r"[ .-]+", text.strip("+"))
    is_date = len(groups) == 3 and (len(groups[0]) == 4 or len(groups[2]) == 4) and digits == 8
    is_date = is_date or TIMESTAMP.match(text) is not None
    is_range = len(groups) == 2 and "-" in text and not text.startswith("+") and len(groups[0]) == len(groups[1]) == 4
    return digits >= MIN_PHONE_DIGITS and not is_date and not is_range


def _is_sum(match: re.Match[str]) -> bool:
    """A figure with decimals, one in front of a currency, or one in groups of three behind it."""
    start, end, text = match.start(), match.end(), match.string
    if DECIMAL.fullmatch(match[0]) or any(is_currency(word) for word in text[end : end + MONEY_NEAR].split()[:1]):
        return True
    before = text[max(0, start - MONEY_NEAR) : start].split()[-1:]
    return bool(GROUPED.fullmatch(match[0])) and any(is_currency(word) for word in before)


def _canonical(kind: ContactKind, text: str) -> str:
    if kind == "phone":
        return re.sub(r"\D", "", text)
    bare = re.sub(r"^https?://(?:www\.)?|^www\.", "", text.casefold())
    return bare.rstrip("/")
