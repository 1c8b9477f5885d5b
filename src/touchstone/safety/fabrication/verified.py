"""What a verifier says of the reply's sentences -> violations: those it doubts more than the cut allows."""

from collections.abc import Sequence

from touchstone.core.reading import Claim
from touchstone.core.result import Statement, Verification, Violation
from touchstone.evidence.verifier.statements import DOUBTED


def add_doubted(
    violations: Sequence[Violation], verification: Verification | None, *, claims: Sequence[Claim]
) -> tuple[Violation, ...]:
    """The violations with those of the verifier, in the order they stand; what is one already is not one twice.

    Only a sentence that asserts something, as the parser sees it, can be one: instructions and offers are not.
    """
    if verification is None:
        return tuple(violations)
    known = [violation for violation in violations if violation.kind == "hallucination"]
    doubted = [
        _violation(statement)
        for statement in verification.statements
        if is_doubted(statement, cut=verification.cut)
        and any(statement.start <= claim.start < statement.end for claim in claims)
        and not any(_overlap(each, statement) for each in known)
    ]
    return tuple(sorted([*violations, *doubted], key=lambda each: (each.start, each.end, each.kind)))


def is_doubted(statement: Statement, *, cut: float) -> bool:
    """Whether the model takes the sentence for one that the sources do not bear out, surely enough."""
    return statement.chances is not None and statement.status in DOUBTED and statement.chances.doubt >= cut


def _violation(statement: Statement) -> Violation:
    doubt = statement.chances.doubt if statement.chances else 0.0
    return Violation(
        "hallucination",
        statement.text,
        statement.start,
        statement.end,
        f"{statement.reason} (verifier, {doubt:.2f})",
        statement.evidence,
    )


def _overlap(violation: Violation, statement: Statement) -> bool:
    return violation.start < statement.end and statement.start < violation.end
