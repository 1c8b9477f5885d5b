"""The rules' findings + how the sentences are worded -> the findings that stand.

A sentence worded like a violation is one, though no rule knows its form. The least certain of the rules' findings
fall where the wording speaks plainly against them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor, Violation, ViolationKind
from touchstone.safety.harm.advice import REASONS as HARMS
from touchstone.safety.promise.backing import allowed
from touchstone.safety.promise.commitments import find_commitments
from touchstone.safety.promise.guarantees import GRANTED_ELSEWHERE, LEFT_OPEN
from touchstone.safety.wording.runs import Worded, worded
from touchstone.safety.wording.weights import Weights, fitted, scores

# Findings that sound replies draw too, since they rest on what is near in a source or on a danger reported elsewhere.
ARGUABLE = frozenset(
    {*(HARMS[family] for family in ("neglect", "unanswered", "carry_on", "reassure")), LEFT_OPEN, GRANTED_ELSEWHERE}
)
REASONS: dict[ViolationKind, str] = {
    "pii_leakage": "is worded like personal data read out",
    "harmful_content": "is worded like advice that harms, or that leaves the customer alone with it",
    "unauthorized_promise": "is worded like a promise, and no source says so",
    "competitor_recommendation": "is worded like a recommendation of somebody else",
}
SHOWN = 3
# Without a source nothing can be called unbacked.
NEEDS_SOURCE: frozenset[ViolationKind] = frozenset({"unauthorized_promise"})


class Scored(NamedTuple):
    """A sentence and how much it speaks for a kind."""

    worded: Worded
    score: float


def second_opinion(
    found: Sequence[Violation], reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy
) -> list[Violation]:
    """The findings that stand and those that wording adds; kinds without weights are left as they are."""
    sentences = worded(reading, anchors, policy=policy)
    rows = [scores(sentence.runs) for sentence in sentences]
    standing = [violation for violation in found if violation.kind not in fitted()]
    for at, (kind, weights) in enumerate(fitted().items()):
        scored = [Scored(sentence, row[at]) for sentence, row in zip(sentences, rows, strict=True)]
        kept = [violation for violation in found if violation.kind == kind and _stands(violation, scored, weights)]
        standing += kept
        if kind in NEEDS_SOURCE and not _has_source(reading):
            continue
        for one in scored:
            if one.score < weights.alone or any(_meet(one, violation.start, violation.end) for violation in kept):
                continue
            if kind == "unauthorized_promise" and (_is_stated(one, anchors) or _is_allowed(one, reading, policy)):
                continue
            # A finding that no words can be shown for has no evidence.
            if signs := weights.heaviest(one.worded.runs, SHOWN):
                standing.append(_violation(kind, signs, one.worded, reading))
    return standing


def _stands(violation: Violation, scored: Iterable[Scored], weights: Weights) -> bool:
    if weights.beside is None or violation.reason not in ARGUABLE:
        return True
    return any(one.score >= weights.beside for one in scored if _meet(one, violation.start, violation.end))


def _has_source(reading: Reading) -> bool:
    return any(not source.name.startswith("input") for source in reading.sources or ())


def _violation(kind: ViolationKind, signs: Sequence[str], said: Worded, reading: Reading) -> Violation:
    start, end = said.sentence.start, said.sentence.end
    shown = ", ".join(f"'{run}'" for run in signs)
    return Violation(kind, reading.reply.raw[start:end], start, end, f"{REASONS[kind]}: {shown}")


def _meet(one: Scored, start: int, end: int) -> bool:
    return one.worded.sentence.start < end and start < one.worded.sentence.end


def _is_stated(one: Scored, anchors: tuple[Anchor, ...] | None) -> bool:
    """Whether the sources hold most figures of the sentence, so that they speak of what is promised."""
    held = [a.holds for a in anchors or () if a.kind != "claim" and _meet(one, a.start, a.end)]
    return 2 * sum(held) > len(held)


def _is_allowed(one: Scored, reading: Reading, policy: Policy) -> bool:
    """Whether the policy lets agents promise what the sentence does."""
    if not policy.promises:
        return False
    return any(
        _meet(one, *commitment.span(reading.reply)) and allowed(commitment, reading.reply, policy)
        for commitment in find_commitments(reading.reply)
    )
