"""Checked anchors -> hallucination: the share of unsupported ones, or the drift penalty (spec: scoring-logic 3)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from touchstone.core.plan import Plan
from touchstone.core.reading import Reading, Text
from touchstone.core.result import STATUSES, Anchor, Score
from touchstone.evidence.check import unchecked


class HallucinationParts(TypedDict):
    """What the score is made of, and the facts it was found in."""

    s_claims: float | None
    p_drift: float | None
    ngram_overlap: float | None
    unchecked: NotRequired[int]
    not_understood: NotRequired[tuple[str, ...]]
    anchors: tuple[Anchor, ...]


NO_PARTS = {"s_claims": None, "p_drift": None, "ngram_overlap": None}


def hallucination(reading: Reading, anchors: tuple[Anchor, ...] | None, *, plan: Plan) -> Score:
    """max(S_claims, P_drift); None when there is nothing to check against."""
    if anchors is None or reading.sources is None:
        reason = "neither context nor expected_output to check against"
        return Score("hallucination", None, reason, NO_PARTS, anchors=())
    unsupported = sum(not anchor.holds for anchor in anchors)
    claims = unsupported / len(anchors) if anchors else 0.0
    shared = ngram_overlap(reading.reply, reading.sources, n=plan.drift_ngram)
    drift = plan.drift_penalty if shared is not None and shared < plan.drift_overlap else 0.0
    score = max(claims, drift)
    parts: dict[str, Any] = {"s_claims": claims, "p_drift": drift, "ngram_overlap": shared}
    reason = _reason(anchors, drift)
    if left := unchecked(reading):
        parts["unchecked"] = left
        reason += f"; {left:,} more not checked, since the reply holds so many"
    if notes := [f"{source.name}: {note}" for source in reading.sources for note in source.notes]:
        parts["not_understood"] = notes
        reason += f"; not all read: {notes[0]}"
    flagged = score > plan.hallucination_flag
    return Score("hallucination", score, reason, parts, flag="FAIL" if flagged else None, anchors=anchors)


def ngram_overlap(reply: Text, sources: Sequence[Text], *, n: int) -> float | None:
    """Share of the reply's distinct n-grams found in the evidence; None for a reply without any."""
    said = _ngrams(reply, n)
    if not said:
        return None
    known = set().union(*(_ngrams(source, n) for source in sources))
    return len(said & known) / len(said)


def _ngrams(text: Text, n: int) -> set[tuple[str, ...]]:
    terms = text.terms
    return {terms[at : at + n] for at in range(len(terms) - n + 1)}


def _reason(anchors: tuple[Anchor, ...], drift: float) -> str:
    if not anchors:
        said = "the reply states no checkable fact"
    else:
        counts = Counter(anchor.status for anchor in anchors)
        listed = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
        said = f"{len(anchors)} anchor{'' if len(anchors) == 1 else 's'}: {listed}"
    return said + ("; strays from the evidence's vocabulary" if drift else "")
