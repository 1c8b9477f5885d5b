"""The claim verifier -> how well it reads: held-out figures of its fit, gold sets it never saw, time a sentence.

The held-out figures are made with the fit (`make measure-verifier`) and kept with the model; the others are made here.
"""

import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from benchmarks.auc import auc
from benchmarks.cases import GOLD_SETS, ROOT, gold_set, rows
from benchmarks.record import write
from touchstone.clients.verifier import open_verifier
from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import Verification
from touchstone.evidence.check import check
from touchstone.evidence.verifier.model import Pair, Verifier
from touchstone.evidence.verifier.retrieval import Passages, evidence_for, joined
from touchstone.evidence.verifier.statements import verify
from touchstone.text.reading import read, read_text

HOME = ROOT / "verifier" / "src" / "touchstone_verifier"
CUTS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
TIMED = 200


def run() -> None:
    """Write results/verifier.json."""
    card = rows_of_card()
    verifier = open_verifier(HOME)
    write(
        "verifier",
        {
            "model": {"name": card["name"], "version": card["version"], "sha256": card["sha256"]},
            "bytes": (HOME / "model.onnx").stat().st_size,
            "held_out": card["figures"],
            "gold": {name: _gold(name, verifier) for name in GOLD_SETS},
            "milliseconds": _time(verifier, evidence_sentences=card["evidence_sentences"]),
        },
    )


def rows_of_card() -> dict[str, Any]:
    """What the package says of its model."""
    return dict(json.loads((HOME / "verifier.json").read_text(encoding="utf-8")))


def _gold(name: str, verifier: Verifier) -> dict[str, Any]:
    """Replies with a fabrication according to any rater, found by the surest doubt about one of their sentences."""
    cases = [case for case in gold_set(name) if case.context]
    found = [_verified(case, verifier) for case in cases]
    doubt = [max((s.chances.doubt for s in each.statements if s.chances), default=0.0) for each in found]
    wrong = [_fabricates(case) for case in cases]
    sentences = sum(len(each.statements) for each in found)
    return {
        "replies": len(cases),
        "fabricating": sum(wrong),
        "auc": list(auc(doubt, wrong)),
        "curve": [[cut, *_precision_recall(doubt, wrong, cut=cut)] for cut in CUTS],
        "sentences": sentences,
        "clear_without_the_model": sum(each.spared for each in found) / max(1, sentences),
    }


def _verified(case: Case, verifier: Verifier) -> Verification:
    reading = read(case)
    found = verify(reading, check(reading, plan=Plan()), verifier=verifier, plan=Plan())
    if found is None:
        raise ValueError(f"case {case.id} has nothing to be held against")
    return found


def _fabricates(case: Case) -> bool:
    return any("hallucination" in label.violations for label in case.labels or ())


def _precision_recall(doubt: Sequence[float], wrong: Sequence[bool], *, cut: float) -> tuple[float | None, float]:
    said = [value >= cut for value in doubt]
    hits = sum(a and b for a, b in zip(said, wrong, strict=True))
    return (hits / sum(said) if any(said) else None), hits / max(1, sum(wrong))


def _time(verifier: Verifier, *, evidence_sentences: int) -> dict[str, float]:
    """Time of one pair on one core, over written rows; the first pairs warm up and are not counted."""
    pairs = list(_pairs(evidence_sentences))[: TIMED + 10]
    verifier.read(pairs[:10])
    taken = []
    for pair in pairs[10:]:
        start = time.perf_counter()
        verifier.read([pair])
        taken.append(1000 * (time.perf_counter() - start))
    tokenizer = Tokenizer.from_file(str(HOME / "tokenizer.json"))
    tokens = [len(tokenizer.encode(pair.sentence, pair.evidence).ids) for pair in pairs[10:]]
    return {
        "tokens": float(np.mean(tokens)),
        "p50": float(np.quantile(taken, 0.5)),
        "p99": float(np.quantile(taken, 0.99)),
    }


def _pairs(evidence_sentences: int) -> Sequence[Pair]:
    found = []
    for group in rows(ROOT / "data/verifier/batch-a.jsonl"):
        passages = Passages.of([read_text(f"context[{at}]", text) for at, text in enumerate(group["passages"])])
        for _, _, sentence in group["rows"]:
            evidence = evidence_for(read_text("response", sentence).tokens, passages, limit=evidence_sentences)
            found.append(Pair(sentence, joined(evidence)))
    return found
