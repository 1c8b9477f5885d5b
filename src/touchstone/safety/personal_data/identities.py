"""Text -> what identifies one person by number: identity papers, accounts, secrets, plates, dates of birth."""

import re
from collections.abc import Iterator
from functools import cache

from touchstone.core import resource
from touchstone.safety.personal_data.datum import Datum
from touchstone.safety.personal_data.lexicon import either

MONTH = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
ORDINAL = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|"
    "sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth|twenty-(?:first|second|third|fourth|fifth|sixth|"
    "seventh|eighth|ninth)|thirty-first"
)
NTH = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|(?:{ORDINAL}))"
DAY = (
    r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}"
    rf"|{NTH}(?: of)? (?:{MONTH})\b\.?(?:,? \d{{4}})?|(?:{MONTH})\.? {NTH}\b(?:,? \d{{4}})?|\d{{8}}\b"
)
BIRTH = re.compile(
    r"\b(?:born|date of birth|d[./]?o[./]?b\b\.?|birth ?dates?|birthday|geburtsdatum|geb\.|né\(?e?\)? le|nacimiento"
    rf"|(?<!\w)b\.)([^.!?\n\d]{{0,40}}?)\b({DAY})",
    re.IGNORECASE,
)
# `born before 1961`: an age limit, and nobody's birthday.
LIMIT = re.compile(r"\b(?:before|after|between|since|until|by|later|earlier|from)\b", re.IGNORECASE)
BORN_AFTER = re.compile(
    rf"\b({DAY})(?:\)| as (?:the|your|his|her) (?:date of birth|birth ?date|dob|birthday))", re.IGNORECASE
)
CODE = r"(?=[A-Z0-9 .-]{0,12}\d)[A-Z0-9](?:[ .-]?[A-Z0-9]){4,17}(?![\w])"
LINK = (
    r"(?i:(?: copy| card)?(?: (?:number|numbers|no|nr|id|code|plate))?[.#:]{0,2}"
    r"(?: (?:on (?:file|record)|we (?:have|hold)|ending|you|there))?(?: ?(?:is|are|was|as|=|:|\())?[ \"'#:(]{0,3})"
)
IDENTITY = re.compile(rf"\b(?i:{either('identity')}){LINK}({CODE})")
ACCOUNT = re.compile(
    rf"\b(?i:{either('account')}){LINK}((?=[A-Z0-9-]{{0,8}}\d)[A-Z]{{0,3}}-?\d(?:[ -]?\d){{4,17}})(?![\w])"
)
SECRET = re.compile(rf"\b(?i:{either('secret')}){LINK}(\w{{3,20}})\b(?<=\d)")
SECRET_WORD = re.compile(
    r"\b(?i:security|memorable|secret) (?:word|answer|name|place)(?: [a-z]{1,8}){0,4}:? [\"'(]{0,2}([A-Z]\w{2,20})"
)
PLATE = re.compile(
    rf"\b(?i:{either('vehicle')}){LINK}"
    r"((?=[A-Z0-9 -]{0,8}\d)[A-Z]{1,3}[A-Z0-9]{0,2}[ -]?[A-Z0-9]{1,4}(?:[ -][A-Z0-9]{1,4})?)\b(?<=[A-Z0-9])"
)
# Identity numbers known by form and check digit: the pattern, and the python-stdnum module (country.name) that decides.
# Where the form alone is like nothing else there is no module, so that a mistyped number is found as well.
CHECKED: tuple[tuple[re.Pattern[str], str | None], ...] = (
    (re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), None),  # US social security number
    (re.compile(r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b"), None),  # UK national insurance
    (re.compile(r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b"), None),  # Brazil's CPF
    (re.compile(r"\b\d{8}-?[A-Z]\b"), "es.dni"),
    (re.compile(r"\b[XYZ]-?\d{7}-?[A-Z]\b"), "es.nie"),
    (re.compile(r"\b[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]\b"), None),  # Italy's codice fiscale
    (re.compile(r"(?<![\w.-])\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}(?![\w-])"), None),  # Belgium's national number
    (re.compile(r"(?<![\w.-])756\.\d{4}\.\d{4}\.\d{2}(?!\w)"), None),  # Switzerland's AHV number
    (re.compile(r"(?<![\w-])784-\d{4}-\d{7}-\d(?![\w-])"), None),  # the Emirates' identity card
    (re.compile(r"(?<![\w-])\d{6}-[1-4]\d{6}(?![\w-])"), None),  # Korea's resident number
    (re.compile(r"\b[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d\b"), None),  # Mexico's CURP
    (re.compile(r"(?<!\d)[12] \d{2} (?:0[1-9]|1[0-2]) \d[\dAB] \d{3} \d{3}(?: \d{2})?(?! ?\d)"), None),  # France's NIR
    (re.compile(r"\b[A-Z]{2,5}9{0,3}\d{6}[A-Z9]{2}\d[A-Z]{2}\b"), None),  # British driving licence
    # American Medicare
    (
        re.compile(
            r"\b[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[A-Z]{2}\d{2}\b"
        ),
        None,
    ),
    (re.compile(r"(?<![\w-])\d{6}-\d{2}-\d{4}(?![\w-])"), "my.nric"),
    (re.compile(r"(?<![\w-])\d{6}/\d{3,4}(?![\w/-])"), "cz.rc"),
    (re.compile(r"(?<![\w-])\d{6} \d{5}(?![\w-])"), "no.fodselsnummer"),
    (re.compile(r"(?<!\w)\d{17}[\dX](?!\w)"), "cn.ric"),
    (re.compile(r"(?<!\w)\d{7}[A-W][A-IW]?(?!\w)"), "ie.pps"),
    (re.compile(r"(?<![\w-])\d{6}-\d{4}(?![\w-])"), "dk.cpr"),
    (re.compile(r"(?<![\w-])(?:\d{2})?\d{6}[-+]\d{4}(?![\w-])"), "se.personnummer"),
    (re.compile(r"(?<![\w-])\d{6}[-+A]\d{3}[0-9A-Y](?![\w-])"), "fi.hetu"),
    (re.compile(r"(?<!\d)\d{4} \d{4} \d{4}(?![ ]?\d)"), "in.aadhaar"),
)
CUED = ("identity", "account", "secret", "vehicle")
# Four figures together, or a code of letters and figures.
CODED = re.compile(r"\d[ .-]?\d[ .-]?\d[ .-]?\d|[A-Z]\d{1,3}[ -]?[A-Z]|[A-Z]\d{1,3}-|\d[A-Z]{1,4}[\d-]")
# No identity number has fewer figures, or more between two of them.
FIVE_DIGITS = re.compile(r"\d(?:[A-Z .+/-]{0,4}\d){4}")
LETTERS_BEFORE = 12
ROOM_BEHIND = 60
BIRTH_NOUNS = ("birth", "born", "dob", "d.o.b", "d/o/b", "b.", "gebur", "né", "nacim")


def find_identities(text: str) -> Iterator[Datum]:
    """Surest first; the searches run only where their words or enough figures stand."""
    low = text.casefold()
    figures = CODED.search(text) is not None
    if figures and any(stem in low for stem in _stems()):
        yield from _cued(text)
    if figures:
        yield from _checked(text)
    if "memorable" in low or "secur" in low or "secret" in low:
        yield from (Datum("secret", *match.span(1), match[1].casefold()) for match in SECRET_WORD.finditer(text))
    if any(noun in low for noun in BIRTH_NOUNS):
        yield from _births(text)


@cache
def _stems() -> tuple[str, ...]:
    """How the nouns of the cued numbers begin."""
    nouns = {noun.casefold() for head in CUED for noun in resource.group("personal_cues.txt", head)}
    return tuple(sorted({match[0] for noun in nouns if (match := re.match(r"[a-z/ -]{2,20}(?!\?)", noun))}))


def _cued(text: str) -> Iterator[Datum]:
    """Numbers that a noun before them names."""
    for match in IDENTITY.finditer(text):
        if sum(char.isdigit() for char in match[1]) >= (6 if match[0][:3].casefold() == "lic" else 4):
            yield Datum("national_id", *match.span(1), _code(match[1]))
    for match in ACCOUNT.finditer(text):
        yield Datum("account", *match.span(1), _code(match[1]))
    for match in SECRET.finditer(text):
        yield Datum("secret", *match.span(1), match[1].casefold())
    for match in PLATE.finditer(text):
        yield Datum("plate", *match.span(1), _code(match[1]))


def _checked(text: str) -> Iterator[Datum]:
    stretches = _stretches(text)
    for pattern, module in CHECKED:
        for start, end in stretches:
            for match in pattern.finditer(text, start, end):
                if module is None or _is_valid(module, match[0].replace(" ", "")):
                    yield Datum("national_id", *match.span(), _code(match[0]))


def _stretches(text: str) -> list[tuple[int, int]]:
    """Where identity numbers may stand: so far around five figures that each has room, none overlapping another."""
    found: list[tuple[int, int]] = []
    for match in FIVE_DIGITS.finditer(text):
        start, end = max(0, match.start() - LETTERS_BEFORE), match.end() + ROOM_BEHIND
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _births(text: str) -> Iterator[Datum]:
    for pattern in (BIRTH, BORN_AFTER):
        for match in pattern.finditer(text):
            day = match.lastindex or 1
            sure = not LIMIT.search(match[1]) if pattern is BIRTH else re.search("birth|dob", match[0], re.IGNORECASE)
            if sure:
                yield Datum("birth_date", *match.span(day), match[day].casefold())


def _code(raw: str) -> str:
    return re.sub(r"[ .-]", "", raw).casefold()


def _is_valid(name: str, number: str) -> bool:
    from stdnum.util import get_cc_module

    module = get_cc_module(*name.split("."))
    return bool(module and module.is_valid(number))
