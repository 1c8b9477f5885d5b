"""Public sets and gold sets -> how well the hallucination score and its parts find unsupported replies.

Area under the ROC curve with a bootstrap interval, beside two baselines that read nothing: the share of the reply's
words absent from the context, and the reply's length.
"""

import re
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from scipy.stats import spearmanr

import touchstone
from benchmarks.auc import auc
from benchmarks.cases import GOLD_SETS, PUBLIC_SETS, Judged, gold_set, public_set
from benchmarks.error_classes import tally
from benchmarks.record import write
from touchstone.core.case import Case
from touchstone.core.result import Anchor, Result, Score

WORD = re.compile(r"\w+")
TOP_GRADE = 4
GOOD_GRADE = 3
# The verdict's threshold: a reply above it fails.
FAILS = touchstone.Plan().hallucination_fail
# Name -> what of the case and its hallucination score ranks the replies; higher is worse.
RANKINGS: dict[str, Callable[[Case, Score], float]] = {
    "s_hall": lambda _, score: score.score or 0.0,
    "s_claims": lambda _, score: score.parts["s_claims"],
    "values_only": lambda _, score: _share_open([anchor for anchor in score.anchors or () if anchor.kind != "claim"]),
    "claims_only": lambda _, score: _share_open([anchor for anchor in score.anchors or () if anchor.kind == "claim"]),
    "ngrams": lambda _, score: 1 - (1.0 if score.parts["ngram_overlap"] is None else score.parts["ngram_overlap"]),
    "baseline_absent_words": lambda case, _: absent_words(case),
    "baseline_length": lambda case, _: float(len(case.response.split())),
}


def run() -> None:
    """Write results/quality.json; without the public sets the committed figures stay as they are."""
    found = {name: judged for name in PUBLIC_SETS if (judged := public_set(name)) is not None}
    gold = {name: _gold_figures(name) for name in GOLD_SETS}
    if len(found) < len(PUBLIC_SETS):
        print("results/quality.json is left as it is: it holds all sets or none", flush=True)
        return
    write("quality", {"public": {name: _public_figures(name, judged) for name, judged in found.items()}, "gold": gold})


def absent_words(case: Case) -> float:
    """The share of the reply's words that stand nowhere in the context."""
    known = set(WORD.findall(" ".join(passage.text for passage in case.context or ()).casefold()))
    said = WORD.findall(case.response.casefold())
    return sum(word not in known for word in said) / len(said) if said else 0.0


def error(item: Judged, score: Score) -> str | None:
    """`missed`, `false alarm` or None, at the verdict's threshold."""
    fails = (score.score or 0.0) > FAILS
    if fails == item.unsupported:
        return None
    return "missed" if item.unsupported else "false alarm"


def hallucination(result: Result) -> Score:
    """The result's hallucination score."""
    if result.metrics is None:
        raise ValueError(f"case {result.id} was not scored: {result.failures[0].message}")
    return result.metrics["hallucination"]


def _public_figures(name: str, judged: Sequence[Judged]) -> dict[str, Any]:
    scores = [hallucination(touchstone.score(item.case)) for item in judged]
    labels = [item.unsupported for item in judged]
    figures: dict[str, Any] = {"replies": len(judged), "unsupported": sum(labels)}
    figures["without_anchors"] = sum(not score.anchors for score in scores)
    errors = {item.case.id or "": error(item, score) for item, score in zip(judged, scores, strict=True)}
    figures |= {sort.replace(" ", "_"): list(errors.values()).count(sort) for sort in ("missed", "false alarm")}
    figures["copies_not_supported"] = _copies_not_supported([item.case.response for item in judged])
    figures["auc"] = _aucs([item.case for item in judged], scores, labels)
    if name == "dstc9":
        rho = spearmanr([item.gold["accuracy"] for item in judged], [1 - (score.score or 0.0) for score in scores])
        figures["spearman_accuracy"] = float(rho.statistic)
    _show(name, figures)
    figures["errors_read"] = tally(name, {id: sort for id, sort in errors.items() if sort})
    return figures


def _gold_figures(name: str) -> dict[str, Any]:
    """On the gold sets people graded accuracy 0-4 and marked hallucinations."""
    cases = gold_set(name)
    results = [touchstone.score(case) for case in cases]
    scores = [hallucination(result) for result in results]
    accuracy = [fmean(label.grades["accuracy"] or 0 for label in case.labels) for case in cases]
    marked = [any("hallucination" in label.violations for label in case.labels) for case in cases]
    right = [result for result, grade in zip(results, accuracy, strict=True) if grade == TOP_GRADE]
    figures = {
        "replies": len(cases),
        "copies_not_supported": _copies_not_supported([case.response for case in cases]),
        "accuracy_below_3": sum(grade < GOOD_GRADE for grade in accuracy),
        "auc_accuracy_below_3": _aucs(cases, scores, [grade < GOOD_GRADE for grade in accuracy]),
        "labelled_hallucination": sum(marked),
        "auc_labelled_hallucination": _aucs(cases, scores, marked),
        "accuracy_4": len(right),
        "accuracy_4_verdict_fail": _share(result.verdict == "FAIL" for result in right),
        "accuracy_4_hallucination_fail": _share(
            any(reason.startswith("hallucination") for reason in result.reasons) for result in right
        ),
    }
    _show(name, figures)
    return figures


def _copies_not_supported(replies: Sequence[str]) -> int:
    """How many replies have an anchor that does not hold when the reply itself is the context; none should."""
    copies = (touchstone.score(touchstone.Case(response=reply, context=[reply])) for reply in replies)
    return sum(any(not anchor.holds for anchor in hallucination(copy).anchors or ()) for copy in copies)


def _aucs(cases: Sequence[Case], scores: Sequence[Score], labels: Sequence[bool]) -> dict[str, Any]:
    pairs = list(zip(cases, scores, strict=True))
    return {
        name: auc([rank(case, score) for case, score in pairs], labels)._asdict() for name, rank in RANKINGS.items()
    }


def _share_open(anchors: Sequence[Anchor]) -> float:
    return sum(not anchor.holds for anchor in anchors) / len(anchors) if anchors else 0.0


def _share(flags: Any) -> float:
    return fmean(map(float, flags))


def _show(name: str, figures: dict[str, Any]) -> None:
    print(f"{name}: {figures['replies']:,} replies")
    for key, value in figures.items():
        if isinstance(value, dict):
            print(f"  {key}")
            for ranking, area in value.items():
                print(f"    {ranking:24}{area['value']:.3f} ({area['low']:.3f}–{area['high']:.3f})")
        elif key != "replies":
            print(f"  {key:32}{value if isinstance(value, int) else f'{value:.3f}'}")
    print(end="", flush=True)
