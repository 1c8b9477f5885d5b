"""What the folds' models say of rows they have not seen -> figures, beside those of word share and of a first trial."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.auc import auc
from numpy.typing import NDArray
from scipy.stats import spearmanr
from scripts.fit_verifier import stages
from scripts.fit_verifier.calibration import (
    PREVALENCE,
    Calibration,
    calibrate,
    choose_cut,
    curve,
    doubts,
    expected_error,
)
from scripts.fit_verifier.kept import kept
from scripts.fit_verifier.pairs import CONTRADICTED, NO_CLAIM, NOT_STATED, SUPPORTED, Pair

# What a model fitted on 50,000 general pairs reached, without sentences of support replies.
TRIAL = {"summedits": 0.66, "wice": 0.70, "dstc9": 0.46}
WANTED = {"summedits": 0.70, "wice": 0.74, "begin": 0.95, "dstc9": 0.50}
# Sets that say whether anything in a reply is unsupported, and what grade the others give it.
GRADES = {"dstc9": "accuracy"}
Answers = Mapping[str, NDArray[np.float32]]


def answers_of(folder: Path, folds: Sequence[int]) -> dict[int, Answers]:
    """Fold -> set -> logits of the rows its model has not seen."""

    def missing() -> Answers:
        raise SystemExit("a fold's answers are missing: run the fit first")

    return {fold: kept(folder / f"fold-{fold}.answers", missing) for fold in folds}


def held_out_support(folder: Path, answers: Mapping[int, Answers]) -> tuple[list[Pair], NDArray[np.float32]]:
    """The rows of these folds with what the models say that have not seen them."""
    pairs = [pair for fold in answers for pair in stages.measured_support(folder, fold)]
    return pairs, np.concatenate([answers[fold]["support"] for fold in answers])


def calibration_of(folder: Path, answers: Mapping[int, Answers]) -> tuple[Calibration, list[list[float]], float]:
    """Calibration, the curve of cuts, and the cut chosen."""
    pairs, logits = held_out_support(folder, answers)
    labels = [pair.right[0] for pair in pairs]
    found = calibrate(logits, labels)
    is_wrong = np.isin(labels, (CONTRADICTED, NOT_STATED))
    points = curve(doubts(found.chances(logits)), is_wrong)
    return found, points, choose_cut(points)


def figures(folder: Path, folds: Sequence[int]) -> dict[str, Any]:
    """Everything that is said of the model."""
    answers = answers_of(folder, folds)
    calibration, points, cut = calibration_of(folder, answers)
    return {
        "folds": len(folds),
        "support": _support(folder, answers, calibration, cut),
        "cut": {"hallucination": cut, "prevalence": PREVALENCE, "curve": points},
        "public": {name: _public(folder, name, answers, calibration) for name in WANTED},
    }


def _support(folder: Path, answers: Mapping[int, Answers], calibration: Calibration, cut: float) -> dict[str, Any]:
    pairs, logits = held_out_support(folder, answers)
    labels = np.array([pair.right[0] for pair in pairs])
    chances = calibration.chances(logits)
    share = claim_share(chances)
    claims = labels != NO_CLAIM
    said, sought = chances.argmax(-1) == NO_CLAIM, labels == NO_CLAIM
    hits = int((said & sought).sum())
    industries = np.array([pair.group.partition("/")[0] for pair in pairs])
    words = _word_share(pairs)
    found = {
        "rows": len(pairs),
        "auc": _auc(1 - share[claims], labels[claims] != SUPPORTED),
        "auc_word_share": _auc(words[claims], labels[claims] != SUPPORTED),
        "auc_contradicted": _auc_of(share, labels, labels == CONTRADICTED),
        "auc_invented": _auc_of(share, labels, labels == NOT_STATED),
        "no_claim": {
            "precision": hits / max(1, int(said.sum())),
            "recall": hits / max(1, int(sought.sum())),
            "f1": 2 * hits / max(1, int(said.sum() + sought.sum())),
        },
        "right_label": float((chances.argmax(-1) == labels).mean()),
        "calibration_error": expected_error(chances, labels.tolist()),
        "false_alarms_at_cut": float((doubts(chances)[(labels == SUPPORTED) | (labels == NO_CLAIM)] >= cut).mean()),
    }
    found["kinds"] = _kinds(pairs, labels, chances, cut)
    found["industries"] = {
        name: auc(
            (1 - share[claims & (industries == name)]).tolist(),
            (labels[claims & (industries == name)] != SUPPORTED).tolist(),
        ).value
        for name in sorted(set(industries))
    }
    return found


def _kinds(pairs: Sequence[Pair], labels: NDArray[Any], chances: NDArray[np.float64], cut: float) -> dict[str, Any]:
    """For every kind of row: how many, how many have the right side, and how many pass the cut as doubtful."""
    doubt, share = doubts(chances), claim_share(chances)
    names = np.array([f"{_name(pair.right[0])}: {pair.kind}" for pair in pairs])
    found = {}
    for name in sorted(set(names)):
        own = names == name
        row: dict[str, Any] = {"rows": int(own.sum())}
        label = labels[own][0]
        if label == NO_CLAIM:
            row["right"] = float((chances[own].argmax(-1) == NO_CLAIM).mean())
        else:
            row["right"] = float(((share[own] >= 0.5) == (label == SUPPORTED)).mean())
        if label in (CONTRADICTED, NOT_STATED):
            row["auc"] = _auc_of(share, labels, own)[0]
        row["doubted_at_cut"] = float((doubt[own] >= cut).mean())
        found[name] = row
    return found


def _name(label: int) -> str:
    return {SUPPORTED: "supported", CONTRADICTED: "contradicted", NOT_STATED: "invented", NO_CLAIM: "no_claim"}[label]


def _public(folder: Path, name: str, answers: Mapping[int, Answers], calibration: Calibration) -> dict[str, Any]:
    """Figures of one public set; where there is a cut, it comes from the other folds.

    A graded reply is ranked by its mean doubt. Sets that know no sentence without a claim are ranked by the sentence
    least surely supported, and beside it by the greatest doubt, which is what the product raises an alarm by.
    """
    replies = [(fold, reply) for fold in answers for reply in stages.measured_replies(folder, name, fold)]
    chances = calibration.chances(np.concatenate([answers[fold][name] for fold in answers]))
    ends = np.cumsum([len(reply.pairs) for _, reply in replies])[:-1]
    read = np.split(chances, ends)
    where = np.array([fold for fold, _ in replies], dtype=float)
    words = np.array([reply.words_absent for _, reply in replies])
    wanted = np.array([reply.gold[GRADES.get(name, "unsupported")] for _, reply in replies])
    row: dict[str, Any] = {"replies": len(replies)}
    if name in GRADES:
        mean = np.array([doubts(part).mean() if len(part) else 0.0 for part in read])
        row |= {"spearman": _spearman(-mean, wanted), "spearman_word_share": _spearman(-words, wanted)}
    else:
        unsupported = np.array([(1 - part[:, SUPPORTED]).max(initial=0.0) for part in read])
        doubt = np.array([doubts(part).max(initial=0.0) for part in read])
        for suffix, scores in {"": unsupported, "_doubt": doubt, "_word_share": words}.items():
            row[f"auc{suffix}"] = _auc(scores, wanted > 0)
            row[f"balanced_accuracy{suffix}"] = _balanced(scores, wanted > 0, where)
    row |= {"trial": TRIAL[name]} if name in TRIAL else {}
    return row | ({"wanted": WANTED[name]} if name in WANTED else {})


def claim_share(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of being supported, given that a sentence claims something."""
    return np.asarray(chances[:, SUPPORTED] / (1 - chances[:, NO_CLAIM]).clip(1e-9))


def _word_share(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    shares = []
    for pair in pairs:
        known, said = set(pair.evidence.casefold().split()), pair.sentence.casefold().split()
        shares.append(sum(word not in known for word in said) / max(1, len(said)))
    return np.array(shares)


def _auc(scores: NDArray[np.float64], is_wrong: NDArray[np.bool_]) -> list[float | None]:
    return list(auc(scores.tolist(), is_wrong.tolist()))


def _auc_of(share: NDArray[np.float64], labels: NDArray[Any], own: NDArray[np.bool_]) -> list[float | None]:
    kept_rows = own | (labels == SUPPORTED)
    return _auc(1 - share[kept_rows], own[kept_rows])


def _spearman(scores: NDArray[np.float64], grades: NDArray[np.float64]) -> float:
    return float(spearmanr(scores, grades).statistic)


def _balanced(scores: NDArray[np.float64], is_wrong: NDArray[np.bool_], folds: NDArray[np.float64]) -> float:
    """Mean of the two shares found, each fold cut where the others are parted best."""
    said = np.zeros(len(scores), dtype=bool)
    for fold in set(folds):
        inside = folds == fold
        others = inside if inside.all() else ~inside
        said[inside] = scores[inside] >= _best_cut(scores[others], is_wrong[others])
    return float((said[is_wrong].mean() + (~said[~is_wrong]).mean()) / 2)


def _best_cut(scores: NDArray[np.float64], is_wrong: NDArray[np.bool_]) -> float:
    cuts = np.unique(np.quantile(scores, np.linspace(0.02, 0.98, 97)))
    return float(max(cuts, key=lambda cut: (scores[is_wrong] >= cut).mean() - (scores[~is_wrong] >= cut).mean()))
