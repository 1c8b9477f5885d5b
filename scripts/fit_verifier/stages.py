"""The stages of the fit, each kept in a file, so that a fit that was broken off goes on with the next stage.

    base        general entailment, once
    fold-0 …    support language and public sets, without a third of the industries and of the public sources
    final       the same with everything: what is shipped

What a fold's model says of the rows it has not seen is kept beside it, and is all that figures are made from.
"""

import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scripts.fit_verifier import network as networks
from scripts.fit_verifier import public, support
from scripts.fit_verifier.export import export, open_model, read_pairs
from scripts.fit_verifier.general import general_pairs
from scripts.fit_verifier.kept import kept
from scripts.fit_verifier.network import Shape, Verifier
from scripts.fit_verifier.pairs import SUPPORTED, Pair
from scripts.fit_verifier.team import Team, run_together
from scripts.fit_verifier.training import Recipe, fit, load_tokenizer

SEED = 20_250_101
FOLDS = 3
# So many pairs of each general set: long ones say more about evidence, picture captions less.
GENERAL = {"mnli": 19_000, "snli": 6_000, "scitail": 2_126, "rte": 2_767}
# So many taught sentences of each public set, half of them supported.
PUBLIC = {"summedits": 1_000, "wice": 346, "begin": 400, "dstc9": 500}
# So many documents of the knowledge base are read.
DOCUMENTS = 160
BASE = Recipe(epochs=3, rate=1.5e-4, seed=SEED)
FINE = Recipe(epochs=3, rate=1e-4, seed=SEED, by_group=True)


def fit_base(folder: Path, *, processes: int) -> None:
    """Entailment in general: fitted once, the start of all other fits."""
    target = folder / "base.pt"
    if not target.exists():
        sys.stdout.write("base: general entailment\n")
        folder.mkdir(parents=True, exist_ok=True)
        run_together(_fit_base, processes, _gradients(networks.pretrained(seed=SEED)), target)


def _fit_base(team: Team, target: Path) -> None:
    network = networks.pretrained(seed=SEED)
    fit(network, load_tokenizer(networks.tokenizer_file()), sampled(list(general_pairs())), BASE, team=team)
    if team.number == 0:
        torch.save(network.state_dict(), target)


def fit_rest(folder: Path, *, folds: Iterable[int], processes: int) -> None:
    """The final model and the folds, as many at a time as there are processes, one core each."""
    for make in (support_rows, changed_rows, knowledge_rows):
        make(folder)
    for name in public.LICENCES:
        replies(folder, name=name)
    names = ["final", *(f"fold-{fold}" for fold in folds)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for name in pool.map(partial(fit_one, folder), names):
            sys.stdout.write(f"{name}: done\n")


def fit_one(folder: Path, name: str) -> str:
    """One fit in support language, written as a model, and for a fold its answers on the rows it has not seen."""
    torch.set_num_threads(1)
    fold = int(name.removeprefix("fold-")) if name != "final" else None
    model, tokenizer = folder / f"{name}.onnx", load_tokenizer(networks.tokenizer_file())
    if not model.exists():
        network = Verifier(Shape())
        network.load_state_dict(torch.load(folder / "base.pt", weights_only=True))
        for known in (network.words, network.positions):
            known.requires_grad_(requires_grad=False)
        pairs = fine_pairs(folder, without=fold)
        sys.stdout.write(f"{name}: {len(pairs)} pairs\n")
        fit(network, tokenizer, pairs, FINE)
        torch.save(network.state_dict(), folder / f"{name}.pt")
        export(network, model)
    if fold is not None:
        kept(folder / f"{name}.answers", lambda: _answers(folder, fold, model))
    return name


def fine_pairs(folder: Path, *, without: int | None) -> list[Pair]:
    """What a model in support language is fitted on, but for the rows of a fold."""
    order = random.Random(SEED)
    found = [*support_rows(folder), *changed_rows(folder), *knowledge_rows(folder)]
    for name, size in PUBLIC.items():
        taught = [pair for reply in replies(folder, name=name) for pair in reply.pairs if pair.right]
        for is_right in (True, False):
            own = [pair for pair in taught if (pair.right == (SUPPORTED,)) is is_right]
            # Public sentences that share sources are no contrast written on purpose: they need not share a batch.
            found += order.sample(own, min(size // 2, len(own)))
    return [pair for pair in found if without is None or fold_of(pair.group) != without]


def fold_of(group: str) -> int:
    """The fold that a group is left out of: whole industries, and whole sources of the public sets."""
    field = group.partition("/")[0].partition(":")[0]
    return FIELDS[field] if field in FIELDS else int(sha256(group.encode()).hexdigest(), 16) % FOLDS


# Whole fields of business, so spread that the folds are about as large.
FIELDS = {
    "airline": 0,
    "energy utility": 0,
    "event tickets": 0,
    "food delivery & groceries": 0,
    "games": 0,
    "health": 0,
    "home repairs": 0,
    "SaaS & software subscriptions": 1,
    "hotel & travel booking": 1,
    "insurance": 1,
    "mobile & broadband telecom": 1,
    "movers": 1,
    "property rental": 1,
    "video streaming": 1,
    "car rental": 2,
    "e-commerce returns & warranties": 2,
    "online education": 2,
    "parcel delivery": 2,
    "public transport": 2,
    "retail banking & cards": 2,
}


def _answers(folder: Path, fold: int, model: Path) -> dict[str, NDArray[np.float32]]:
    """Set -> logits of the sentences of this fold, in order."""
    session, tokenizer = open_model(model), load_tokenizer(networks.tokenizer_file())
    return {name: read_pairs(session, tokenizer, pairs) for name, pairs in measured(folder, fold).items()}


def measured(folder: Path, fold: int) -> dict[str, list[Pair]]:
    """Set -> the sentences of this fold that figures are made from."""
    found = {"support": measured_support(folder, fold)}
    for name in public.LICENCES:
        found[name] = [pair for reply in measured_replies(folder, name, fold) for pair in reply.pairs]
    return found


def measured_support(folder: Path, fold: int) -> list[Pair]:
    """The written rows of this fold."""
    return [pair for pair in support_rows(folder) if fold_of(pair.group) == fold]


def measured_replies(folder: Path, name: str, fold: int) -> list[public.Reply]:
    """The replies of a public set in this fold."""
    return [reply for reply in replies(folder, name=name) if fold_of(reply.group) == fold]


def support_rows(folder: Path) -> tuple[Pair, ...]:
    return kept(folder / "support.pkl", support.support_pairs)


def changed_rows(folder: Path) -> tuple[Pair, ...]:
    return kept(folder / "changes.pkl", lambda: support.changed_pairs(seed=SEED))


def knowledge_rows(folder: Path) -> tuple[Pair, ...]:
    return kept(folder / "kb.pkl", lambda: support.knowledge_pairs(documents=DOCUMENTS, seed=SEED))


def replies(folder: Path, *, name: str) -> tuple[public.Reply, ...]:
    return kept(folder / f"{name}.pkl", lambda: public.replies_of(name, seed=SEED))


def sampled(pairs: Sequence[Pair]) -> list[Pair]:
    """As many pairs of each general set as the base stage takes."""
    order = random.Random(SEED)
    by_set: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_set[pair.set].append(pair)
    return [pair for name, size in GENERAL.items() for pair in _some(by_set[name], size, order)]


def _some(pairs: Sequence[Pair], size: int, order: random.Random) -> Iterable[Pair]:
    return order.sample(pairs, min(size, len(pairs)))


def _gradients(network: Verifier) -> int:
    return sum(weight.numel() for weight in network.parameters() if weight.requires_grad)
