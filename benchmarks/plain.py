"""The models for plain questions on the public sets they are fitted on, by models that saw no reply to a source."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scipy.stats import spearmanr
from scripts.fit_plain import LABELS, held_out_values
from sklearn.metrics import roc_auc_score

from benchmarks import record
from benchmarks.cases import public_rows

Values = Mapping[str, list[float]]
Gold = Mapping[str, list[float]]


def run() -> None:
    """Write results/plain.json; without all of the public sets the committed figures stay as they are."""
    if any(public_rows(name) is None for name in LABELS):
        return
    record.write("plain", {name: _on(name, measure) for name, measure in PUBLIC.items()})


def _on(name: str, measure: Callable[[Values, Gold], dict[str, float]]) -> dict[str, Any]:
    rows = public_rows(name) or []
    values = held_out_values(name)
    figures = measure(_columns(values), _columns([row["gold"] for row in rows]))
    print(name, figures, flush=True)
    return {"rows": len(rows), **figures}


def _unsupported(values: Values, gold: Gold) -> dict[str, float]:
    return {"accuracy auc": _auc(gold["unsupported"], [-value for value in values["accuracy"]])}


def _mtrag(values: Values, gold: Gold) -> dict[str, float]:
    return {
        "accuracy auc": _auc([f < 3 for f in gold["faithfulness"]], [-value for value in values["accuracy"]]),
        "faithfulness rho": _rho(values["accuracy"], gold["faithfulness"]),
        "completeness rho": _rho(values["completeness"], gold["completeness"]),
    }


PUBLIC: dict[str, Callable[[Values, Gold], dict[str, float]]] = {
    "summedits": _unsupported,
    "wice": _unsupported,
    "begin": _unsupported,
    "mtrag": _mtrag,
    "dstc9": lambda values, gold: {"accuracy rho": _rho(values["accuracy"], gold["accuracy"])},
    "evouna": lambda values, gold: {"accuracy auc": _auc(gold["correct"], values["accuracy"])},
    "politeness": lambda values, gold: {"tone rho": _rho(values["tone"], gold["politeness"])},
}


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _auc(bad: Sequence[float], score: Sequence[float]) -> float:
    return round(float(roc_auc_score(bad, score)), 3)


def _rho(left: Sequence[float], right: Sequence[float]) -> float:
    return round(float(spearmanr(left, right)[0]), 3)
