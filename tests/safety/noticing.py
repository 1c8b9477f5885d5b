"""A reply and what it is checked against -> what one check, or all, find in it."""

from collections.abc import Iterable, Mapping
from typing import Any

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Finding
from touchstone.evidence.check import anchors_of, check
from touchstone.safety.detectors import Detector, inspect
from touchstone.safety.signs import Sign
from touchstone.text.frame import body_of
from touchstone.text.reading import read

NO_POLICY, PLAN = Policy(), Plan()


def read_reply(response: str, **fields) -> tuple[Reading, tuple[Anchor, ...] | None]:
    """The case's reading and its checked anchors."""
    reading = read(Case(response=response, **fields))
    return reading, check(reading, plan=PLAN)


def notice_in(detect: Detector, response: str, *, policy: Policy = NO_POLICY, **fields) -> list[Sign]:
    """The signs that one check finds in a reply."""
    reading, anchors = read_reply(response, **fields)
    return list(detect(reading, anchors, policy=policy))


def rules_of(signs: Iterable[Sign]) -> list[str]:
    """Their rules, in order."""
    return [sign.rule for sign in signs]


def find_in(row: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The findings in the body of a table's reply."""
    context = [row["context"]] if isinstance(row["context"], str) else row["context"]
    expected = row.get("expected_output")
    reading, anchors = read_reply(row["response"], input=row["input"], context=context, expected_output=expected)
    body = body_of(reading)
    return inspect(body, anchors_of(body, anchors), policy=NO_POLICY)


def kinds_of(findings: Iterable[Finding], *, surely: bool = False) -> set[str]:
    """The kinds of which there is a violation, or at least a suspicion."""
    least = PLAN.violation_at if surely else PLAN.suspicion_at
    return {one.kind for one in findings if (one.confidence or 0.0) >= least}
