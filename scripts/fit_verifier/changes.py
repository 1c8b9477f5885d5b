"""A sentence that is right -> the same with one typed change that makes it wrong: number, negation, must for may …

Each change returns None where the sentence has no room for it. A change may borrow from the evidence.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

NUMBER = re.compile(r"(?<![\w.,:/-])\d{1,3}(?:,\d{3})*(?:\.\d+)?(?![\w:/-])")
MODAL = re.compile(r"\b(will|can|may|must|should|is|are|was|were|has to|have to)\b(?! not\b|n't)", re.IGNORECASE)
DENIED = re.compile(
    r"\b(cannot|can't|won't|isn't|aren't|doesn't|don't|(?:is|are|will|can|may|must|should|do|does) not)\b",
    re.IGNORECASE,
)
AFFIRMED = {
    "cannot": "can",
    "can't": "can",
    "won't": "will",
    "isn't": "is",
    "aren't": "are",
    "doesn't": "always",
    "don't": "always",
}
SWAPS: Mapping[str, Mapping[str, str]] = {
    "must_may": {
        "must": "may",
        "have to": "can",
        "need to": "can choose to",
        "required": "optional",
        "mandatory": "optional",
        "may": "must",
        "optional": "required",
        "can": "must",
    },
    "before_after": {
        "before": "after",
        "after": "before",
        "until": "from",
        "within": "after",
        "earlier": "later",
        "later": "earlier",
        "once": "before",
    },
    "scope": {
        "all": "only some",
        "every": "not every",
        "any": "no",
        "only": "not only",
        "both": "neither",
        "always": "sometimes",
        "never": "always",
        "no": "every",
        "none": "all",
        "at least": "at most",
        "at most": "at least",
        "up to": "at least",
        "more than": "less than",
        "less than": "more than",
        "minimum": "maximum",
        "maximum": "minimum",
    },
    "opposite": {
        "free": "charged",
        "included": "excluded",
        "excluded": "included",
        "higher": "lower",
        "lower": "higher",
        "refunded": "charged",
        "charged": "refunded",
        "monthly": "yearly",
        "automatically": "by hand",
        "open": "closed",
        "online": "in branch",
        "with": "without",
        "without": "with",
        "increase": "decrease",
        "allowed": "forbidden",
        "approved": "declined",
        "accepted": "refused",
        "the same day": "a week later",
    },
    "wrong_party": {
        "we": "you",
        "you": "we",
        "the customer": "the bank",
        "the buyer": "the seller",
        "the seller": "the buyer",
        "the owner": "the guest",
        "sender": "recipient",
        "recipient": "sender",
        "landlord": "tenant",
        "tenant": "landlord",
    },
}
LISTED = re.compile(r"\b([A-Z£$€]?[\w£$€.%-]{3,})(,? (?:but not|not|instead of|rather than) )([\w£$€.%-]{3,})\b")
THING = re.compile(r"(?<![\w.,])(?:[£$€]?\d+(?:[.,]\d+)*%?|[A-Z][a-z]{2,})(?![\w%])")
TIMES = re.compile(r"\b(minute|hour|day|week|month|year)(s?)\b")
LONGER = {"minute": "hour", "hour": "day", "day": "week", "week": "month", "month": "week", "year": "month"}


def _number(sentence: str, order: random.Random) -> str | None:
    """Another number of about the same size."""
    found = list(NUMBER.finditer(sentence))
    if not found:
        return None
    match = order.choice(found)
    value = float(match[0].replace(",", ""))
    factor = order.choice((0.5, 0.8, 1.25, 1.5, 2.0, 3.0))
    changed = value * factor if "." in match[0] else max(1.0, round(value * factor))
    changed = value + 1 if changed == value else changed
    places = len(match[0].partition(".")[2])
    return sentence[: match.start()] + f"{changed:,.{places}f}" + sentence[match.end() :]


def _negation(sentence: str, order: random.Random) -> str | None:
    """A verb denied, or a denied one affirmed."""
    denied = DENIED.search(sentence)
    if denied:
        word = denied[0].casefold()
        return sentence[: denied.start()] + AFFIRMED.get(word, word.removesuffix(" not")) + sentence[denied.end() :]
    found = list(MODAL.finditer(sentence))
    if not found:
        return None
    match = order.choice(found)
    word = match[0].casefold()
    plain = {"can": "cannot", "must": "need not", "has to": "does not have to", "have to": "do not have to"}
    return sentence[: match.start()] + plain.get(word, f"{match[0]} not") + sentence[match.end() :]


def _swap(sentence: str, order: random.Random, *, table: Mapping[str, str]) -> str | None:
    """One word of a table for its opposite."""
    found = [match for word in table for match in re.finditer(rf"\b{re.escape(word)}\b", sentence, re.IGNORECASE)]
    if not found:
        return None
    match = order.choice(found)
    new = table[match[0].casefold()]
    new = new[0].upper() + new[1:] if match[0][0].isupper() else new
    return sentence[: match.start()] + new + sentence[match.end() :]


def _exchange(sentence: str, order: random.Random) -> str | None:
    """Two things on either side of a joint change places; `A instead of B`."""
    found = list(LISTED.finditer(sentence))
    if not found:
        return None
    match = order.choice(found)
    return sentence[: match.start()] + match[3] + match[2] + match[1] + sentence[match.end() :]


def _unit(sentence: str, order: random.Random) -> str | None:
    """Another unit of time."""
    found = list(TIMES.finditer(sentence))
    if not found:
        return None
    match = order.choice(found)
    return sentence[: match.start()] + LONGER[match[1]] + match[2] + sentence[match.end() :]


def borrow(sentence: str, evidence: str, order: random.Random) -> str | None:
    """A figure or a name for another one of the evidence: the wrong plan's price, the wrong plan."""
    own, others = list(_things(sentence)), list(_things(evidence))
    known = {text for _, text, _ in own}
    exchanges = [
        (place, text, other)
        for place, text, kind in own
        for _, other, kind_there in others
        if kind == kind_there and other not in known
    ]
    if not exchanges:
        return None
    at, text, other = order.choice(exchanges)
    return sentence[:at] + other + sentence[at + len(text) :]


def _things(text: str) -> Iterator[tuple[int, str, str]]:
    """(where, what, of which kind) of the figures, and of the names that do not begin a sentence."""
    for match in THING.finditer(text):
        before = text[: match.start()].rstrip()
        if match[0][-1].isdigit() or match[0][-1] == "%":
            yield match.start(), match[0], match[0].strip("0123456789.,") or "figure"
        elif before and before[-1] not in ".:;!?•-":
            yield match.start(), match[0], "name"


Change = Callable[[str, random.Random], str | None]
CHANGES: Mapping[str, Change] = {
    "number": _number,
    "negation": _negation,
    "exchange": _exchange,
    "unit": _unit,
    **{name: partial(_swap, table=table) for name, table in SWAPS.items()},
}
