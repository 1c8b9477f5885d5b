"""Reading -> anchors: every value and claim of the reply checked against the sources, in their order."""

from touchstone.core.plan import Plan
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.claims import check_claims
from touchstone.evidence.states import check_states
from touchstone.evidence.values import check_values

# More values, or claims, of a reply than this are not checked, and the reply is then never sent unseen.
MAX_CHECKED = 300


def check(reading: Reading, *, plan: Plan) -> tuple[Anchor, ...] | None:
    """The checked anchors, or None when there is nothing to check against."""
    if reading.sources is None:
        return None
    values = check_values(reading.reply, reading.sources, most=MAX_CHECKED)
    claims = check_claims(reading.claims[:MAX_CHECKED], reading.reply, reading.sources, proximity=plan.proximity)
    states = check_states(reading.reply, reading.sources)
    claims = [claim for claim in claims if not any(_covers(claim, state) for state in states)]
    return tuple(sorted([*values, *claims, *states], key=lambda anchor: (anchor.start, anchor.end)))


def unchecked(reading: Reading) -> int:
    """How many values and claims of the reply are left unchecked."""
    return sum(max(0, len(found) - MAX_CHECKED) for found in (reading.reply.values, reading.claims))


def _covers(claim: Anchor, state: Anchor) -> bool:
    """Whether a claim says what a state says: the record's word on it counts."""
    return claim.start <= state.start and state.end <= claim.end


def anchors_of(body: Reading, anchors: tuple[Anchor, ...] | None) -> tuple[Anchor, ...] | None:
    """The anchors in the body of the reply; its frame states nothing."""
    if anchors is None:
        return None
    kept = body.reply.raw
    return tuple([anchor for anchor in anchors if not kept[anchor.start : anchor.end].isspace()])
