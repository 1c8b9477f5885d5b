"""Labelled sets -> src/touchstone/data: rule confidences, the judge's models, its pass probability and what it knows.

    make fit

Grades are additive models by least squares with a ridge penalty; the pass probability is a logistic regression on the
grades' values, the wording and the findings. Features whose direction is plain are held to it. Every figure comes from
leaving domains out, and where it is named whole sets: a case is never judged by anything that saw its domain.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scripts import fit_rules, worded
from scripts.additive import (
    FALLING,
    MANNER,
    MIN_SPREAD,
    RIDGE,
    SEGMENTS,
    WRONG_VALUES,
    Array,
    cut,
    describe,
    fit,
    kappa,
    predict,
)
from scripts.decisions import Decided, choose_cuts, decide, figures, share_right
from scripts.fit_rules import USUAL_PASSES
from scripts.labelled import CRITERIA, DATA, Labelled, folds, labelled

from touchstone.judges.choice import measure
from touchstone.judges.features import Features, features, see, sound_part
from touchstone.judges.model import (
    FILE,
    FINDINGS,
    INPUTS,
    MODES,
    PASS_FILE,
    VALUES,
    WORDED,
    Mode,
    probability_inputs,
)
from touchstone.judges.wording import COMPLETENESS, Said, said_in
from touchstone.judges.wording import FILE as WORDED_FILE
from touchstone.safety.signs import Logistic

# How much the pass probability's weights are drawn to none.
PASS_RIDGE = 3.0
DIGITS = 4
PASS = "pass"
TOP = 4.0
MADE_UP = WRONG_VALUES | frozenset(
    "finding_hallucination claims_contradicted claims_unsupported values_against_expected values_beyond_expected "
    "polarity_flips".split()
)
# What the sources hold of a reply says nothing about its tone either.
SOURCES = frozenset(
    "values_supported grounded context_used passed_on nearest_said nearest_share needed_told beside_told "
    "same_passages".split()
)
# A sentence more never makes a reply less complete: neither what is wrong with it counts, nor what share of the reply
# something is.
RELATIVE = frozenset("nearest_share same_passages closest grounded reply_expected".split())
# A case may be this much longer than all that the judge was of use on, and everything may have so much of each.
BEYOND = 1.5
FEWEST = {"turns": 4.0, "context_words": 300.0, "structure": 0.05, "question_words": 200.0, "reply_words": 250.0}
# Grades that agree with people's less than moderately are of no use.
OF_USE = 0.4


class Table(NamedTuple):
    """Every case of a mode: its features without findings, the runs of its reply, and people's grades."""

    mode: Mode
    cases: Sequence[Labelled]
    features: Sequence[Features]
    runs: Mapping[str, Sequence[Said]]

    def grades(self, criterion: str) -> Array:
        """People's mean grade; a reply that passes has the top grade of passing."""
        if criterion == PASS:
            return np.array([TOP * case.passes for case in self.cases])
        return np.array([case.mean(criterion) for case in self.cases])

    @property
    def passes(self) -> NDArray[np.bool_]:
        return np.array([case.passes for case in self.cases])

    @property
    def sets(self) -> NDArray[np.str_]:
        return np.array([case.set for case in self.cases])

    @property
    def groups(self) -> NDArray[np.str_]:
        return np.array([str(case.fold) for case in self.cases])

    @property
    def weights(self) -> Array:
        """How much each case counts; with nothing to hold a reply against, passing ones as much as is usual."""
        if self.mode != "bare":
            return np.ones(len(self.cases))
        share = self.passes.mean()
        return np.where(self.passes, USUAL_PASSES / share, (1 - USUAL_PASSES) / (1 - share))

    def wording(self, criterion: str) -> worded.Worded:
        """What the replies share in wording, scored as the criterion sees them."""
        scored = {"accuracy": "earned", "tone": "whole"}.get(criterion, "body")
        return worded.compare(criterion, self.runs[scored if criterion == "tone" else "body"], self.runs[scored])


class Part(NamedTuple):
    """What is fitted on and what is left out, with the rules' confidences fitted without it."""

    inside: NDArray[np.int_]
    out: NDArray[np.int_]
    rules: Mapping[str, Logistic]


class Judged(NamedTuple):
    """What models that did not see a case make of it: values by criterion, inputs and pass probability."""

    values: Mapping[str, Array]
    inputs: Sequence[Mapping[str, float]]
    chances: Array


def table_of(mode: Mode) -> Table:
    cases = labelled(mode)
    found = [features(see(case.reading, case.body, case.anchors), ()) for case in cases]
    runs: dict[str, list[Said]] = {"body": [], "earned": [], "whole": []}
    for case in cases:
        anchors = case.anchors or ()
        runs["body"].append(said_in(case.body, anchors))
        runs["earned"].append(said_in(*(sound_part(case.body, anchors) or (case.body, anchors))))
        runs["whole"].append(said_in(case.reading, anchors))
    return Table(mode, cases, found, runs)


def confidences(case: Labelled, rules: Mapping[str, Logistic]) -> dict[str, float]:
    """The surest finding of each kind, as the rules see the case's signs."""
    found = dict.fromkeys(FINDINGS, 0.0)
    for sign in case.signs:
        if sign.rule in rules:
            name = f"finding_{sign.kind}"
            found[name] = max(found[name], rules[sign.rule].of(sign.inputs))
    return found


def names_of(criterion: str, names: Iterable[str]) -> list[str]:
    """The features a criterion may be graded by."""
    unfit = {f"worded_{other}" for other in (*CRITERIA, PASS) if other != criterion}
    # Whether a figure is right says nothing about tone, and manners nothing about anything else.
    unfit |= MADE_UP | SOURCES if criterion == "tone" else MANNER
    if criterion == COMPLETENESS:
        unfit |= MADE_UP | FALLING | RELATIVE
    return sorted(name for name in names if name not in unfit and not name.startswith("like_"))


def parts_by_domain(table: Table, examples: Sequence[fit_rules.Example]) -> list[Part]:
    """A part for each fold of domains."""
    return [
        Part(
            np.array(inside),
            np.array(out),
            fit_rules.fit([each for each in examples if each.fold != table.cases[out[0]].fold]),
        )
        for inside, out in folds(table.cases)
    ]


def part_without(table: Table, name: str, examples: Sequence[fit_rules.Example]) -> Part:
    """A part with a whole set left out."""
    rules = fit_rules.fit([each for each in examples if not each.set.startswith(name)])
    return Part(np.flatnonzero(table.sets != name), np.flatnonzero(table.sets == name), rules)


def judge_apart(table: Table, parts: Sequence[Part]) -> Judged:
    """Every case that is left out judged by what was fitted without its part."""
    size = len(table.cases)
    values = {criterion: np.zeros(size) for criterion in (*CRITERIA, PASS)}
    wordings = {criterion: table.wording(criterion) for criterion in (*CRITERIA, PASS)}
    inputs: list[dict[str, float]] = [{}] * size
    chances = np.zeros(size)
    for part in parts:
        given = [confidences(case, part.rules) for case in table.cases]
        inner = {name: np.zeros(size) for name in values}
        for criterion in CRITERIA:
            fitted = _fit_criterion(table, criterion, given, part, wordings[criterion])
            inner[criterion][part.out] = fitted.out
            inner[criterion][part.inside] = fitted.inside
        people = table.grades(PASS)
        inner[PASS][part.out] = wordings[PASS].score(people, on=part.inside, of=part.out)
        inner[PASS][part.inside] = wordings[PASS].score_apart(people, groups=table.groups, among=part.inside)
        seen = [inputs_of(table, given, inner, at) for at in range(size)]
        model = fit_pass([seen[at] for at in part.inside], table.passes[part.inside])
        for at in part.out:
            inputs[at], chances[at] = seen[at], model.of(seen[at])
        for name, found in inner.items():
            values[name][part.out] = found[part.out]
    return Judged(values, inputs, chances)


def inputs_of(
    table: Table, given: Sequence[Mapping[str, float]], values: Mapping[str, Array], at: int
) -> dict[str, float]:
    features = {**table.features[at].body, **given[at], WORDED: float(values[PASS][at])}
    return probability_inputs({name: float(values[name][at]) for name in VALUES}, features)


class Values(NamedTuple):
    """A criterion's values of what was left out, and of the rest, these each by the rest of them."""

    out: Array
    inside: Array


def _fit_criterion(
    table: Table, criterion: str, given: Sequence[Mapping[str, float]], part: Part, wording: worded.Worded
) -> Values:
    people, (names, rows) = table.grades(criterion), matrix(table, criterion, given)
    column, inside = names.index(f"worded_{criterion}"), part.inside
    rows[inside, column] = wording.score_apart(people, groups=table.groups, among=inside)
    rows[part.out, column] = wording.score(people, on=inside, of=part.out)
    weights = table.weights
    model = fit(rows[inside], names, people[inside], weights=weights[inside])
    apart = np.zeros(len(inside))
    groups = table.groups[inside]
    for group in np.unique(groups):
        own = groups == group
        rest = inside[~own]
        other = fit(rows[rest], names, people[rest], weights=weights[rest])
        apart[own] = predict(other, rows[inside[own]])
    return Values(predict(model, rows[part.out]), apart)


def matrix(table: Table, criterion: str, given: Sequence[Mapping[str, float]]) -> tuple[list[str], Array]:
    seen = [dict(row.of(criterion)) | dict(found) for row, found in zip(table.features, given, strict=True)]
    names = names_of(criterion, seen[0])
    return names, np.array([[row.get(name, 0.0) for name in names] for row in seen])


def fit_pass(
    inputs: Sequence[Mapping[str, float]], passes: NDArray[np.bool_], *, usual: float = USUAL_PASSES
) -> Logistic:
    """A logistic regression weighted to the usual share of passing replies; values only help, findings only harm."""
    rows = np.array([[row[name] for name in INPUTS] for row in inputs])
    share = passes.mean()
    sizes = np.where(passes, usual / share, (1 - usual) / (1 - share))
    wanted = np.where(passes, 1.0, -1.0)

    def loss(weights: Array) -> tuple[float, Array]:
        margins = wanted * (rows @ weights[:-1] + weights[-1])
        pull = -sizes * wanted / (1 + np.exp(np.clip(margins, -500, 500)))
        penalty = PASS_RIDGE * float(weights[:-1] @ weights[:-1])
        slopes = np.concatenate([rows.T @ pull + 2 * PASS_RIDGE * weights[:-1], [pull.sum()]])
        return float((sizes * np.logaddexp(0, -margins)).sum()) + penalty, slopes

    bounds = [(0, None) if name in (*VALUES, WORDED) else (None, 0) for name in INPUTS] + [(None, None)]
    solved = minimize(loss, np.zeros(len(INPUTS) + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = {name: round(float(w), DIGITS) for name, w in zip(INPUTS, solved[:-1], strict=True)}
    return Logistic(round(float(solved[-1]), DIGITS), weights)


def main() -> None:
    examples = fit_rules.gather()
    fit_rules.write(examples)
    rules = fit_rules.fit(examples)
    tables = {mode: table_of(mode) for mode in MODES}
    apart = {mode: judge_apart(table, parts_by_domain(table, examples)) for mode, table in tables.items()}
    write(WORDED_FILE, worded_weights(tables["open"]))
    write(FILE, judge_models(tables, apart, rules))
    decisions = what_is_decided(tables, apart, examples)
    write(PASS_FILE, pass_models(tables, apart, decisions))
    sys.stdout.write(json.dumps(decisions, indent=1) + "\n")


def write(name: str, text: str) -> None:
    """A packaged data file."""
    (DATA / name).write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(f"written to {name}\n")


def worded_weights(table: Table) -> str:
    """The weights of wording as they are shipped: a line for each run, with a number for each criterion."""
    every = np.arange(len(table.cases))
    names = (*CRITERIA, PASS)
    fitted = {name: worded.compare(name, table.runs["body"], ()).fit(table.grades(name), on=every) for name in names}
    base = {name: weights.base for name, weights in fitted.items()}
    runs = fitted[PASS].ngrams
    lines = [f"  {json.dumps(run)}: {[fitted[name].ngrams[run] for name in names]}" for run in runs]
    return f'{{\n "base": {json.dumps(base)},\n "runs": {{\n' + ",\n".join(lines) + "\n }\n}"


def judge_models(tables: Mapping[Mode, Table], apart: Mapping[Mode, Judged], rules: Mapping[str, Logistic]) -> str:
    """The models of every mode and criterion, with their agreement on domains left out."""
    modes: dict[str, Any] = {}
    agreement: dict[str, Any] = {}
    for mode, table in tables.items():
        given = [confidences(case, rules) for case in table.cases]
        modes[mode], agreement[mode] = {}, {}
        for criterion in CRITERIA:
            people, values = table.grades(criterion), apart[mode].values[criterion]
            names, rows = matrix(table, criterion, given)
            wording = table.wording(criterion)
            every = np.arange(len(people))
            rows[:, names.index(f"worded_{criterion}")] = wording.score_apart(people, groups=table.groups, among=every)
            model = fit(rows, names, people, weights=table.weights)
            spread = max(MIN_SPREAD, float(np.sqrt(np.mean((values - people) ** 2))))
            cuts = cut(values, people, mode=mode)
            modes[mode][criterion] = describe(model, names, rows, cuts=cuts, spread=spread)
            grades = np.digitize(values, cuts).astype(float)
            agreement[mode][criterion] = {
                name: round(kappa(np.round(people[of]), grades[of]), 3) for name, of in _by_set(table)
            }
    content = {
        "version": "2.0",
        "fitted_on": {name: int(of.sum()) for name, of in _by_set(tables["open"])},
        "method": f"additive, {SEGMENTS} segments a feature, ridge {RIDGE:g}; monotone where the direction is plain",
        "agreement": {"measure": "quadratic kappa with the raters' mean, domains left out in turn", **agreement},
        "ways": modes,
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def pass_models(tables: Mapping[Mode, Table], apart: Mapping[Mode, Judged], decisions: Mapping[str, Any]) -> str:
    """The pass probability of every mode, how well it is calibrated, what the judge knows and what it would decide."""
    modes = {}
    for mode, table in tables.items():
        model = fit_pass(apart[mode].inputs, table.passes)
        modes[mode] = {
            "base": model.base,
            "weights": {name: weight for name, weight in model.weights.items() if weight},
            "left_out": calibration(table.passes, apart[mode].chances),
        }
    content = {
        "fitted_on": {name: int(of.sum()) for name, of in _by_set(tables["open"])},
        "method": f"logistic regression, ridge {PASS_RIDGE:g}, weighted to {USUAL_PASSES:.0%} passing replies; values "
        "of models that did not see the domain; values only help, findings only harm",
        "ways": modes,
        "known": what_is_known(tables, apart),
        "decisions": decisions,
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def what_is_decided(
    tables: Mapping[Mode, Table], apart: Mapping[Mode, Judged], examples: Sequence[fit_rules.Example]
) -> dict[str, Any]:
    """What the plan's cuts send and block, and how often that is right: domains left out, and whole sets left out.

    Without sources nothing is sent; the cuts are chosen on the other two modes.
    """
    by_mode = {mode: decide_apart(tables[mode], apart[mode], examples) for mode in ("expected", "open")}
    send, block = choose_cuts(list(by_mode.values()))
    found: dict[str, Any] = {"send_at": send, "block_at": block}
    for mode, decided in by_mode.items():
        table = tables[mode]
        sets = dict(_by_set(table))
        whole = {name: judge_apart(table, [part_without(table, name, examples)]) for name in sets}
        found[mode] = {
            "domains_left_out": {
                name: auc_of(table, apart[mode], of) | figures(decided, of, send=send, block=block)
                for name, of in sets.items()
            },
            "sets_left_out": {
                name: auc_of(table, whole[name], of)
                | figures(decide_without(table, whole[name], apart[mode], name, examples), of, send=send, block=block)
                for name, of in sets.items()
            },
            "where_so_many_pass": {
                f"{usual:.0%}": {
                    "sent_that_pass": round(share_right(decided, decided.sent(send), decided.passes, usual=usual), 3),
                    "blocked_that_fail": round(
                        share_right(decided, decided.blocked(block), ~decided.passes, usual=usual), 3
                    ),
                }
                for usual in (0.6, 0.8, 0.9)
            },
        }
    return found


def decide_apart(table: Table, judged: Judged, examples: Sequence[fit_rules.Example]) -> Decided:
    rules: list[Mapping[str, Logistic]] = [{}] * len(table.cases)
    for part in parts_by_domain(table, examples):
        for at in part.out:
            rules[at] = part.rules
    return decide(table.cases, _grades(table, judged, judged, of=np.ones(len(rules), bool)), judged.chances, rules)


def decide_without(
    table: Table, judged: Judged, others: Judged, name: str, examples: Sequence[fit_rules.Example]
) -> Decided:
    """What is decided on a set that was left out; the cuts between grades are of the other sets."""
    rules = part_without(table, name, examples).rules
    grades = _grades(table, judged, others, of=table.sets != name)
    return decide(table.cases, grades, judged.chances, [rules] * len(table.cases))


def _grades(table: Table, judged: Judged, others: Judged, *, of: NDArray[np.bool_]) -> dict[str, NDArray[np.int_]]:
    """The grades of the judged values, by the cuts that agree best on some of the others."""
    found = {}
    for name in CRITERIA:
        cuts = cut(others.values[name][of], table.grades(name)[of], mode=table.mode)
        found[name] = np.digitize(judged.values[name], cuts)
    return found


def auc_of(table: Table, judged: Judged, of: NDArray[np.bool_]) -> dict[str, float]:
    """How well the pass probability tells the replies of a set apart."""
    from sklearn.metrics import roc_auc_score

    return {"pass_auc": round(float(roc_auc_score(table.passes[of], judged.chances[of])), 3)}


def calibration(passes: NDArray[np.bool_], chances: Array) -> dict[str, Any]:
    """Brier score and, by tenth of probability, the share that passes; weighted to the usual share."""
    share = passes.mean()
    sizes = np.where(passes, USUAL_PASSES / share, (1 - USUAL_PASSES) / (1 - share))
    tenths = np.minimum(9, (chances * 10).astype(int))
    bins = {
        f"{tenth / 10:.1f}": [
            round(float(np.average(passes[tenths == tenth], weights=sizes[tenths == tenth])), 2),
            int((tenths == tenth).sum()),
        ]
        for tenth in range(10)
        if (tenths == tenth).any()
    }
    return {"brier": round(float(np.average((chances - passes) ** 2, weights=sizes)), 4), "share_passing_and_n": bins}


def what_is_known(tables: Mapping[Mode, Table], apart: Mapping[Mode, Judged]) -> dict[str, Any]:
    """The ranges of sets on which grades are of use, and the criteria that are of none on the others."""
    table = tables["open"]
    useful = {name for name, of in _by_set(table) if is_of_use(table, apart["open"], "accuracy", of)}
    seen = [measure(case.body) for case in table.cases if case.set in useful]
    most = {name: round(max(FEWEST[name], BEYOND * max(row[name] for row in seen)), DIGITS) for name in seen[0]}
    blind = {}
    for mode, graded in tables.items():
        strange = ~np.isin(graded.sets, sorted(useful))
        blind[mode] = [c for c in CRITERIA if strange.any() and not is_of_use(graded, apart[mode], c, strange)]
    return {"sets": sorted(useful), "most": most, "blind": blind}


def is_of_use(table: Table, judged: Judged, criterion: str, of: NDArray[np.bool_]) -> bool:
    """Whether grades agree with people's by more than the commonest grade would, whose kappa is 0."""
    people, values = table.grades(criterion), judged.values[criterion]
    grades = np.digitize(values, cut(values, people, mode=table.mode)).astype(float)
    return kappa(np.round(people[of]), grades[of]) >= OF_USE


def _by_set(table: Table) -> Iterable[tuple[str, NDArray[np.bool_]]]:
    return [(str(name), table.sets == name) for name in dict.fromkeys(table.sets.tolist())]


if __name__ == "__main__":
    main()
