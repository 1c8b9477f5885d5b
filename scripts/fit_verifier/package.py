"""The final model, its tokenizer and what is known about it -> the files of the distribution touchstone-verifier."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.cases import ROOT
from scipy.special import softmax
from scripts.fit_verifier import general, public, stages
from scripts.fit_verifier import network as networks
from scripts.fit_verifier.card import write_card
from scripts.fit_verifier.export import open_model, read_pairs
from scripts.fit_verifier.figures import answers_of, calibration_of, figures
from scripts.fit_verifier.network import Shape, Verifier
from scripts.fit_verifier.pairs import EVIDENCE_SENTENCES, LABELS
from scripts.fit_verifier.training import MAX_TOKENS, load_tokenizer, logits_of
from tokenizers import Tokenizer

HOME = ROOT / "verifier" / "src" / "touchstone_verifier"
README = ROOT / "verifier" / "README.md"
NAME, VERSION = "minilm-support", "1"
# So many rows are read by both, the network as it was fitted and the model of eight bits.
COMPARED = 300
OWN_LICENCE = "Apache-2.0 (written for Touchstone)"


def write(folder: Path, *, folds: list[int]) -> dict[str, Any]:
    """Write the package's files from what the stages left; figures come from the folds given."""
    write_model(folder)
    calibration, points, cut = calibration_of(folder, answers_of(folder, folds))
    card = {
        "format": 1,
        "name": NAME,
        "version": VERSION,
        "labels": list(LABELS),
        "max_tokens": MAX_TOKENS,
        "evidence_sentences": EVIDENCE_SENTENCES,
        "reading": "one pair at a time, unpadded: eight-bit states are scaled by all that is read together",
        "calibration": {"temperature": calibration.temperature, "bias": list(calibration.bias)},
        "cuts": {"hallucination": cut, "curve": points},
        "sha256": sha256((HOME / "model.onnx").read_bytes()).hexdigest(),
        "trained_on": trained_on(folder),
        "figures": {**_rounded(figures(folder, folds)), "parity": _rounded(parity(folder))},
    }
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (HOME / "verifier.json").write_text(text + "\n", encoding="utf-8")
    write_card(README, card)
    return card


def write_model(folder: Path) -> bool:
    """Write the model and its tokenizer; whether it is the model that the card is about."""
    model = (folder / "final.onnx").read_bytes()
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / "model.onnx").write_bytes(model)
    write_tokenizer(networks.tokenizer_file(), HOME / "tokenizer.json")
    card = HOME / "verifier.json"
    return card.exists() and json.loads(card.read_text(encoding="utf-8"))["sha256"] == sha256(model).hexdigest()


def write_tokenizer(source: Path, target: Path) -> None:
    """The tokenizer without padding and cutting, which are the reader's."""
    tokenizer = Tokenizer.from_file(str(source))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(target), pretty=False)


def parity(folder: Path) -> dict[str, float]:
    """How far the model of eight bits is from the network as it was fitted, in probabilities."""
    network = Verifier(Shape())
    network.load_state_dict(torch.load(folder / "final.pt", weights_only=True))
    tokenizer = load_tokenizer(networks.tokenizer_file())
    pairs = stages.support_rows(folder)
    pairs = pairs[:: max(1, len(pairs) // COMPARED)]
    exact = softmax(logits_of(network, tokenizer, pairs), axis=-1)
    eight = softmax(read_pairs(open_model(folder / "final.onnx"), tokenizer, pairs), axis=-1)
    away = np.abs(exact - eight)
    return {
        "rows": len(pairs),
        "mean_difference": float(away.mean()),
        "p99_difference": float(np.quantile(away, 0.99)),
        "largest_difference": float(away.max()),
        "same_label": float((exact.argmax(-1) == eight.argmax(-1)).mean()),
    }


def trained_on(folder: Path) -> list[dict[str, Any]]:
    """The sets the final model was fitted on, how many sentences of each, and under which licence they are."""
    licences = {
        **general.LICENCES,
        "support": OWN_LICENCE,
        "changes": OWN_LICENCE,
        "kb": "MIT (tau2-bench)",
        **public.LICENCES,
    }
    counts = Counter(stages.GENERAL)
    counts.update(pair.set for pair in stages.fine_pairs(folder, without=None))
    return [{"set": name, "rows": rows, "licence": licences[name]} for name, rows in counts.items()]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
