"""Records -> the rows of the table of all replies, and the places in it that the rest of the report points to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from touchstone.report.explain import waived_line
from touchstone.report.figures import NONE, points, words
from touchstone.report.plain import one_line
from touchstone.runs.record import Record
from touchstone.runs.summary import NO_CATEGORY
from touchstone.runs.telling import severity

NOT_SCORED = "not scored"
_LONGEST_PROBLEM = 300


@dataclass(frozen=True, slots=True)
class TagLine:
    """One thing that is wrong with a reply, who could cure it, and what it is about."""

    name: str
    owner: str
    detail: str


@dataclass(frozen=True, slots=True)
class Row:
    """One reply. `number` is its place in the run, from 1; `outcome` is PASS, FAIL or "not scored".

    `faults` names each tag once; `problem` says why the reply could not be scored; `waived` are violations that do not
    count, with who says so and why; `why` is what keeps the reply from being sent.
    """

    number: int
    id: str
    draft: int
    category: str
    decision: str
    verdict: str
    outcome: str
    total: str
    grades: tuple[str, ...]
    violations: tuple[str, ...]
    tags: tuple[TagLine, ...]
    faults: tuple[str, ...]
    failed: bool
    problem: str = ""
    waived: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


def rows_of(records: Sequence[Record], *, criteria: Sequence[str]) -> tuple[Row, ...]:
    """The rows in run order, with a grade for each criterion."""
    return tuple(_row(number, record, criteria) for number, record in enumerate(records, 1))


def lowest_first(rows: Sequence[Row], records: Sequence[Record], *, most: int) -> tuple[Row, ...]:
    """At most so many rows, in run order; those with problems are kept before those without."""
    if len(rows) <= most:
        return tuple(rows)
    ranked = sorted(zip(rows, records, strict=True), key=lambda pair: severity(pair[1]))
    return tuple(sorted((row for row, _ in ranked[:most]), key=lambda row: row.number))


class Places:
    """Where a reply stands in the table. Ids repeat when several drafts were made, so more is compared."""

    def __init__(self, records: Sequence[Record], *, shown: Iterator[int]) -> None:
        kept = set(shown)
        self._by_id: dict[str, list[tuple[int, Record]]] = {}
        for number, record in enumerate(records, 1):
            if number in kept:
                self._by_id.setdefault(record.id, []).append((number, record))

    def tagged(self, id: str, tag: str) -> int | None:
        """The first row of that case with that tag, else its first row."""
        found = self._by_id.get(id, [])
        fitting = (number for number, record in found if any(each.name == tag for each in record.tags))
        return next(fitting, found[0][0] if found else None)

    def scored(self, id: str, total: float | None) -> tuple[int, Record] | None:
        """The first row of that case with that total, else its first row."""
        found = self._by_id.get(id, [])
        return next((each for each in found if each[1].total == total), found[0] if found else None)


def _row(number: int, record: Record, criteria: Sequence[str]) -> Row:
    return Row(
        number=number,
        id=one_line(record.id),
        draft=record.draft,
        category=_line(record.category if record.category is not None else NO_CATEGORY),
        decision=record.decision,
        verdict=record.verdict or NONE,
        outcome=record.outcome or NOT_SCORED,
        total=points(record.total),
        grades=tuple(_grade(record.grades.get(name)) for name in criteria),
        violations=tuple(_words(kind) for kind in dict.fromkeys(record.violations)),
        tags=tuple(TagLine(_words(tag.name), tag.owner, one_line(tag.detail)) for tag in record.tags),
        faults=tuple(dict.fromkeys(_words(tag.name) for tag in record.tags)),
        failed=record.failed,
        problem=one_line(record.problem or "")[:_LONGEST_PROBLEM],
        waived=tuple(f"{_words(each.violation.kind)} {waived_line(each)}" for each in record.waived),
        why=tuple(one_line(line)[:_LONGEST_PROBLEM] for line in record.why),
    )


def _grade(grade: int | None) -> str:
    return NONE if grade is None else str(grade)


# A run has few categories, kinds and tags, each in many rows.
_line = lru_cache(maxsize=4096)(one_line)
_words = lru_cache(maxsize=4096)(words)
