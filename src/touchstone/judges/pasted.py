"""Body of a reply -> the passage that it repeats word for word, if it does, and whether that speaks to the customer.

A page for customers may be quoted; staff notes, a record or a rule in the third person is no answer to anybody. Among
the labelled replies there are hardly any copies, so that of one that does speak to customers the judge knows nothing.
"""

import re

from touchstone.core.reading import Reading, Text

# Word runs of this length are shared only by copies.
RUN = 5
MIN_WORDS = 12
COPIED = 0.8
CUSTOMER = re.compile(r"\b(?:you|your|yours|yourself|you'(?:re|ll|ve|d)|we'll|i'll|i've|i'm|let me)\b", re.IGNORECASE)
STAFF = re.compile(
    r"\b(?:the|a|any|every|all|each) (?:customer|client|caller|guest|patient|member|passenger|tenant|user)s?\b"
    r"|\b(?:customers|callers|agents?|staff|advisers|advisors|representatives)\b",
    re.IGNORECASE,
)


def pasted_passage(body: Reading) -> str | None:
    """The name of the passage that most of the body is copied from; what the expected reply says too is no copy."""
    runs = _runs(body.reply)
    if len(body.reply.tokens) < MIN_WORDS:
        return None
    if body.expected and len(runs & _runs(body.expected)) >= COPIED * len(runs):
        return None
    shared = {passage.name: runs & _runs(passage) for passage in body.contexts}
    copied = frozenset[tuple[str, ...]]().union(*shared.values())
    if len(copied) < COPIED * len(runs):
        return None
    return max(shared, key=lambda name: len(shared[name]))


def speaks_to_customer(body: Reading) -> bool:
    """Whether the words are meant for a customer, and not for those who answer customers."""
    return CUSTOMER.search(body.reply.raw) is not None and STAFF.search(body.reply.raw) is None


def _runs(text: Text) -> frozenset[tuple[str, ...]]:
    words = [token.word for token in text.tokens]
    return frozenset(tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))
