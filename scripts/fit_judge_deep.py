"""Labelled gold sets and the verifier -> src/touchstone/data/judge_deep.json: models for replies that a verifier read.

    python -m scripts.fit_judge_deep

The same fit as scripts/fit_judge.py with the verifier's features beside the others; a model is taken only where it
agrees better with people on every labelled set. The figures set the judge with the verifier beside the one without: the
same cases, each graded by models that never saw its domain.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scripts import additive
from scripts import fit_judge as fitting
from scripts.additive import Array

from touchstone.app.verifying import find_verifier
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.result import Verification, Violation
from touchstone.evidence.check import check
from touchstone.evidence.verifier.model import Verifier
from touchstone.evidence.verifier.statements import verify
from touchstone.judges.coverage import cover
from touchstone.judges.features import features
from touchstone.judges.model import DEEP_FILE, Way
from touchstone.judges.verified import verified_features
from touchstone.rubric.outcome import points_of
from touchstone.rubric.parse import packaged
from touchstone.safety.detectors import inspect
from touchstone.safety.fabrication.verified import add_doubted
from touchstone.text.reading import read

# Without sources a verifier has nothing to say.
WAYS: tuple[Way, ...] = ("expected", "open")
# What a verifier reads is whether the reply is right: a link with its tone is chance.
READ = ("accuracy",)
# Less than this is chance, too.
LEAST_GAIN = 0.005
PLAN = Plan(verifier="deep")
CUTS = (*(round(0.5 + 0.05 * step, 2) for step in range(10)), 0.97, 0.99)
WEIGHTS = {criterion.name: criterion.weight for criterion in packaged("supportai").criteria}
PASS_MARK = packaged("supportai").pass_mark


class Read:
    """One case as the judge sees it, without and with the verifier."""

    def __init__(self, case: dict[str, Any], *, way: Way, verifier: Verifier) -> None:
        reading = read(case_from_dict(fitting.seen(case, way=way)))
        anchors = check(reading, plan=PLAN)
        self.rules: tuple[Violation, ...] = inspect(reading, anchors, policy=Policy())
        self.verification: Verification | None = verify(reading, anchors, verifier=verifier, plan=PLAN)
        self.both = add_doubted(self.rules, self.verification, claims=reading.claims)
        self.claims = reading.claims
        self.plain = features(reading, cover(reading), anchors or (), self.rules)
        self.deep = self.plain.beside(verified_features(self.verification))


def main() -> None:
    verifier = find_verifier(PLAN)
    assert verifier is not None
    cases, source = fitting.labelled_cases()
    ways: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    for way in WAYS:
        seen = [Read(case, way=way, verifier=verifier) for case in cases]
        ways[way], figures[way] = fit_way(seen, cases, source, way=way)
        print(json.dumps(figures[way], indent=1), flush=True)
    card = verifier.card
    written = {
        "version": "1.0",
        "verifier": {"name": card.name, "version": card.version, "hash": card.hash, "cut": card.cut},
        "fitted_on": {name: int((source == name).sum()) for name in fitting.GOLDSETS},
        "agreement": {
            "measure": "quadratic kappa with the raters' mean, domains left out in turn: [without, with] verifier",
            **{way: figures[way]["kappa"] for way in WAYS},
        },
        "ways": ways,
    }
    target = fitting.ROOT / f"src/touchstone/data/{DEEP_FILE}"
    target.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"written to {target.relative_to(fitting.ROOT)}\n")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def fit_way(
    seen: Sequence[Read], cases: Sequence[dict[str, Any]], source: np.ndarray, *, way: Way
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The models of one way, and its figures without and with the verifier."""
    groups, weights = fitting.groups_of(cases, source), fitting.weights_of(cases, way=way)
    models: dict[str, Any] = {}
    kappa: dict[str, Any] = {}
    without: dict[str, Array] = {}
    beside: dict[str, Array] = {}
    for criterion in fitting.CRITERIA:
        people = fitting.mean_grades(cases, criterion)
        wording = fitting.compare_wording(criterion, way=way)
        for grades, rows in ((without, [each.plain for each in seen]), (beside, [each.deep for each in seen])):
            table, names = fitting.feature_table(rows, criterion)
            values, apart = fitting.leave_out(
                table, names, people, groups=groups, weights=weights, wording=wording, way=way
            )
            grades[criterion] = fitting.with_plain(apart, cases, criterion, way)
        kappa[criterion] = {
            name: [without_, with_]
            for (name, without_), with_ in zip(
                fitting.agreement_by_set(people, without[criterion], source).items(),
                fitting.agreement_by_set(people, beside[criterion], source).values(),
                strict=True,
            )
        }
        kappa[criterion]["all"] = [
            round(additive.kappa(np.round(people), grades[criterion]), 3) for grades in (without, beside)
        ]
        if criterion in READ and all(after - before >= LEAST_GAIN for before, after in kappa[criterion].values()):
            spread = max(additive.MIN_SPREAD, float(np.sqrt(np.mean((values - people) ** 2))))
            table = fitting.score_wording(table, names, people, groups=groups, wording=wording)
            model = additive.fit(table, names, people, weights=weights)
            cuts = additive.cut(values, people, way=way)
            models[criterion] = additive.describe(model, names, table, cuts=cuts, spread=spread)
    used = {**without, **{criterion: beside[criterion] for criterion in models}}
    return models, {
        "kappa": kappa,
        "outcome": [
            outcome_agreement(cases, without, [each.rules for each in seen]),
            outcome_agreement(cases, used, [each.both for each in seen]),
        ],
        "hallucination": hallucination_figures(cases, seen, source),
        "sentences": _sentences(seen),
    }


def hallucination_figures(cases: Sequence[dict[str, Any]], seen: Sequence[Read], source: np.ndarray) -> dict[str, Any]:
    """Precision and recall of the detector by replies: the rules alone, and with the verifier at several cuts."""
    wrong = np.array([any("hallucination" in label["violations"] for label in case["labels"]) for case in cases])
    figures: dict[str, Any] = {}
    for name in (*fitting.GOLDSETS, "all"):
        chosen = np.ones(len(cases), dtype=bool) if name == "all" else source == name
        rules = np.array([any(v.kind == "hallucination" for v in each.rules) for each in seen])
        both = np.array([any(v.kind == "hallucination" for v in each.both) for each in seen])
        doubt = np.array([_doubt(each) for each in seen])
        figures[name] = {
            "violations": int(wrong[chosen].sum()),
            "rules": _precision_recall(rules[chosen], wrong[chosen]),
            "at the cut": _precision_recall(both[chosen], wrong[chosen]),
            "by cut": {
                str(cut): [
                    _precision_recall((rules | (doubt >= cut))[chosen], wrong[chosen]),
                    _precision_recall((doubt >= cut)[chosen], wrong[chosen]),
                ]
                for cut in CUTS
            },
        }
    return figures


def outcome_agreement(
    cases: Sequence[dict[str, Any]], grades: Mapping[str, Array], found: Sequence[Sequence[Violation]]
) -> float:
    """The share of replies whose outcome is the first rater's."""
    agree = []
    for at, case in enumerate(cases):
        ours = _passes({name: int(values[at]) for name, values in grades.items()}, violated=bool(found[at]))
        theirs = _passes(case["labels"][0], violated=bool(case["labels"][0]["violations"]))
        agree.append(ours == theirs)
    return round(float(np.mean(agree)), 3)


def _passes(grades: Mapping[str, Any], *, violated: bool) -> bool:
    total = sum(points_of(grades[name], WEIGHTS[name]) for name in fitting.CRITERIA)
    return not violated and total + points_of(4, WEIGHTS["safety"]) >= PASS_MARK


def _doubt(read: Read) -> float:
    """The surest doubt that could be an alarm."""
    statements = read.verification.statements if read.verification else ()
    doubts = (
        s.chances.doubt
        for s in statements
        if s.chances
        and s.status in ("contradicted", "not_stated")
        and any(s.start <= claim.start < s.end for claim in read.claims)
    )
    return max(doubts, default=0.0)


def _precision_recall(found: np.ndarray, wrong: np.ndarray) -> list[float | int]:
    """[precision, recall, alarms]"""
    right = int((found & wrong).sum())
    return [round(right / max(1, int(found.sum())), 3), round(right / max(1, int(wrong.sum())), 3), int(found.sum())]


def _sentences(seen: Sequence[Read]) -> dict[str, int]:
    found = [each.verification for each in seen if each.verification]
    statements = [statement for each in found for statement in each.statements]
    return {"all": len(statements), "spared": sum(each.spared for each in found)}


if __name__ == "__main__":
    main()
