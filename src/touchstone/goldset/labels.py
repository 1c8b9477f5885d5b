"""People's grades of cases -> what they amount to, and where they are impossible or at odds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import combinations
from statistics import fmean

from touchstone.core.case import Case, Label
from touchstone.core.result import VIOLATION_KINDS, Finding, Grade, Outcome
from touchstone.goldset.problems import PlacedCase, Problem, problem
from touchstone.rubric.model import SAFETY, TOP, Rubric
from touchstone.rubric.outcome import conclude

# So many grades apart, and two people do not mean the same.
APART = 2


def outcome_of(label: Label, *, rubric: Rubric) -> Outcome | None:
    """PASS or FAIL by the label's grades; safety follows from its violations unless it is graded itself."""
    given = {SAFETY: 0 if label.violations else TOP, **label.grades}
    grades = [Grade(name, grade, float(grade), None, None, "") for name, grade in given.items() if grade is not None]
    known = [Finding(kind, "", 0, 0, "") for kind in VIOLATION_KINDS if kind in label.violations]
    return conclude(rubric, grades, known, judge=label.rater).outcome


def case_outcome(case: Case, *, rubric: Rubric) -> Outcome | None:
    """What most of the case's labels come to; None when as many say one as the other."""
    found = [outcome_of(label, rubric=rubric) for label in case.labels]
    passed, missed = found.count("PASS"), found.count("FAIL")
    if passed == missed:
        return None
    return "PASS" if passed > missed else "FAIL"


def conflict(a: Case, b: Case, *, rubric: Rubric) -> str | None:
    """How the labels of two cases differ that should be labelled alike; None when they do not."""
    one, other = case_outcome(a, rubric=rubric), case_outcome(b, rubric=rubric)
    if one is not None and other is not None and one != other:
        return f"labelled {one} on one line and {other} on the other"
    theirs = _means(b)
    for name, grade in _means(a).items():
        if name in theirs and abs(grade - theirs[name]) >= APART:
            return f"{name} is graded {grade:g} on one line and {theirs[name]:g} on the other"
    return None


def _means(case: Case) -> dict[str, float]:
    """The mean grade on each criterion by those who gave any."""
    given: dict[str, list[int]] = defaultdict(list)
    for label in case.labels:
        for name, grade in label.grades.items():
            given[name] += [] if grade is None else [grade]
    return {name: fmean(grades) for name, grades in given.items() if grades}


def check_labels(items: Iterable[PlacedCase], *, rubric: Rubric) -> Iterator[Problem]:
    """Labels that the rubric does not know, raters who disagree, and raters who grade a case twice."""
    for item in items:
        for label in item.case.labels:
            yield from _out_of_range(item, label, rubric=rubric)
        raters = [label.rater for label in item.case.labels]
        for rater in dict.fromkeys(rater for rater in raters if raters.count(rater) > 1):
            yield problem("repeated-rater", [item], f"rater {rater} is named {raters.count(rater)} times")
        if differences := _disagreements(item.case.labels):
            yield problem("raters-disagree", [item], "; ".join(differences))


def _out_of_range(item: PlacedCase, label: Label, *, rubric: Rubric) -> Iterator[Problem]:
    for name, grade in label.grades.items():
        criterion = rubric.criterion(name)
        if criterion is None:
            known = ", ".join(each.name for each in rubric.criteria)
            remedy = _nearest(name, [each.name for each in rubric.criteria]) or f"its criteria are {known}"
            message = f"rater {label.rater} grades '{name}', which the rubric {rubric.name} does not have"
            yield problem("label-range", [item], message, remedy=remedy)
        elif grade is not None and grade not in criterion.levels:
            allowed = ", ".join(str(level) for level in sorted(criterion.levels))
            message = f"rater {label.rater} grades {name} {grade}"
            yield problem("label-range", [item], message, remedy=f"allowed are {allowed}")
    for kind in label.violations:
        if kind not in rubric.violations:
            remedy = _nearest(kind, list(rubric.violations)) or f"allowed are {', '.join(rubric.violations)}"
            message = f"rater {label.rater} names the violation '{kind}', which the rubric does not have"
            yield problem("label-range", [item], message, remedy=remedy)


def _nearest(name: str, known: list[str]) -> str | None:
    near = get_close_matches(name.lower(), known, n=1)
    return f"nearest is '{near[0]}'" if near else None


def _disagreements(labels: Iterable[Label]) -> list[str]:
    """Each criterion on which two raters are too far apart, widest pair only, and violations only some of them see."""
    labels = tuple(labels)
    found = []
    for name in dict.fromkeys(name for label in labels for name in label.grades):
        given = [(grade, label.rater) for label in labels if (grade := label.grades.get(name)) is not None]
        pairs = [(low, high) for low, high in combinations(sorted(given), 2) if high[0] - low[0] >= APART]
        if pairs:
            low, high = max(pairs, key=lambda pair: pair[1][0] - pair[0][0])
            found.append(f"{name}: {low[1]} {low[0]}, {high[1]} {high[0]}")
    for kind in sorted({kind for label in labels for kind in label.violations}):
        seeing = [label.rater for label in labels if kind in label.violations]
        others = [label.rater for label in labels if kind not in label.violations]
        if others:
            found.append(f"{kind}: {', '.join(seeing)} yes, {', '.join(others)} no")
    return found
