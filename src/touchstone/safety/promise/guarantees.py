"""Commitments of the reply that neither a source nor the policy backs -> unauthorised promises."""

from collections.abc import Mapping
from typing import NamedTuple

from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Evidence, Violation
from touchstone.evidence.equality import same
from touchstone.safety.promise import backing
from touchstone.safety.promise.backing import COVERED, Ground, Stand
from touchstone.safety.promise.commitments import Commitment, find_commitments
from touchstone.safety.promise.kinds import GIFTS, SUM

GRANTED_ELSEWHERE = "commits to something free; the source grants it for something else"
LEFT_OPEN = "says as certain what the source leaves open or rules out"
# What a company cannot bring about on the spot.
MENDING = frozenset({"repair", "approval"})
# So much of a commitment's words in the sentence that grants its kind: that sentence grants it.
ALIKE = 0.4


class Finding(NamedTuple):
    """Why a commitment is not backed, and the source that leaves it open or denies it."""

    reason: str
    ground: Ground | None


class Weighed(NamedTuple):
    """A commitment beside what the company says: the ground against it and the share of its words in one passage."""

    reading: Reading
    anchors: Mapping[int, Anchor]
    stand: Stand
    commitment: Commitment
    against: Ground | None
    open: Ground | None
    terms: frozenset[str]
    coverage: float


def unauthorized_promise(
    reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy
) -> tuple[Violation, ...]:
    """Guarantees of refunds, compensation, dates, outcomes or exceptions that nothing backs."""
    commitments = [c for c in find_commitments(reading.reply) if not backing.allowed(c, reading.reply, policy)]
    if not commitments:
        return ()
    if reading.sources is None:
        blind = Finding("gives a guarantee, and there is no source or policy to back it", None)
        return tuple(_violation(c, reading, blind) for c in commitments if c.is_guaranteed and c.kinds)
    stand = backing.find_stand(reading.sources)
    values = {anchor.start: anchor for anchor in anchors or () if anchor.kind != "claim"}
    found: list[Violation] = []
    for commitment in commitments:
        finding = _judge(_weigh(commitment, reading, values, stand))
        if finding is not None:
            found.append(_violation(commitment, reading, finding))
    return tuple(found)


def _weigh(commitment: Commitment, reading: Reading, anchors: Mapping[int, Anchor], stand: Stand) -> Weighed:
    terms = backing.content(commitment, reading.reply)
    topic = terms | (backing.topic(reading.question) if reading.question else frozenset())
    against = backing.limiting(commitment, stand, topic=topic)
    is_open = backing.undecided(stand, topic=topic)
    return Weighed(reading, anchors, stand, commitment, against, is_open, terms, backing.coverage(terms, stand))


def _judge(weighed: Weighed) -> Finding | None:
    return (
        _unbacked_gift(weighed) or _unbacked_time(weighed) or _unbacked_guarantee(weighed) or _unbacked_outcome(weighed)
    )


def _unbacked_gift(weighed: Weighed) -> Finding | None:
    """A benefit that no source grants, or more of it than the source grants."""
    commitment, stand = weighed.commitment, weighed.stand
    kinds = sorted(commitment.kinds & {*GIFTS, SUM})
    if not kinds or (_amounts_granted(weighed) and "exception" not in kinds):
        return None
    named = "a sum of money" if kinds == [SUM] else " / ".join(kind for kind in kinds if kind != SUM)
    ground = backing.granting(commitment, stand)
    if ground is None:
        if weighed.against and weighed.against.kinds & commitment.kinds and _is_condition_shared(weighed):
            return None  # the source leaves it open, and so does the reply
        stated = all(backing.stated(value, weighed.anchors) for value in commitment.amounts)
        if weighed.coverage >= COVERED and not weighed.against and stated and "exception" not in kinds:
            return None
        why = "the source leaves it open or rules it out" if weighed.against else "no source or policy grants it"
        return Finding(f"commits to {named}; {why}", weighed.against)
    if "free" in kinds and weighed.coverage == 0 and backing.is_foreign(commitment, weighed.reading.reply, stand):
        return Finding(GRANTED_ELSEWHERE, ground)
    asked = weighed.reading.question.values if weighed.reading.question else ()
    for value in commitment.amounts:
        backed = backing.stated(value, weighed.anchors) or backing.within_cap(value, ground)
        if _shown(weighed, value.start, value.end) == "'free'":
            backed = backed or "replacement" in kinds or any("free" in g.kinds - g.denied for g in stand.grounds)
        if not backed and not any(same(value, other) for other in asked):
            shown = _shown(weighed, value.start, value.end)
            return Finding(f"commits to {shown}; the source grants no such amount", ground)
    return None


def _amounts_granted(weighed: Weighed) -> bool:
    """Whether the company states every amount, in sentences that leave nothing open."""
    found = [backing.stated(value, weighed.anchors) for value in weighed.commitment.amounts]
    places = [backing.place_of(anchor, weighed.stand) for anchor in found if anchor]
    return bool(places) and len(places) == len(found) and all(p and not p.is_open and not p.denied for p in places)


def _unbacked_time(weighed: Weighed) -> Finding | None:
    """A date or a deadline that no source gives."""
    commitment = weighed.commitment
    acts = commitment.subject == "thing" and commitment.is_yours and not commitment.is_courteous
    if not commitment.is_future or not (commitment.kinds or commitment.is_guaranteed or acts):
        return None
    if commitment.subject == "agent" and commitment.is_courteous and not commitment.kinds & {*GIFTS, SUM, "repair"}:
        return None  # "I'll go through your file on Thursday" is the agent's own time
    unstated = [(v.start, v.end) for v in commitment.deadlines if not backing.stated(v, weighed.anchors)]
    against = weighed.against
    is_open = not weighed.stand.grounds or (against is not None and bool(against.kinds & commitment.kinds))
    mends = bool(commitment.kinds & MENDING) and not commitment.is_negated
    tokens = weighed.reading.reply.tokens
    unstated += [
        (tokens[hit.first].start, tokens[hit.last - 1].end)
        for hit in commitment.times
        if (hit.head == "time" or is_open or mends) and not backing.names(hit, weighed.reading.reply, weighed.stand)
    ]
    if not unstated:
        return None
    return Finding(f"promises a time, {_shown(weighed, *unstated[0])}, that no source gives", against)


def _unbacked_guarantee(weighed: Weighed) -> Finding | None:
    commitment = weighed.commitment
    about = commitment.kinds or weighed.terms
    if not about or not commitment.is_guaranteed or not commitment.is_future or _is_assured(weighed):
        return None
    return Finding("guarantees what the source does not guarantee", weighed.against)


def _is_assured(weighed: Weighed) -> bool:
    """Whether a source is as firm as the guarantee: on its time, or on what it is about."""
    commitment, stand = weighed.commitment, weighed.stand
    stated = [anchor for value in commitment.deadlines if (anchor := backing.stated(value, weighed.anchors))]
    if stated:
        dated = [backing.place_of(anchor, stand) for anchor in stated]
        return all(ground and ground.assures and not ground.is_open for ground in dated)
    if commitment.times and commitment.kinds:
        return any(g.assures and not g.is_open and g.kinds & commitment.kinds for g in stand.grounds)
    return backing.granting(commitment, stand) is not None or (
        weighed.coverage >= COVERED and (weighed.open is None or not commitment.kinds)
    )


def _unbacked_outcome(weighed: Weighed) -> Finding | None:
    """What will or will not be, said as certain where the source leaves it open or says nothing of it."""
    commitment = weighed.commitment
    if "recurrence" in commitment.kinds and commitment.is_future:
        return Finding("promises that it will not happen again; nobody can stand behind that", weighed.against)
    timely = commitment.deadlines and all(backing.stated(v, weighed.anchors) for v in commitment.deadlines)
    if not commitment.is_future and not commitment.kinds:
        return None
    certain = not (commitment.is_courteous or commitment.is_offered or timely)
    if "approval" in commitment.kinds and weighed.open is not None and certain:
        return Finding("says as certain what the source leaves to a decision", weighed.open)
    may_be = backing.possible(commitment, weighed.stand, terms=weighed.terms) if commitment.is_future else None
    if may_be is not None and certain:
        return Finding("says as certain what the source calls possible", may_be)
    if commitment.is_ruling and certain and backing.granting(commitment, weighed.stand) is None:
        return Finding("foretells a decision that no source has taken", weighed.against)
    if weighed.coverage >= COVERED or commitment.is_courteous or timely:
        return None
    if commitment.is_offered or _is_own_deed(weighed):
        return None
    if commitment.is_negated and backing.denies_too(weighed.terms, weighed.stand):
        return None
    hangs = commitment.condition and any(ground.is_conditional for ground in weighed.stand.grounds)
    if hangs or _is_granted_alike(weighed):
        return None
    concerns = commitment.kinds or commitment.is_personal or commitment.is_negated or commitment.is_guaranteed
    if weighed.open is not None and concerns:
        return Finding(LEFT_OPEN, weighed.open)
    if not weighed.stand.grounds and commitment.kinds:
        return Finding("says as certain what no source speaks of", None)
    return None


def _is_own_deed(weighed: Weighed) -> bool:
    """What the agent has sent, nothing given away: it settles nothing that others decide."""
    commitment = weighed.commitment
    if commitment.subject != "agent" or commitment.kinds & {*GIFTS, SUM, *MENDING}:
        return False
    return not commitment.is_future and not any(value.kind == "money" for value in commitment.amounts)


def _is_condition_shared(weighed: Weighed) -> bool:
    """Whether a source that sets conditions uses a word of the commitment's own condition."""
    condition = weighed.commitment.condition
    return any(ground.is_conditional and ground.terms & condition for ground in weighed.stand.grounds)


def _is_granted_alike(weighed: Weighed) -> bool:
    """Whether what is given away stands in a source, in a sentence that shares a word with it."""
    if not weighed.commitment.kinds & {*GIFTS, SUM}:
        return False
    ground = backing.granting(weighed.commitment, weighed.stand)
    shared = len(ground.terms & weighed.terms) if ground else 0
    return shared > 0 and shared >= ALIKE * len(weighed.terms)


def _shown(weighed: Weighed, start: int, end: int) -> str:
    return f"'{weighed.reading.reply.raw[start:end]}'"


def _violation(commitment: Commitment, reading: Reading, finding: Finding) -> Violation:
    start, end = commitment.span(reading.reply)
    evidence: tuple[Evidence, ...] = (finding.ground.evidence(),) if finding.ground else ()
    return Violation("unauthorized_promise", reading.reply.raw[start:end], start, end, finding.reason, evidence)
