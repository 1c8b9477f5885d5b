"""Reading, checked anchors and policy -> violations: every registered detector, findings in the order they stand."""

from typing import Protocol

from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Violation
from touchstone.safety.competitor import competitor_recommendation
from touchstone.safety.fabrication import hallucination
from touchstone.safety.harm import harmful_content
from touchstone.safety.personal_data import pii_leakage
from touchstone.safety.promise import unauthorized_promise
from touchstone.safety.wording import second_opinion

Anchors = tuple[Anchor, ...] | None


class Detector(Protocol):
    """One kind of violation; `anchors` is None when there was nothing to check the reply against."""

    def __call__(self, reading: Reading, anchors: Anchors, *, policy: Policy) -> tuple[Violation, ...]: ...


DETECTORS: tuple[Detector, ...] = (
    hallucination,
    pii_leakage,
    harmful_content,
    unauthorized_promise,
    competitor_recommendation,
)


def inspect(reading: Reading, anchors: Anchors, *, policy: Policy) -> tuple[Violation, ...]:
    """The findings of all detectors that the wording does not speak against, and those it adds."""
    by_rules = [violation for detect in DETECTORS for violation in detect(reading, anchors, policy=policy)]
    found = second_opinion(by_rules, reading, anchors, policy=policy)
    return tuple(sorted(found, key=lambda violation: (violation.start, violation.end, violation.kind)))
