"""A passage -> the personal data in it that are one person's; what is told to everybody is left out."""

import re
from functools import lru_cache

from touchstone.safety.personal_data.datum import Datum
from touchstone.safety.personal_data.lexicon import either, is_given_name
from touchstone.safety.personal_data.ownership import (
    AUTHOR,
    EXAMPLE,
    PERSON_LABEL,
    STAFF,
    holds_name,
    is_companys,
    is_free_mail,
    is_placeholder,
    is_role_mailbox,
    is_service_line,
)
from touchstone.safety.personal_data.recognise import recognise
from touchstone.text.normalise import normalise

# `Order GF-55071 …:`, `Case N-218`: a passage that opens with one thing's own number speaks of that thing.
NUMBERED = re.compile(
    r"^\W{0,3}(?:(?:[A-Z][\w-]{0,20} ){1,3}[#(]{0,2}\d{2,12}|(?:[A-Z][\w-]{0,20} ){0,3}[#(]{0,2}"
    r"(?=[\w-]{0,12}\d[\w-]{0,12}\d)[\w-]{4,16})\b[^.\n]{0,60}?[:;,(]"
)
RECORD_HEADING = re.compile(
    rf"\b(?:{either('record_of')})(?:'s)? (?:{either('record_word')})\b[^.:]{{0,40}}:", re.IGNORECASE
)
# A heading is no longer than this.
HEADING_REACH = 80
HEADED = re.compile(
    rf"\W{{0,3}}(?:{either('record_alone')})\b[^.:]{{0,30}}:"
    rf"|\W{{0,3}}(?:\w{{2,20}} )?(?:{either('record_single')})(?: [\w/-]{{0,12}}\d[\w-]{{0,6}})? ?[(:,]",
    re.IGNORECASE,
)
# `Job entry: …`, `Incident sheet: …`: what somebody wrote down of one case.
WRITTEN = re.compile(
    r"^\W{0,3}(?!(?:price|size|wine|packing|parts|product|spec\w*|data|check) )(?:[\w'-]{2,20} ){1,2}"
    r"(?:entry|sheet|list|export|notes?|log|data|file|extract|register|roster|slip|report)\b[^.:;\n]{0,30}:"
)
# `Team (Hartwell): …`, `Courses: …`: whoever is named there is named to everybody.
PUBLIC = re.compile(
    rf"^\W{{0,3}}(?:\w{{2,20}} ){{0,2}}(?:{either('public_head')})(?: page| list)? ?[(:]", re.IGNORECASE
)
# `Cards are posted within …`, `we don't …`: a passage that lays down how things are done is meant for everybody.
RULE = re.compile(
    r"\b(?:are|can|cannot|can't|may|must|[Ww]e|[Oo]ur|your|never|[Oo]nly|needs?|per|every|each|go(?:es)? to|run by)\b"
)
# `Visit 3 (Fibrelane): …`: whose the passage is, and what follows may be of one person.
TITLED = re.compile(r"^[^.\n]{0,60}\([^)]{2,50}\) ?:")
FULL_STOP = re.compile(r"[a-z)\d][.;] ")
COMPANY = re.compile(r"\(([^)]{2,50})\)")
# `changed by +1 917 …`, `from 0701 …`: who did it.
DONE_BY = re.compile(r"\b(?:by|from)(?: account| card| iban)? $", re.IGNORECASE)
# `2 × Ashley Grey 118`: goods bear names too.
GOODS = re.compile(r" \d{1,4}(?:[.,]\d\d)?\b(?![ -]?\d)")
LOGIN = re.compile(
    r"\b(?:last (?:login|seen|active)|(?:log|logged|sign|signed)[- ]?in|sessions?|logins|(?:audit|access) log)\b",
    re.IGNORECASE,
)
# Kinds that the noun before them, or their very form, ties to one person; the others may be the company's own.
OF_ONE_PERSON = ("birth_date", "national_id", "card", "plate")
# A passage that tells these speaks of one person, whose contacts stand there too.
IDENTIFYING = ("birth_date", "national_id")
CONTACTS = ("phone", "email", "address")
# Shops bear persons' names: `sold through John Lewis`.
TRADE = re.compile(
    r"\b(?:sold(?! to\b)|stocked|available|buy|bought|stores?|retailers?|stockists?|brands?|partners?|through|via)\b",
    re.IGNORECASE,
)
# Labels that no rule gives its own people.
HELD = re.compile(
    r"\b(?:buyer|recipient|sender|tenant|guest|patient|customer|client|borrower|bidder|subscriber|policyholder"
    r"|cardholder|delivered to|shipped to|sold to|placed by|booked by|paid by|registered to|lives (?:in|at))\W{1,3}"
    r"(?:is |named |called )?(?:Mr\.? |Mrs\.? |Ms\.? )?$",
    re.IGNORECASE,
)
NEAR = 60
HEADING = 120


@lru_cache(maxsize=512)
def personal(raw: str) -> tuple[Datum, ...]:
    """The data of a passage that belong to a person; the rest is meant for everybody."""
    text = normalise(raw).text
    data = recognise(text)
    return tuple(datum for datum in data if _is_personal(text, datum, data))


@lru_cache(maxsize=512)
def is_record(raw: str) -> bool:
    """Does the passage speak of one person or one order, instead of telling everybody?"""
    text = normalise(raw).text
    return bool(_is_headed(text) or personal(raw))


@lru_cache(maxsize=512)
def _is_headed(text: str) -> bool:
    colons = (at for at, char in enumerate(text) if char == ":")
    return bool(
        HEADED.match(text)
        or any(RECORD_HEADING.search(text, max(0, colon - HEADING_REACH), colon + 1) for colon in colons)
        or NUMBERED.search(text)
        or WRITTEN.search(text)
    )


@lru_cache(maxsize=512)
def _is_public(text: str) -> bool:
    return bool(PUBLIC.search(text) and not _is_headed(text))


@lru_cache(maxsize=512)
def _is_general(text: str) -> bool:
    """Does the passage lay down rules, and tell no one person's papers: whom it names there works for the company."""
    data = recognise(text)
    if _is_headed(text) or any(datum.kind in OF_ONE_PERSON for datum in data):
        return False
    persons = (
        datum.start for datum in data if not (datum.partial if datum.kind == "name" else is_companys(text, datum))
    )
    first = next(persons, len(text))
    stated = FULL_STOP.search(text, 0, first) is not None and not TITLED.search(text, 0, HEADING)
    return stated or RULE.search(text, 0, first) is not None


def _is_own(text: str, address: str) -> bool:
    """Does the mailbox stand under the name of the company that the passage's heading gives?"""
    company = COMPANY.search(text, 0, HEADING)
    if company is None:
        return False
    domain = re.sub(r"[\W_]", "", address.partition("@")[2].rpartition(".")[0])
    words = [word for word in re.findall(r"[^\W\d_]+", company[1].casefold()) if len(word) > 2]
    return any(word in domain for word in words[:2])


def _is_personal(text: str, datum: Datum, data: tuple[Datum, ...]) -> bool:
    before = text[max(0, datum.start - NEAR) : datum.start]
    if EXAMPLE.search(before):
        return False
    if datum.kind in OF_ONE_PERSON or (datum.kind == "account" and datum.partial):
        return True
    if _is_general(text):
        return (datum.kind == "email" and is_free_mail(datum.key)) or HELD.search(before) is not None
    if datum.kind == "name":
        shown = STAFF.search(before) or AUTHOR.search(before) or GOODS.match(text, datum.end)
        return not shown and _is_sure(text, datum, data)
    if datum.kind == "ip":
        return bool(LOGIN.search(text) or _is_headed(text))
    if datum.kind == "email" and (is_role_mailbox(datum.key) or is_placeholder(datum.key) or is_free_mail(datum.key)):
        return not is_role_mailbox(datum.key) and not is_placeholder(datum.key)
    if PERSON_LABEL.search(before) or (datum.kind in ("phone", "iban", "account") and DONE_BY.search(before)):
        return True
    if _is_public(text):
        return False
    if datum.kind == "email" and not _is_own(text, datum.key) and (holds_name(datum.key) or _is_headed(text)):
        return True
    if is_companys(text, datum) or (datum.kind == "phone" and is_service_line(text[datum.start : datum.end])):
        return False
    if _is_headed(text):
        return True
    telling = IDENTIFYING if datum.kind in CONTACTS else OF_ONE_PERSON
    if any(o.kind in telling or (datum.kind not in CONTACTS and o.kind == "account" and o.partial) for o in data):
        return True
    named = (other for other in data if other.kind == "name" and (is_given(other) or not other.partial))
    return any(_leads_to(text, other, datum) for other in named if not _is_heading(text, other))


def _is_sure(text: str, datum: Datum, data: tuple[Datum, ...]) -> bool:
    """A name that a title, a role, contacts or a record tie to a person; shops and places bear names too."""
    given = is_given(datum)
    before = text[max(0, datum.start - NEAR) : datum.start]
    if re.search(r"\b(?:Mr|Mrs|Ms|Miss|Mx)\.? $", before) or PERSON_LABEL.search(before):
        return True
    if _is_heading(text, datum) or _is_public(text):
        return False
    if not datum.partial and (given or _is_headed(text)) and not TRADE.search(before):
        return True
    return (given or not datum.partial) and any(
        other.kind in CONTACTS and _leads_to(text, datum, other) and not is_companys(text, other) for other in data
    )


def _is_heading(text: str, name: Datum) -> bool:
    """`Contact (Saltmarsh BS): …`: the company in a passage's heading."""
    return text.startswith("):", name.end)


def is_given(name: Datum) -> bool:
    """Is the first word a first name, and hardly anything else?"""
    return is_given_name(name.key.partition(" ")[0])


def _leads_to(text: str, name: Datum, contact: Datum) -> bool:
    """`Marek Solano, 31 Wicker St`: the contact follows in the same sentence."""
    if not 0 <= contact.start - name.end <= NEAR or (contact.kind == "email" and is_role_mailbox(contact.key)):
        return False
    return not re.search(r"[.!?]\s", text[name.end : contact.start]) and not STAFF.search(text[: name.start][-NEAR:])
