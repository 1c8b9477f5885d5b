"""Reading -> anchors: every value and claim of the reply checked against the sources, in the order they stand."""

from touchstone.core.plan import Plan
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.claims import check_claims
from touchstone.evidence.values import check_values


def check(reading: Reading, *, plan: Plan) -> tuple[Anchor, ...] | None:
    """The checked anchors, or None when there is nothing to check against."""
    if reading.sources is None:
        return None
    values = check_values(reading.reply, reading.sources)
    claims = check_claims(reading.claims, reading.reply, reading.sources, proximity=plan.proximity)
    return tuple(sorted([*values, *claims], key=lambda anchor: (anchor.start, anchor.end)))


def anchors_of(body: Reading, anchors: tuple[Anchor, ...] | None) -> tuple[Anchor, ...] | None:
    """The anchors that stand in the body of the reply; its frame states nothing."""
    if anchors is None:
        return None
    kept = body.reply.raw
    return tuple([anchor for anchor in anchors if not kept[anchor.start : anchor.end].isspace()])
