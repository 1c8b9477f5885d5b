"""Links, e-mail addresses and phone numbers of the reply that no source and no policy holds -> signs."""

import re
from collections.abc import Iterator

from touchstone.core.policy import Policy
from touchstone.core.reading import Contact, Reading
from touchstone.core.result import Anchor
from touchstone.safety.signs import Sign, is_chat

MIN_PHONE_TAIL = 6
MAX_CONTACTS = 50
NOUNS = {"link": "link", "email": "e-mail address", "phone": "phone number"}


def contacts(reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy) -> Iterator[Sign]:
    """A sign for each way of contact that nobody gave the reply; without any source nothing can be called made up."""
    if reading.sources is None:
        return
    texts = (*reading.sources, *((reading.expected,) if reading.expected else ()))
    held = [contact for text in texts for contact in text.contacts]
    given = [text.raw.casefold() for text in texts]
    listed = [entry.casefold() for entry in (*policy.domains, *policy.contacts)]
    for contact in reading.reply.contacts[:MAX_CONTACTS]:
        if any(_same(contact, other) for other in held) or _is_given(contact, given, listed):
            continue
        shown = reading.reply.raw[contact.start : contact.end]
        near = next((o for o in held if o.kind == contact.kind), None)
        hint = f"; the sources give {near.canonical}" if near else ""
        yield Sign(
            kind="hallucination",
            rule="contact.unknown",
            start=contact.start,
            end=contact.end,
            reason=f"no source holds the {NOUNS[contact.kind]} {shown}{hint}",
            inputs={
                # A host without a path is often the name of a company: monday.com.
                "bare_host": float(contact.kind == "link" and "/" not in contact.canonical),
                "other_known": float(near is not None),
                "chat": float(is_chat(reading)),
            },
        )


def _same(contact: Contact, other: Contact) -> bool:
    if contact.kind == "phone":
        return other.kind == "phone" and _tail(contact.canonical) == _tail(other.canonical)
    ours, theirs = contact.canonical, other.canonical
    return ours == theirs or (contact.kind == "link" and other.kind == "link" and theirs.startswith(f"{ours}/"))


def _tail(digits: str) -> str:
    """A number without its country or trunk prefix."""
    return digits.lstrip("0")[-9:] if len(digits) > MIN_PHONE_TAIL else digits


def _is_given(contact: Contact, given: list[str], listed: list[str]) -> bool:
    canonical = contact.canonical.strip("*_")
    if contact.kind == "phone":
        digits = [re.sub(r"\D", "", text) for text in (*given, *listed)]
        return any(_tail(canonical) in text for text in digits)
    host = canonical.split("@")[-1].split("/")[0]
    if canonical in listed or any(canonical in text for text in given):
        return True
    on_host = any(host == entry or host.endswith(f".{entry}") for entry in listed)
    if contact.kind == "email":
        # The company's domain backs an address only where no address of it is published.
        return on_host and not any(f"@{host}" in text for text in (*given, *listed))
    return on_host or ("/" not in canonical and any(host in text for text in given))
