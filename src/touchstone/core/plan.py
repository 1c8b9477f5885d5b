"""Everything that determines results, as one value that can be hashed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The settings of a scoring; the defaults are the specification's."""

    relevance_fail: float = 0.1
    completeness_warn: float = 0.6
    hallucination_fail: float = 0.5
    hallucination_flag: float = 0.6
    drift_overlap: float = 0.2
    drift_penalty: float = 0.2
    drift_ngram: int = 1
    proximity: int = 24
    max_reply_chars: int = 100_000
