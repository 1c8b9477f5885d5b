"""A reviewed queue -> what people found in its replies, in counts and in their words; and the change since a week ago.

People's findings are about the replies they read. How often something is wrong in all replies is for the corrected
rates to say: risky replies are read more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.core.result import VIOLATION_KINDS, ViolationKind
from touchstone.review.queue import Item
from touchstone.review.review import Review, Ruling, Settled, current, settle
from touchstone.rubric.model import SAFETY, Rubric
from touchstone.runs.record import Record
from touchstone.stats.corrected import Corrected
from touchstone.stats.interval import Interval, difference_of_independent

Fault = Literal["grade", "violation"]
# A grade of 2 is the rubric's "partially", "only primary", "vague": a person would mend the reply.
LOW = 2
MOST_NOTES = 3


@dataclass(frozen=True, slots=True)
class ReviewedItem:
    """One item of the queue with everything people said about it."""

    item: Item
    reviews: tuple[Review, ...]
    ruling: Ruling | None


# The reviewed items by the position of their reply in the run, each with what people say as one voice.
SettledItems = Mapping[int, tuple[ReviewedItem, Settled]]


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote about an item of the queue."""

    position: int
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class ReviewerFinding:
    """A fault that people found: a low grade on a criterion, or a kind of violation.

    `positions` are the items it is in, `by_judge` is in how many of the reviewed replies the judge found the same. A
    note is quoted with the first fault only: violations go before grades.
    """

    kind: Fault
    name: str
    positions: tuple[int, ...]
    by_judge: int
    notes: tuple[Note, ...]

    @property
    def count(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, slots=True)
class ReviewedReply:
    """A reply that people graded: `outcome` is PASS, FAIL, `differs` or `open`, as one voice.

    `grades` has on each criterion what each of them gave, or the ruling alone; `notes` has everybody's words.
    """

    item: Item
    outcome: str
    grades: Mapping[str, tuple[int | None, ...]]
    violations: tuple[ViolationKind, ...]
    notes: tuple[Note, ...]
    by: tuple[str, ...]
    ruled_by: str | None


@dataclass(frozen=True, slots=True)
class WeekChange:
    """From one week's corrected rate to the next one's, with the interval of the difference."""

    before: float
    after: float
    interval: Interval

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def is_clear(self) -> bool:
        """Whether chance does not explain it."""
        return not self.interval.low <= 0 <= self.interval.high


def settle_items(items: Sequence[ReviewedItem], *, rubric: Rubric) -> SettledItems:
    """The items somebody reviewed."""
    said = ((each, settle(current(each.reviews), each.ruling, rubric=rubric)) for each in items)
    return {each.item.result: (each, found) for each, found in said if found is not None}


def reviewed_replies(settled: SettledItems) -> tuple[ReviewedReply, ...]:
    """Every reviewed reply, those that people fail first, then in the order they were drawn."""
    ordered = sorted(settled.values(), key=lambda pair: (pair[1].passed is None, pair[1].passed, pair[0].item.position))
    return tuple(_reviewed(each, found) for each, found in ordered)


def _reviewed(each: ReviewedItem, found: Settled) -> ReviewedReply:
    reviews = current(each.reviews)
    counted = reviews if each.ruling is None else (each.ruling,)
    return ReviewedReply(
        item=each.item,
        outcome="open" if found.passed is None else {1.0: "PASS", 0.0: "FAIL"}.get(found.passed, "differs"),
        grades={name: tuple(word.grades.get(name) for word in counted) for name in found.grades},
        violations=found.violations,
        notes=tuple(_notes([each])),
        by=tuple(review.reviewer for review in reviews),
        ruled_by=None if each.ruling is None else each.ruling.by,
    )


def people_found(settled: SettledItems, judged: Mapping[int, Record], *, rubric: Rubric) -> tuple[ReviewerFinding, ...]:
    """What people found, violations first, then the most frequent; `judged` are the judge's records by position."""
    faults: list[tuple[Fault, str]] = [("violation", kind) for kind in VIOLATION_KINDS]
    faults += [("grade", criterion.name) for criterion in rubric.criteria if criterion.name != SAFETY]
    lines, quoted = [], set[Note]()
    for kind, name in faults:
        faulty = [each for each, found in settled.values() if _has(found, kind, name)]
        by_judge = sum(_has(judged[place], kind, name) for place in settled if place in judged)
        notes = [note for note in _notes(faulty) if note not in quoted][:MOST_NOTES]
        quoted.update(notes)
        lines.append(ReviewerFinding(kind, name, tuple(each.item.position for each in faulty), by_judge, tuple(notes)))
    return tuple(
        sorted((line for line in lines if line.positions), key=lambda line: (line.kind == "grade", -line.count))
    )


def change(before: Corrected, after: Corrected) -> WeekChange | None:
    """The change between two weeks' corrected rates; None while either has no review."""
    if before.rate is None or before.interval is None or after.rate is None or after.interval is None:
        return None
    interval = difference_of_independent(before.rate, before.interval, after.rate, after.interval)
    return WeekChange(before.rate, after.rate, interval)


def _has(said: Settled | Record, kind: Fault, name: str) -> bool:
    if kind == "violation":
        return name in said.violations
    grade = said.grades.get(name)
    return grade is not None and grade <= LOW


def _notes(items: Sequence[ReviewedItem]) -> list[Note]:
    """What was written about the items; a ruling's reason goes before what it rules on."""
    notes = []
    for each in items:
        if each.ruling is not None and each.ruling.reason:
            notes.append(Note(each.item.position, each.ruling.by, each.ruling.reason))
        notes += [Note(each.item.position, one.reviewer, one.note) for one in current(each.reviews) if one.note]
    return notes
