"""Features -> a value 0..4: small additive models whose every term can be read, shipped as JSON.

A term bends at its knots and is straight between them.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import erf, exp, sqrt
from typing import Any, Literal

from touchstone.core import resource
from touchstone.core.errors import ResourceError

# With an expected reply, with sources only, or with neither.
Way = Literal["expected", "open", "bare"]
# Cases that are no support matter: a short expected answer; a plain question on one entry or on longer passages, each
# either way; a statement without a question; and wording alone.
Plain = Literal["answer", "entry_expected", "entry_open", "query_expected", "query_open", "statement", "wording"]
WAYS: tuple[Way, ...] = ("expected", "open", "bare")
TOP = 4
# Within this distance of 0 and 4 values draw together.
END = 0.5
FILE = "judge.json"
PLAIN_FILE = "plain.json"


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
    """The models of every way to grade, by criterion, and the version they are called by."""

    version: str
    ways: Mapping[Way, Mapping[str, GradeModel]]


def models(way: Way) -> Mapping[str, GradeModel]:
    """The packaged models of one way to grade."""
    return packaged_models().ways[way]


@cache
def packaged_models() -> Fitted:
    """The models that ship with Touchstone."""
    with _packaged(FILE) as text:
        return parse_models(text)


@cache
def plain_models(kind: Plain) -> Mapping[str, GradeModel]:
    """The packaged models for a case that is no support matter; only of the criteria that differ."""
    with _packaged(PLAIN_FILE) as text:
        return {criterion: _model(row) for criterion, row in json.loads(text)["kinds"][kind].items()}


@contextmanager
def _packaged(file: str) -> Iterator[str]:
    try:
        yield resource.text(file)
    except (KeyError, TypeError, ValueError) as error:
        raise ResourceError(f"data/{file} is broken ({error!r}): reinstall touchstone-eval, or run make fit") from error


def parse_models(text: str) -> Fitted:
    """The text of a file of models -> the models; KeyError, TypeError or ValueError when it is none."""
    content = json.loads(text)
    ways = content["ways"]
    return Fitted(
        str(content["version"]), {way: {name: _model(row) for name, row in ways[way].items()} for way in WAYS}
    )


def models_to_dict(fitted: Fitted) -> dict[str, Any]:
    """What `parse_models` reads."""
    ways = {way: {name: _row(model) for name, model in known.items()} for way, known in fitted.ways.items()}
    return {"version": fitted.version, "ways": ways}


def _row(model: GradeModel) -> dict[str, Any]:
    terms = {
        term.feature: {"knots": list(term.knots), "slopes": list(term.slopes), "typical": term.typical}
        for term in model.terms
    }
    return {"base": model.base, "cuts": list(model.cuts), "spread": model.spread, "terms": terms}


def _model(row: Mapping[str, object]) -> GradeModel:
    terms = row["terms"]
    assert isinstance(terms, dict)
    return GradeModel(
        base=float(row["base"]),  # type: ignore[arg-type]
        terms=tuple(Term(name, tuple(t["knots"]), tuple(t["slopes"]), t["typical"]) for name, t in terms.items()),
        cuts=tuple(row["cuts"]),  # type: ignore[arg-type]
        spread=float(row["spread"]),  # type: ignore[arg-type]
    )
