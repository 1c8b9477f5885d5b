"""Body of a reply, anchors and findings -> the named numbers the offline judge grades by (docs/judge.md lists them)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from touchstone.core.reading import Reading, Sentence, Span
from touchstone.core.result import VIOLATION_KINDS, Anchor, Finding
from touchstone.judges.coverage import Covered, cover, coverage_features
from touchstone.judges.grounding import grounding_features, passage_features, telling_features
from touchstone.judges.tone import COURTESIES, LACKS, limited_politeness, tone_features
from touchstone.judges.wording import WORDED_TONE, worded_tone, wording_features
from touchstone.safety.wording import highest
from touchstone.text.frame import without

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


class Sound(NamedTuple):
    """The reading with the sound part of its reply, and that part's anchors."""

    reading: Reading
    anchors: tuple[Anchor, ...]


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


def sound_part(reading: Reading, anchors: Sequence[Anchor]) -> Sound | None:
    """The part that can earn accuracy: all but sentences with an unheld price; None when that is the whole reply.

    A price that no source holds makes its sentence worth nothing, however well the rest of it fits: so adding such a
    sentence never makes a reply look more accurate.
    """
    prices = [anchor for anchor in anchors if anchor.kind == "money" and not anchor.holds]
    left_out = [s for s in reading.reply.sentences if any(_meet(s, price) for price in prices)]
    if not left_out:
        return None
    kept = tuple([anchor for anchor in anchors if not any(_meet(sentence, anchor) for sentence in left_out)])
    spans = [Span(sentence.start, sentence.end) for sentence in left_out]
    return Sound(replace(reading, reply=without(reading.reply, spans)), kept)


def _meet(sentence: Sentence, anchor: Anchor) -> bool:
    return sentence.start < anchor.end and anchor.start < sentence.end


def _courtesies(seen: Seen, body: Mapping[str, float]) -> dict[str, float]:
    """What the frame adds to the manners of the body; it takes nothing from them."""
    framed = tone_features(seen.reading)
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
    found = coverage_features(reading, covered, anchors) | tone_features(reading)
    if reading.sources is not None:
        found |= telling_features(reading)
    if is_plain:
        found |= _plain_features(reading)
    return found | wording_features(reading, anchors)


def _plain_features(reading: Reading) -> dict[str, float]:
    """What distinguishes replies to plain questions, but not support replies, which use words of their own."""
    found: dict[str, float] = {}
    if reading.sources is not None:
        found |= grounding_features(reading.reply, reading.sources) | passage_features(reading)
    if not reading.question and not reading.sources:
        found["politeness"] = limited_politeness(reading.reply.raw)
    return found
