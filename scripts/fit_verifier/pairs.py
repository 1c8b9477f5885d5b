"""What a row of any set becomes: a sentence, its evidence, and which of the labels it may and may not have."""

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.evidence.verifier.retrieval import Passages, evidence_for, joined
from touchstone.text.reading import read_text

LABELS = ("supported", "contradicted", "not_stated", "no_claim")
SUPPORTED, CONTRADICTED, NOT_STATED, NO_CLAIM = range(len(LABELS))
# What a set distinguishes at all: general sets know no sentence without a claim.
CLAIMS = (SUPPORTED, CONTRADICTED, NOT_STATED)
EVERY = (*CLAIMS, NO_CLAIM)
UNSUPPORTED = (CONTRADICTED, NOT_STATED)
# As many sentences of the sources as the model reads beside a sentence of the reply.
EVIDENCE_SENTENCES = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its evidence; the right label is one of `right`, the choice was among `choice`.

    `group` names what shares sources and stays on one side of every split; `set` and `kind` say where it comes from.
    """

    sentence: str
    evidence: str
    right: tuple[int, ...]
    choice: tuple[int, ...]
    set: str
    kind: str = ""
    group: str = ""
    weight: float = 1.0


def sentences_of(reply: str) -> list[str]:
    """The sentences of a reply as the verifier is given them."""
    text = read_text("response", reply)
    return [reply[sentence.start : sentence.end].strip() for sentence in text.sentences]


def read_passages(passages: Sequence[str]) -> Passages:
    """Passages ready to be looked through."""
    return Passages.of([read_text(f"context[{at}]", passage) for at, passage in enumerate(passages)])


def find_evidence(sentence: str, passages: Passages) -> str:
    """What the model reads beside a sentence."""
    return joined(evidence_for(read_text("response", sentence).tokens, passages, limit=EVIDENCE_SENTENCES))
