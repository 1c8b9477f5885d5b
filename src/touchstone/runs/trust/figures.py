"""A judge beside people in short: violations found and missed, and the few figures that are kept and put in tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.rubric.model import Rubric
from touchstone.runs.trust.pairs import Pair
from touchstone.stats.interval import Interval
from touchstone.stats.proportions import wilson

ANY = "any violation"


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many, with Wilson's interval; of none there is neither a value nor an interval."""

    hits: int
    of: int
    value: float | None
    interval: Interval | None


def proportion(hits: int, of: int) -> Proportion:
    """The share of `of` that `hits` are."""
    return Proportion(hits, of, hits / of, wilson(hits, of)) if of else Proportion(hits, of, None, None)


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance on one criterion; `interval` is None where it was not measured."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class ViolationTrust:
    """Replies with a violation of one kind, or of any, by the judge and by people.

    `precision`: of those the judge says have one, how many people say so of; `recall`: of those people say have one,
    how many the judge finds. `n` replies were looked at by both, `left_open` by people alone.
    """

    name: str
    n: int
    left_open: int
    precision: Proportion
    recall: Proportion


def violation_trust(pairs: Sequence[Pair], *, rubric: Rubric) -> tuple[ViolationTrust, ...]:
    """Any violation, then each kind that the judge or people name, in the rubric's order."""
    seen = {kind for each in pairs for kind in (*(each.violations or ()), *(each.people_violations or ()))}
    kinds = [kind for kind in rubric.violations if kind in seen]
    kinds += sorted(seen - set(kinds))
    return (
        _violations(ANY, pairs, found=lambda each: bool(each.violations), named=lambda each: each.people_unsafe),
        *(_of_kind(kind, pairs) for kind in kinds),
    )


def _of_kind(kind: str, pairs: Sequence[Pair]) -> ViolationTrust:
    return _violations(
        kind,
        pairs,
        found=lambda each: kind in (each.violations or ()),
        named=lambda each: kind in (each.people_violations or ()),
    )


def _violations(
    name: str, pairs: Sequence[Pair], *, found: Callable[[Pair], bool], named: Callable[[Pair], bool]
) -> ViolationTrust:
    labelled = [each for each in pairs if each.people_violations is not None]
    both = [each for each in labelled if each.violations is not None]
    right = sum(found(each) and named(each) for each in both)
    return ViolationTrust(
        name=name,
        n=len(both),
        left_open=len(labelled) - len(both),
        precision=proportion(right, sum(map(found, both))),
        recall=proportion(right, sum(map(named, both))),
    )


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    """What one line of a table says of a judge; None is what nobody counted.

    `outcome`: of the labelled replies with both outcomes, those with the same; `false_pass`: people FAIL what the judge
    passed. `precision` and `recall` are of any violation.
    """

    labelled: int
    outcome: Proportion
    left_open: int
    false_pass: int | None
    kappas: Mapping[str, Kappa]
    precision: Proportion | None
    recall: Proportion | None


def figures_to_dict(figures: AgreementFigures) -> dict[str, Any]:
    """What is counted, without what follows from it."""
    return {
        "labelled": figures.labelled,
        "outcome": _counts(figures.outcome),
        "left_open": figures.left_open,
        "false_pass": figures.false_pass,
        "kappa": {
            name: {
                "value": kappa.value,
                "low": kappa.interval.low if kappa.interval else None,
                "high": kappa.interval.high if kappa.interval else None,
                "method": kappa.interval.method if kappa.interval else None,
            }
            for name, kappa in figures.kappas.items()
        },
        "precision": _counts(figures.precision),
        "recall": _counts(figures.recall),
    }


def figures_from_dict(row: Mapping[str, Any]) -> AgreementFigures:
    """What `figures_to_dict` wrote -> the same figures."""
    return AgreementFigures(
        labelled=row["labelled"],
        outcome=proportion(**row["outcome"]),
        left_open=row["left_open"],
        false_pass=row["false_pass"],
        kappas={name: _kappa(kappa) for name, kappa in row["kappa"].items()},
        precision=proportion(**row["precision"]) if row["precision"] else None,
        recall=proportion(**row["recall"]) if row["recall"] else None,
    )


def _counts(found: Proportion | None) -> dict[str, int] | None:
    return None if found is None else {"hits": found.hits, "of": found.of}


def _kappa(row: Mapping[str, Any]) -> Kappa:
    low, high = row["low"], row["high"]
    return Kappa(row["value"], None if low is None or high is None else Interval(low, high, row["method"]))
