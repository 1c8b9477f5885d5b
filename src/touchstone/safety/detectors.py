"""Reading, checked anchors and policy -> findings: what every registered check noticed, with its confidence."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Finding
from touchstone.safety.contacts import contacts
from touchstone.safety.figures import figures
from touchstone.safety.personal_data.leaks import leaks
from touchstone.safety.phrases import phrases
from touchstone.safety.signs import Sign, finding
from touchstone.safety.wording import wording

Anchors = tuple[Anchor, ...] | None


class Detector(Protocol):
    """One sort of check; `anchors` is None when there was nothing to check the reply against."""

    def __call__(self, reading: Reading, anchors: Anchors, *, policy: Policy) -> Iterable[Sign]: ...


DETECTORS: tuple[Detector, ...] = (figures, contacts, phrases, wording, leaks)


def notice(reading: Reading, anchors: Anchors, *, policy: Policy) -> Iterator[Sign]:
    """What all checks notice in the reply."""
    for detect in DETECTORS:
        yield from detect(reading, anchors, policy=policy)


def inspect(reading: Reading, anchors: Anchors, *, policy: Policy) -> tuple[Finding, ...]:
    """The findings in the order they stand; of two of a kind at one place the surer one."""
    found = sorted(
        (finding(sign, reading) for sign in notice(reading, anchors, policy=policy)),
        key=lambda one: (-(one.confidence or 0.0), one.start, one.end, one.rule or ""),
    )
    kept: list[Finding] = []
    for one in found:
        if not any(one.kind == other.kind and one.start < other.end and other.start < one.end for other in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: (one.start, one.end, one.kind)))
