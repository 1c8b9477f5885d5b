"""Reading and checked anchors -> hallucination: what the reply makes up or turns round, against its sources."""

from collections.abc import Iterable

from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Violation
from touchstone.safety.fabrication.actors import actors
from touchstone.safety.fabrication.artefacts import artefacts
from touchstone.safety.fabrication.bounds import bounds
from touchstone.safety.fabrication.claims import duties, novelties
from touchstone.safety.fabrication.conditions import conditions
from touchstone.safety.fabrication.contacts import contacts
from touchstone.safety.fabrication.contrasts import contrasts
from touchstone.safety.fabrication.figures import figures
from touchstone.safety.fabrication.findings import Finding, known
from touchstone.safety.fabrication.items import items
from touchstone.safety.fabrication.order import orders
from touchstone.safety.fabrication.reasons import reasons
from touchstone.safety.fabrication.rivals import rivals
from touchstone.safety.fabrication.segments import segments
from touchstone.safety.fabrication.stance import reversals
from touchstone.safety.fabrication.steps import steps
from touchstone.safety.fabrication.swaps import swaps

# A single sure finding is enough; weaker ones must add up to more than one sure one.
ALARM = 1.0
TOGETHER = 1.2
WORTH_SHOWING = 0.3


def hallucination(reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy) -> tuple[Violation, ...]:
    """Policies, prices, procedures, dates, features, links and numbers that the sources contradict or do not hold.

    Without any source nothing can be called made up.
    """
    if reading.sources is None or anchors is None:
        return ()
    base = known(reading, policy)
    findings = [
        *figures(reading, anchors, base),
        *contacts(reading, base),
        *steps(reading, base),
        *reversals(reading, base),
        *swaps(reading, base),
        *segments(reading, base),
        *bounds(reading, base),
        *actors(reading, base),
        *items(reading, base),
        *rivals(reading, base),
        *contrasts(reading, base),
        *conditions(reading, base),
        *artefacts(reading, base),
        *reasons(reading, base),
        *orders(reading, base),
        *novelties(reading, anchors, base),
        *duties(reading, base),
    ]
    shown = _apart(finding for finding in findings if finding.weight >= WORTH_SHOWING)
    if not any(f.weight >= ALARM for f in shown) and sum(f.weight for f in shown) < TOGETHER:
        return ()
    raw = reading.reply.raw
    return tuple(Violation("hallucination", raw[f.start : f.end], f.start, f.end, f.reason, f.evidence) for f in shown)


def _apart(findings: Iterable[Finding]) -> list[Finding]:
    """In order of place; of two that overlap the weightier stays."""
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda f: (f.start, f.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif finding.weight > kept[-1].weight:
            kept[-1] = finding
    return kept
