"""Pairs -> a fitted network: batches of like length, a loss that takes partial labels, linear decay, a fixed seed."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scripts.fit_verifier.network import Verifier
from scripts.fit_verifier.pairs import LABELS, Pair
from scripts.fit_verifier.team import ALONE, Progress, Team
from tokenizers import Encoding, Tokenizer
from torch import Tensor

MAX_TOKENS = 128
BATCH = 32
# Whole groups share a batch, which then holds about one of them and few other pairs.
MOST_IN_BATCH = 20
# The gradient is taken in parts of so many token places, which keeps them in the processor's cache.
PLACES = 4_096
WARM_UP = 0.06
SMOOTHING = 0.05
DECAY = 0.01
# The vectors of the kinds of token are few and new: they learn faster than the weights that are known.
KINDS_RATE = 10.0
# What a label cannot be has this logit.
NEVER = -1e4


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a stage is fitted."""

    epochs: int
    rate: float
    seed: int
    # Pairs of a group stay together, so that a batch holds sentences that differ little and are labelled unlike.
    by_group: bool = False


def load_tokenizer(path: Path, *, max_tokens: int = MAX_TOKENS) -> Tokenizer:
    """The tokenizer as the model is used with it: the longer text is cut, nothing is padded."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    return tokenizer


def fit(network: Verifier, tokenizer: Tokenizer, pairs: Sequence[Pair], recipe: Recipe, *, team: Team = ALONE) -> None:
    """Fit the network on the pairs, in place; every member of a team calls this and ends with the same weights."""
    torch.manual_seed(recipe.seed + team.number)
    encoded = encode(tokenizer, pairs)
    order = random.Random(recipe.seed)
    plan = [batch for _ in range(recipe.epochs) for batch in _batches(pairs, encoded, order, by_group=recipe.by_group)]
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(_rates(network, recipe.rate), weight_decay=DECAY, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _share_of_rate(step, len(plan)))
    network.train()
    progress = Progress(len(plan), is_shown=team.number == 0)
    for batch in plan:
        total = sum(pairs[at].weight for at in batch)
        optimizer.zero_grad(set_to_none=False)
        mine = sorted(batch, key=lambda at: len(encoded[at].ids))[team.number :: team.size]
        lost = 0.0
        for part in _parts(mine, encoded):
            value = loss(network(*tensors([encoded[at] for at in part])), [pairs[at] for at in part]) / total
            value.backward()
            lost += float(value.detach())
        team.add_up(weights)
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        progress.step(len(batch), lost * team.size)
    network.eval()


def _rates(network: Verifier, rate: float) -> list[dict[str, Any]]:
    known = [weight for name, weight in network.named_parameters() if weight.requires_grad and "kinds" not in name]
    return [{"params": known, "lr": rate}, {"params": list(network.kinds.parameters()), "lr": KINDS_RATE * rate}]


def loss(logits: Tensor, pairs: Sequence[Pair]) -> Tensor:
    """Sum of weighted log losses of the right labels among those the pair's set distinguishes, slightly smoothed."""
    right, choice = (_mask([getattr(pair, field) for pair in pairs]) for field in ("right", "choice"))
    log_share = logits.masked_fill(~choice, NEVER).log_softmax(-1)
    missed = -log_share.masked_fill(~right, NEVER).logsumexp(-1)
    spread = -(log_share * choice).sum(-1) / choice.sum(-1)
    weight = torch.tensor([pair.weight for pair in pairs])
    return (weight * ((1 - SMOOTHING) * missed + SMOOTHING * spread)).sum()


def logits_of(network: Verifier, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> NDArray[np.float32]:
    """The network's logits for every pair."""
    encoded = encode(tokenizer, pairs)
    order = sorted(range(len(pairs)), key=lambda at: len(encoded[at].ids))
    found = np.zeros((len(pairs), len(LABELS)), dtype=np.float32)
    network.eval()
    with torch.inference_mode():
        for part in _parts(order, encoded):
            found[part] = network(*tensors([encoded[at] for at in part])).numpy()
    return found


def encode(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[Encoding]:
    """Every pair as token numbers."""
    return list(tokenizer.encode_batch([(pair.sentence, pair.evidence) for pair in pairs]))


def tensors(encoded: Sequence[Encoding]) -> tuple[Tensor, Tensor, Tensor]:
    """Token numbers, mask and kinds, padded to the longest."""
    longest = max(len(one.ids) for one in encoded)
    fields = ([one.ids, one.attention_mask, one.type_ids] for one in encoded)
    padded = [[field + [0] * (longest - len(field)) for field in three] for three in fields]
    ids, mask, kinds = torch.tensor(padded).unbind(1)
    return ids, mask, kinds


def _batches(
    pairs: Sequence[Pair], encoded: Sequence[Encoding], order: random.Random, *, by_group: bool
) -> Iterator[list[int]]:
    """Every pair once, in batches of about the same length or of whole groups, in random order."""
    groups: dict[str, list[int]] = defaultdict(list)
    for at, pair in enumerate(pairs):
        groups[pair.group if by_group and pair.group else str(at)].append(at)
    units = list(groups.values())
    order.shuffle(units)
    units.sort(key=lambda unit: max(len(encoded[at].ids) for at in unit) // 8)
    batches: list[list[int]] = [[]]
    for unit in units:
        if batches[-1] and len(batches[-1]) + len(unit) > (MOST_IN_BATCH if by_group else BATCH):
            batches.append([])
        batches[-1] += unit
    order.shuffle(batches)
    yield from batches


def _parts(batch: Sequence[int], encoded: Sequence[Encoding]) -> Iterator[list[int]]:
    """A batch by length, cut where its token places would grow too many."""
    part: list[int] = []
    for at in sorted(batch, key=lambda at: len(encoded[at].ids)):
        if part and (len(part) + 1) * len(encoded[at].ids) > PLACES:
            yield part
            part = []
        part.append(at)
    if part:
        yield part


def _share_of_rate(step: int, steps: int) -> float:
    warm = max(1, int(WARM_UP * steps))
    return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))


def _mask(labels: Sequence[Sequence[int]]) -> Tensor:
    return torch.tensor([[label in row for label in range(len(LABELS))] for row in labels])
