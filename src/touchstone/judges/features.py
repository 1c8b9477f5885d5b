"""Reading, anchors and violations -> the named numbers the offline judge grades by (docs/judge.md describes each)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from touchstone.core.reading import Reading
from touchstone.core.result import VIOLATION_KINDS, Anchor, Violation
from touchstone.judges.coverage import Covered, cover, coverage_features
from touchstone.judges.grounding import grounding_features
from touchstone.judges.manner import manner_features
from touchstone.judges.passages import passage_features
from touchstone.judges.politeness import limited_politeness
from touchstone.judges.sound import sound_part
from touchstone.judges.telling import telling_features
from touchstone.judges.wording import wording_features

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
    reading: Reading,
    covered: Covered,
    anchors: Sequence[Anchor],
    violations: Sequence[Violation],
    *,
    is_plain: bool = False,
) -> Features:
    """All features of a reply; those of the expected reply only when there is one, and some of plain cases alone."""
    kinds = {violation.kind for violation in violations}
    violated = {f"violation_{kind}": float(kind in kinds) for kind in VIOLATION_KINDS}
    whole = _features(reading, covered, anchors, is_plain=is_plain) | violated
    sound = sound_part(reading, anchors)
    if sound is None:
        return Features(whole, whole)
    part = _features(sound.reading, cover(sound.reading), sound.anchors, is_plain=is_plain)
    return Features(whole, part | violated | {name: whole[name] for name in AGAINST if name in whole})


def _features(reading: Reading, covered: Covered, anchors: Sequence[Anchor], *, is_plain: bool) -> dict[str, float]:
    found = coverage_features(reading, covered, anchors) | manner_features(reading)
    if reading.sources is not None:
        found |= telling_features(reading)
    if is_plain:
        found |= _plain_features(reading)
    return found | wording_features(reading, anchors)


def _plain_features(reading: Reading) -> dict[str, float]:
    """What tells replies to plain questions apart; among support replies, which use words of their own, it does not."""
    found: dict[str, float] = {}
    if reading.sources is not None:
        found |= grounding_features(reading.reply, reading.sources) | passage_features(reading)
    if not reading.question and not reading.sources:
        found["politeness"] = limited_politeness(reading.reply.raw)
    return found
