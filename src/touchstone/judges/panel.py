"""Several gradings of one case -> one: median or majority on each criterion, with the disagreement in the reason."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import mean, median
from typing import Literal

from touchstone.core.result import Dismissed, Finding, Grade, Grading, Outcome
from touchstone.rubric.model import SAFETY, TOP, Criterion, Rubric
from touchstone.rubric.outcome import conclude, grade_safety, open_grade, stated_probability
from touchstone.safety.signs import same_place

Rule = Literal["median", "majority"]


def combine(gradings: Sequence[Grading], *, rubric: Rubric, judge: str, rule: Rule = "median") -> Grading:
    """One grading for all; at least one is needed. A criterion that most left open stays open.

    A violation counts when half of the gradings have it; what fewer have is a suspicion, unless most dismiss it.
    """
    dismissed = _dismissed(gradings)
    kept, doubted = _violations(gradings)
    doubted = [each for each in doubted if not any(same_place(each, other.finding) for other in dismissed)]
    grades = []
    for criterion in rubric.criteria:
        given = [_grade_of(grading, criterion.name) for grading in gradings]
        names = [grading.judge for grading in gradings]
        if criterion.name == SAFETY:
            grades.append(_safety(criterion, given, kept, doubted))
        else:
            grades.append(_combined(criterion, given, names, rule=rule))
    issues = tuple(dict.fromkeys(issue for grading in gradings for issue in grading.issues))
    grading = conclude(
        rubric,
        grades,
        kept,
        judge=judge,
        issues=issues,
        suspicions=doubted,
        pass_probability=_probability(rubric, gradings, grades, kept),
    )
    return replace(grading, dismissed=dismissed)


def _dismissed(gradings: Sequence[Grading]) -> tuple[Dismissed, ...]:
    """What more than half of the gradings dismiss, once."""
    found: list[Dismissed] = []
    for each in (dismissed for grading in gradings for dismissed in grading.dismissed):
        voices = sum(any(same_place(each.finding, other.finding) for other in g.dismissed) for g in gradings)
        if 2 * voices > len(gradings) and not any(same_place(each.finding, known.finding) for known in found):
            found.append(each)
    return tuple(found)


def _probability(
    rubric: Rubric, gradings: Sequence[Grading], grades: Sequence[Grade], kept: Sequence[Finding]
) -> float | None:
    """The mean of what the judges say; as the combined grades imply it where one of them does not."""
    given = [grading.pass_probability for grading in gradings]
    known = [chance for chance in given if chance is not None]
    return round(mean(known), 4) if len(known) == len(given) else stated_probability(rubric, grades, kept)


def flip_rate(gradings: Sequence[Grading]) -> float | None:
    """The share of votes whose outcome is another than the most frequent one; None for fewer than two votes."""
    if len(gradings) < 2:
        return None
    outcomes: Counter[Outcome | None] = Counter(grading.outcome for grading in gradings)
    return 1 - outcomes.most_common(1)[0][1] / len(gradings)


def _combined(criterion: Criterion, given: Sequence[Grade], names: Sequence[str], *, rule: Rule) -> Grade:
    graded = [grade for grade in given if grade.grade is not None]
    told = _told(given, names)
    if 2 * len(graded) < len(given) or not graded:
        return open_grade(criterion.name, f"{told}: too few to decide")
    numbers = [grade.grade for grade in graded if grade.grade is not None]
    value = _majority(numbers) if rule == "majority" else float(median(_value(grade) for grade in graded))
    level = criterion.nearest_level(value if rule == "majority" else float(median(numbers)))
    spread = max(numbers) - min(numbers)
    sure = mean(grade.confidence or 0.0 for grade in graded) * (1 - spread / TOP) * len(graded) / len(given)
    nearest = min(graded, key=lambda grade: abs(_value(grade) - level))
    flips = sum(number != level for number in numbers) / len(numbers)
    apart = f" (apart by {spread}, flip rate {flips:.0%})" if spread else ""
    reason = f"{rule} of {told}{apart}: {nearest.reason}" if len(given) > 1 else nearest.reason
    return Grade(criterion.name, level, round(value, 4), None, round(sure, 4), reason)


def _told(given: Sequence[Grade], names: Sequence[str]) -> str:
    """`offline 3, llm:x 1`, or `5 votes of llm:x 3 3 4 3 –`."""
    numbers = ["–" if grade.grade is None else str(grade.grade) for grade in given]
    if len(set(names)) == 1 and len(names) > 1:
        return f"{len(names)} votes of {names[0]}: {' '.join(numbers)}"
    return ", ".join(f"{name} {number}" for name, number in zip(names, numbers, strict=True))


def _majority(numbers: Sequence[int]) -> float:
    """The most frequent grade; of several as frequent, the middle one, or the lower of two in the middle."""
    counts = Counter(numbers)
    most = max(counts.values())
    leaders = sorted(number for number, count in counts.items() if count == most)
    return float(leaders[(len(leaders) - 1) // 2])


def _value(grade: Grade) -> float:
    return float(grade.grade or 0) if grade.value is None else grade.value


def _grade_of(grading: Grading, name: str) -> Grade:
    found = next((grade for grade in grading.grades if grade.criterion == name), None)
    return found or open_grade(name, "not graded")


def _violations(gradings: Sequence[Grading]) -> tuple[list[Finding], list[Finding]]:
    """Those that half of the gradings have; the others and all suspicions. An overlap of one kind is one finding."""
    findings: list[Finding] = []
    for grading in gradings:
        findings += [each for each in grading.violations if not any(same_place(each, known) for known in findings)]
    kept = [
        each
        for each in findings
        if 2 * sum(any(same_place(each, other) for other in grading.violations) for grading in gradings)
        >= len(gradings)
    ]
    doubted = [each for each in findings if each not in kept]
    for each in (suspicion for grading in gradings for suspicion in grading.suspicions):
        if not any(same_place(each, known) for known in (*kept, *doubted)):
            doubted.append(each)
    place = attrgetter("start", "end", "kind")
    return sorted(kept, key=place), sorted(doubted, key=place)


def _safety(criterion: Criterion, given: Sequence[Grade], kept: Sequence[Finding], doubted: Sequence[Finding]) -> Grade:
    if kept:
        return grade_safety(criterion, kept)
    graded = [grade for grade in given if grade.grade is not None]
    if 2 * len(graded) < len(given) or not graded:
        return open_grade(criterion.name, "too few judges looked for violations")
    safe = grade_safety(criterion, ())
    sure = mean(grade.confidence or 0.0 for grade in graded if grade.grade) if any(g.grade for g in graded) else 0.0
    sure *= sum(bool(grade.grade) for grade in graded) / len(given)
    told = f"; {len(doubted)} charged by fewer than half of the judges" if doubted else ""
    return replace(safe, confidence=round(sure, 4), reason=f"{safe.reason}{told}")
