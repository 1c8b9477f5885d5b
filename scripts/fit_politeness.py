"""Rated requests of a public set -> src/touchstone/data/politeness.json: words and phrases with weights.

    python -m scripts.fit_politeness

Needs the Stanford politeness corpus (research release), which is not part of the repository. A lasso picks the phrases,
a ridge weighs them. The figure in the file is cross-validated: no request is rated by weights that saw it.
"""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.cases import public_rows
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.linear_model import Lasso, Ridge

from touchstone.judges.tone import POLITENESS as FILE
from touchstone.judges.tone import phrases

SET = "politeness"
TARGET = Path(__file__).parent.parent / "src/touchstone/data" / FILE
FOLDS = 5
LEAST_OFTEN = 12
SPARSITY = 0.0014
RIDGE = 15.0
DIGITS = 3
Array = NDArray[np.float64]


def main() -> None:
    rows = public_rows(SET)
    if rows is None:
        sys.exit(f"{FILE} stays as it is: it can only be fitted where the public set {SET} is")
    texts = [row["response"] for row in rows]
    rated = np.array([row["gold"]["politeness"] for row in rows])
    guessed = held_out(texts, rated)
    weights = fit(texts, rated)
    written = {
        "fitted_on": {"Stanford politeness corpus (research release)": len(texts)},
        "method": f"lasso {SPARSITY:g} picks among phrases in {LEAST_OFTEN} requests or more, ridge {RIDGE:g} weighs",
        "agreement": {"measure": f"Spearman, {FOLDS} folds", "rho": round(float(spearmanr(guessed, rated)[0]), 3)},
        "weights": weights,
    }
    TARGET.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(weights)} phrases, {written['agreement']}\n")


def held_out(texts: Sequence[str], rated: Array) -> Array:
    """Every request's politeness by weights fitted on the other folds."""
    guessed = np.zeros(len(texts))
    for fold in range(FOLDS):
        weights = fit([text for at, text in enumerate(texts) if at % FOLDS != fold], rated[fold_mask(rated, fold)])
        for at in range(fold, len(texts), FOLDS):
            guessed[at] = sum(weights[phrase] for phrase in phrases(texts[at]) & weights.keys())
    return guessed


def fold_mask(rated: Array, fold: int) -> NDArray[np.bool_]:
    """The rows outside a fold."""
    return np.arange(len(rated)) % FOLDS != fold


def fit(texts: Sequence[str], rated: Array) -> dict[str, float]:
    """Phrases and weights, most polite first."""
    found = [phrases(text) for text in texts]
    often = Counter(phrase for held in found for phrase in held)
    known = sorted(phrase for phrase, times in often.items() if times >= LEAST_OFTEN)
    place = {phrase: at for at, phrase in enumerate(known)}
    table = np.zeros((len(texts), len(known)))
    for at, held in enumerate(found):
        table[at, [place[phrase] for phrase in held & place.keys()]] = 1
    picked = np.flatnonzero(Lasso(alpha=SPARSITY, max_iter=3000).fit(table, rated).coef_)
    weighed = Ridge(alpha=RIDGE).fit(table[:, picked], rated).coef_
    weights = {known[at]: round(float(weight), DIGITS) for at, weight in zip(picked, weighed, strict=True)}
    return {
        phrase: weight for phrase, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])) if weight
    }


if __name__ == "__main__":
    main()
