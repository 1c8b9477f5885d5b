"""Everything that determines results, as one value that can be hashed."""

from dataclasses import dataclass
from typing import Literal

# What the decision follows: the pass probability, or the specification's own words where a team wants them to be final.
DecideBy = Literal["probability", "outcome", "verdict", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of a scoring; the defaults are the specification's.

    A finding of the offline judge is a violation from the confidence `violation_at` on and a suspicion from
    `suspicion_at` on. `send_at` and `block_at` are the pass probabilities from and up to which a guard sends and
    blocks.
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
    violation_at: float = 0.9
    suspicion_at: float = 0.3
    send_at: float = 0.86
    block_at: float = 0.19
    decide_by: DecideBy = "probability"
