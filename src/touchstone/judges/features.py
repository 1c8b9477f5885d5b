"""Body of a reply, anchors and findings -> the named numbers the offline judge grades by (docs/judge.md lists them)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from touchstone.core.reading import Reading
from touchstone.core.result import VIOLATION_KINDS, Anchor, Finding
from touchstone.judges.coverage import Covered, cover, coverage_features
from touchstone.judges.grounding import grounding_features
from touchstone.judges.manner import COURTESIES, LACKS, manner_features
from touchstone.judges.passages import passage_features
from touchstone.judges.politeness import limited_politeness
from touchstone.judges.sound import sound_part
from touchstone.judges.telling import telling_features
from touchstone.judges.wording import WORDED_TONE, worded_tone, wording_features
from touchstone.safety.wording import highest

# What speaks against a reply is counted in all of it.
AGAINST = (
    "values_contradicted",
    "values_unsupported",
    "claims_contradicted",
    "values_against_expected",
    "values_beyond_expected",
)


class Seen(NamedTuple):
    """A case as the judge sees it: the reply with and without its frame, and what the body says of what it should."""

    reading: Reading
    body: Reading
    anchors: tuple[Anchor, ...]
    covered: Covered


class Features(NamedTuple):
    """The features of the reply's body, those that its sound part earns, and those with the frame's manners."""

    body: Mapping[str, float]
    earned: Mapping[str, float]
    courteous: Mapping[str, float]

    def of(self, criterion: str) -> Mapping[str, float]:
        """What a criterion is graded by: a wrong answer leaves no question open, but earns no accuracy."""
        return {"accuracy": self.earned, "tone": self.courteous}.get(criterion, self.body)


def see(reading: Reading, body: Reading, anchors: tuple[Anchor, ...] | None) -> Seen:
    """A case ready for the judge; `anchors` are those in the body."""
    return Seen(reading, body, anchors or (), cover(body))


def features(seen: Seen, findings: Sequence[Finding], *, is_plain: bool = False) -> Features:
    """All features of a reply; those of the expected reply only when there is one, and some of plain cases alone."""
    body, anchors = seen.body, seen.anchors
    found = finding_features(findings) | likeness_features(body, anchors)
    whole = _features(body, seen.covered, anchors, is_plain=is_plain) | found
    sound = sound_part(body, anchors)
    earned: Mapping[str, float] = whole
    if sound is not None:
        part = _features(sound.reading, cover(sound.reading), sound.anchors, is_plain=is_plain)
        earned = part | found | {name: whole[name] for name in AGAINST if name in whole}
    if seen.reading is body:
        return Features(whole, earned, whole)
    return Features(whole, earned, whole | _courtesies(seen, whole))


def _courtesies(seen: Seen, body: Mapping[str, float]) -> dict[str, float]:
    """What the frame adds to the manners of the body; it takes nothing from them."""
    framed = manner_features(seen.reading)
    added = {name: max(framed[name], body[name]) for name in COURTESIES}
    lacking = {name: min(framed[name], body[name]) for name in LACKS}
    return added | lacking | {WORDED_TONE: worded_tone(seen.reading, seen.body, seen.anchors)}


def finding_features(findings: Sequence[Finding]) -> dict[str, float]:
    """The confidence of the surest finding of each kind."""
    surest = dict.fromkeys(VIOLATION_KINDS, 0.0)
    for finding in findings:
        surest[finding.kind] = max(surest[finding.kind], finding.confidence or 0.0)
    return {f"finding_{kind}": confidence for kind, confidence in surest.items()}


def likeness_features(body: Reading, anchors: Sequence[Anchor]) -> dict[str, float]:
    """How much the sentence that is worded most like a violation of each kind is worded like one."""
    return {f"like_{kind}": max(0.0, score) for kind, score in highest(body, tuple(anchors)).items()}


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
