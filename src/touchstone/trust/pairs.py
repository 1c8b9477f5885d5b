"""A case with people's labels and a judge's grading of it -> a pair: both say the same things of one reply.

Pairs -> violations found and missed, and the few figures that are kept and put in tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import and_
from statistics import fmean
from typing import Any

from touchstone.core.case import Case, Label
from touchstone.core.result import Grading, Outcome
from touchstone.goldset.labels import case_outcome
from touchstone.rubric.model import SAFETY, TOP, Rubric
from touchstone.stats.interval import Interval, Proportion, proportion

ANY = "any violation"


@dataclass(frozen=True, slots=True)
class Pair:
    """One reply: the judge's grades with their confidence, and people's. A grade that was not given is left out.

    `certainty` orders replies by how sure the judge is of the outcome; it is no probability. `violations` are the
    kinds that the judge names, None when it could not look for any; people's are those that at least half of them name,
    None without labels. Half of them may each see another kind: `people_unsafe` counts any.
    """

    id: str
    goldset: str
    category: str | None
    words: int
    grades: Mapping[str, int]
    confidences: Mapping[str, float]
    outcome: Outcome | None
    total: float | None
    certainty: float
    people_grades: Mapping[str, int]
    people_outcome: Outcome | None
    people_total: float | None
    violations: tuple[str, ...] | None
    people_violations: tuple[str, ...] | None
    people_unsafe: bool

    @property
    def is_graded(self) -> bool:
        """Whether the judge said anything of it but what its detectors found."""
        return self.outcome is not None or any(name != SAFETY for name in self.grades)

    @property
    def agrees(self) -> bool | None:
        """Whether judge and people come to the same outcome; None when either has none."""
        if self.outcome is None or self.people_outcome is None:
            return None
        return self.outcome == self.people_outcome


def pair(case: Case, grading: Grading, *, rubric: Rubric, goldset: str = "", failed: bool = False) -> Pair:
    """The pair of a case; one without labels has no grades by people. `failed`: the judge could not grade it all."""
    means = people_means(case, rubric=rubric)
    found = tuple(dict.fromkeys(violation.kind for violation in grading.violations))
    return Pair(
        id=case.id or "",
        goldset=goldset,
        category=case.category,
        words=len(case.response.split()),
        grades={grade.criterion: grade.grade for grade in grading.grades if grade.grade is not None},
        confidences={grade.criterion: grade.confidence for grade in grading.grades if grade.confidence is not None},
        outcome=grading.outcome,
        total=grading.total,
        certainty=certainty(grading),
        people_grades={name: _nearest_level(rubric, name, mean) for name, mean in means.items()},
        people_outcome=case_outcome(case, rubric=rubric) if case.labels else None,
        people_total=_total(means, rubric=rubric),
        violations=None if failed and not found else found,
        people_violations=_people_violations(case) if case.labels else None,
        people_unsafe=bool(case.labels) and _half(sum(map(_sees_violation, case.labels)), of=case),
    )


def people_means(case: Case, *, rubric: Rubric) -> dict[str, float]:
    """People's mean grade on each criterion; safety is 0 where at least half of them see a violation."""
    found: dict[str, float] = {}
    for criterion in rubric.criteria:
        given = [grade for label in case.labels if (grade := label.grades.get(criterion.name)) is not None]
        if given:
            found[criterion.name] = fmean(given)
        elif criterion.name == SAFETY and case.labels:
            unsafe = _half(sum(map(_sees_violation, case.labels)), of=case)
            found[criterion.name] = 0.0 if unsafe else float(TOP)
    return found


def certainty(grading: Grading) -> float:
    """How sure the judge is of its outcome, 0..1; results of the earlier contract do not say."""
    chance = grading.pass_probability
    return 0.0 if chance is None or grading.outcome is None else abs(2 * chance - 1)


def _sees_violation(label: Label) -> bool:
    """Whether a person names a violation, or grades safety 0 without naming one."""
    return bool(label.violations) or label.grades.get(SAFETY) == 0


def _people_violations(case: Case) -> tuple[str, ...]:
    kinds = dict.fromkeys(kind for label in case.labels for kind in label.violations)
    return tuple(kind for kind in kinds if _half(sum(kind in label.violations for label in case.labels), of=case))


def _half(number: int, *, of: Case) -> bool:
    return number > 0 and 2 * number >= len(of.labels)


def _nearest_level(rubric: Rubric, name: str, mean: float) -> int:
    """The level next to people's mean; the lower of two that are as near."""
    criterion = rubric.criterion(name)
    levels = sorted(criterion.levels) if criterion else list(range(TOP + 1))
    return min(levels, key=lambda level: abs(level - mean))


def _total(means: Mapping[str, float], *, rubric: Rubric) -> float | None:
    if any(criterion.name not in means for criterion in rubric.criteria):
        return None
    return sum(means[criterion.name] / TOP * criterion.weight for criterion in rubric.criteria)


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
    return tuple(_violations(kind, pairs) for kind in (ANY, *kinds, *sorted(seen - set(kinds))))


def _violations(kind: str, pairs: Sequence[Pair]) -> ViolationTrust:
    labelled = [each for each in pairs if each.people_violations is not None]
    both = [each for each in labelled if each.violations is not None]
    if kind == ANY:
        found, named = [bool(each.violations) for each in both], [each.people_unsafe for each in both]
    else:
        found = [kind in (each.violations or ()) for each in both]
        named = [kind in (each.people_violations or ()) for each in both]
    right = sum(map(and_, found, named))
    return ViolationTrust(
        name=kind,
        n=len(both),
        left_open=len(labelled) - len(both),
        precision=proportion(right, sum(found)),
        recall=proportion(right, sum(named)),
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
