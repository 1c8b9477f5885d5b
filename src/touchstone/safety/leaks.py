"""Personal data that the reply gives away -> signs."""

from collections.abc import Iterator

from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.safety.personal_data import pii_leakage
from touchstone.safety.signs import Sign, is_chat


def leaks(reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy) -> Iterator[Sign]:
    """A sign for each leak; who reads out a record seldom stops at one kind of data."""
    found = pii_leakage(reading, anchors, policy=policy)
    kinds = {leak.rule for leak in found}
    for leak in found:
        is_recorded = bool(leak.evidence)
        yield Sign(
            kind=leak.kind,
            rule=leak.rule or "pii",
            start=leak.start,
            end=leak.end,
            reason=leak.reason,
            inputs={
                "recorded": float(is_recorded),
                "beside_others": float(len(kinds) > 1),
                # In a chat whose lookups are not given, the customer was asked for most of what is said.
                "unseen_chat": float(is_chat(reading) and not is_recorded),
            },
            evidence=leak.evidence,
        )
