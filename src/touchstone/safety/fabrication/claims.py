"""Claims that no source speaks of -> findings: a thing the context knows is or has what nobody mentioned."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from touchstone.core import resource
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.places import sentence_at, token_range
from touchstone.safety.fabrication.findings import Finding, Known, group, is_question, words_between
from touchstone.text.tokens import term

# New terms in what is said of a known thing; one may be a paraphrase.
MIN_NEW = 2
DUTY = re.compile(
    r"\byou(?:'ll|’ll)? (?:need to|must|have to|will need to|will have to|are required to)\b(?! not)", re.IGNORECASE
)
CUT = re.compile(r"[,;()\n]|[.!?:](?=\s|$)")
MOSTLY = 0.6
REACH = 40
MAX_DUTIES = 50
# Two new words may be a way of speaking; three name a step.
SURE_NEW = 3
UNSURE = 0.6


@cache
def _general() -> frozenset[str]:
    return frozenset(term(word) for word in group("general"))


@cache
def _vague() -> frozenset[str]:
    return _general() | {term(word) for word in group("passing")}


def duties(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each thing that the customer must do and most of whose words stand nowhere."""
    reply = reading.reply
    if not known.has_context:
        return
    for match in islice(DUTY.finditer(reply.raw), MAX_DUTIES):
        sentence = sentence_at(reply, match.start())
        if sentence is None or is_question(reply, sentence):
            continue
        cut = CUT.search(reply.raw, match.end(), sentence.end)
        end = cut.start() if cut else sentence.end
        first, last = token_range(reply, match.end(), end)
        told = [
            t
            for t in reply.tokens[first : min(last, first + REACH)]
            if not t.is_stop and t.word not in resource.words("filler.txt")
        ]
        told = [t for t in told if t.word not in group("everyday") and t.term not in _general()]
        new = [t for t in told if t.term not in known.terms]
        if len(new) >= MIN_NEW and len(new) >= MOSTLY * len(told):
            shown = " ".join(t.word for t in new[:3])
            weight = 1.0 if len(new) >= SURE_NEW else UNSURE
            yield Finding(match.start(), end, weight, f"no source asks for this step: {shown}")


def novelties(reading: Reading, anchors: tuple[Anchor, ...], known: Known) -> Iterator[Finding]:
    """One finding for each claim about something the context knows whose other terms stand nowhere."""
    unheld = {(a.start, a.end) for a in anchors if a.kind == "claim" and a.status == "unsupported"}
    seen: set[int] = set()
    context = {t for source in known.contexts for t in source.positions}
    for claim in reading.claims:
        sentence = sentence_at(reading.reply, claim.start)
        if (claim.start, claim.end) not in unheld or sentence is None or sentence.start in seen:
            continue
        words = set(words_between(reading.reply, sentence.start, sentence.end))
        # A request says what to do, not what is so.
        if "please" in words:
            continue
        if words & group("remark") or words & group("hedge") or words & resource.words("opinions.txt"):
            continue
        new = [t for t in claim.object if t not in known.terms and t not in group("everyday") | _vague()]
        about = bool(claim.subject) and all(t in context for t in claim.subject)
        if about and len(new) >= MIN_NEW and len(new) == len([t for t in claim.object if t not in _vague()]):
            seen.add(sentence.start)
            yield Finding(claim.start, claim.end, 1.0, f"no source speaks of {claim.shown(new)}")
