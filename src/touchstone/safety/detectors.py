"""Reading, checked anchors and policy -> findings: what every registered check noticed, with its confidence; and what a
verifier doubts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from touchstone.core.policy import Policy
from touchstone.core.reading import Claim, Reading
from touchstone.core.result import Anchor, Finding, Statement, Verification
from touchstone.evidence.verification import DOUBTED
from touchstone.safety.figures import contacts, figures
from touchstone.safety.personal_data.leaks import leaks
from touchstone.safety.phrases import phrases
from touchstone.safety.signs import Sign, finding, same_place
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
    """The findings in their order in the reply; of two of a kind at one place the surer one."""
    found = sorted(
        (finding(sign, reading) for sign in notice(reading, anchors, policy=policy)),
        key=lambda one: (-(one.confidence or 0.0), one.start, one.end, one.rule or ""),
    )
    kept: list[Finding] = []
    for one in found:
        if not any(same_place(one, other) for other in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: (one.start, one.end, one.kind)))


def doubts(verification: Verification | None, claims: Sequence[Claim]) -> tuple[Finding, ...]:
    """A finding for each doubted sentence, with the doubt as its confidence.

    Only a sentence that asserts something, as the parser sees it, can be one: instructions and offers are not. Where a
    typed value decided, the checks of values report it.
    """
    if verification is None:
        return ()
    return tuple(
        _finding(statement, name=verification.name)
        for statement in verification.statements
        if statement.by == "model"
        and statement.status in DOUBTED
        and any(statement.start <= claim.start < statement.end for claim in claims)
    )


def _finding(statement: Statement, *, name: str) -> Finding:
    where = statement.evidence[0].source if statement.evidence else None
    if statement.status == "contradicted":
        found = f"{where or 'a source'} contradicts this sentence"
    else:
        found = f"{where} does not state this sentence" if where else "no source states this sentence"
    return Finding(
        "hallucination",
        statement.text,
        statement.start,
        statement.end,
        f"the verifier {name} finds that {found}",
        statement.evidence,
        rule=f"verifier.{statement.status}",
        confidence=statement.chances.doubt if statement.chances else None,
    )
