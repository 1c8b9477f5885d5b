"""Scores -> verdict: safety first, quality second, detail third (spec: scoring-logic 4)."""

from collections.abc import Mapping
from typing import NamedTuple

from touchstone.core.plan import Plan
from touchstone.core.result import Score, Verdict
from touchstone.core.shown import comparison


class VerdictRuling(NamedTuple):
    """A verdict with every reason for it; None when a score it needs is missing."""

    verdict: Verdict | None
    reasons: tuple[str, ...]


def decide(scores: Mapping[str, Score], *, plan: Plan) -> VerdictRuling:
    """FAIL on hallucination, then on relevance; WARN on completeness; PASS otherwise. Unscored is never a pass."""
    hallucination, relevance, completeness = (
        scores[metric].score for metric in ("hallucination", "relevance", "completeness")
    )
    fails = []
    if hallucination is not None and hallucination > plan.hallucination_fail:
        fails.append(f"hallucination {comparison(hallucination, '>', plan.hallucination_fail)}")
    if relevance is not None and relevance < plan.relevance_fail:
        fails.append(f"relevance {comparison(relevance, '<', plan.relevance_fail)}")
    warns = []
    if completeness is not None and completeness < plan.completeness_warn:
        warns.append(f"completeness {comparison(completeness, '<', plan.completeness_warn)}")
    unscored = [f"{name} not scored: {score.reason}" for name, score in scores.items() if score.score is None]
    reasons = (*fails, *warns, *unscored)
    if fails:
        return VerdictRuling("FAIL", reasons)
    if hallucination is None or relevance is None or completeness is None:
        return VerdictRuling(None, reasons)
    return VerdictRuling("WARN" if warns else "PASS", reasons)
