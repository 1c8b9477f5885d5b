"""The case's texts -> what is known of personal data: said in the chat, published, or held in a person's record."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from touchstone.core import resource
from touchstone.core.policy import Policy
from touchstone.core.reading import Dates, Measure, Reading, Text
from touchstone.core.result import Evidence
from touchstone.safety.personal_data.patterns import expression, figures, is_common
from touchstone.safety.personal_data.recognise import Datum, announced, is_given_name, recognise
from touchstone.text.normalise import normalise

IDENTIFYING = ("birth_date", "national_id", "card", "plate")
FIGURES = ("phone", "card", "account", "iban", "national_id", "secret", "plate")
ASKED_FOR = ("address", "email", "phone", "birth_date")
NEAR = 60
MAX_RECORDED = 300


@dataclass(frozen=True, slots=True)
class Recorded:
    """A person's datum in a record."""

    passage: Text
    datum: Datum

    @property
    def other(self) -> str | None:
        """Who it belongs to where the record names somebody else than the customer: a driver, seller, neighbour …"""
        text = normalise(self.passage.raw).text
        found = expression("third_party").search(text, max(0, self.datum.start - NEAR), self.datum.start)
        return found[1].casefold() if found else None

    @property
    def evidence(self) -> Evidence:
        start, end = normalise(self.passage.raw).span(self.datum.start, self.datum.end)
        return Evidence(self.passage.name, start, end, self.passage.raw[start:end])


@dataclass(frozen=True, slots=True)
class Background:
    """What the chat said, what may be told, and the persons' data among the passages.

    `identified`: the customer gave in the chat what their looked-up record holds.
    """

    said: tuple[Text, ...]
    passages: tuple[Text, ...]
    published: tuple[str, ...]
    policy: Policy
    recorded: tuple[Recorded, ...]
    identified: bool

    def may_tell(self, datum: Datum, shown: str) -> bool:
        """Whether the chat, the policy or a passage for everybody has it already."""
        told = (*(text.raw for text in self.said), *self.published)
        if any(holds(text, datum, shown) for text in told) or self._is_companys(datum, shown):
            return True
        passages = (text.raw for text in self.passages)
        return any(not is_record(raw) and datum not in personal(raw) and holds(raw, datum, shown) for raw in passages)

    def in_record(self, datum: Datum) -> Recorded | None:
        """The record that holds it; somebody else's before the customer's own."""
        held = [recorded for recorded in self.recorded if _is_same(datum, recorded.datum)]
        return next((recorded for recorded in held if recorded.other), held[0] if held else None)

    def is_own(self, datum: Datum, shown: str, line: str) -> bool:
        """Whether it is in what was looked up for an identified customer, as theirs, and there is need to say it.

        What the profile holds is not recited: the customer spoke of it, or the line says what it is for.
        """
        recorded = self.in_record(datum)
        if not self.identified or (recorded and recorded.other):
            return False
        # A looked-up record that is about a person.
        keys = [fact.key for fact in recorded.passage.facts] if recorded and datum.kind in ASKED_FOR else []
        if any(map(expression("profile_key").search, keys)) and not expression("needed").search(line):
            asked = [text for text in self.said if text.speaker == "customer"]
            return any(expression(f"asked_{datum.kind}").search(text.raw) for text in asked)
        return recorded is not None or any(holds(text.raw, datum, shown) for text in self.passages)

    def _is_companys(self, datum: Datum, shown: str) -> bool:
        low = shown.casefold()
        if datum.kind == "email":
            domain = datum.key.partition("@")[2]
            return any(f".{domain}".endswith(f".{own.casefold()}") for own in self.policy.domains) or any(
                contact.casefold() == datum.key for contact in self.policy.contacts
            )
        if datum.kind == "phone":
            return any(_same_number(datum.key, figures(contact)) for contact in self.policy.contacts)
        if datum.kind == "name":
            return low in (self.policy.company or "").casefold()
        return any(low in contact.casefold() for contact in self.policy.contacts)


def background(reading: Reading, policy: Policy) -> Background:
    """The case's texts sorted into what was said in the chat and what the drafting model was given."""
    recorded = (Recorded(passage, datum) for passage in reading.contexts for datum in personal(passage.raw))
    return Background(
        said=_said(reading),
        passages=reading.contexts,
        published=(reading.expected.raw,) if reading.expected else (),
        policy=policy,
        recorded=tuple(islice(recorded, MAX_RECORDED)),
        identified=is_identified(reading),
    )


def _said(reading: Reading) -> tuple[Text, ...]:
    return (*reading.earlier, *((reading.question,) if reading.question else ()))


def is_identified(reading: Reading) -> bool:
    """Whether the customer gave what a record of theirs holds: e-mail, phone, customer number, or name and birth date.

    Any other reference identifies only who was looked up by it in the course of a chat: whoever holds a parcel can read
    out its number.
    """
    said, passages, in_chat = _said(reading), reading.contexts, bool(reading.earlier)
    looked_up = [passage for passage in passages if expression("lookup").match(passage.raw)]
    records = looked_up or ([passage for passage in passages if is_record(passage.raw)] if in_chat else [])
    held = " ".join(passage.raw for passage in records)
    references = {number for text in said for number in expression("reference").findall(text.raw) if number in held}
    if references and looked_up and (in_chat or not references.isdisjoint(expression("customer_number").findall(held))):
        return True
    data = [datum for text in said for datum in recognise(normalise(text.raw).text)]
    if any(datum.kind in ("email", "phone") and holds(held, datum, datum.key) for datum in data):
        return True
    named = any(datum.kind == "name" and not datum.partial and holds(held, datum, datum.key) for datum in data)
    return named and (bool(references) or not _dates(said).isdisjoint(_dates(records)))


def _dates(texts: Iterable[Text]) -> set[Measure | Dates]:
    return {day for text in texts for value in text.values if value.kind == "date" for day in value.readings}


@lru_cache(maxsize=512)
def is_record(raw: str) -> bool:
    """Does the passage speak of one person or one order, instead of telling everybody?"""
    text = normalise(raw).text
    if expression("lookup").match(text) or expression("numbered_record").match(text):
        return True
    if expression("public").match(text):
        return False
    data = recognise(text)
    if expression("headed_record").match(text) or any(
        datum.kind in IDENTIFYING and not _is_example(text, datum) for datum in data
    ):
        return True
    return any(_is_told_of(text, datum) for datum in data if datum.kind == "name")


def _is_told_of(text: str, name: Datum) -> bool:
    """Whether a passage says something about this person, instead of naming its own people among its rules."""
    if expression("staff").search(text, max(0, name.start - NEAR), name.start) or expression("rule").search(
        text, 0, name.start
    ):
        return False
    return announced(text, name.start) or (not name.partial and is_given(name))


@lru_cache(maxsize=512)
def personal(raw: str) -> tuple[Datum, ...]:
    """The data of a passage that belong to a person; the rest is meant for everybody."""
    text = normalise(raw).text
    record = is_record(raw)
    return tuple(datum for datum in recognise(text) if _is_personal(text, datum, record=record))


def _is_personal(text: str, datum: Datum, *, record: bool) -> bool:
    if datum.kind == "email":
        return (record or is_free_mail(datum.key)) and not is_role_mailbox(datum.key)
    if not record or _is_example(text, datum):
        return False
    if datum.kind == "name":
        in_heading = text.startswith("):", datum.end)
        return (
            (is_given(datum) or not datum.partial)
            and not in_heading
            and not expression("staff").search(text[: datum.start][-NEAR:])
        )
    if datum.kind in IDENTIFYING:
        return True
    return not (is_companys(text, datum) or (datum.kind == "phone" and is_service_line(text[datum.start : datum.end])))


def clause_before(text: str, datum: Datum) -> str:
    """What comes just before in the same clause: that much is about this datum."""
    return re.split(r"(?:[.!?;\n]|\):)(?:\s|$)", text[max(0, datum.start - NEAR) : datum.start])[-1]


def is_companys(text: str, datum: Datum) -> bool:
    """Is it offered as a way to reach a company or a public office, and not as a person's?"""
    clause = clause_before(text, datum)
    return bool(expression("company_side").search(clause)) and not expression("person_side").search(clause)


def is_role_mailbox(address: str) -> bool:
    """support@, returns-eu@: an address that a company publishes; RFC 2606's domains are nobody's."""
    local, _, _ = address.partition("@")
    roles = resource.group("personal_cues.txt", "role_mailbox")
    placeholder = local in ("john.doe", "jane.doe", "johndoe", "janedoe")
    return (
        placeholder or local in roles or is_common(local) or any(word in roles for word in re.split(r"[._+-]+", local))
    )


def is_free_mail(address: str) -> bool:
    """A mailbox anybody can have."""
    return address.partition("@")[2].partition(".")[0] in resource.group("personal_cues.txt", "free_mail")


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


def is_given(name: Datum) -> bool:
    """Is the first word a first name, and hardly anything else?"""
    return is_given_name(name.key.partition(" ")[0])


def holds(text: str, datum: Datum, shown: str) -> bool:
    """Does the text contain the same data, however it is written there?"""
    normal = normalise(text).text
    if datum.kind != "birth_date" and any(_is_same(datum, other) for other in recognise(normal)):
        return True
    low = normal.casefold()
    if datum.kind in FIGURES and datum.key.isdigit():
        joined = re.findall(r"\d{2,24}", re.sub(r"(?<=[\d)])[ ().-]{1,3}(?=[\d(])", "", low))
        if datum.partial:
            return any(number.endswith(datum.key) for number in joined)
        return any(
            _same_number(datum.key, number) if datum.kind == "phone" else number == datum.key for number in joined
        )
    if datum.kind == "name":
        words = set(re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", low.replace("'s", "")))
        return all(word in words or len(word) == 1 or _in_mailbox(word, low) for word in datum.key.split())
    if datum.kind == "address":
        wanted, words = datum.key.split(), set(re.findall(r"\w+", low))
        house = next((word for word in wanted if word[0].isdigit()), wanted[0])
        return house in words and sum(word in words for word in wanted) >= min(3, 0.6 * len(wanted))
    if datum.kind == "birth_date":
        parts = re.findall(r"[a-z]{3,}|\d+", shown.casefold())
        return set(re.findall(r"[a-z]{3,}|\d+", low)).issuperset(parts)
    return datum.key in low or datum.key in re.sub(r"[ .-]", "", low)


def _in_mailbox(word: str, low: str) -> bool:
    name = re.escape(word)
    return len(word) > 3 and re.search(rf"{name}[\w.]{{0,30}}@|@[\w-]{{0,30}}{name}", low) is not None


def _is_same(one: Datum, other: Datum) -> bool:
    """Are both the same data, as far as they are written?"""
    if one.kind in FIGURES and other.kind in FIGURES:
        if one.partial or other.partial:
            return one.key[-4:] == other.key[-4:]
        return one.key == other.key or (one.kind == "phone" and _same_number(one.key, figures(other.key)))
    if one.kind != other.kind:
        return False
    mine, theirs = one.key.split(), other.key.split()
    if one.kind == "name":
        return {word for word in mine if len(word) > 1} <= set(theirs)
    if one.kind == "address":
        shared = set(mine) & set(theirs)
        return any(word[0].isdigit() for word in shared) and any(word.isalpha() for word in shared)
    return one.key == other.key


def _is_example(text: str, datum: Datum) -> bool:
    return expression("example").search(text, max(0, datum.start - NEAR), datum.start) is not None


def _same_number(one: str, other: str) -> bool:
    """Equal up to a country code or a leading zero."""
    size = min(len(one.lstrip("0")), len(other.lstrip("0")), 7)
    return size >= 3 and one[-size:] == other[-size:]
