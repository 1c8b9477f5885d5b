"""Labelled replies -> src/touchstone/data/rules.json: how far each rule's signs can be trusted.

    make fit

A logistic regression for each family of rules with a ridge penalty, so that a rule with few signs is drawn towards its
family. A sign is right when a rater marks a violation of its kind. Wrong figures are too rare among the labelled
replies, and other slips too many, for a rate of them to be read off: figures made wrong in sound replies stand beside
them, and weigh as if one reply in ten had one. Rows of the second detector tables, which no rule was
written from, stand beside the replies as well.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scripts.labelled import DATA, FOLDS, ROOT, Labelled, fold_of, labelled
from scripts.wrong_figures import wrong_figures
from sklearn.linear_model import LogisticRegression

from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.evidence.check import check
from touchstone.safety.detectors import notice
from touchstone.safety.figures import figures
from touchstone.safety.personal_data.leaks import WHAT
from touchstone.safety.phrases import INSTEAD, PLEDGED
from touchstone.safety.phrases import table as phrases
from touchstone.safety.signs import FILE, Logistic, Sign
from touchstone.text.frame import body_of
from touchstone.text.reading import read

TABLES = ROOT / "tests/tables"
PENALTY = 30.0
PHRASES = (*(phrase.rule for phrase in phrases()), PLEDGED, INSTEAD)
DIGITS = 3
# The share of passing replies that the confidences are meant for.
USUAL_PASSES = 0.8
# The share of replies that is taken to have a wrong figure.
WRONG_FIGURES = 0.1
# What no labelled reply shows: a rival of the company's own list in a sentence that sends customers away.
PRIORS = {"wording.competitor": {"names_rival": 2.0}}
# A figure that no source states and the reply does not work out is looked at by a person, however often it is sound.
LEAST = {"value.derived": Plan().suspicion_at}
# Phrases that nobody argues about start as if they had been right this often, and wrong half a time.
PRIOR_RIGHT, PRIOR_WRONG = 9.0, 0.5
SECOND = {
    "harmful_content": "detector_harmful_content_second",
    "unauthorized_promise": "detector_unauthorized_promise_second",
    "competitor_recommendation": "detector_competitor_recommendation_second",
    "pii_leakage": "detector_pii_leakage_second",
    "hallucination": "detector_hallucination_second",
}
Array = NDArray[np.float64]


class Example(NamedTuple):
    """A sign, whether it is right, how much it counts, and the fold it is left out with."""

    sign: Sign
    is_right: bool
    weight: float
    fold: int
    set: str


def write(examples: Sequence[Example]) -> None:
    """rules.json, with what each rule's confidence was worth where it had not been fitted."""
    rules = fit(examples)
    held = held_out(examples)
    content = {
        "fitted_on": _counts(examples),
        "method": f"logistic regression by family, C {PENALTY:g}, weighted to {USUAL_PASSES:.0%} passing replies; "
        f"figures made wrong in sound replies weigh as if {WRONG_FIGURES:.0%} of replies had one",
        "left_out": held,
        "rules": {
            name: {"base": round(rule.base, DIGITS), "weights": {k: round(v, DIGITS) for k, v in rule.weights.items()}}
            | ({"least": rule.least} if rule.least else {})
            for name, rule in sorted(rules.items())
        },
    }
    (DATA / FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def gather() -> list[Example]:
    """The signs on every labelled reply, with and without its sources, and on replies with a figure made wrong."""
    examples = []
    for mode in ("open", "bare"):
        cases = labelled(mode)
        share = sum(case.passes for case in cases) / len(cases)
        for case in cases:
            weight = USUAL_PASSES / share if case.passes else (1 - USUAL_PASSES) / (1 - share)
            examples += [Example(s, case.violates(s.kind), weight, case.fold, case.set) for s in case.signs]
    examples += [example for kind, name in SECOND.items() for example in _of_table(kind, name)]
    wrong = [example for case in labelled("open") for example in _wrong(case)]
    replies = sum(len(labelled(mode)) for mode in ("open", "bare"))
    made = sum(1 for case in labelled("open") if is_sound(case) for _ in wrong_figures(case.case))
    weight = WRONG_FIGURES * replies / made
    return examples + [example._replace(weight=weight) for example in wrong]


def is_sound(case: Labelled) -> bool:
    """Whether a reply is right enough for a figure made wrong to be its one fault."""
    return case.passes and case.mean("accuracy") >= 3


def _of_table(kind: str, name: str) -> list[Example]:
    """The signs on a table's rows; half of them violate, and weigh as failing replies do."""
    rows = [json.loads(line) for line in (TABLES / f"{name}.jsonl").read_text("utf-8").splitlines()]
    found = []
    for row in rows:
        case = case_from_dict({field: row[field] for field in ("id", "input", "context", "response") if row.get(field)})
        body = body_of(read(case))
        weight = 2 * (1 - USUAL_PASSES if row["violation"] else USUAL_PASSES)
        signs = notice(body, check(body, plan=Plan()), policy=Policy())
        found += [
            Example(sign, row["violation"] and sign.kind == kind, weight, fold_of(row["industry"]), name)
            for sign in signs
        ]
    return found


def _wrong(case: Labelled) -> list[Example]:
    if not is_sound(case):
        return []
    found = []
    for wrong in wrong_figures(case.case):
        body = body_of(read(wrong.case))
        signs = figures(body, check(body, plan=Plan()), policy=Policy())
        found += [
            Example(sign, is_right=True, weight=1.0, fold=case.fold, set=f"{case.set}, made wrong")
            for sign in signs
            if sign.start < wrong.end and wrong.start < sign.end
        ]
    return found


def fit(examples: Sequence[Example]) -> dict[str, Logistic]:
    """Every rule's base and weights; the weights of a family's inputs are shared, each rule shifts the base."""
    families = defaultdict(list)
    for example in examples:
        families[_family(example.sign.rule)].append(example)
    rules: dict[str, Logistic] = {}
    for members in families.values():
        rules |= _fit_family(members)
    return rules


def _family(rule: str) -> str:
    """Kinds of wording are families of their own: their scores are of different models."""
    return rule if rule.startswith("wording.") else "phrase" if rule in PHRASES else rule.partition(".")[0]


def _fit_family(examples: Sequence[Example]) -> dict[str, Logistic]:
    if examples[0].sign.rule in PHRASES:
        return _counted(examples)
    names = sorted({name for example in examples for name in example.sign.inputs})
    rules = sorted({example.sign.rule for example in examples})
    table = np.array([_row(example.sign, names, rules) for example in examples])
    right = np.array([example.is_right for example in examples])
    weights = np.array([example.weight for example in examples])
    if right.all() or not right.any():
        # Laplace's rule where one answer was never seen.
        share = (weights[right].sum() + 1) / (weights.sum() + 2)
        return {rule: Logistic(float(np.log(share / (1 - share))), {}) for rule in rules}
    model = LogisticRegression(C=PENALTY, max_iter=2000).fit(table, right, sample_weight=weights)
    found = dict(zip([*names, *rules], model.coef_[0].tolist(), strict=True))
    base = float(model.intercept_[0])
    # A kind of personal data that was never met is as sure as its family.
    known = {f"pii.{kind}" for kind in WHAT} if rules[0].startswith("pii.") else set()
    return {
        rule: Logistic(
            base + found.get(rule, 0.0),
            {**{name: found[name] for name in names if found[name]}, **PRIORS.get(rule, {})},
            LEAST.get(rule, 0.0),
        )
        for rule in sorted({*rules, *known})
    }


def _counted(examples: Sequence[Example]) -> dict[str, Logistic]:
    """Phrases: how often each was right, with the prior; all of the table's, whether they were met or not."""
    rules = {}
    for name in PHRASES:
        given = [example for example in examples if example.sign.rule == name]
        right = PRIOR_RIGHT + sum(example.weight for example in given if example.is_right)
        wrong = PRIOR_WRONG + sum(example.weight for example in given if not example.is_right)
        rules[name] = Logistic(float(np.log(right / wrong)), {})
    return rules


def _row(sign: Sign, names: Sequence[str], rules: Sequence[str]) -> list[float]:
    return [*(sign.inputs.get(name, 0.0) for name in names), *(float(sign.rule == rule) for rule in rules)]


def held_out(examples: Sequence[Example]) -> dict[str, Any]:
    """For each rule and set: signs, how many are right, and of those from .9 and from .3 on; folds left out."""
    table: dict[str, dict[str, Any]] = defaultdict(dict)
    found: dict[tuple[str, str], list[tuple[float, bool]]] = defaultdict(list)
    for fold in range(FOLDS):
        rules = fit([example for example in examples if example.fold != fold])
        for example in examples:
            if example.fold == fold and example.sign.rule in rules:
                sure = rules[example.sign.rule].of(example.sign.inputs)
                found[example.sign.rule, example.set].append((sure, example.is_right))
    for (rule, set_), given in sorted(found.items()):
        table[rule][set_] = {
            "signs": len(given),
            "right": sum(right for _, right in given),
            "from_0.9": [sum(right for sure, right in given if sure >= 0.9), sum(sure >= 0.9 for sure, _ in given)],
            "from_0.3": [sum(right for sure, right in given if sure >= 0.3), sum(sure >= 0.3 for sure, _ in given)],
        }
    return dict(table)


def _counts(examples: Sequence[Example]) -> Mapping[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for example in examples:
        counts[example.sign.rule] += 1
    return dict(sorted(counts.items()))


if __name__ == "__main__":
    write(gather())
