"""Reading, anchors and violations -> the named numbers the offline judge grades by (docs/judge.md describes each)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from touchstone.core.reading import Reading
from touchstone.core.result import VIOLATION_KINDS, Anchor, Violation
from touchstone.judges.coverage import Covered, cover, coverage_features
from touchstone.judges.manner import guidance_features, tone_features
from touchstone.judges.sound import sound_part

# What speaks against a reply is counted in all of it.
AGAINST = (
    "values_contradicted",
    "values_unsupported",
    "claims_contradicted",
    "values_against_expected",
    "values_beyond_expected",
)


class Features(NamedTuple):
    """The features of the whole reply, and those that its sound part earns."""

    whole: Mapping[str, float]
    earned: Mapping[str, float]

    def of(self, criterion: str) -> Mapping[str, float]:
        """What a criterion is graded by: a wrong answer leaves no question open, but earns no accuracy."""
        return self.earned if criterion == "accuracy" else self.whole

    def beside(self, more: Mapping[str, float]) -> "Features":
        """These features and others that are the same for both."""
        return Features({**self.whole, **more}, {**self.earned, **more}) if more else self


def features(
    reading: Reading, covered: Covered, anchors: Sequence[Anchor], violations: Sequence[Violation]
) -> Features:
    """All features of a reply; those of the expected reply are there only when the case has one."""
    kinds = {violation.kind for violation in violations}
    violated = {f"violation_{kind}": float(kind in kinds) for kind in VIOLATION_KINDS}
    whole = _features(reading, covered, anchors) | violated
    sound = sound_part(reading, anchors)
    if sound is None:
        return Features(whole, whole)
    part = _features(sound.reading, cover(sound.reading), sound.anchors)
    return Features(whole, part | violated | {name: whole[name] for name in AGAINST if name in whole})


def _features(reading: Reading, covered: Covered, anchors: Sequence[Anchor]) -> dict[str, float]:
    return coverage_features(reading, covered, anchors) | tone_features(reading) | guidance_features(reading)
