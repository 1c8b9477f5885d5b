"""A commitment's words and values -> what it gives away or brings about: refund, credit, repair, approval."""

from touchstone.core.reading import Text, Token, Value
from touchstone.safety.phrasebook import Hit, book, find, stems
from touchstone.safety.promise.markers import CUSTOMER, Marker
from touchstone.text.tokens import term

TABLE = "promises.txt"
# What a company gives away, and what it brings about.
GIFTS = ("refund", "credit", "free", "discount", "replacement", "upgrade", "extension", "cover", "exception")
DEEDS = ("arrival", "repair", "approval", "release", "recurrence")
SUM = "sum"
MONEY = frozenset("money cash amount sum payment balance payout".split())
GETTING = frozenset(
    term(w) for w in "get receive have give pay add put send see count credit transfer offer be".split()
)
BACK = frozenset("back return returned returning".split())
# What the customer sends back is no money.
REPLYING = frozenset("come get write be gets comes".split())
ASKED_REACH = 4
SENDING = frozenset("send sending sent".split())


def find_kinds(reply: Text, marker: Marker, start: int, end: int, values: tuple[Value, ...]) -> frozenset[str]:
    hits = find(book(TABLE, *GIFTS, *DEEDS, SUM, "none"), reply.tokens, start, end)
    kinds = {hit.head for hit in hits if not (hit.head in GIFTS and _is_asked(reply.tokens, hit, start, end))} - {
        "none"
    }
    answers = not any(v.kind == "money" for v in values) and _answers(reply, marker, start, end)
    if answers:
        kinds.discard(SUM)
    if any(v.kind == "percent" and reply.raw[v.end : v.end + 5].strip().startswith("off") for v in values):
        kinds.add("discount")
    handed = reply.tokens[marker.verb].term in GETTING or reply.tokens[marker.first].word in ("is", "are")
    paid = handed and any(v.kind == "money" for v in values)
    if paid or (not kinds and any(token.word in MONEY for token in reply.tokens[start:end])):
        kinds.add(SUM)
    composed = _composed(reply, marker, start, end, values)
    return frozenset(kinds | (composed - {"refund"} if answers else composed))


def _is_asked(tokens: tuple[Token, ...], hit: Hit, start: int, end: int) -> bool:
    """ "A decision on reimbursement", "open a refund claim", "asked for an upgrade": what is asked is not yet given."""
    asking = stems(TABLE, "asking")
    if hit.last < end and tokens[hit.last].term in asking:
        return True
    before = tokens[max(start, hit.first - ASKED_REACH) : hit.first]
    return any(
        token.term in asking and before[at + 1].word in ("on", "for", "of", "about", "whether")
        for at, token in enumerate(before[:-1])
    )


def _answers(reply: Text, marker: Marker, start: int, end: int) -> bool:
    """ "They'll come back to you", with an answer; "it will come back to you" is money."""
    tokens = reply.tokens
    subject = {tokens[marker.first].word, tokens[max(marker.first - 1, 0)].word}
    if {"it", "it'll", "that", "that'll", "which"} & subject:
        return False
    return any(
        tokens[at].word == "back" and tokens[at + 1].word == "to" and tokens[at - 1].word in REPLYING
        for at in range(start + 1, end - 1)
    )


def _composed(reply: Text, marker: Marker, start: int, end: int, values: tuple[Value, ...]) -> set[str]:
    """Kinds told by two words apart: money that comes back, a charge that is dropped, a sum that comes off."""
    unit = reply.tokens[start:end]
    words, terms = {token.word for token in unit}, {token.term for token in unit}
    money = any(v.kind == "money" for v in values)
    due = bool(terms & stems(TABLE, "due"))
    kinds: set[str] = set()
    sent = any(token.word in BACK and unit[at - 1].word in SENDING for at, token in enumerate(unit) if at)
    if words & BACK and not sent and (money or due or words & MONEY):
        kinds.add("refund")
    if terms & stems(TABLE, "shed") and due:
        kinds.add("free")
    if "off" in words and money:
        kinds.add("discount")
    if "never" in words and "again" in words and not words & CUSTOMER:
        kinds.add("recurrence")
    return kinds
