"""Features -> a value 0..4 and a pass probability: small additive models whose every term can be read, shipped as JSON.

A term bends at its knots and is straight between them.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import erf, exp, sqrt
from typing import Any, Final, Literal, NamedTuple

from touchstone.core import resource
from touchstone.core.result import VIOLATION_KINDS
from touchstone.safety.signs import Logistic

# What the reply is held against: an expected reply, sources only, or neither. The words are those of stored models.
Mode = Literal["expected", "open", "bare"]
SOURCES_ONLY: Final = "open"
NO_SOURCES: Final = "bare"
MODES: tuple[Mode, ...] = ("expected", SOURCES_ONLY, NO_SOURCES)
# Cases that are no support matter: a short expected answer; a plain question on one entry or on longer passages, each
# either way; a statement without a question; and wording alone.
Plain = Literal["answer", "entry_expected", "entry_open", "query_expected", "query_open", "statement", "wording"]
TOP = 4
# Within this distance of 0 and 4 values draw together.
END = 0.5
FILE, PLAIN_FILE, PASS_FILE = "judge.json", "plain.json", "pass.json"
VALUES = ("accuracy", "completeness", "tone", "actionability")
# The grade that wording alone speaks for, were passing a criterion.
WORDED = "worded_pass"
FINDINGS = tuple(f"finding_{kind}" for kind in VIOLATION_KINDS)
LIKENESS = tuple(f"like_{kind}" for kind in VIOLATION_KINDS if kind != "hallucination")
# What speaks against a reply beside the findings.
AGAINST = ("values_contradicted", "values_unsupported", "claims_contradicted", "claims_unsupported", "polarity_flips")
INPUTS = (*VALUES, WORDED, *FINDINGS, *LIKENESS, *AGAINST)


@dataclass(frozen=True, slots=True)
class Term:
    """One feature's part: `slopes[i]` is gained while the feature goes from `knots[i]` to `knots[i + 1]`."""

    feature: str
    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    typical: float

    def size(self, value: float) -> float:
        """What this value of the feature adds, compared with a typical reply."""
        knots, gained = self.knots, -self.typical
        if value <= knots[0]:
            return gained
        for at, slope in enumerate(self.slopes):
            if value <= knots[at + 1]:
                return gained + slope * ((value - knots[at]) / (knots[at + 1] - knots[at]))
            gained += slope
        return gained


@dataclass(frozen=True, slots=True)
class GradeModel:
    """One criterion's model: a base, terms, the cuts between grades and how far its values stray from people's."""

    base: float
    terms: tuple[Term, ...]
    cuts: tuple[float, ...]
    spread: float

    def value(self, features: Mapping[str, float]) -> float:
        """The unrounded grade."""
        return within(self.sum(features))

    def sum(self, features: Mapping[str, float]) -> float:
        """The base and what all terms add, which may lie beyond the scale of grades."""
        return self.base + sum([term.size(features.get(term.feature, 0.0)) for term in self.terms])

    def grade(self, value: float) -> int:
        return bisect_right(self.cuts, value)

    def confidence(self, value: float) -> float:
        """The chance that a person gives this grade, when people's grades scatter around the value."""
        grade = self.grade(value)
        low = self.cuts[grade - 1] if grade else float("-inf")
        high = self.cuts[grade] if grade < len(self.cuts) else float("inf")
        return _below((high - value) / self.spread) - _below((low - value) / self.spread)


def within(sum_: float) -> float:
    """A sum of shares on the scale of grades: unchanged but near its ends, which it nears and never reaches.

    So of two very good replies the better one still has the higher value.
    """
    if sum_ > TOP - END:
        return TOP - END * exp((TOP - END - sum_) / END)
    return sum_ if sum_ >= END else END * exp((sum_ - END) / END)


def _below(deviation: float) -> float:
    """The normal distribution function."""
    return 0.5 * (1 + erf(deviation / sqrt(2)))


@dataclass(frozen=True, slots=True)
class Fitted:
    """The models of every mode, by criterion, and the version they are called by."""

    version: str
    modes: Mapping[Mode, Mapping[str, GradeModel]]


class PassModel(NamedTuple):
    """What `make fit` says of passing, and of the cases the judge knows.

    `most` is what each measure reaches at most among known cases; `blind` are the criteria not graded beyond.
    """

    chances: Mapping[Mode, Logistic]
    most: Mapping[str, float]
    blind: Mapping[Mode, tuple[str, ...]]


def models(mode: Mode) -> Mapping[str, GradeModel]:
    """The packaged models of one mode."""
    return packaged_models().modes[mode]


@cache
def packaged_models() -> Fitted:
    """The models that ship with Touchstone."""
    return resource.parsed(FILE, parse_models)


@cache
def plain_models(kind: Plain) -> Mapping[str, GradeModel]:
    """The packaged models for a case that is no support matter; only of the criteria that differ."""
    return resource.parsed(PLAIN_FILE, lambda text: _models(json.loads(text)["kinds"][kind]))


@cache
def pass_model() -> PassModel:
    """The packaged pass probabilities, and the range of known cases."""
    return resource.parsed(PASS_FILE, _pass_model)


def probability_inputs(values: Mapping[str, float], features: Mapping[str, float]) -> dict[str, float]:
    """What the pass probability is computed from."""
    return {name: values[name] for name in VALUES} | {name: features.get(name, 0.0) for name in INPUTS[len(VALUES) :]}


def pass_probability(values: Mapping[str, float], features: Mapping[str, float], *, mode: Mode) -> float:
    """The chance that people would pass a reply with these values and features, where four of five pass."""
    return pass_model().chances[mode].of(probability_inputs(values, features))


def parse_models(text: str) -> Fitted:
    """The text of a file of models -> the models; KeyError, TypeError or ValueError when it is none."""
    content = json.loads(text)
    return Fitted(str(content["version"]), {mode: _models(content["ways"][mode]) for mode in MODES})


def models_to_dict(fitted: Fitted) -> dict[str, Any]:
    """What `parse_models` reads."""
    rows = {mode: {name: _row(model) for name, model in known.items()} for mode, known in fitted.modes.items()}
    return {"version": fitted.version, "ways": rows}


def _row(model: GradeModel) -> dict[str, Any]:
    terms = {
        term.feature: {"knots": list(term.knots), "slopes": list(term.slopes), "typical": term.typical}
        for term in model.terms
    }
    return {"base": model.base, "cuts": list(model.cuts), "spread": model.spread, "terms": terms}


def _models(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, GradeModel]:
    return {name: _model(row) for name, row in rows.items()}


def _model(row: Mapping[str, Any]) -> GradeModel:
    terms = tuple(
        Term(name, tuple(term["knots"]), tuple(term["slopes"]), term["typical"]) for name, term in row["terms"].items()
    )
    return GradeModel(float(row["base"]), terms, tuple(row["cuts"]), float(row["spread"]))


def _pass_model(text: str) -> PassModel:
    content = json.loads(text)
    known = content["known"]
    return PassModel(
        {mode: Logistic(row["base"], row["weights"]) for mode, row in content["ways"].items()},
        known["most"],
        {mode: tuple(names) for mode, names in known["blind"].items()},
    )
