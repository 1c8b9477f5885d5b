"""A failed reply -> what is wrong with what it says: things left out, contradicted or made up."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from touchstone.core.result import Anchor, Finding
from touchstone.evidence.values import check_values
from touchstone.judges.coverage import cover
from touchstone.judges.offline import reads_as_english
from touchstone.judges.reasons import unanswered
from touchstone.runs.faults.failing import Failing, FaultSign, owner_of_ask

COMPANY_SOURCES = ("context", "expected_output")


def empty_reply(reply: Failing) -> Iterator[FaultSign]:
    if not reply.reading.reply.tokens:
        yield FaultSign("prompt", "the reply has no words")


def wrong_language(reply: Failing) -> Iterator[FaultSign]:
    reading = reply.reading
    if (
        reading.question
        and not reads_as_english(reading)
        and reads_as_english(replace(reading, reply=reading.question))
    ):
        yield FaultSign("prompt", f"the question is in English, the reply is not: '{reading.reply.raw[:80]}'")


def off_topic(reply: Failing) -> Iterator[FaultSign]:
    if reply.is_flagged("relevance") and reply.is_low("accuracy", at_most=1):
        yield FaultSign("prompt", _relevance(reply))


def low_relevance(reply: Failing) -> Iterator[FaultSign]:
    if reply.is_flagged("relevance"):
        yield FaultSign("prompt", _relevance(reply))


def _relevance(reply: Failing) -> str:
    score = reply.score("relevance")
    return f"relevance {score.score or 0.0:.2f}: {score.reason}" if score else ""


def missed_question(reply: Failing) -> Iterator[FaultSign]:
    if reply.is_low("completeness", at_most=2):
        for ask in unanswered(reply.reading, cover(reply.reading)):
            yield FaultSign(owner_of_ask(ask, reply.needs, reply.case, reply.reading), f"'{ask.text}' is not taken up")


def missed_point(reply: Failing) -> Iterator[FaultSign]:
    if reply.is_low("completeness", at_most=2) or reply.is_low("accuracy", at_most=2):
        for need in reply.needs:
            where = "the context has it" if need.given else "the context lacks it"
            where = "no context is recorded" if reply.case.context is None else where
            yield FaultSign("prompt" if need.given else "retrieval", f"leaves out {need.shown}; {where}")


def contradicted_policy(reply: Failing) -> Iterator[FaultSign]:
    """The sources were there to be kept to; an anchor that the expected reply backs is no contradiction."""
    for violation in _made_up(reply):
        if _is_against(violation):
            yield FaultSign("prompt", _found(violation))
    if reply.is_ungrounded or reply.is_low("accuracy", at_most=2):
        clashes = [a for a in reply.anchors if a.status == "contradicted" and _is_against(a) and not _is_told(a, reply)]
        for anchor in _unexpected(clashes, reply):
            yield FaultSign("prompt", _found(anchor))


def invented_number(reply: Failing) -> Iterator[FaultSign]:
    for violation in _made_up(reply):
        if not _is_against(violation) and not _is_contact(violation, reply) and _is_value(violation, reply):
            yield FaultSign(reply.gap_owner, _found(violation))
    if reply.is_ungrounded:
        figures = [a for a in reply.anchors if a.status == "unsupported" and a.kind != "claim"]
        for anchor in _unexpected(figures, reply):
            if not _is_told(anchor, reply):
                yield FaultSign(reply.gap_owner, _found(anchor))


def invented_contact(reply: Failing) -> Iterator[FaultSign]:
    for violation in _made_up(reply):
        if not _is_against(violation) and _is_contact(violation, reply):
            yield FaultSign(reply.gap_owner, _found(violation))


def invented_fact(reply: Failing) -> Iterator[FaultSign]:
    for violation in _made_up(reply):
        if not (_is_against(violation) or _is_contact(violation, reply) or _is_value(violation, reply)):
            yield FaultSign(reply.gap_owner, _found(violation))


def unsupported_statement(reply: Failing) -> Iterator[FaultSign]:
    if reply.is_ungrounded:
        for anchor in reply.anchors:
            if anchor.kind == "claim" and anchor.status == "unsupported" and not _is_told(anchor, reply):
                yield FaultSign(reply.gap_owner, _found(anchor))


def _made_up(reply: Failing) -> Iterator[Finding]:
    return (violation for violation in reply.violations if violation.kind == "hallucination")


def _is_against(found: Finding | Anchor) -> bool:
    """Whether what the company says speaks against it; the customer's own words are no policy."""
    return any(evidence.source.startswith(COMPANY_SOURCES) for evidence in found.evidence)


def _unexpected(anchors: Sequence[Anchor], reply: Failing) -> Sequence[Anchor]:
    """Those whose value the expected reply does not state."""
    expected = reply.reading.expected
    if not anchors or expected is None or reply.case.context is None:
        return anchors
    backed = [a for a in check_values(reply.reading.reply, (expected,)) if a.holds]
    return [anchor for anchor in anchors if not any(_overlap(anchor, other) for other in backed)]


def _is_contact(violation: Finding, reply: Failing) -> bool:
    contacts = reply.reading.reply.contacts
    return any(contact.start < violation.end and violation.start < contact.end for contact in contacts)


def _is_value(violation: Finding, reply: Failing) -> bool:
    """Whether the finding is about a figure or date: one stands in it and makes up most of it."""
    return any(
        value.start < violation.end
        and violation.start < value.end
        and 2 * (value.end - value.start) >= violation.end - violation.start
        for value in reply.reading.reply.values
    )


def _is_told(anchor: Anchor, reply: Failing) -> bool:
    """Whether a violation already tells of the same words."""
    return any(_overlap(anchor, violation) for violation in _made_up(reply))


def _overlap(one: Anchor | Finding, other: Anchor | Finding) -> bool:
    return one.start < other.end and other.start < one.end


def _found(found: Finding | Anchor) -> str:
    return f"'{found.text}': {found.reason}"
