"""Words around a piece of data -> whose it is: a company's or public office's, a person's, or an example."""

import re

from touchstone.core import resource
from touchstone.safety.personal_data.datum import Datum
from touchstone.safety.personal_data.lexicon import either, is_common
from touchstone.safety.personal_data.recognise import preceding

# `call us on`, `our store at`, `return it to`: offered to everybody.
COMPANY_SIDE = re.compile(rf"\b(?:{either('company_side')})\b", re.IGNORECASE)
# `her mobile is`, `the address on file`, `delivered to`: one person's.
PERSON_SIDE = re.compile(
    rf"\b(?:{either('person_side')})\b|(?:'s|s') (?:number|mobile|phone|e-?mail|address)\b", re.IGNORECASE
)
# The noun of a record's field, directly before the data.
PERSON_LABEL = re.compile(
    rf"\b(?:{either('field')})\b\W{{0,3}}(?:is |on file |number |no |named |called )?\W{{0,2}}"
    r"(?:Mr\.? |Mrs\.? |Ms\.? |Dr\.? )?$",
    re.IGNORECASE,
)
EXAMPLE = re.compile(rf"(?:{either('example')})(?:[^.!?]|[.!?](?!\s)){{0,80}}$", re.IGNORECASE)
STAFF = re.compile(
    rf"\b(?:{either('staff')})\.?,? (?:is |will be |called |named )?(?:Dr\.? |Mr\.? |Ms\.? |Mrs\.? )?$", re.IGNORECASE
)
# `Ms Okafor, Head of Year 8`.
STAFF_AFTER = re.compile(rf",? (?:the |our |your )?(?:{either('staff')})\b", re.IGNORECASE)
# A work and its maker: `'Marsh Country' by Eleanor …`.
AUTHOR = re.compile(
    rf"(?:['\"]|\b(?:book|novel|song|album|film|play|painting|(?:{either('made')})(?: and (?:{either('made')}))?"
    r"|[A-Z]\w{1,20})) by $"
)
NATIONAL_MOBILE = re.compile(
    r"07\d{3}[ -]?\d{3}[ -]?\d{3}$|04\d{2}[ -]?\d{3}[ -]?\d{3}$|0[67](?:[ .]\d\d){4}$|06-?\d{8}$"
)
NEAR = 60


def clause_before(text: str, datum: Datum) -> str:
    """What stands just before in the same clause, after the last name: that much is about this datum."""
    named = next((other.end for other in preceding(text, datum, within=NEAR) if other.kind == "name"), 0)
    return re.split(r"[.!?;\n](?:\s|$)", text[max(0, named, datum.start - NEAR) : datum.start])[-1]


def is_companys(text: str, datum: Datum) -> bool:
    """Is it offered as a way to reach a company or a public office, and not as a person's?"""
    clause = clause_before(text, datum)
    return bool(COMPANY_SIDE.search(clause)) and not PERSON_SIDE.search(clause)


def is_role_mailbox(address: str) -> bool:
    """support@, returns-eu@, hello@: an address that a company publishes."""
    local = address.partition("@")[0]
    roles = resource.group("personal_cues.txt", "role_mailbox")
    return local in roles or is_common(local) or any(word in roles for word in re.split(r"[._+-]+", local))


def is_service_line(shown: str) -> bool:
    """Freephone, shared-cost, premium and company-wide numbers are no person's."""
    import phonenumbers

    region = None if shown.startswith("+") else ("US" if re.match(r"\(?1?[ .-]?8\d\d", shown) else "GB")
    try:
        number = phonenumbers.parse(shown, region)
    except phonenumbers.NumberParseException:
        return False
    kinds = phonenumbers.PhoneNumberType
    return phonenumbers.number_type(number) in (kinds.TOLL_FREE, kinds.SHARED_COST, kinds.PREMIUM_RATE, kinds.UAN)


def is_mobile(shown: str) -> bool:
    """A number of a mobile network, as far as its form tells: +49 176 …, 07700 …, 04xx …, 06 …."""
    import phonenumbers

    if not shown.startswith(("+", "00")):
        return NATIONAL_MOBILE.match(shown) is not None
    try:
        number = phonenumbers.parse(f"+{shown.removeprefix('00').lstrip('+')}", None)
    except phonenumbers.NumberParseException:
        return False
    return bool(phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.MOBILE)


def holds_name(address: str) -> bool:
    """anna.kovacs@, ebell82@ …: a mailbox called after a person."""
    words = [word for word in re.split(r"[\W\d_]+", address.partition("@")[0]) if len(word) > 2]
    given = resource.words("given_names.txt")
    doubtful = resource.words("name_lookalikes.txt")
    return len(words) > 1 and any(word in given and word not in doubtful for word in words)


def is_free_mail(address: str) -> bool:
    """A mailbox anybody can have."""
    return address.partition("@")[2].partition(".")[0] in resource.group("personal_cues.txt", "free_mail")


def is_placeholder(address: str) -> bool:
    """The domains of RFC 2606 and the names people fill in for nobody."""
    local, _, domain = address.partition("@")
    return domain in ("example.com", "example.org", "example.net") or local in (
        "john.doe",
        "jane.doe",
        "johndoe",
        "janedoe",
    )
