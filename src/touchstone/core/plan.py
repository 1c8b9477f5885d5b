"""Everything that determines results, as one value that can be hashed."""

from dataclasses import dataclass
from typing import Literal

# Who reads the reply's sentences against the sources beside the rules: a fitted model, or nobody.
VerifierChoice = Literal["none", "deep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of a scoring; the defaults are the specification's.

    `verifier_cut` is the doubt from which a sentence is a violation; None leaves it to the verifier.
    """

    relevance_fail: float = 0.1
    completeness_warn: float = 0.6
    hallucination_fail: float = 0.5
    hallucination_flag: float = 0.6
    drift_overlap: float = 0.2
    drift_penalty: float = 0.2
    drift_ngram: int = 1
    proximity: int = 24
    max_reply_chars: int = 100_000
    verifier: VerifierChoice = "none"
    verifier_cut: float | None = None
