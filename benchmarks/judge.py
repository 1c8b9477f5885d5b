"""The offline judge against people: agreement with domains left out in turn, and its values on public sets."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from scripts import fit_judge as fitting
from scripts.additive import kappa
from scripts.fit_plain import LABELS, held_out_values
from sklearn.metrics import roc_auc_score

import touchstone
from benchmarks import record
from benchmarks.cases import public_rows
from touchstone.core.case import Case
from touchstone.core.result import VIOLATION_KINDS
from touchstone.judges.model import Way

Values = Mapping[str, list[float]]
Gold = Mapping[str, list[float]]
UNREAD = fitting.ROOT / "tests/tables/ordinary_second.jsonl"
BASELINES = {"length only": ("words",), "word overlap": ("words", "expected_terms", "grounded", "ask_mean")}


def run() -> None:
    """Measure and keep everything about the judge."""
    public = _public()
    gold = {way: _gold(way) for way in fitting.WAYS}
    unread = _unread()
    print(json.dumps({**gold, "unread": unread}, indent=1), flush=True)
    record.write("judge", {"gold": gold, "unread": unread, "public": public})


def _gold(way: Way) -> dict[str, Any]:
    cases, source = fitting.labelled_cases()
    groups, weights = fitting.groups_of(cases, source), fitting.weights_of(cases, way=way)
    rows, found = fitting.feature_rows(cases, way=way)
    grades = {}
    result: dict[str, Any] = {}
    for criterion in fitting.CRITERIA:
        people = fitting.mean_grades(cases, criterion)
        table, names = fitting.feature_table(rows, criterion)
        wording = fitting.compare_wording(criterion, way=way)
        shared = {"groups": groups, "weights": weights, "way": way}
        apart = fitting.leave_out(table, names, people, **shared, wording=wording)[1]
        grades[criterion] = fitting.with_plain(apart, cases, criterion, way)
        result[criterion] = fitting.agreement_by_set(people, grades[criterion], source)
        for label, columns in BASELINES.items():
            picked = [column for column in columns if column in rows[0].whole]
            known = fitting.columns([row.whole for row in rows], picked)
            guessed = fitting.leave_out(known, picked, people, **shared, wording=None)[1]
            result[criterion][label] = fitting.agreement_by_set(people, guessed, source)
    result["outcome"] = _outcome(cases, grades, found, source)
    result["violations"] = {name: _violations(cases, found, source == name) for name in fitting.GOLDSETS}
    return result


def _unread() -> dict[str, Any]:
    """The judge as it ships on ordinary replies that nobody read while it was made, without expected replies."""
    situations = [json.loads(line) for line in UNREAD.read_text("utf-8").splitlines()]
    told = [(row, reply) for row in situations for reply in row["replies"]]
    cases = [Case(input=row["input"], response=reply["text"], context=row["context"]) for row, reply in told]
    labels = [reply["labels"] for _, reply in told]
    graded = [touchstone.score(case).rubric for case in cases]
    agreement = {}
    for criterion in fitting.CRITERIA:
        people = np.round(np.array([np.mean([label[criterion] for label in each]) for each in labels]))
        ours = np.array([next(g.grade for g in each.grades if g.criterion == criterion) for each in graded])
        agreement[criterion] = {
            "kappa": round(kappa(people, ours), 3),
            "mean": [round(float(ours.mean()), 2), round(float(people.mean()), 2)],
        }
    passed = [each.outcome == "PASS" for each in graded]
    theirs = [fitting.passes(each[0]) for each in labels]
    return {
        **agreement,
        "outcome": round(float(np.mean(np.array(passed) == np.array(theirs))), 3),
        "passed": [sum(passed), sum(theirs), len(theirs)],
        "accused": sum(bool(each.violations) for each in graded),
    }


def _outcome(
    cases: Sequence[dict[str, Any]], grades: dict[str, np.ndarray], found: Sequence[set[str]], source: np.ndarray
) -> dict[str, float]:
    agree = []
    for at, case in enumerate(cases):
        ours = {**{name: int(values[at]) for name, values in grades.items()}, "violations": found[at]}
        agree.append(fitting.passes(ours) == fitting.passes(case["labels"][0]))
    return {name: round(float(np.mean(np.array(agree)[source == name])), 3) for name in fitting.GOLDSETS}


def _violations(cases: Sequence[dict[str, Any]], found: Sequence[set[str]], chosen: np.ndarray) -> dict[str, Any]:
    pairs = [
        ({kind for label in case["labels"] for kind in label["violations"]}, seen)
        for case, seen, take in zip(cases, found, chosen, strict=True)
        if take
    ]
    rows = {kind: _rates([(kind in theirs, kind in ours) for theirs, ours in pairs]) for kind in VIOLATION_KINDS}
    return {"any": _rates([(bool(theirs), bool(ours)) for theirs, ours in pairs]), **rows}


def _rates(pairs: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    hits = sum(theirs and ours for theirs, ours in pairs)
    wanted, said = sum(theirs for theirs, _ in pairs), sum(ours for _, ours in pairs)
    return {
        "labelled": wanted,
        "recall": round(hits / wanted, 3) if wanted else None,
        "precision": round(hits / said, 3) if said else None,
    }


def _public() -> dict[str, Any]:
    """Unrounded values, each by a model that saw no reply to the same source; needs every public set."""
    if any(public_rows(name) is None for name in LABELS):
        return {}
    return {name: _on(name, measure) for name, measure in PUBLIC.items()}


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
