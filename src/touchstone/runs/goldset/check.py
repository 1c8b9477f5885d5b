"""The rows of a gold set -> everything that is wrong with it, gravest first."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from touchstone.core.plan import Plan
from touchstone.core.result import Failure
from touchstone.rubric.model import Rubric
from touchstone.runs.goldset.contradictions import find_contradictions
from touchstone.runs.goldset.duplicates import asked, conversation, find_duplicates, find_leakage
from touchstone.runs.goldset.labels import check_labels
from touchstone.runs.goldset.likeness import THRESHOLD
from touchstone.runs.goldset.problems import CODES, Item, Problem, Severity, kind_of, problem

# "Curate 100-150 diverse examples" (spec: supportai-rubric, Gold-Set Evaluation Process).
SMALLEST = 100
LARGEST = 150
THIN = 5


@dataclass(frozen=True, slots=True)
class Unread:
    """A row that is no case, and why."""

    line: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a gold set is checked by. `thin` is the fewest cases of a category; `skip` holds codes to leave out."""

    rubric: Rubric
    plan: Plan = field(default_factory=Plan)
    near: float = THRESHOLD
    thin: int = THIN
    skip: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """What a check found: how many rows there are, how many of them are cases, and the problems."""

    rows: int
    cases: int
    problems: tuple[Problem, ...]
    skipped: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        return sum(each.severity == severity for each in self.problems)


def check_goldset(
    items: Sequence[Item],
    unread: Sequence[Unread] = (),
    *,
    rules: Rules,
    against: Sequence[Item] = (),
    other: str = "",
) -> Findings:
    """The problems in the order of their codes, then of lines; `against` are the cases of the file `other`."""
    cases = asked(items)
    searches: list[Callable[[], Iterator[Problem]]] = [
        lambda: _unreadable(unread),
        lambda: _repeated_ids(items),
        lambda: _missing(items),
        lambda: _copied(items),
        lambda: find_duplicates(cases, threshold=rules.near, rubric=rules.rubric),
        lambda: find_leakage(cases, asked(against), other=other, threshold=rules.near),
        lambda: check_labels(items, rubric=rules.rubric),
        lambda: _thin_categories(items, least=rules.thin),
        lambda: _size(items),
    ]
    if "contradiction" not in rules.skip:
        searches.append(lambda: find_contradictions(items, plan=rules.plan))
    found = [each for search in searches for each in search() if each.code not in rules.skip]
    order = {code: at for at, code in enumerate(CODES)}
    found.sort(key=lambda each: (order[each.code], each.lines))
    skipped = tuple(code for code in CODES if code in rules.skip)
    return Findings(len(items) + len(unread), len(items), tuple(found), skipped)


def _unreadable(unread: Sequence[Unread]) -> Iterator[Problem]:
    kind = kind_of("unreadable")
    for row in unread:
        yield Problem(kind.code, kind.severity, (row.line,), (), row.failure.message, kind.remedy)


def _repeated_ids(items: Sequence[Item]) -> Iterator[Problem]:
    by_id: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_id[item.id].append(item)
    for id, same in by_id.items():
        if len(same) > 1:
            yield problem("repeated-id", same, f"{len(same)} cases have the id '{id}'")


def _missing(items: Sequence[Item]) -> Iterator[Problem]:
    """One problem for each field that cases lack, with all their lines."""
    lacking = {
        "no-input": ("input", [item for item in items if not conversation(item.case).strip()]),
        "no-expected": ("expected_output", [item for item in items if not (item.case.expected_output or "").strip()]),
        "no-category": ("category", [item for item in items if not (item.case.category or "").strip()]),
        "no-context": ("context", [item for item in items if item.case.context is None]),
        "no-response": ("response", [item for item in items if not item.case.response.strip()]),
    }
    for code, (field_name, without) in lacking.items():
        if without:
            yield problem(code, without, f"{_of(len(without), len(items))} no {field_name}")


def _copied(items: Sequence[Item]) -> Iterator[Problem]:
    both = [item for item in items if item.case.expected_output and item.case.response.strip()]
    if len(both) > 1 and all((item.case.expected_output or "").strip() == item.case.response.strip() for item in both):
        yield problem("copied-replies", both, f"expected_output is the response in each of {len(both)} cases")


def _thin_categories(items: Sequence[Item], *, least: int) -> Iterator[Problem]:
    by_name: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.case.category and item.case.category.strip():
            by_name[item.case.category].append(item)
    for name, members in by_name.items():
        if len(members) < least:
            number = f"{len(members)} case{'' if len(members) == 1 else 's'}"
            yield problem("thin-category", members, f"category '{name}' has {number}, fewer than {least}")


def _size(items: Sequence[Item]) -> Iterator[Problem]:
    number = len(items)
    if number < SMALLEST:
        message = f"{number} cases, recommended are {SMALLEST} to {LARGEST}"
        yield problem("too-small", [], message, remedy=f"add {SMALLEST - number} or more")
    elif number > LARGEST:
        yield problem("too-large", [], f"{number:,} cases, recommended are {SMALLEST} to {LARGEST}")


def _of(part: int, all_cases: int) -> str:
    if part == all_cases:
        return f"all {part:,} cases have" if part > 1 else "the case has"
    return f"{part:,} of {all_cases:,} cases {'has' if part == 1 else 'have'}"
