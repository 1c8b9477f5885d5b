"""Labelled gold sets -> src/touchstone/data: the offline judge (judge.json) and its weights of wording (worded.json).

    make fit

Additive models by least squares with a ridge penalty; features whose direction is plain are held to it. Every figure
comes from leaving domains out: a case is never graded by a model, nor scored by wording, that saw its domain.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scripts import worded
from scripts.additive import (
    FALLING,
    MANNER,
    MIN_SPREAD,
    RIDGE,
    ROUNDING,
    SEGMENTS,
    TOP,
    WRONG_VALUES,
    Array,
    cut,
    describe,
    fit,
    kappa,
    predict,
)
from scripts.worded import Worded

from touchstone.core import resource
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.check import check
from touchstone.judges.coverage import cover
from touchstone.judges.features import Features, features
from touchstone.judges.model import FILE, PLAIN_FILE, Way
from touchstone.judges.sound import sound_part
from touchstone.judges.wording import COMPLETENESS, Said, runs_of
from touchstone.judges.wording import FILE as WORDED_FILE
from touchstone.rubric.model import SAFETY
from touchstone.rubric.outcome import points_of
from touchstone.rubric.parse import packaged
from touchstone.safety.detectors import inspect
from touchstone.text.reading import read

ROOT = Path(__file__).parent.parent
DATA = ROOT / "src/touchstone/data"
LABELLED = {
    "support": DATA / "goldsets/support.jsonl",
    "industries": DATA / "goldsets/industries.jsonl",
    "everyday": ROOT / "data/judge/everyday.jsonl",
    "matched": ROOT / "data/judge/matched.jsonl",
}
GOLDSETS = tuple(LABELLED)
SHIPPED = ("support", "industries")
# The many domains of the sets that do not ship are left out several at a time.
FOLDS = 8
CRITERIA = ("accuracy", "completeness", "tone", "actionability")
WAYS: tuple[Way, ...] = ("expected", "open", "bare")
# The share of good replies where nothing tells good from wrong: the middle of the rubric's target band. The labelled
# sets hold more poor ones than a support team's replies do, many of them wrong only by their sources.
USUAL_PASSES = 0.75
RUBRIC = packaged("supportai")
MADE_UP = WRONG_VALUES | {
    "violation_hallucination",
    "claims_contradicted",
    "claims_unsupported",
    "values_against_expected",
    "values_beyond_expected",
    "polarity_flips",
}
# A sentence more never makes a reply less complete: neither what is wrong with it counts, nor what share of the reply
# something is.
RELATIVE = frozenset("nearest_share same_passages closest grounded reply_expected".split())


def main() -> None:
    cases, source = labelled_cases()
    groups = groups_of(cases, source)
    write(WORDED_FILE, worded_weights(cases))
    ways: dict[str, Any] = {}
    agreement: dict[str, Any] = {}
    for way in WAYS:
        rows, _ = feature_rows(cases, way=way)
        ways[way], agreement[way] = {}, {}
        weights = weights_of(cases, way=way)
        for criterion in CRITERIA:
            people = mean_grades(cases, criterion)
            table, names = feature_table(rows, criterion)
            wording = compare_wording(criterion, way=way)
            values, grades = leave_out(table, names, people, groups=groups, weights=weights, wording=wording, way=way)
            spread = max(MIN_SPREAD, float(np.sqrt(np.mean((values - people) ** 2))))
            table = score_wording(table, names, people, groups=groups, wording=wording)
            model = fit(table, names, people, weights=weights)
            ways[way][criterion] = describe(model, names, table, cuts=cut(values, people, way=way), spread=spread)
            agreement[way][criterion] = agreement_by_set(people, with_plain(grades, cases, criterion, way), source)
    written = {
        "version": "1.0",
        "fitted_on": {name: int((source == name).sum()) for name in GOLDSETS},
        "method": f"additive, {SEGMENTS} segments a feature, ridge {RIDGE:g}; monotone where the direction is plain",
        "agreement": {"measure": "quadratic kappa with the raters' mean, domains left out in turn", **agreement},
        "ways": ways,
    }
    write(FILE, json.dumps(written, indent=1, ensure_ascii=False))
    sys.stdout.write(json.dumps(agreement, indent=1) + "\n")


def write(name: str, text: str) -> None:
    """A packaged data file."""
    target = DATA / name
    target.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(f"written to {target.relative_to(ROOT)}\n")


def labelled_cases() -> tuple[list[dict[str, Any]], NDArray[np.str_]]:
    """All labelled cases, and which gold set each is from."""
    texts = {name: path.read_text("utf-8").rstrip("\n") for name, path in LABELLED.items()}
    rows = [(name, json.loads(line)) for name, text in texts.items() for line in text.split("\n")]
    return [case for _, case in rows], np.array([name for name, _ in rows])


def groups_of(cases: Sequence[dict[str, Any]], source: NDArray[np.str_]) -> NDArray[np.str_]:
    """Which cases are left out together: those of a domain, and of those that do not ship of several domains."""
    domains = [case["domain"] for case in cases]
    shipped = {domain for domain, name in zip(domains, source, strict=True) if name in SHIPPED}
    rest = {domain: at % FOLDS for at, domain in enumerate(sorted(set(domains) - shipped))}
    return np.array([f"others {rest[domain]}" if domain in rest else domain for domain in domains])


def weights_of(cases: Sequence[dict[str, Any]], *, way: Way) -> Array:
    """How much each case counts in a fit; with neither sources nor expected reply, passing ones as much as is usual."""
    if way != "bare":
        return np.ones(len(cases))
    passing = np.array([passes(case["labels"][0]) for case in cases])
    share = passing.mean()
    return np.where(passing, USUAL_PASSES / share, (1 - USUAL_PASSES) / (1 - share))


def passes(label: Mapping[str, Any]) -> bool:
    """Whether a reply with these grades and violations passes."""
    grades = {**label, SAFETY: 0 if label["violations"] else TOP}
    total = sum(points_of(grades[criterion.name], criterion.weight) for criterion in RUBRIC.criteria)
    return not label["violations"] and total >= RUBRIC.pass_mark


def mean_grades(cases: Sequence[dict[str, Any]], criterion: str) -> Array:
    """The raters' mean on one criterion."""
    return np.array([np.mean([label[criterion] for label in case["labels"]]) for case in cases])


def names_of(criterion: str, names: Iterable[str]) -> list[str]:
    """The features a criterion may be graded by."""
    unfit = {f"worded_{other}" for other in CRITERIA if other != criterion}
    if criterion != "tone":
        unfit |= MANNER
    if criterion == COMPLETENESS:
        unfit |= MADE_UP | FALLING | RELATIVE
    return sorted(name for name in names if name not in unfit)


def feature_rows(
    cases: Sequence[dict[str, Any]], *, way: Way, is_plain: bool = False
) -> tuple[list[Features], list[set[str]]]:
    """The features of each case, those of plain ones too if wanted, and the kinds of violation the detectors found."""
    rows, found = [], []
    for reading, anchors in read_cases(cases, way=way):
        violations = inspect(reading, anchors, policy=Policy())
        rows.append(features(reading, cover(reading), anchors, violations, is_plain=is_plain))
        found.append({violation.kind for violation in violations})
    return rows, found


def read_cases(cases: Sequence[dict[str, Any]], *, way: Way) -> Iterator[tuple[Reading, tuple[Anchor, ...]]]:
    """Each case read and checked as this way of grading sees it."""
    for case in cases:
        reading = read(case_from_dict(seen(case, way=way)))
        yield reading, check(reading, plan=Plan()) or ()


@cache
def labelled_runs(way: Way) -> tuple[list[Said], list[Said]]:
    """The runs of every labelled reply, and those of the part of it that can earn accuracy."""
    given = list(read_cases(labelled_cases()[0], way=way))
    return [runs_of(*each) for each in given], [runs_of(*(sound_part(*each) or each)) for each in given]


def compare_wording(criterion: str, *, way: Way) -> Worded:
    """What the labelled replies share in wording with each other as this criterion and way see them."""
    whole, earned = labelled_runs(way)
    return worded.compare(criterion, labelled_runs("open")[0], earned if criterion == "accuracy" else whole)


def worded_weights(cases: Sequence[dict[str, Any]]) -> str:
    """The weights of wording as they are shipped: a line for each run, with a number for each criterion."""
    everything = np.arange(len(cases))
    fitted = {
        criterion: compare_wording(criterion, way="open").fit(mean_grades(cases, criterion), on=everything)
        for criterion in CRITERIA
    }
    base = {criterion: weights.base for criterion, weights in fitted.items()}
    runs = fitted[CRITERIA[0]].runs
    lines = [f"  {json.dumps(run)}: {[fitted[criterion].runs[run] for criterion in CRITERIA]}" for run in runs]
    return f'{{\n "base": {json.dumps(base)},\n "runs": {{\n' + ",\n".join(lines) + "\n }\n}"


def score_wording(
    table: Array, names: Sequence[str], people: Array, *, groups: NDArray[np.str_], wording: Worded
) -> Array:
    """The table with the wording of each reply scored by replies of other groups; packaged weights saw them all."""
    scored = table.copy()
    scored[:, _worded_column(names)] = wording.score_apart(people, groups=groups, among=np.arange(len(people)))
    return scored


def _worded_column(names: Sequence[str]) -> int:
    return next(at for at, name in enumerate(names) if name.startswith("worded_"))


def feature_table(rows: Sequence[Features], criterion: str) -> tuple[Array, list[str]]:
    """One row for each case with all features the criterion may be graded by, and their names."""
    seen = [row.of(criterion) for row in rows]
    names = names_of(criterion, seen[0])
    return columns(seen, names), names


def columns(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> Array:
    """One row for each case with the features of these names."""
    return np.array([[row[name] for name in names] for row in rows])


def seen(case: dict[str, Any], *, way: Way) -> dict[str, Any]:
    """The case without what this way of grading does not have."""
    hidden = {"expected": (), "open": ("expected_output",), "bare": ("expected_output", "context")}[way]
    return {field: value for field, value in case.items() if field not in hidden}


def with_plain(grades: Array, cases: Sequence[dict[str, Any]], criterion: str, way: Way) -> Array:
    """The grades, those of plain questions by the models that grade them, fitted without their domain (fit_plain)."""
    kinds = json.loads(resource.text(PLAIN_FILE))["held_out"]
    apart = {
        id_: value for kind in kinds if kind.endswith(way) for id_, value in kinds[kind].get(criterion, {}).items()
    }
    given = zip(cases, grades, strict=True)
    return np.array([np.digitize(apart[c["id"]], ROUNDING) if c["id"] in apart else grade for c, grade in given])


def agreement_by_set(people: Array, grades: Array, source: NDArray[np.str_]) -> dict[str, float]:
    """Kappa with people, for each gold set."""
    wanted = np.round(people)
    return {name: round(kappa(wanted[source == name], grades[source == name]), 3) for name in GOLDSETS}


def leave_out(
    table: Array,
    names: Sequence[str],
    people: Array,
    *,
    groups: NDArray[np.str_],
    weights: Array,
    wording: Worded | None,
    way: Way,
) -> tuple[Array, Array]:
    """Values and grades of every case by a model, cuts and weights of wording fitted without its group."""
    values, grades = np.zeros(len(people)), np.zeros(len(people))
    scored = table.copy()
    for group in np.unique(groups):
        inside, out = np.flatnonzero(groups != group), np.flatnonzero(groups == group)
        if wording:
            column = _worded_column(names)
            scored[inside, column] = wording.score_apart(people, groups=groups, among=inside)
            scored[out, column] = wording.score(people, on=inside, of=out)
        model = fit(scored[inside], names, people[inside], weights=weights[inside])
        values[out] = predict(model, scored[out])
        grades[out] = np.digitize(values[out], cut(predict(model, scored[inside]), people[inside], way=way))
    return values, grades


if __name__ == "__main__":
    main()
