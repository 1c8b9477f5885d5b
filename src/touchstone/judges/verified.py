"""What a verifier says of the reply's sentences -> features for accuracy; there are none where no verifier spoke."""

from touchstone.core.result import Verification

NAMES = ("doubt_most", "doubt_mean", "contradicted_most", "sentences_doubted", "sentences_supported")
MAX_SENTENCES = 4


def verified_features(verification: Verification | None) -> dict[str, float]:
    """How much the surest doubt is worth, and how the sentences that claim something stand on the whole."""
    if verification is None:
        return {}
    read = [s for s in verification.statements if s.chances is not None and s.status != "no_claim"]
    doubts = [s.chances.doubt for s in read if s.chances is not None]
    against = [s.chances.contradicted for s in read if s.chances is not None]
    supported = sum(s.status == "supported" for s in verification.statements)
    claims = sum(s.status != "no_claim" for s in verification.statements)
    return {
        "doubt_most": max(doubts, default=0.0),
        "doubt_mean": sum(doubts) / claims if claims else 0.0,
        "contradicted_most": max(against, default=0.0),
        "sentences_doubted": float(min(MAX_SENTENCES, sum(doubt >= verification.cut for doubt in doubts))),
        "sentences_supported": supported / claims if claims else 1.0,
    }
