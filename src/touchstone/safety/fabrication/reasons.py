"""Reasons that the reply gives -> findings: a cause that no source speaks of.

Sources state rules and seldom say why. `… because the rail operator prints them on secure stock` explains a rule with
something nobody told the reply.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from touchstone.core.reading import Reading, Sentence, Text
from touchstone.evidence.places import sentence_at, token_range
from touchstone.safety.fabrication.findings import (
    MAX_VALUES,
    Finding,
    Known,
    content,
    group,
    is_question,
    words_between,
)
from touchstone.text.tokens import term

CAUSE = re.compile(
    r"\b(?:because(?: of)?|owing to|due to|down to|as a result of|caused by|the reason (?:is|being)(?: that)?)\s",
    re.IGNORECASE,
)
CUT = re.compile(r"[;()\n]|,(?!\d)|[.!?:](?=\s|$)|\s[-–—]\s")
# The customer's own doing and state need no source.
OWN = frozenset({"you", "your", "you've", "you're", "you'd", "you'll", "i", "i'm", "i've", "my"})
# Whoever and however many: these name nothing.
ANYBODY = frozenset("somebody someone anybody anyone everybody everyone people every each different".split())
MOSTLY, MIN_NEW = 0.5, 2
MAX_REASONS = 20
REACH = 160


def reasons(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each cause most of whose words stand in no source."""
    reply = reading.reply
    if not known.has_context:
        return
    for match in islice(CAUSE.finditer(reply.raw), MAX_REASONS):
        sentence = sentence_at(reply, match.start())
        if sentence is None or is_question(reply, sentence) or _is_advice(reply, sentence):
            continue
        high = min(sentence.end, match.end() + REACH)
        cut = CUT.search(reply.raw, match.end(), high)
        end = cut.start() if cut else high
        first, last = token_range(reply, match.end(), end)
        if any(match.end() <= v.start < end and known.homes(v) for v in reply.values[:MAX_VALUES]):
            continue
        told = content(reply, match.end(), end) - _everyday()
        new = told - known.terms
        if len(new) < MIN_NEW or len(new) < MOSTLY * len(told) or any(t.word in OWN for t in reply.tokens[first:last]):
            continue
        shown = " ".join(t.word for t in reply.tokens[first:last] if t.term in new)
        yield Finding(match.start(), end, 1.0, f"no source gives this reason: {shown}")


def _is_advice(reply: Text, sentence: Sentence) -> bool:
    """Requests, advice and thanks may be explained by common sense; rules and events may not."""
    words = set(words_between(reply, sentence.start, sentence.end))
    return "please" in words or bool(words & (group("remark") | group("talk")))


@cache
def _everyday() -> frozenset[str]:
    return frozenset(term(word) for word in group("general") | group("everyday") | ANYBODY)
