"""data/verifier -> tests/clients/tiny: a verifier of some kilobytes for tests, fitted and read like a real one.

    python -m scripts.make_tiny_verifier        # needs onnx and scikit-learn

It knows which words of a sentence its evidence has, and which of the evidence the sentence leaves out: enough to tell a
courtesy from a claim and a copied claim from an invented one, far too little for a reply that somebody wants to send.
"""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from touchstone.evidence.verifier.retrieval import Passages, evidence_for, joined
from touchstone.text.reading import read_text

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "tests/clients/tiny/touchstone_verifier"
LABELS = ["supported", "contradicted", "not_stated", "no_claim"]
SPECIAL = ["[UNK]", "[CLS]", "[SEP]"]
KNOWN, OWN_ROW = 3000, 400
SENTENCES = 3
WORD = re.compile(r"\w+|[^\w\s]+")


def main() -> None:
    rows = [row for file in sorted((ROOT / "data/verifier").glob("batch-*.jsonl")) for row in _rows(file)]
    counts = Counter(word for sentence, evidence, _ in rows for word in WORD.findall(f"{sentence} {evidence}".lower()))
    vocabulary = {word: at for at, word in enumerate([*SPECIAL, *(word for word, _ in counts.most_common(KNOWN))])}
    tokenizer = _tokenizer(vocabulary)
    table = np.stack([_features(tokenizer, sentence, evidence) for sentence, evidence, _ in rows])
    fitted = LogisticRegression(C=20.0, max_iter=2000).fit(table, [LABELS.index(label) for _, _, label in rows])
    weights = np.round(fitted.coef_.T.astype(np.float32), 4).reshape(3, OWN_ROW, len(LABELS))
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "__init__.py").write_text('"""A verifier for tests, written by scripts/make_tiny_verifier.py."""\n')
    tokenizer.save(str(TARGET / "tokenizer.json"), pretty=False)
    content = _graph(weights, np.round(fitted.intercept_.astype(np.float32), 4)).SerializeToString()
    (TARGET / "model.onnx").write_bytes(content)
    card = {
        "format": 1,
        "name": "tiny",
        "version": "1.0",
        "labels": LABELS,
        "max_tokens": 256,
        "evidence_sentences": SENTENCES,
        "calibration": {"method": "temperature", "temperature": 1.0},
        "cuts": {"hallucination": 0.8, "curve": []},
        "sha256": hashlib.sha256(content).hexdigest(),
        "trained_on": {"data/verifier": len(rows)},
        "figures": {},
    }
    (TARGET / "verifier.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    right = fitted.score(table, [LABELS.index(label) for _, _, label in rows])
    print(f"{len(content):,} bytes, right on {right:.2f} of its own rows")


def _rows(file: Path) -> list[tuple[str, str, str]]:
    rows = []
    for line in file.read_text("utf-8").splitlines():
        group = json.loads(line)
        passages = Passages.of([read_text(f"context[{at}]", text) for at, text in enumerate(group["passages"])])
        for label, _, sentence in group["rows"]:
            found = evidence_for(read_text("response", sentence).tokens, passages, limit=SENTENCES)
            rows.append((sentence, joined(found), label.replace("invented", "not_stated")))
    return rows


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer


def _features(tokenizer: Tokenizer, sentence: str, evidence: str) -> np.ndarray:
    """Shares of the sentence's words, of those that the evidence has not, and of the evidence's that it leaves out."""
    read = tokenizer.encode(sentence, evidence)
    ids, types = np.array(read.ids), np.array(read.type_ids)
    ours, theirs = ids[types == 0], ids[types == 1]
    found = np.zeros((3, OWN_ROW))
    for at, (words, others) in enumerate(((ours, ()), (ours, theirs), (theirs, ours))):
        for word in words:
            if word not in others:
                found[at, min(word, OWN_ROW - 1)] += 1 / len(words)
    return found.ravel()


def _graph(weights: np.ndarray, bias: np.ndarray) -> onnx.ModelProto:
    """The same as `_features` and a linear layer, as operators."""
    nodes, constants = [], []

    def constant(name: str, value: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(value, name))
        return name

    def node(kind: str, *inputs: str, **options: object) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [f"n{len(nodes)}"], **options))
        return f"n{len(nodes) - 1}"

    last = constant("last", np.array(OWN_ROW - 1, dtype=np.int64))
    one, two = constant("one", np.array([1], dtype=np.int64)), constant("two", np.array([2], dtype=np.int64))
    row = node("Min", "input_ids", last)
    is_read = node("Cast", "attention_mask", to=TensorProto.FLOAT)
    is_evidence = node("Mul", node("Cast", "token_type_ids", to=TensorProto.FLOAT), is_read)
    is_sentence = node("Sub", is_read, is_evidence)
    alike = node("Equal", node("Unsqueeze", "input_ids", two), node("Unsqueeze", "input_ids", one))
    alike = node("Cast", alike, to=TensorProto.FLOAT)
    logits = constant("bias", bias)
    for name, side, other in (("all", is_sentence, None), ("new", is_sentence, is_evidence),
                              ("left_out", is_evidence, is_sentence)):  # fmt: skip
        counted = side
        if other is not None:
            held = node("Mul", alike, node("Unsqueeze", other, one))
            held = node("ReduceMax", held, axes=[2], keepdims=0)
            counted = node("Mul", side, node("Sub", constant(f"{name}_1", np.float32(1)), held))
        at = ("all", "new", "left_out").index(name)
        gathered = node("Gather", constant(f"{name}_table", weights[at]), row)
        total = node("ReduceSum", node("Mul", gathered, node("Unsqueeze", counted, two)), one, keepdims=0)
        size = node("ReduceSum", side, one, keepdims=1)
        logits = node("Add", logits, node("Div", total, size))
    nodes.append(helper.make_node("Identity", [logits], ["logits"]))
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in names]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 4])
    graph = helper.make_graph(nodes, "tiny", inputs, [output], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


if __name__ == "__main__":
    main()
