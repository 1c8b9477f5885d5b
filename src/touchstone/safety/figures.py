"""Checked values and contacts of the reply -> signs of made-up ones, which no source and no policy holds."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.policy import Policy
from touchstone.core.reading import Contact, Reading, Text, Value
from touchstone.core.result import Anchor, Evidence
from touchstone.evidence.derivation import reckons
from touchstone.evidence.equality import comparable, same
from touchstone.evidence.places import attribute
from touchstone.safety.signs import Sign, has_context, is_chat

# Texts with more values are tables; their first values are compared, so that the cost stays linear.
MAX_VALUES = 100
HEDGE_REACH = 60
HEDGES = resource.group("judge_words.txt", "hedge")
NUMBER = re.compile(r"\d[\d.,:]*\d|\d")
RECKONED = re.compile(r"[=×+−÷]|\d ?[*/x] ?\d")
KINDS = ("money", "percent", "duration", "date", "time", "quantity", "number")
MIN_PHONE_TAIL = 6
MAX_CONTACTS = 50
NOUNS = {"link": "link", "email": "e-mail address", "phone": "phone number"}


class Beside(NamedTuple):
    """The source value of the same sort whose surroundings are most like the reply's, and how like they are."""

    likeness: float
    source: Text
    value: Value


def figures(reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy) -> Iterator[Sign]:
    """A sign for every value of the reply that no source states; a question states nothing.

    What follows from stated values is sound where the reply reckons; elsewhere it may be a coincidence.
    """
    reply = reading.reply
    values = {(value.start, value.end): value for value in reply.values[:MAX_VALUES]}
    for anchor in anchors or ():
        value = values.get((anchor.start, anchor.end))
        if value is None or anchor.status == "supported" or _is_asked(reply, value):
            continue
        # The number of entries of a list is counted, not reckoned.
        if anchor.status == "derived" and (not anchor.evidence or _is_worked_out(reply, value)):
            continue
        beside = _beside(reading, value)
        reason, evidence = anchor.reason, anchor.evidence
        if anchor.status == "derived":
            reason = f"no source states {anchor.text}, although it could be {anchor.reason}"
        elif anchor.status == "unsupported" and beside and beside.likeness >= 0.5:
            shown = beside.source.raw[beside.value.start : beside.value.end]
            reason = f"says {anchor.text}; no source does, and {beside.source.name} says {shown} there"
            evidence = (Evidence(beside.source.name, beside.value.start, beside.value.end, shown),)
        yield Sign(
            kind="hallucination",
            rule=f"value.{anchor.status}",
            start=anchor.start,
            end=anchor.end,
            reason=reason,
            inputs=_inputs(reading, value, anchor, beside),
            evidence=evidence,
        )


def _inputs(reading: Reading, value: Value, anchor: Anchor, beside: Beside | None) -> dict[str, float]:
    reply = reading.reply
    sentence = reply.sentence_at(value.start)
    said = (*reading.earlier, *((reading.question,) if reading.question else ()))
    before = reply.raw[max(sentence.start if sentence else 0, value.start - HEDGE_REACH) : value.start].casefold()
    return {
        "beside": beside.likeness if beside else 0.0,
        "comparable": float(beside is not None),
        "exact": float(any(character.isdigit() for character in anchor.text)),
        "hedged": float(not HEDGES.isdisjoint(before.split())),
        "reckoned": float(RECKONED.search(_line(reply, value)) is not None),
        "others_held": _others_held(reply, value, reading),
        "stated_elsewhere": float(_is_stated(value, anchor, reading.contexts)),
        "stated_by_customer": float(_is_stated(value, anchor, said)),
        "chat": float(is_chat(reading)),
        "nothing_given": float(not has_context(reading)),
        **{f"is_{kind}": float(value.kind == kind) for kind in KINDS},
    }


def _is_stated(value: Value, anchor: Anchor, texts: Sequence[Text]) -> bool:
    """Whether a text states the same value, of whatever thing, or the same number in some other unit."""
    digits = NUMBER.search(anchor.text)
    return any(
        any(same(value, other) for other in text.values[:MAX_VALUES])
        or (digits is not None and re.search(rf"(?<![\d.,]){re.escape(digits[0])}(?![\d.,]?\d)", text.raw))
        for text in texts
    )


def _others_held(reply: Text, value: Value, reading: Reading) -> float:
    """How much of what the reply says around the value appears in a passage: a wrong figure is in a right sentence."""
    ours = attribute(reply, value, whole_sentence=True)
    known = frozenset[str]().union(*(source.positions for source in reading.sources or ()))
    return len(ours & known) / len(ours) if ours else 0.0


def _beside(reading: Reading, value: Value) -> Beside | None:
    ours = attribute(reading.reply, value, whole_sentence=True)
    best: Beside | None = None
    for source in reading.sources or ():
        if source.is_said:
            continue
        for other in source.values[:MAX_VALUES]:
            if not comparable(value, other):
                continue
            theirs = attribute(source, other, whole_sentence=True)
            likeness = len(ours & theirs) / len(ours) if ours else 0.0
            if best is None or likeness > best.likeness:
                best = Beside(likeness, source, other)
    return best


def _is_worked_out(reply: Text, value: Value) -> bool:
    """Whether the reply reckons with the value; bare numbers are everywhere, so that for them a sum must be shown."""
    return RECKONED.search(_line(reply, value)) is not None or (value.kind != "number" and reckons(reply, value))


def _line(reply: Text, value: Value) -> str:
    sentence = reply.sentence_at(value.start)
    return reply.raw[sentence.start : sentence.end] if sentence else ""


def _is_asked(reply: Text, value: Value) -> bool:
    return _line(reply, value).rstrip(" \"')").endswith("?")


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
