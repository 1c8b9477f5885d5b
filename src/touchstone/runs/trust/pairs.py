"""A case with people's labels and a judge's grading of it -> a pair: both say the same things of one reply."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from touchstone.core.case import Case, Label
from touchstone.core.result import Grading, Outcome
from touchstone.rubric.model import SAFETY, TOP, Rubric
from touchstone.runs.goldset.labels import case_outcome


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
