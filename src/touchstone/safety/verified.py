"""What a verifier says of the reply's sentences -> findings: the assertions that it doubts."""

from collections.abc import Sequence

from touchstone.core.reading import Claim
from touchstone.core.result import Finding, Statement, Verification
from touchstone.evidence.verification import DOUBTED


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
