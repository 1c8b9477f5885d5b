"""Public sets rated by people -> src/touchstone/data/plain.json: models for cases that are no support matter.

    python -m scripts.fit_plain

Needs the public sets, which are not part of the repository; without them the file stays as it is. Additive models as
in fit_judge, with a base of its own for each set while fitting, since each was rated on a scale of its own. The
labelled sets join with a small weight, so that short support questions keep their scale.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from benchmarks.cases import public_rows
from scipy.optimize import lsq_linear
from scripts import additive, fit_politeness
from scripts.additive import Array
from scripts.fit_judge import names_of
from scripts.labelled import DATA, labelled

from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.check import anchors_of, check
from touchstone.judges.choice import plain_kind
from touchstone.judges.features import Features, features, see
from touchstone.judges.model import PLAIN_FILE, Mode, Plain, models, plain_models
from touchstone.safety.detectors import inspect
from touchstone.text.frame import body_of
from touchstone.text.reading import read, read_ahead

FOLDS = 5
# So many rows' worth of weight for each set, however many more rows it has.
SET_WEIGHT = 1000.0
# The labelled sets say little about plain questions, but what they say is about support.
LABELLED_WEIGHT = 20.0
# Replies that are parsed together.
AT_ONCE = 256
# Rows of each set that the knots are drawn from.
KNOT_ROWS = 200
# Everything in a polite request lies in its wording; an insult costs what it costs elsewhere.
WORDING = ("politeness", "rude", "blame")
LICENCES = {
    "begin": "CC-BY-4.0, CDLA",
    "wice": "ODC-BY, CC-BY-SA",
    "summedits": "Apache-2.0",
    "mtrag": "Apache-2.0",
    "dstc9": "Apache-2.0",
    "evouna": "Apache-2.0",
    "politeness": "research release",
}
# What people said, on the scale of 0 to 4: unsupported is what the rubric calls mostly wrong.
LABELS: Mapping[str, Mapping[str, Callable[[Mapping[str, float]], float]]] = {
    "begin": {"accuracy": lambda gold: 4.0 - 3 * gold["unsupported"]},
    "wice": {"accuracy": lambda gold: 4.0 - 3 * gold["unsupported"]},
    "summedits": {"accuracy": lambda gold: 4.0 - 3 * gold["unsupported"]},
    "mtrag": {
        "accuracy": lambda gold: (gold["faithfulness"] - 1) * 4 / 3,
        "completeness": lambda gold: (gold["completeness"] - 1) * 4 / 3,
    },
    "dstc9": {"accuracy": lambda gold: gold["accuracy"] - 1},
    "evouna": {"accuracy": lambda gold: 0.5 + 3.5 * gold["correct"]},
    "politeness": {"tone": lambda gold: min(4.0, max(0.0, 2.5 + gold["politeness"]))},
}
KINDS: Mapping[Plain, Mapping[str, tuple[str, ...]]] = {
    "answer": {"accuracy": ("evouna",)},
    "entry_expected": {"accuracy": ("dstc9",)},
    "entry_open": {"accuracy": ("begin", "dstc9")},
    "query_expected": {"accuracy": ("mtrag",), "completeness": ("mtrag",)},
    "query_open": {"accuracy": ("mtrag", "begin")},
    "statement": {"accuracy": ("wice", "summedits")},
    "wording": {"tone": ("politeness",)},
}
RIDGE = 20.0
# What tells support replies apart says nothing where no customer is answered.
SUPPORT = frozenset(
    "passed_on nearest_said nearest_share needed_told beside_told same_passages worded_accuracy worded_completeness "
    "worded_tone worded_actionability steps paths contacts numbered deadlines we_act ask_back questions vague quoted "
    "brushoff no_context".split()
)
# What a reply can be held to only where something is asked that takes more than a name or a figure to answer.
ASKED = frozenset(
    "passage_said passage_new passage_size passage_denied figures_left limit_differs subject_said unheard asked_openly "
    "opens_otherwise".split()
)
# The modes in which labelled cases can be plain questions.
MODES: Mapping[Plain, Mode] = {
    "entry_expected": "expected",
    "entry_open": "open",
    "query_expected": "expected",
    "query_open": "open",
}
# Chats with lookups, which are no plain questions.
LEFT_ASIDE = "agents"
Model = tuple[list[Array], Array]
Rows = Sequence[tuple[dict[str, Any], Plain | None, Features]]


class Seen(NamedTuple):
    """The kind of a case and its features: as it is given, and without its expected reply."""

    given: tuple[Plain | None, Features]
    open: tuple[Plain | None, Features]


@dataclass(frozen=True, slots=True)
class Rated:
    """Replies of one kind from one set: features, grades, folds, and which rows of the set they are."""

    table: Array
    people: Array
    folds: Array
    rows: Array
    weight: float = SET_WEIGHT


def main() -> None:
    if any(public_rows(name) is None for name in LABELS):
        sys.exit(f"{PLAIN_FILE} stays as it is: it can only be fitted where all of these public sets are")
    kinds = {
        kind: {criterion: _described(*rated_replies(kind, criterion, sets)) for criterion, sets in criteria.items()}
        for kind, criteria in KINDS.items()
    }
    written = {
        "fitted_on": {f"{name} ({licence})": len(public_rows(name) or ()) for name, licence in LICENCES.items()},
        "method": f"additive, {additive.SEGMENTS} segments a feature, ridge {RIDGE:g}, sets of equal weight",
        "kinds": kinds,
    }
    (DATA / PLAIN_FILE).write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"written to {PLAIN_FILE}\n")


def _described(names: Sequence[str], rated: Sequence[Rated]) -> dict[str, Any]:
    error = np.concatenate([held_out(rated, names, given) - given.people for given in rated])
    spread = max(additive.MIN_SPREAD, float(np.sqrt(np.mean(error**2))))
    everything = np.concatenate([given.table for given in rated])
    return additive.describe(fit(rated, names), names, everything, cuts=list(additive.ROUNDING), spread=spread)


def rated_replies(kind: Plain, criterion: str, sets: Sequence[str]) -> tuple[list[str], list[Rated]]:
    """The names of the features, and the replies of this kind in each set; last the labelled sets where they count."""
    found = {name: feature_rows(name, is_open=MODES.get(kind) == "open") for name in sets}
    if kind == "wording":
        found = {name: _with_held_out_politeness(rows) for name, rows in found.items()}
    known = next(features.body for rows in found.values() for _, _, features in rows)
    unused = SUPPORT if kind in MODES else SUPPORT | ASKED
    names = list(WORDING) if kind == "wording" else names_of(criterion, known.keys() - unused)
    rated = [_rated(rows, kind, names, criterion, LABELS[name][criterion]) for name, rows in found.items()]
    return names, [*rated, _labelled(names, criterion, mode=MODES[kind])] if kind in MODES else rated


def _with_held_out_politeness(rows: Rows) -> Rows:
    """The rows with politeness by weights that did not see them, since the packaged weights saw all."""
    rated = np.array([row["gold"]["politeness"] for row, _, _ in rows])
    apart = fit_politeness.held_out([row["response"] for row, _, _ in rows], rated)
    return [
        (row, kind, Features(*({**each, "politeness": float(value)} for each in found)))
        for (row, kind, found), value in zip(rows, apart, strict=True)
    ]


def _labelled(names: Sequence[str], criterion: str, *, mode: Mode) -> Rated:
    """The labelled sets as if they were plain questions, in folds of whole domains."""
    cases = [case for case in labelled(mode) if case.set != LEFT_ASIDE]
    found = [_features(case.reading, case.anchors, is_plain=True) for case in cases]
    people = np.array([case.mean(criterion) for case in cases])
    # Their folds' numbers start where the others' end.
    folds = FOLDS + np.array([case.fold for case in cases])
    return Rated(_columns(found, names, criterion), people, folds, np.arange(len(cases)), LABELLED_WEIGHT)


def _columns(rows: Sequence[Features], names: Sequence[str], criterion: str) -> Array:
    return np.array([[row.of(criterion).get(name, 0.0) for name in names] for row in rows])


def _rated(
    rows: Rows, kind: Plain, names: Sequence[str], criterion: str, label: Callable[[Mapping[str, float]], float]
) -> Rated:
    folds = _folds([row for row, _, _ in rows])
    kept = [at for at, (_, found, _) in enumerate(rows) if found == kind]
    return Rated(
        _columns([rows[at][2] for at in kept], names, criterion),
        np.array([label(rows[at][0]["gold"]) for at in kept]),
        folds[kept],
        np.array(kept),
        min(SET_WEIGHT, len(kept)),
    )


def feature_rows(name: str, *, is_open: bool) -> Rows:
    """Every row of a set with the kind of case it is and its features, with or without its expected reply."""
    return [(row, *(seen.open if is_open else seen.given)) for row, seen in _seen_rows(name)]


@cache
def _seen_rows(name: str) -> Sequence[tuple[dict[str, Any], Seen]]:
    return list(_see(public_rows(name) or []))


def _see(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Seen]]:
    """Each row read and checked once; where it has a context, the expected reply is no evidence and alters no check."""
    for start in range(0, len(rows), AT_ONCE):
        chunk = rows[start : start + AT_ONCE]
        cases = [case_from_dict({field: value for field, value in row.items() if field != "gold"}) for row in chunk]
        read_ahead(cases)
        for row, case in zip(chunk, cases, strict=True):
            reading = read(case)
            anchors = check(reading, plan=Plan())
            given = _graded_by(reading, anchors)
            has_two = reading.expected is not None and case.context is not None
            yield row, Seen(given, _graded_by(replace(reading, expected=None), anchors) if has_two else given)


def _graded_by(reading: Reading, anchors: tuple[Anchor, ...] | None) -> tuple[Plain | None, Features]:
    kind = plain_kind(body_of(reading))
    return kind, _features(reading, anchors, is_plain=kind is not None)


def _features(reading: Reading, anchors: tuple[Anchor, ...] | None, *, is_plain: bool) -> Features:
    body = body_of(reading)
    within = anchors_of(body, anchors)
    return features(see(reading, body, within), inspect(body, within, policy=Policy()), is_plain=is_plain)


def _folds(rows: Sequence[Mapping[str, Any]]) -> Array:
    """A fold for each row: replies to the same question on the same passage share one."""
    groups: dict[str, int] = {}
    keys = [json.dumps([row["input"], row["context"]]) if row["input"] or row["context"] else row["id"] for row in rows]
    return np.array([groups.setdefault(key, len(groups)) % FOLDS for key in keys])


def held_out_values(name: str) -> list[dict[str, float]]:
    """criterion -> value for every row of a set as it is given, each by a model that saw no reply to its source."""
    rows = feature_rows(name, is_open=False)
    values = []
    for row, kind, found in rows:
        mode: Mode = "expected" if row["expected_output"] else "open"
        chosen = {**models(mode), **(plain_models(kind) if kind else {})}
        values.append({criterion: model.value(found.of(criterion)) for criterion, model in chosen.items()})
    for kind, criteria in KINDS.items():
        for criterion, sets in criteria.items():
            if name in sets and any(own == kind for _, own, _ in rows):
                names, rated = rated_replies(kind, criterion, sets)
                given = rated[sets.index(name)]
                for at, value in zip(given.rows, held_out(rated, names, given), strict=True):
                    values[at][criterion] = float(value)
    return values


def held_out(rated: Sequence[Rated], names: Sequence[str], given: Rated) -> Array:
    """The values of one set's replies, each by a model that saw no reply to the same source."""
    values = np.zeros(len(given.people))
    for fold in np.unique(given.folds):
        out = given.folds == fold
        values[out] = additive.predict(fit(rated, names, without=fold), given.table[out])
    return values


def fit(rated: Sequence[Rated], names: Sequence[str], *, without: int | None = None) -> Model:
    """Knots and weights over all sets; each set has a base of its own, and the model's is their mean."""
    knots = [_knots(rated, name, at) for at, name in enumerate(names)]
    low, high = additive.bounds(names, knots)
    designs, wanted, means = [], [], []
    for given in rated:
        kept = given.folds != without
        design, people = additive.design(given.table[kept], knots)[:, :-1], given.people[kept]
        means.append((design.mean(axis=0), people.mean()))
        size = np.sqrt(given.weight / len(people))
        designs.append((design - design.mean(axis=0)) * size)
        wanted.append((people - people.mean()) * size)
    columns = designs[0].shape[1]
    stacked = np.vstack([*designs, np.sqrt(RIDGE) * np.eye(columns)])
    square = np.linalg.qr(np.column_stack([stacked, np.concatenate([*wanted, np.zeros(columns)])]), mode="r")
    slopes = lsq_linear(square[:, :-1], square[:, -1], (low, high), method="bvls").x
    base = float(np.mean([people - design @ slopes for design, people in means]))
    return knots, np.append(slopes, base)


def _knots(rated: Sequence[Rated], name: str, at: int) -> Array:
    """Knots from rows at even steps of every set, so that no set's range is left out."""
    columns = [given.table[:: max(1, len(given.table) // KNOT_ROWS), at] for given in rated]
    return additive.find_knots(name, np.concatenate(columns))


if __name__ == "__main__":
    main()
