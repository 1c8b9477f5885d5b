"""Labels -> a directory with a verifier of some kilobytes, for tests and for trying `--verifier` by hand.

    python -m scripts.make_tiny_verifier DIRECTORY [LABEL …]

It compares words: the more of the hypothesis the premise lacks, the less it is stated, and a `not` on one side alone
contradicts. Far too little for a reply that somebody wants to send. The model is written as ONNX without the package
of that name: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto has the numbers of the fields.
"""

import json
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from touchstone.clients.verifier import LABELS
from touchstone.core import resource

SPECIAL = ("[UNK]", "[CLS]", "[SEP]")
NEGATIONS = ("not", "never", "no")
FLOAT, INT64 = 1, 7
# What each feature adds to a class: always, the share of words that is lacking, a negation on one side alone.
WEIGHTS = {"supported": (1.6, -5, -3), "not_stated": (-1.6, 5, 2), "contradicted": (-1.6, -2, 6)}


def write_verifier(
    home: Path, labels: Sequence[str], *, pair: Sequence[str] = ("premise", "hypothesis"), types: bool = True, **card
) -> Path:
    """The directory, made if need be. Without `types` the model takes no `token_type_ids`; `card` adds settings."""
    home.mkdir(parents=True, exist_ok=True)
    words = sorted((resource.words("common_words.txt") | resource.words("stopwords.txt")) - {*NEGATIONS})
    vocabulary = {word: at for at, word in enumerate([*SPECIAL, *NEGATIONS, *words])}
    _tokenizer(vocabulary).save(str(home / "tokenizer.json"), pretty=False)
    (home / "model.onnx").write_bytes(_model(_columns(labels), first=pair[0], types=types))
    settings = {"name": "tiny", "version": "1.0", "pair": list(pair), "labels": list(labels), "max_tokens": 256} | card
    (home / "verifier.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    return home


def _columns(labels: Sequence[str]) -> list[tuple[float, ...]]:
    """The weights of each output; one that stands alone is set off against the other side."""
    spelled = [label.lower().replace("-", "_") for label in labels]
    names = [next(name for name, known in LABELS.items() if label in known) for label in spelled]
    if len(names) > 1:
        return [WEIGHTS[name] for name in names]
    other = "not_stated" if names == ["supported"] else "supported"
    return [tuple(a - b for a, b in zip(WEIGHTS[names[0]], WEIGHTS[other], strict=True))]


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer


def _model(columns: Sequence[Sequence[float]], *, first: str, types: bool) -> bytes:
    """Words of either side, what is lacking and what is denied, then one linear layer."""
    graph = _Graph()
    node, floats, whole = graph.node, graph.floats, graph.whole
    is_word = node("Cast", node("Greater", "input_ids", whole("last_special", [len(SPECIAL) - 1])), to=FLOAT)
    if types:
        side = node("Cast", "token_type_ids", to=FLOAT)
    else:
        ends = node("Cast", node("Equal", "input_ids", whole("sep", [SPECIAL.index("[SEP]")])), to=FLOAT)
        side = node("CumSum", ends, whole("axis", [1], scalar=True), exclusive=1)
    second = node("Mul", node("Mul", is_word, node("Cast", "attention_mask", to=FLOAT)), side)
    former = node("Sub", is_word, second)
    premise, hypothesis = (former, second) if first == "premise" else (second, former)
    one, two = whole("one", [1]), whole("two", [2])
    alike = node("Equal", node("Unsqueeze", "input_ids", two), node("Unsqueeze", "input_ids", one))
    held = node("Mul", node("Cast", alike, to=FLOAT), node("Unsqueeze", premise, one))
    lacking = node("Mul", hypothesis, node("Sub", floats("1", [1]), node("ReduceMax", held, axes=[2], keepdims=0)))
    size = node("Add", node("ReduceSum", hypothesis, one, keepdims=1), floats("little", [1e-6]))
    share = node("Div", node("ReduceSum", lacking, one, keepdims=1), size)
    denies = node("Less", "input_ids", whole("after", [len(SPECIAL) + len(NEGATIONS)]))
    denies = node("Mul", node("Cast", denies, to=FLOAT), is_word)
    ours, theirs = (
        node("ReduceMax", node("Mul", denies, each), axes=[1], keepdims=1) for each in (hypothesis, premise)
    )
    opposed = node("Abs", node("Sub", ours, theirs))
    always = node("Sub", node("Add", opposed, floats("1 more", [1])), opposed)
    weights = floats("weights", [column[at] for at in range(3) for column in columns], dims=(3, len(columns)))
    node("MatMul", node("Concat", always, share, opposed, axis=1), weights, output="logits")
    names = ("input_ids", "attention_mask", *(("token_type_ids",) if types else ()))
    return graph.model(names, outputs=len(columns))


class _Graph:
    """Operators and constants, in the wire format of protocol buffers."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []

    def node(self, kind: str, *inputs: str, output: str | None = None, **options: int | list[int]) -> str:
        name = output or f"n{len(self.nodes)}"
        attributes = b"".join(_field(5, _attribute(key, value)) for key, value in options.items())
        self.nodes.append(_texts(1, inputs) + _field(2, name) + _field(4, kind) + attributes)
        return name

    def floats(self, name: str, values: Sequence[float], *, dims: Sequence[int] | None = None) -> str:
        return self._constant(name, struct.pack(f"<{len(values)}f", *values), FLOAT, dims or (len(values),))

    def whole(self, name: str, values: Sequence[int], *, scalar: bool = False) -> str:
        return self._constant(name, struct.pack(f"<{len(values)}q", *values), INT64, () if scalar else (len(values),))

    def _constant(self, name: str, content: bytes, type: int, dims: Iterable[int]) -> str:
        sizes = b"".join(_field(1, size) for size in dims)
        self.constants.append(sizes + _field(2, type) + _field(8, name) + _field(9, content))
        return name

    def model(self, inputs: Sequence[str], *, outputs: int) -> bytes:
        graph = b"".join(_field(1, node) for node in self.nodes) + _field(2, "tiny")
        graph += b"".join(_field(5, constant) for constant in self.constants)
        graph += b"".join(_field(11, _value(name, INT64, ("n", "t"))) for name in inputs)
        graph += _field(12, _value("logits", FLOAT, ("n", outputs)))
        return _field(1, 10) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 17))


def _attribute(name: str, value: int | list[int]) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + b"".join(_field(8, each) for each in value) + _field(20, 7)


def _value(name: str, type: int, dims: Sequence[str | int]) -> bytes:
    sizes = b"".join(_field(1, _field(1, size) if isinstance(size, int) else _field(2, size)) for size in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, type) + _field(2, sizes)))


def _texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_field(number, value) for value in values)


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


if __name__ == "__main__":
    home = write_verifier(Path(sys.argv[1]), sys.argv[2:] or ["entailment", "neutral", "contradiction"])
    print(f"{home}: {sum(path.stat().st_size for path in home.iterdir()):,} bytes")
