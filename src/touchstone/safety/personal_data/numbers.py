"""Text -> e-mail and IP addresses, phone, card and bank numbers, and everything `identities` finds.

Every quantifier is bounded, so that no input makes a search super-linear.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

from touchstone.safety.personal_data.datum import Datum, DatumKind
from touchstone.safety.personal_data.identities import find_identities
from touchstone.safety.personal_data.lexicon import either
from touchstone.text.contacts import EMAIL

Found = Iterator[Datum]

SPELT_EMAIL = re.compile(
    r"\b(?:[\w.-]{2,30}|\w(?= dot ))(?: dot [\w-]{1,20}){0,2},? at [\w-]{2,30}(?: dot [a-z]{2,10}){1,3}\b",
    re.IGNORECASE,
)
# Parts of numbers, sought first: searches that begin with a look back take several times as long.
DOTTED = re.compile(r"\d\.\d{1,3}\.\d")
UNMASKED = re.compile(r"[*xX•·#][ -]?\d")
IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]?\d)")
IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,7}(?![\w:])")
VERSION_BEFORE = re.compile(r"(?:\bv|version|release|firmware|build) ?$", re.IGNORECASE)
IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,3})?\b")
CARD = re.compile(r"(?<![\w.,/$£€-])\d(?:[ -]?\d){11,18}(?![\w-])")
# Issuer prefixes, ISO/IEC 7812: American Express, Visa, Mastercard, Discover, JCB, Diners, Maestro.
ISSUED = re.compile(r"3[47]|4|5[1-5]|2[2-7]|6011|65|64|35|2131|1800|36|30|38|50|5[6-9]|6")
CARD_NOUN = re.compile(rf"\b(?:{either('card_noun')})\b", re.IGNORECASE)
MASKED = re.compile(
    r"(?<![\w-])\d{4}[ -](?:[*xX•·#]{2,6}[ -]?){1,3}\d{3,4}(?![\w*])"
    r"|(?<![\w*•·.])(?:[*xX•·#]{3,12}[ -]?){1,5}\d{3,4}(?![\w*]|[.,]\d)"
    r"|(?<![\w*•·.])[*xX•·#]{4,12}\d{2}(?![\w*]|[.,]\d)|(?<=card )[*xX•·]{1,2} ?\d{4}\b"
)
DIGIT = "zero|oh|one|two|three|four|five|six|seven|eight|nine"
SPELT = re.compile(
    rf"\b(?:(?:double[ -]|triple[ -])?(?:{DIGIT}|hundred)[ ,-]{{1,3}}){{5,16}}(?:double |triple )?(?:{DIGIT})\b",
    re.IGNORECASE,
)
TAIL = re.compile(
    r"\b(?:(?:ending|ends|end|finishing|finishes|closing)(?: (?:in|with|on))?"
    r"|(?:last|final)(?: (?:four|4|five|5|three|3|two|2))?(?: digits| numbers)?"
    r"(?: of (?:your |the |his |her )?\w{2,12}(?: security)?(?: \w{2,8})?,?)?(?: (?:are|is|being|as|that's|on file))?)"
    r":? ?[\"'(#*…]{0,4}(?:on file:? )?"
    rf"(\d{{2,6}}|\d(?:[ -]\d){{1,5}}|(?:(?:{DIGIT})[ -]){{1,5}}(?:{DIGIT}))(?![\w%]|[.,/:]\d)",
    re.IGNORECASE,
)
# `8831 at the end`: the same, the other way round.
TAIL_FIRST = re.compile(r"(?<![\w.,/$£€-])(\d{2,4}) (?:at|in|on) (?:the|its) (?:end|back|tail)\b", re.IGNORECASE)
# The nearest noun before `ending in 4242` says what the digits are the tail of.
TAIL_NOUN = re.compile(
    "|".join(
        rf"(?P<{kind}>\b(?:{either(nouns)})\b)"
        for kind, nouns in (
            ("card", "card_noun"),
            ("account", "account_noun"),
            ("phone", "phone_noun"),
            ("national_id", "identity_noun"),
            ("other", "other_noun"),
        )
    ),
    re.IGNORECASE,
)
NAMED_TAIL = re.compile(
    rf"\b(?:{either('card_noun')})(?: (?:no\.|with|digits|the)){{0,3}} "
    r"\(?(?:[*#…•] ?|-|\.{2,4} ?)?(\d{4})\)?(?![\w%-]|[.,:/]\d)",
    re.IGNORECASE,
)
PHONE = re.compile(
    r"(?<![\w.,/$£€#+-])(?:\+|00)?(?:\(0?\d{1,5}\)|\d{1,6})(?:[ .\-/]{0,2}(?:\(\d{1,5}\)|\d{1,5})){1,7}"
    r"(?: ?(?:x|ext\.?|extension) ?\d{1,6})?(?![\w%]|[.,]\d)"
)
RUN_PHONE = re.compile(r"(?<![\w.,/$£€#-])\+?\d{7,15}(?![\w%-]|[.,]\d)")
PHONE_CUE = re.compile(rf"\b(?:{either('phone_cue')})\b[^\d\n]{{0,25}}$", re.IGNORECASE)
PHONE_AFTER = re.compile(r" ?[-(,]? ?(?:office|fax|mobile|cell|home|work|desk)\b", re.IGNORECASE)
# National forms that are phone numbers by their shape: 0171 555 0129, (602) 272-9781, 618-226-1460, 555-0197.
PHONE_SHAPE = re.compile(
    r"\+|00\d|0\d{1,5}[ .\-/(]|\(\d{1,5}\)|(?:1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}(?:\D|$)|555-\d{4}$"
)
NOT_PHONE = re.compile(rf"(?:{either('no_phone')}|#)\W{{0,3}}(?:\w{{1,9}}\W{{1,2}}){{0,2}}$", re.IGNORECASE)
# Cheap signs without which the searches above find nothing.
FOUR_DIGITS = re.compile(r"\d[ .-]?\d[ .-]?\d[ .-]?\d")
SEVEN_DIGITS = re.compile(r"\d(?:[ ().,/-]{0,3}\d){6}|[A-Z]{6}\d\d|\d{6}[-+A]\d|[A-Z]{2} ?\d\d ?\d\d ?\d\d")
TWELVE_DIGITS = re.compile(r"\d(?:[ -]?\d){11}")
SHORT_TAIL_CUES = ("ending", "ends", "last two", "last three", "**", "••", "xxx", "closing")
DIGIT_WORDS = DIGIT.split("|")
TAIL_CUES = (
    "end",
    "last",
    "final",
    "clos",
    "finish",
    "back",
    "tail",
    "card",
    "visa",
    "amex",
    "maestro",
    "jcb",
    "discover",
    "xx",
    "**",
    "••",
    "··",
)
# A number that nothing says more of is the one codes are sent to.
NUMBER_BEFORE = ("the number ", "your number ", "a number ")
LOOK_BACK = 60
# Characters of an IBAN by country, ISO 13616 registry.
IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20,
    "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24,
    "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26, "UA": 29,
}  # fmt: skip


def find_numbers(text: str) -> list[Datum]:
    """Everything told by its figures, and e-mail addresses; where two overlap, the surer reading stays."""
    kept: list[Datum] = []
    taken: list[tuple[int, int]] = []
    finders: list[Callable[[str], Found]] = [find_identities]
    finders += [_emails] if "@" in text or " dot " in text else []
    low = text.casefold()
    if DOTTED.search(text) or text.count(":") >= 4:
        finders.append(_ips)
    if FOUR_DIGITS.search(text):
        long = SEVEN_DIGITS.search(text) is not None
        finders += [_ibans] if long else []
        finders += [_cards] if TWELVE_DIGITS.search(text) else []
        finders += [_tails] if any(cue in low for cue in TAIL_CUES) else []
        finders += [_phones] if long else []
    elif any(cue in low for cue in SHORT_TAIL_CUES):
        finders.append(_tails)
    if sum(low.count(word) for word in DIGIT_WORDS) >= 4:
        finders += [_tails, _spelt_phones]
    for find in finders:
        for datum in find(text):
            at = bisect_left(taken, (datum.end, 0))
            if at == 0 or taken[at - 1][1] <= datum.start:
                taken.insert(at, (datum.start, datum.end))
                kept.append(datum)
    return sorted(kept, key=lambda datum: datum.start)


def digits(text: str) -> str:
    """The figures of a text, read together."""
    return "".join(char for char in text if char.isdigit())


def _emails(text: str) -> Found:
    for match in SPELT_EMAIL.finditer(text):
        yield Datum("email", *match.span(), re.sub(r",? at ", "@", match[0].casefold()).replace(" dot ", "."))
    for match in EMAIL.finditer(text):
        end = match.start() + len(match[0].rstrip(".-"))
        yield Datum("email", match.start(), end, text[match.start() : end].casefold())


def _ips(text: str) -> Found:
    if DOTTED.search(text):
        for match in IPV4.finditer(text):
            versioned = VERSION_BEFORE.search(text, max(0, match.start() - 12), match.start())
            if not versioned and all(int(part) <= 255 for part in match[0].split(".")):
                yield Datum("ip", *match.span(), match[0])
    if text.count(":") >= 4:
        for match in IPV6.finditer(text):
            if match[0].count(":") == 7 or ("::" in match[0] and match[0].count(":") >= 3):
                yield Datum("ip", *match.span(), match[0].casefold())


def _ibans(text: str) -> Found:
    for match in IBAN.finditer(text):
        cued = "iban" in text[max(0, match.start() - 20) : match.start()].casefold()
        if cued or _is_iban(match[0]) or _has_iban_form(match[0]):
            yield Datum("iban", *match.span(), match[0].replace(" ", "").casefold())


def _cards(text: str) -> Found:
    for match in CARD.finditer(text):
        number = digits(match[0])
        cued = CARD_NOUN.search(text, max(0, match.start() - LOOK_BACK), match.start())
        if not _has_check_digit(number) or not ISSUED.match(number):
            grouped = cued and len(number) in (15, 16)
            if not grouped:
                continue
        if cued or len(number) >= 15:
            yield Datum("card", *match.span(), number)


def _tails(text: str) -> Found:
    """The last digits of a number, and numbers with the others masked."""
    for match in MASKED.finditer(text) if UNMASKED.search(text) else ():
        masked = _tail_kind(text, *match.span()) or "card"
        yield Datum(masked, *match.span(), digits(match[0])[-4:], partial=True)
    for match in TAIL.finditer(text):
        kind = _tail_kind(text, *match.span())
        if kind:
            start = match.start()
            noun = re.search(r"[\w']{1,20}(?: card| account)?[ ,(]{1,2}$", text[max(0, start - 30) : start])
            if noun and TAIL_NOUN.search(noun[0]):
                start -= len(noun[0])
            yield Datum(kind, start, match.end(), _figures(match[1]), partial=True)
    for match in TAIL_FIRST.finditer(text):
        kind = _tail_kind(text, *match.span())
        if kind:
            yield Datum(kind, *match.span(), match[1], partial=True)
    for match in NAMED_TAIL.finditer(text):
        yield Datum("card", *match.span(), match[1], partial=True)


def _figures(tail: str) -> str:
    if tail[0].isdigit():
        return digits(tail)
    spelt = {"zero": "0", "oh": "0"} | {name: str(at) for at, name in enumerate(DIGIT.split("|")[2:], start=1)}
    return "".join(spelt[word] for word in re.split(r"[ -]", tail.casefold()))


def _tail_kind(text: str, start: int, end: int) -> DatumKind | None:
    nouns = list(TAIL_NOUN.finditer(text, max(0, start - LOOK_BACK), end))
    kind = nouns[-1].lastgroup if nouns else None
    if kind is None and text[:start].endswith(NUMBER_BEFORE):
        return "phone"
    return None if kind in (None, "other") else kind  # type: ignore[return-value]


def _phones(text: str) -> Found:
    for pattern in (PHONE, RUN_PHONE):
        for match in pattern.finditer(text):
            start, end = match.span()
            end = start + len(match[0].rstrip(" .-/("))
            raw = text[start:end]
            count = len(digits(re.sub(r"(?:x|ext).*", "", raw)))
            if not 7 <= count <= 15 or _is_date(raw) or NOT_PHONE.search(text, max(0, start - 30), start):
                continue
            cued = PHONE_CUE.search(text, max(0, start - LOOK_BACK), start) or PHONE_AFTER.match(text, end)
            if cued or PHONE_SHAPE.match(raw):
                yield Datum("phone", start, end, digits(raw))


def _spelt_phones(text: str) -> Found:
    """oh-double-seven-double-oh, nine hundred, one four three."""
    for match in SPELT.finditer(text):
        figures = ""
        repeat = 1
        for word in re.findall(r"[a-z]+", match[0].casefold()):
            if word in ("double", "triple"):
                repeat = 2 if word == "double" else 3
            elif word == "hundred":
                figures += "00"
            else:
                figures += _figures(word) * repeat
                repeat = 1
        if len(figures) >= 7:
            yield Datum("phone", *match.span(), figures)


def _is_date(raw: str) -> bool:
    groups = re.split(r"\D+", raw.strip("+()"))
    return len(groups) == 3 and (len(groups[0]) == 4 or len(groups[2]) == 4) and sum(map(len, groups)) <= 8


def _has_iban_form(iban: str) -> bool:
    """A country's exact length, all capitals: mistyped, perhaps, but hardly anything else."""
    compact = iban.replace(" ", "")
    return len(compact) == IBAN_LENGTHS.get(compact[:2])


def _has_check_digit(number: str) -> bool:
    from stdnum import luhn

    return bool(luhn.is_valid(number))


def _is_iban(iban: str) -> bool:
    """The general check of ISO 13616; a country's own rules change, and a recogniser need not know them."""
    from stdnum.iso7064 import mod_97_10

    compact = iban.replace(" ", "").upper()
    return bool(mod_97_10.is_valid(compact[4:] + compact[:4]))
