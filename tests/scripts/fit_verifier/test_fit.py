"""A tiny network fitted, written out in eight bits and read again; needs torch and onnx, which only a fit needs."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="TORCH IS NOT INSTALLED: the fit of the verifier was not tested")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import numpy as np
import torch
from scipy.special import softmax
from scripts.fit_verifier.export import export, open_model, read_pairs
from scripts.fit_verifier.network import Shape, Verifier, kinds_of
from scripts.fit_verifier.pairs import (
    CLAIMS,
    CONTRADICTED,
    EVERY,
    NO_CLAIM,
    NOT_STATED,
    SUPPORTED,
    UNSUPPORTED,
    Pair,
)
from scripts.fit_verifier.training import Recipe, fit, load_tokenizer, logits_of, loss
from tokenizers import Tokenizer, models, pre_tokenizers, processors

pytestmark = pytest.mark.slow
ROWS = [
    ("refunds take five days", "refunds take five days", SUPPORTED),
    ("returns are free", "returns are free", SUPPORTED),
    ("the shop opens at nine", "the shop opens at nine", SUPPORTED),
    ("refunds never take five days", "refunds take five days", CONTRADICTED),
    ("returns are never free", "returns are free", CONTRADICTED),
    ("the shop never opens at nine", "the shop opens at nine", CONTRADICTED),
    ("gift cards cost extra", "refunds take five days", NOT_STATED),
    ("gift cards cost extra", "returns are free", NOT_STATED),
    ("gift cards cost extra", "the shop opens at nine", NOT_STATED),
    ("thank you so much", "refunds take five days", NO_CLAIM),
    ("thank you so much", "returns are free", NO_CLAIM),
    ("thank you so much", "the shop opens at nine", NO_CLAIM),
]
PAIRS = [Pair(said, known, (label,), EVERY, "test", group=known) for said, known, label in ROWS]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    words = sorted({word for said, known, _ in ROWS for word in f"{said} {known}".split()})
    vocabulary = {word: at for at, word in enumerate(["[PAD]", "[CLS]", "[SEP]", "[UNK]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return load_tokenizer(path, max_tokens=32)


@pytest.fixture(scope="module")
def network(tokenizer: Tokenizer) -> Verifier:
    return fitted(tokenizer)


@pytest.fixture(scope="module")
def model(network: Verifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    export(network, path)
    return path


def fitted(tokenizer: Tokenizer) -> Verifier:
    torch.manual_seed(7)
    network = Verifier(Shape(vocabulary=64, width=32, layers=2, heads=2, inner=64, positions=32), dropout=0.0)
    fit(network, tokenizer, PAIRS, Recipe(epochs=60, rate=3e-3, seed=7, by_group=True))
    return network


def test_a_fitted_network_tells_its_rows_apart(network: Verifier, tokenizer: Tokenizer) -> None:
    assert logits_of(network, tokenizer, PAIRS).argmax(-1).tolist() == [label for _, _, label in ROWS]


def test_the_same_seed_gives_the_same_weights(network: Verifier, tokenizer: Tokenizer) -> None:
    again = fitted(tokenizer)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))


def test_the_model_of_eight_bits_says_what_the_network_says(
    network: Verifier, model: Path, tokenizer: Tokenizer
) -> None:
    exact = softmax(logits_of(network, tokenizer, PAIRS), axis=-1)
    eight = softmax(read_pairs(open_model(model), tokenizer, PAIRS), axis=-1)
    assert np.abs(exact - eight).max() < 0.05
    assert exact.argmax(-1).tolist() == eight.argmax(-1).tolist()


def test_a_pair_is_read_the_same_among_others_and_in_another_session(model: Path, tokenizer: Tokenizer) -> None:
    together = read_pairs(open_model(model), tokenizer, PAIRS)
    alone = np.concatenate([read_pairs(open_model(model), tokenizer, [pair]) for pair in reversed(PAIRS)])[::-1]
    assert np.array_equal(together, alone)


def test_a_label_that_a_set_folds_asks_for_neither_of_its_parts() -> None:
    logits = torch.tensor([[0.0, 2.0, 2.0, 9.0]])
    (folded,) = loss(logits, [Pair("a", "b", UNSUPPORTED, CLAIMS, "test")]).unsqueeze(0).tolist()
    (exact,) = loss(logits, [Pair("a", "b", (CONTRADICTED,), CLAIMS, "test")]).unsqueeze(0).tolist()
    assert folded < exact


def test_what_a_set_does_not_distinguish_has_no_part_in_the_loss() -> None:
    pairs = [Pair("a", "b", (SUPPORTED,), CLAIMS, "test")]
    first, second = (loss(torch.tensor([[1.0, 0.0, 0.0, no_claim]]), pairs) for no_claim in (0.0, 9.0))
    assert torch.allclose(first, second)


def test_a_token_is_marked_where_the_other_side_lacks_it() -> None:
    ids, mask = torch.tensor([[1, 5, 6, 2, 5, 7, 2, 0]]), torch.tensor([[1, 1, 1, 1, 1, 1, 1, 0]])
    sides = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 0]])
    assert kinds_of(ids, mask, sides).tolist() == [[2, 0, 2, 0, 1, 3, 1, 2]]
