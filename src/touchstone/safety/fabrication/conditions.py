"""Conditions in reply and sources -> findings: one that the reply brushes aside, waives, or adds of its own.

`Whatever your nationality` brushes a limit aside, `you don't need a booking` waives what a source asks for, and `only
if you have asked in writing` adds to what happens automatically.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from touchstone.core.reading import Reading, Sentence, Text
from touchstone.core.result import Evidence
from touchstone.safety.fabrication.findings import Finding, Known, content, is_question, sentences_with
from touchstone.text.tokens import term

ASIDE = re.compile(
    r"\b(?:regardless|irrespective|(?<=\S )whatever|whichever|wherever"
    r"|however (?:long|much|many|old|often|big|late|small)"
    r"|no matter|whether or not|even (?:if|when|after|without)|as (?:many|often) (?:\w+ )?as you"
    r"|right up (?:to|until)|without any)\b",
    re.IGNORECASE,
)
WAIVED = re.compile(
    r"\b(?:(?:do not|don['’]?t|does not|doesn['’]?t|needn['’]?t|won['’]?t|wouldn['’]t|not|never|no)"
    r"(?: have to| need to| need| required to| obliged to)(?: any| the| a| an| your)?"
    r"|without(?: any| the| a| an| your)?|no need (?:for|to)(?: any| the| a| an)?)\s",
    re.IGNORECASE,
)
OPTIONAL = re.compile(
    r"\b(?:optional|not (?:needed|required|necessary|compulsory)|isn['’]t (?:needed|required|necessary)"
    r"|(?:needs?|requires?) no)\b",
    re.IGNORECASE,
)
# `Whichever you prefer` offers a choice; what must be done even so brushes nothing aside.
CHOICE = re.compile(r"\s+(?:you(?:['’]d)? (?:prefer|like|choose|wish|want|find)|suits|works|is (?:easier|best))\b")
DEMAND = re.compile(r"\b(?:must|only|has to|have to)\b", re.IGNORECASE)
PLEA = re.compile(r"\bplease\b", re.IGNORECASE)
UNTIL = re.compile(r"\b(?:until|till|any ?time (?:before|up to))\b", re.IGNORECASE)
LIMITS = re.compile(
    r"\b(?:only|unless|except|excluding|must|provided|required|requires?|needs?|needed|subject to|if|when|once"
    r"|within|until|at least|minimum|not|no|never|can['’]t|cannot|excluded|limited|have to|has to|maximum|up to)\b",
    re.IGNORECASE,
)
ASKED = re.compile(
    r"\b(?:only|unless|must|required|requires?|needs?|needed|have to|has to|provided|necessary|mandatory|compulsory"
    r"|with (?:a|an|the))\b",
    re.IGNORECASE,
)
FREED = re.compile(
    r"\b(?:not|no|never|without|optional|whatever|regardless|any|every|all|always|whether or not|even if)\b|n['’]t\b",
    re.IGNORECASE,
)
ADDED = re.compile(
    r"\b(?:only (?:if|once|when|after)|provided(?: that)?|(?:as|so) long as|on condition that|unless you"
    r"|but you(?:'d|’d)? (?:need|have) to|(?:once|if) you(?:['’]ve| have)? ask(?:ed)?)\b",
    re.IGNORECASE,
)
UNASKED = re.compile(
    r"\b(?:automatic(?:ally)?|always|never requires?|straight away|immediately|without asking)\b", re.IGNORECASE
)
QUALIFIED = re.compile(r"\b(?:unless|only|provided|(?:as|so) long as)\b", re.IGNORECASE)
# Each of the patterns that open a comparison (ASIDE, WAIVED, OPTIONAL, ADDED) holds one of these.
CUES = (
    "regardless irrespective whatever whichever wherever however matter whether even many often right without have "
    "need required obliged optional necessary compulsory only provided long condition unless ask"
).split()
CUT = re.compile(r"[,;()\n]|[.!?:](?=\s|$)|\s[-–—]\s")
# Share of what the reply's sentence says that the source's sentence must say too, and the least number of terms.
ALIKE, MIN_SHARED = 0.5, 2
SPAN = 200
MAX_SENTENCES, MAX_WAIVED = 200, 5


class Told(NamedTuple):
    """A sentence of a source with its terms."""

    source: Text
    start: int
    end: int
    terms: frozenset[str]

    @property
    def text(self) -> str:
        return self.source.raw[self.start : self.end]


def conditions(reading: Reading, known: Known) -> Iterator[Finding]:
    """Findings in the order of the reply."""
    reply = reading.reply
    told: list[Told] = []
    conditional = set(sentences_with(reply, _cues()))
    for sentence in reply.sentences[:MAX_SENTENCES]:
        if sentence not in conditional:
            continue
        text = reply.raw[sentence.start : sentence.end]
        if is_question(reply, sentence) or not any(p.search(text) for p in (ASIDE, WAIVED, OPTIONAL, ADDED)):
            continue
        told = told or [
            Told(source, s.start, s.end, content(source, s.start, s.end))
            for source in known.contexts
            for s in source.sentences[:MAX_SENTENCES]
        ]
        found = _aside(reply, sentence, told) or _waived(reply, sentence, told) or _added(reply, sentence, told)
        if found:
            yield found


def _aside(reply: Text, sentence: Sentence, told: list[Told]) -> Finding | None:
    """Nothing matters, says the reply; the sentence of the source that is nearest to it sets a limit."""
    match = ASIDE.search(reply.raw, sentence.start, sentence.end)
    near = _nearest(content(reply, sentence.start, sentence.end), told) if match else None
    if match is None or near is None or not LIMITS.search(near.text) or ASIDE.search(near.text):
        return None
    before, behind = reply.raw[sentence.start : match.start()], reply.raw[match.end() : sentence.end]
    if _is_limited(before) or PLEA.search(before) or DEMAND.search(behind):
        return None
    if CHOICE.match(behind) and not DEMAND.search(near.text):
        return None
    if match[0].casefold().startswith("right up") and UNTIL.search(near.text):
        return None
    return _finding(match.start(), sentence.end, near, "limit")


def _is_limited(text: str) -> bool:
    return re.search(r"\b(?:not|no|never|only|must|cannot)\b|n['’]t\b", text, re.IGNORECASE) is not None


def _waived(reply: Text, sentence: Sentence, told: list[Told]) -> Finding | None:
    """Something is not needed, says the reply; a source asks for it."""
    said = content(reply, sentence.start, sentence.end)
    for match in islice(WAIVED.finditer(reply.raw, sentence.start, sentence.end), MAX_WAIVED):
        cut = CUT.search(reply.raw, match.end(), sentence.end)
        end = min(cut.start() if cut else sentence.end, match.end() + SPAN)
        if match[0].casefold().startswith("without") and _is_case(reply.raw, match.end(), sentence.end):
            continue
        wanted = content(reply, match.end(), min(end, match.end() + 30))
        speaking = [other for other in told if wanted and wanted <= other.terms]
        if any(WAIVED.search(other.text) or OPTIONAL.search(other.text) for other in speaking):
            continue
        for other in speaking:
            if len(wanted) < MIN_SHARED and not (said - wanted) & other.terms:
                continue
            if ASKED.search(other.text) and not FREED.search(other.text):
                return _finding(match.start(), end, other, "requirement")
    return None


def _is_case(raw: str, start: int, end: int) -> bool:
    """`Without cancelling you pay`, `without supply a check is required`: what happens then, and no waiver."""
    following = raw[start:end].split()
    return ASKED.search(raw, start, end) is not None or (bool(following) and following[0].endswith("ing"))


def _added(reply: Text, sentence: Sentence, told: list[Told]) -> Finding | None:
    """A condition of the reply's own on what happens automatically or always."""
    match = ADDED.search(reply.raw, sentence.start, sentence.end)
    near = _nearest(content(reply, sentence.start, sentence.end), told, alike=0.34) if match else None
    if match is None or near is None or not UNASKED.search(near.text) or QUALIFIED.search(near.text):
        return None
    return _finding(match.start(), sentence.end, near, "unconditional")


def _nearest(terms: frozenset[str], told: list[Told], *, alike: float = ALIKE) -> Told | None:
    """The sentence that shares most with the terms, if it shares enough."""
    best = max(told, key=lambda other: (len(terms & other.terms), -len(other.terms)), default=None)
    if best is None:
        return None
    shared = len(terms & best.terms)
    return best if shared >= MIN_SHARED and shared >= alike * len(terms) else None


def _finding(start: int, end: int, other: Told, what: str) -> Finding:
    evidence = Evidence(other.source.name, other.start, other.end, other.text)
    return Finding(start, end, 1.0, f"the source says otherwise ({what}): {other.text.strip()}", (evidence,))


@cache
def _cues() -> frozenset[str]:
    return frozenset(map(term, CUES))
