"""The formats of personal data as one table: kind, pattern, check, context words, and where the format is defined.

Surest first: where two overlap, the earlier row keeps its place. Every quantifier is bounded, so that no input makes a
search take more than linear time.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from touchstone.core import resource
from touchstone.text.contacts import EMAIL

DatumKind = Literal[
    "name", "address", "phone", "email", "card", "iban", "account", "national_id", "birth_date", "ip", "secret", "plate"
]
Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class PatternGate:
    """What is found sooner than the patterns behind it, and how far around it they may reach.

    `in_words`: they match texts without a figure too.
    """

    regex: re.Pattern[str]
    before: int
    after: int
    in_words: bool = False


@dataclass(frozen=True, slots=True)
class DataPattern:
    """One format. The last group of the expression, if it has one, is the datum; `whole` marks all that matched.

    `unless` are words just before that make it something else.
    """

    kind: DatumKind
    regex: re.Pattern[str]
    source: str
    gate: PatternGate
    check: Check | None = None
    unless: re.Pattern[str] | None = None
    partial: bool = False
    whole: bool = False


def alternation(head: str) -> str:
    """The members of a group of the packaged cues as one alternation, the longest first."""
    return "|".join(sorted(resource.group("personal_cues.txt", head), key=lambda member: (-len(member), member)))


def figures(text: str) -> str:
    """All digits of a text read together, those spelt out included: `double four two` is 442."""
    found, repeat = "", 1
    for piece in re.findall(r"\d|[a-z]+", text.casefold()):
        repeat = {"double": 2, "triple": 3}.get(piece, repeat)
        if digit := piece if piece.isdigit() else SPELT.get(piece):
            found, repeat = found + digit * repeat, 1
    return found


def is_common(low: str) -> bool:
    """An English word that a capital alone does not make a name."""
    return low in resource.words("common_words.txt") or low in resource.words("stopwords.txt")


def _either(head: str) -> str:
    return rf"(?:{alternation(head)})"


def _streets(head: str) -> str:
    words = sorted(map(re.escape, resource.group("street_words.txt", head)), key=lambda word: (-len(word), word))
    return rf"(?:{'|'.join(words)})"


def _ignoring_case(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


def _words(stems: str) -> re.Pattern[str]:
    """Any of the stems; spelt in each case they are found several times sooner than ignoring it."""
    spelt = (form for stem in stems.split() for form in (stem, stem.capitalize(), stem.upper()))
    return re.compile("|".join(map(re.escape, spelt)))


# --- checks -----------------------------------------------------------------------------------------------------------


def _has_check_digit(match: re.Match[str]) -> bool:
    from stdnum import luhn

    number = figures(match[0])
    named = CARD_NOUN.search(match.string, max(0, match.start() - LOOK_BACK), match.start()) is not None
    if luhn.is_valid(number) and ISSUER.match(number):
        return named or len(number) >= 15
    return named and len(number) in (15, 16)


def _is_iban(match: re.Match[str]) -> bool:
    """The general check of ISO 13616; a mistyped one counts where its length is right or the word stands before it."""
    from stdnum.iso7064 import mod_97_10

    compact = match[0].replace(" ", "").upper()
    named = "iban" in match.string[max(0, match.start() - 20) : match.start()].casefold()
    return named or IBAN_LENGTHS.get(match[0][:2]) == len(compact) or mod_97_10.is_valid(compact[4:] + compact[:4])


def _is_valid(module: str) -> Check:
    """Valid by python-stdnum's module `country.name`."""

    def check(match: re.Match[str]) -> bool:
        from stdnum.util import get_cc_module

        found = get_cc_module(*module.split("."))
        return bool(found and found.is_valid(match[0].replace(" ", "")))

    return check


def _is_ipv4(match: re.Match[str]) -> bool:
    return all(int(part) <= 255 for part in match[0].split("."))


def _is_ipv6(match: re.Match[str]) -> bool:
    return match[0].count(":") == 7 or ("::" in match[0] and match[0].count(":") >= 3)


def _is_phone(match: re.Match[str]) -> bool:
    """7 to 15 digits (ITU-T E.164) in a national form, or with a word of calling near."""
    number = re.sub(r"(?:x|ext).*", "", match[0])
    groups = re.findall(r"\d+", number)
    is_date = len(groups) == 3 and 4 in (len(groups[0]), len(groups[2])) and sum(map(len, groups)) <= 8
    if is_date or not 7 <= sum(map(len, groups)) <= 15:
        return False
    text, start = match.string, match.start()
    cued = PHONE_CUE.search(text, max(0, start - LOOK_BACK), start) or PHONE_AFTER.match(text, match.end())
    return bool(cued or PHONE_FORM.match(match[0]))


def _digits_at_least(count: int) -> Check:
    return lambda match: sum(char.isdigit() for char in match[match.lastindex or 0]) >= count


def _is_spelt_phone(match: re.Match[str]) -> bool:
    return len(figures(match[0])) >= 7


def _is_proper(match: re.Match[str]) -> bool:
    """Whether the words of the last group are no English ones: a street that bears a name."""
    words = re.findall(r"[^\W\d_]+", match[match.lastindex or 0].casefold())
    return not any(len(word) < 3 or is_common(word) or word in NUMBERED for word in words)


def _ends(kind: DatumKind) -> Check:
    """Whether the nearest noun before says that these are the last digits of such a number."""

    def check(match: re.Match[str]) -> bool:
        nouns = list(TAIL_NOUN.finditer(match.string, max(0, match.start() - LOOK_BACK), match.end()))
        return (nouns[-1].lastgroup if nouns else "other") == kind

    return check


def _is_masked_card(match: re.Match[str]) -> bool:
    nouns = list(TAIL_NOUN.finditer(match.string, max(0, match.start() - LOOK_BACK), match.end()))
    return not nouns or nouns[-1].lastgroup in ("card", "other")


# --- parts of expressions ---------------------------------------------------------------------------------------------

LOOK_BACK = 60
NUMBERED = resource.group("street_words.txt", "numbered")
SPELT = {"oh": "0", "zero": "0", "hundred": "00"} | {
    word: str(at) for at, word in enumerate("one two three four five six seven eight nine".split(), start=1)
}
DIGIT = "|".join(word for word in SPELT if word != "hundred")
CARD_NOUN = _ignoring_case(rf"\b{_either('card_noun')}\b")
# Issuer prefixes, ISO/IEC 7812: American Express, Visa, Mastercard, Discover, JCB, Diners, Maestro.
ISSUER = re.compile(r"3[47]|4|5[1-5]|2[2-7]|6011|65|64|35|2131|1800|36|30|38|50|5[6-9]|6")
IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20,
    "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24,
    "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26, "UA": 29,
}  # fmt: skip
TAIL_NOUN = _ignoring_case(
    "|".join(
        rf"(?P<{kind}>\b{_either(nouns)}\b)"
        for kind, nouns in (
            ("card", "card_noun"),
            ("account", "account_noun"),
            ("phone", "phone_noun"),
            ("national_id", "identity_noun"),
            ("other", "other_noun"),
        )
    )
)
# `Visa ending in 4242`, `the last four digits of your card are 4242`, `8831 at the end`.
TAIL = _ignoring_case(
    rf"(?:\b(?:{alternation('card_noun')}|{alternation('account_noun')}|{alternation('phone_noun')})"
    r"(?: card| account| number)?[ ,(]{1,2})?"
    r"\b(?:(?:ending|ends|end|finishing|finishes|closing)(?: (?:in|with|on))?"
    r"|(?:last|final)(?: (?:four|4|five|5|three|3|two|2))?(?: digits| numbers)?"
    r"(?: of (?:your |the |his |her )?\w{2,12}(?: security)?(?: \w{2,8})?,?)?(?: (?:are|is|being|as|on file))?)"
    r":? ?[\"'(#*…]{0,4}"
    rf"(\d{{2,6}}|\d(?:[ -]\d){{1,5}}|(?:(?:{DIGIT})[ -]){{1,5}}(?:{DIGIT}))(?![\w%]|[.,/:]\d)"
    r"|(?<![\w.,/$£€-])(\d{2,4}) (?:at|in|on) (?:the|its) (?:end|back|tail)\b"
)
NAMED_TAIL = _ignoring_case(
    rf"\b{_either('card_noun')}(?: (?:no\.|with|digits|the)){{0,3}} "
    r"\(?(?:[*#…•] ?|-|\.{2,4} ?)?(\d{4})\)?(?![\w%-]|[.,:/]\d)"
)
MASKED = re.compile(
    r"(?<![\w-])\d{4}[ -](?:[*xX•·#]{2,6}[ -]?){1,3}\d{3,4}(?![\w*])"
    r"|(?<![\w*•·.])(?:[*xX•·#]{3,12}[ -]?){1,5}\d{3,4}(?![\w*]|[.,]\d)"
    r"|(?<![\w*•·.])[*xX•·#]{4,12}\d{2}(?![\w*]|[.,]\d)|(?<=card )[*xX•·]{1,2} ?\d{4}\b"
)
PHONE_CUE = _ignoring_case(rf"\b{_either('phone_cue')}\b[^\d\n]{{0,25}}$")
PHONE_AFTER = _ignoring_case(r" ?[-(,]? ?(?:office|fax|mobile|cell|home|work|desk)\b")
# National forms that are phone numbers by their shape: 0171 555 0129, (602) 272-9781, 618-226-1460, 555-0197.
PHONE_FORM = re.compile(r"\+|00\d|0\d{1,5}[ .\-/(]|\(\d{1,5}\)|(?:1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}(?:\D|$)|555-\d{4}$")
NO_PHONE = _ignoring_case(rf"(?:{alternation('no_phone')}|#)\W{{0,3}}(?:\w{{1,9}}\W{{1,2}}){{0,2}}$")
VERSION = _ignoring_case(r"(?:\bv|version|release|firmware|build) ?$")

MONTH = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
NTH = r"(?:\d{1,2}(?:st|nd|rd|th)?|(?:twenty-|thirty-)?[a-z]{2,9}(?:st|nd|rd|th))"
DAY = (
    r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}"
    rf"|{NTH}(?: of)? (?:{MONTH})\b\.?(?:,? \d{{4}})?|(?:{MONTH})\.? {NTH}\b(?:,? \d{{4}})?|\d{{8}}\b"
)
# `born before 1961` is an age limit, and nobody's birthday.
BIRTH = _ignoring_case(
    r"\b(?:born|date_?of_?birth|date of birth|d[./]?o[./]?b\b\.?|birth ?dates?|birthday|geburtsdatum|geb\.|(?<!\w)b\.)"
    r"(?!\W{0,3}(?:on or )?(?:before|after|between|since|until|by|later|earlier|from)\b)"
    rf"[^.!?\n\d]{{0,40}}?\b({DAY})"
)
BIRTH_AFTER = _ignoring_case(rf"\b({DAY}) as (?:the|your|his|her) (?:date of birth|birth ?date|dob|birthday)")
LINK = (
    r"(?i:(?: copy| card)?(?: (?:number|numbers|no|nr|id|code|plate))?[.#:]{0,2}"
    r"(?: (?:on (?:file|record)|we (?:have|hold)|ending|you|there))?(?: ?(?:is|are|was|as|=|:|\())?[ \"'#:(]{0,3})"
)
CODE = r"(?=[A-Z0-9 .-]{0,12}\d)[A-Z0-9](?:[ .-]?[A-Z0-9]){4,17}(?![\w])"

CAPITAL = r"[^\W\d_a-z][\w'-]{0,30}\.?"
# A place in an address; only what is short is abbreviated: `St. Ives`, not `Anytown. It …`.
PLACE = r"(?:[^\W\d_a-z][\w']{0,3}\.|[^\W\d_a-z][\w'-]{0,30})"
HOUSE = r"\d{1,6}(?:[a-zA-Z]|(?:[/-]\d{1,4}){1,2}[a-zA-Z]?)?(?!\w)"
PARTICLE = rf"(?:{_streets('particle')} ){{0,3}}"
UNIT = rf"(?i:{_streets('unit')})\.? ?(?:no\.? |#)?\w{{1,6}}(?!\w)"
# What belongs to a street on either side: a flat or a further number before it; flat, town, region, postcode after.
UNIT_BEFORE = re.compile(rf"(?<!\w){UNIT},?\s$")
FURTHER = r"(?<![\w.,/$£€#-])(?:\d{2,6} )?"
# A full stop parts a place from a unit or a postcode; in front of a capital it ends the sentence.
AFTER = (
    r"(?:(?:,|\.?,?\s[>?\s]{0,7})"
    rf"(?:{UNIT}|\d{{3,6}}(?:-\d{{3,4}})?(?![\w/-]|[.,]\d))"
    rf"|(?:,|,?\s[>?\s]{{0,7}})(?:in )?{PARTICLE}{PLACE}){{0,9}}"
)
WORDS = rf"{CAPITAL}(?: {PARTICLE}{CAPITAL}){{0,3}}"

# --- gates ------------------------------------------------------------------------------------------------------------

FIVE_FIGURES = PatternGate(re.compile(r"\d(?:[A-Z .+/-]{0,4}\d){4}"), 12, 60)
LONG_FIGURES = PatternGate(re.compile(r"\d(?:[ ().,/-]{0,3}\d){6}"), 20, 40)
TWELVE_FIGURES = PatternGate(re.compile(r"\d(?:[ -]?\d){11}"), 2, 30)
CODED = PatternGate(re.compile(r"\d[ .-]?\d[ .-]?\d|[A-Z]\d{1,3}[ -]?[A-Z]|\d[A-Z]{1,4}[\d-]"), 90, 60)
ENDING = PatternGate(_words("end last final clos finish back tail"), 40, 90, in_words=True)
MASKS = PatternGate(re.compile(r"[*xX•·#][ -]?\d"), 60, 20)
CARDS = PatternGate(_words("card visa amex maestro jcb discover debit credit"), 20, 40)
BORN = PatternGate(_words("birth born dob d.o.b d/o/b b. geb"), 60, 90, in_words=True)
SPELT_OUT = PatternGate(
    re.compile(rf"(?:{DIGIT})[ ,-]{{1,3}}(?:double[ -]|triple[ -])?(?:{DIGIT}|hundred)\b"), 120, 240, in_words=True
)
HOUSED = PatternGate(re.compile(r"\d[a-zA-Z\d/-]{0,6},?\s[^\W\d_]|[^\W\d_]\.?,? \d"), 90, 140)


def _identity(expression: str, source: str, module: str | None = None) -> DataPattern:
    check = _is_valid(module) if module else None
    return DataPattern("national_id", re.compile(expression), source, FIVE_FIGURES, check)


def _address(expression: str, check: Check | None = None) -> DataPattern:
    source = "Universal Postal Union, addressing systems; street_words.txt"
    return DataPattern("address", re.compile(expression), source, HOUSED, check, whole=True)


STDNUM = "python-stdnum: "
PATTERNS: tuple[DataPattern, ...] = (
    DataPattern(
        "national_id",
        re.compile(rf"\b(?i:{alternation('identity')}){LINK}({CODE})"),
        "named as one",
        CODED,
        _digits_at_least(4),
    ),
    DataPattern(
        "account",
        re.compile(
            rf"\b(?i:{alternation('account')}){LINK}((?=[A-Z0-9-]{{0,8}}\d)[A-Z]{{0,3}}-?\d(?:[ -]?\d){{4,17}})(?![\w])"
        ),
        "named as one",
        CODED,
    ),
    DataPattern(
        "secret", re.compile(rf"\b(?i:{alternation('secret')}){LINK}(\w{{3,20}})\b(?<=\d)"), "named as one", CODED
    ),
    DataPattern(
        "plate",
        re.compile(
            rf"\b(?i:{alternation('vehicle')}){LINK}((?=[A-Z0-9 -]{{0,8}}\d)"
            r"[A-Z]{1,3}[A-Z0-9]{0,2}[ -]?[A-Z0-9]{1,4}(?:[ -][A-Z0-9]{1,4})?)\b(?<=[A-Z0-9])"
        ),
        "named as one",
        CODED,
    ),
    # Where the form is like nothing else there is no check, so that a mistyped number is found as well.
    _identity(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])", "US Social Security Administration"),
    _identity(r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b", "UK HMRC, NIM39110"),
    _identity(r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b", STDNUM + "br.cpf"),
    _identity(r"\b\d{8}-?[A-Z]\b", STDNUM + "es.dni", "es.dni"),
    _identity(r"\b[XYZ]-?\d{7}-?[A-Z]\b", STDNUM + "es.nie", "es.nie"),
    _identity(r"\b[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]\b", STDNUM + "it.codicefiscale"),
    _identity(r"(?<![\w.-])\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}(?![\w-])", STDNUM + "be.nn"),
    _identity(r"(?<![\w.-])756\.\d{4}\.\d{4}\.\d{2}(?!\w)", STDNUM + "ch.ssn"),
    _identity(r"(?<![\w-])784-\d{4}-\d{7}-\d(?![\w-])", "Emirates identity authority"),
    _identity(r"(?<![\w-])\d{6}-[1-4]\d{6}(?![\w-])", STDNUM + "kr.rrn"),
    _identity(r"\b[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d\b", STDNUM + "mx.curp"),
    _identity(r"(?<!\d)[12] \d{2} (?:0[1-9]|1[0-2]) \d[\dAB] \d{3} \d{3}(?: \d{2})?(?! ?\d)", STDNUM + "fr.nir"),
    _identity(r"\b[A-Z]{2,5}9{0,3}\d{6}[A-Z9]{2}\d[A-Z]{2}\b", "UK DVLA, driver number"),
    _identity(
        r"\b[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[A-Z]{2}\d{2}\b",
        "US CMS, Medicare beneficiary identifier",
    ),
    _identity(r"(?<![\w-])\d{6}-\d{2}-\d{4}(?![\w-])", STDNUM + "my.nric", "my.nric"),
    _identity(r"(?<![\w-])\d{6}/\d{3,4}(?![\w/-])", STDNUM + "cz.rc", "cz.rc"),
    _identity(r"(?<![\w-])\d{6} \d{5}(?![\w-])", STDNUM + "no.fodselsnummer", "no.fodselsnummer"),
    _identity(r"(?<!\w)\d{17}[\dX](?!\w)", STDNUM + "cn.ric", "cn.ric"),
    _identity(r"(?<!\w)\d{7}[A-W][A-IW]?(?!\w)", STDNUM + "ie.pps", "ie.pps"),
    _identity(r"(?<![\w-])\d{6}-\d{4}(?![\w-])", STDNUM + "dk.cpr", "dk.cpr"),
    _identity(r"(?<![\w-])(?:\d{2})?\d{6}[-+]\d{4}(?![\w-])", STDNUM + "se.personnummer", "se.personnummer"),
    _identity(r"(?<![\w-])\d{6}[-+A]\d{3}[0-9A-Y](?![\w-])", STDNUM + "fi.hetu", "fi.hetu"),
    _identity(r"(?<!\d)\d{4} \d{4} \d{4}(?! ?\d)", STDNUM + "in.aadhaar", "in.aadhaar"),
    DataPattern("birth_date", BIRTH, "dates as written", BORN),
    DataPattern("birth_date", BIRTH_AFTER, "dates as written", BORN),
    DataPattern(
        "email", EMAIL, "RFC 5322, addr-spec without quoting", PatternGate(re.compile("@"), 64, 320, in_words=True)
    ),
    DataPattern(
        "ip",
        re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]?\d)"),
        "RFC 791",
        PatternGate(re.compile(r"\d\.\d{1,3}\.\d"), 6, 20),
        _is_ipv4,
        unless=VERSION,
    ),
    DataPattern(
        "ip",
        re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,7}(?![\w:])"),
        "RFC 4291",
        PatternGate(re.compile(r":[0-9a-fA-F]{0,4}:[0-9a-fA-F]{0,4}"), 8, 60),
        _is_ipv6,
    ),
    DataPattern(
        "iban",
        re.compile(r"\b[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,3})?\b"),
        "ISO 13616",
        PatternGate(re.compile(r"[A-Za-z]{2}\d{2}"), 2, 60),
        _is_iban,
    ),
    DataPattern(
        "card",
        re.compile(r"(?<![\w.,/$£€-])\d(?:[ -]?\d){11,18}(?![\w-])"),
        "ISO/IEC 7812",
        TWELVE_FIGURES,
        _has_check_digit,
    ),
    DataPattern("account", MASKED, "digits masked", MASKS, _ends("account"), partial=True),
    DataPattern("phone", MASKED, "digits masked", MASKS, _ends("phone"), partial=True),
    DataPattern("national_id", MASKED, "digits masked", MASKS, _ends("national_id"), partial=True),
    DataPattern("card", MASKED, "PCI DSS 3.4, masked card numbers", MASKS, _is_masked_card, partial=True),
    DataPattern("card", TAIL, "PCI DSS 3.4, last four digits", ENDING, _ends("card"), partial=True, whole=True),
    DataPattern("account", TAIL, "last digits", ENDING, _ends("account"), partial=True, whole=True),
    DataPattern("phone", TAIL, "last digits", ENDING, _ends("phone"), partial=True, whole=True),
    DataPattern("national_id", TAIL, "last digits", ENDING, _ends("national_id"), partial=True, whole=True),
    DataPattern("card", NAMED_TAIL, "PCI DSS 3.4, last four digits", CARDS, partial=True, whole=True),
    _address(
        rf"{FURTHER}{HOUSE},? (?:(?:{CAPITAL}|\d{{1,3}}(?:st|nd|rd|th)) {PARTICLE}){{1,4}}"
        rf"(?i:{_streets('after')})\b\.?{AFTER}"
    ),
    _address(rf"{FURTHER}{HOUSE},? (?i:{_streets('before')})\.? {PARTICLE}{WORDS}(?: {HOUSE})?{AFTER}"),
    _address(rf"{FURTHER}(?<!\w)(?i:{_streets('before')})\.? {PARTICLE}{WORDS},? {HOUSE}{AFTER}"),
    _address(
        rf"{FURTHER}(?:{CAPITAL} ){{0,2}}(?<!\w)[^\W\d_a-z][\w-]{{2,25}}{_streets('ending')}\.? "
        rf"{HOUSE}(?!%){AFTER}"
    ),
    _address(rf"{FURTHER}(?<!\w){WORDS} {_streets('own_word')}\.? {HOUSE}{AFTER}"),
    _address(rf"(?<![\w.,/$£€#-])\d{{3,6}} ({WORDS}) {HOUSE}{AFTER}", _is_proper),
    DataPattern(
        "address",
        _ignoring_case(
            r"\b(?:P\.? ?O\.? Box|Postfach|Boîte postale|Apartado) \d{1,7}\b"
            r"|\b(?:PSC|Unit|USS|CMR) \w{1,12},? Box \d{1,6}\b(?:\s{1,3}(?:APO|FPO|DPO) [A-Z]{2}(?: \d{5})?)?"
        ),
        "USPS publication 28",
        PatternGate(_words("box postfach postale apartado"), 30, 60),
    ),
    DataPattern(
        "address",
        re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"),
        "Royal Mail, postcode format",
        PatternGate(re.compile(r"[A-Z]\d[A-Z\d]? \d"), 2, 8),
    ),
    DataPattern(
        "phone",
        re.compile(
            r"(?<![\w.,/$£€#+-])(?:\+|00)?(?:\(0?\d{1,5}\)|\d{1,6})(?:[ .\-/]{0,2}(?:\(\d{1,5}\)|\d{1,5})){1,7}"
            r"(?: ?(?:x|ext\.?|extension) ?\d{1,6})?(?![\w%]|[.,]\d)"
        ),
        "ITU-T E.123",
        LONG_FIGURES,
        _is_phone,
        unless=NO_PHONE,
    ),
    DataPattern(
        "phone",
        re.compile(r"(?<![\w.,/$£€#-])\+?\d{7,15}(?![\w%-]|[.,]\d)"),
        "ITU-T E.164",
        LONG_FIGURES,
        _is_phone,
        unless=NO_PHONE,
    ),
    DataPattern(
        "phone",
        _ignoring_case(
            rf"\b(?:(?:double[ -]|triple[ -])?(?:{DIGIT}|hundred)[ ,-]{{1,3}}){{5,16}}(?:double |triple )?(?:{DIGIT})\b"
        ),
        "digits spelt out",
        SPELT_OUT,
        _is_spelt_phone,
    ),
)
