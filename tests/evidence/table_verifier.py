"""A verifier that goes by a table: what it says of a sentence is decided by the first phrase found in it."""

from collections.abc import Mapping, Sequence

from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.result import Chances, Statement, Verification
from touchstone.evidence.check import check
from touchstone.evidence.verification import SentencePair, VerifierCard, verify
from touchstone.text.reading import read

CARD = VerifierCard(name="table", version="1", hash="0" * 16)
SURE = Chances(0.97, 0.01, 0.01, 0.01)
DOUBTFUL = Chances(0.1, 0.2, 0.65, 0.05)
OPPOSED = Chances(0.02, 0.9, 0.06, 0.02)
SILENT = Chances(0.01, 0.01, 0.01, 0.97)


class TableVerifier:
    """Keeps the pairs it was shown, so that a test sees what never reached it; a key `a | b` also asks for evidence."""

    def __init__(self, table: Mapping[str, Chances], *, other: Chances) -> None:
        self.card = CARD
        self.pairs: list[SentencePair] = []
        self._table = table
        self._other = other

    def read(self, pairs: Sequence[SentencePair]) -> list[Chances]:
        self.pairs += pairs
        return [self._chances(pair) for pair in pairs]

    def _chances(self, pair: SentencePair) -> Chances:
        for key, chances in self._table.items():
            phrase, _, evidence = key.partition(" | ")
            if phrase in pair.sentence and evidence in pair.evidence:
                return chances
        return self._other


def verification_of(reply: str, passages: Sequence[str] | None, *, verifier: TableVerifier, **fields) -> Verification:
    reading = read(case_from_dict({"response": reply, "context": passages, **fields}))
    return verify(reading, check(reading, plan=Plan()), verifier=verifier)


def statements_of(reply: str, passages: Sequence[str], *, verifier: TableVerifier, **fields) -> tuple[Statement, ...]:
    return verification_of(reply, passages, verifier=verifier, **fields).statements
