"""Reading, anchors and violations -> the named numbers the offline judge grades by (docs/judge.md describes each)."""

from collections.abc import Mapping, Sequence

from touchstone.core.reading import Reading
from touchstone.core.result import VIOLATION_KINDS, Anchor, Violation
from touchstone.judges.coverage import Covered, coverage_features
from touchstone.judges.manner import guidance_features, tone_features


def features(
    reading: Reading, covered: Covered, anchors: Sequence[Anchor], violations: Sequence[Violation]
) -> Mapping[str, float]:
    """All features of a reply; those of the expected reply are there only when the case has one."""
    found = coverage_features(reading, covered, anchors) | tone_features(reading) | guidance_features(reading)
    kinds = {violation.kind for violation in violations}
    return found | {f"violation_{kind}": float(kind in kinds) for kind in VIOLATION_KINDS}
