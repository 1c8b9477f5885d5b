"""A fitted network -> model.onnx: written out, its weights in eight bits, and read as the product reads it."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from scripts.fit_verifier.network import Verifier
from scripts.fit_verifier.pairs import LABELS, Pair
from tokenizers import Tokenizer

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OPSET = 17


def export(network: Verifier, target: Path) -> None:
    """The network in eight bits: matrices by column, word vectors as one."""
    network.eval()
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        write_plain(network, plain)
        quantize_dynamic(
            plain,
            target,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )


def write_plain(network: Verifier, target: Path) -> None:
    """The network as it is, for any number of pairs of any length."""
    example = torch.ones(2, 8, dtype=torch.int64)
    names = {0: "pairs", 1: "tokens"}
    with warnings.catch_warnings():
        # The exporter that needs no further package is announced as the older one.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (example, example, torch.zeros_like(example)),
            str(target),
            input_names=list(INPUTS),
            output_names=["logits"],
            dynamic_axes={**dict.fromkeys(INPUTS, names), "logits": {0: "pairs"}},
            opset_version=OPSET,
            dynamo=False,
        )


def open_model(path: Path) -> onnxruntime.InferenceSession:
    """The model on one core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def read_pairs(
    session: onnxruntime.InferenceSession, tokenizer: Tokenizer, pairs: Sequence[Pair]
) -> NDArray[np.float32]:
    """The logits of every pair, each read alone as in the product: eight-bit states are scaled by all that is read."""
    found = np.zeros((len(pairs), len(LABELS)), dtype=np.float32)
    for at, pair in enumerate(pairs):
        read = tokenizer.encode(pair.sentence, pair.evidence)
        fields = (read.ids, read.attention_mask, read.type_ids)
        given = {name: np.array([field], dtype=np.int64) for name, field in zip(INPUTS, fields, strict=True)}
        found[at] = session.run(["logits"], given)[0][0]
    return found
