"""The rows of a gold set -> everything that is wrong with it, gravest first."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import Anchor
from touchstone.evidence.values import check_values
from touchstone.goldset.duplicates import THRESHOLD, conversation, find_duplicates, find_leakage, inputs_of
from touchstone.goldset.labels import check_labels
from touchstone.goldset.problems import CODES, PlacedCase, Problem, Severity, Unread, problem
from touchstone.rubric.model import Rubric
from touchstone.text.dates import parse_reference
from touchstone.text.reading import REFERENCE_DATE_FIELDS, read_text

# Figures of these kinds only. A bare number may be a floor, a flight or a step: it contradicts nothing by itself. And
# whether two sentences say the opposite is told too unsurely for a check of data: on the 362 shipped cases statements
# gave 43 alarms, none of them right, figures 8.
KINDS = frozenset({"money", "percent", "quantity", "duration", "date", "time"})
_AROUND = 60
# "Curate 100-150 diverse examples" (spec: supportai-rubric, Gold-Set Evaluation Process).
SMALLEST = 100
LARGEST = 150
THIN = 5


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
    items: Sequence[PlacedCase],
    unread: Sequence[Unread] = (),
    *,
    rules: Rules,
    against: Sequence[PlacedCase] = (),
    other: str = "",
) -> Findings:
    """The problems in the order of their codes, then of lines; `against` are the cases of the file `other`."""
    inputs = inputs_of(items)
    every = [
        *(problem("unreadable", [row], row.failure.message) for row in unread),
        *_repeated_ids(items),
        *_missing(items),
        *_copied(items),
        *find_duplicates(inputs, threshold=rules.near, rubric=rules.rubric),
        *find_leakage(inputs, inputs_of(against), other=other, threshold=rules.near),
        *check_labels(items, rubric=rules.rubric),
        *_thin_categories(items, least=rules.thin),
        *_size(items),
        *(() if "contradiction" in rules.skip else _contradictions(items, plan=rules.plan)),
    ]
    found = [each for each in every if each.code not in rules.skip]
    order = {code: at for at, code in enumerate(CODES)}
    found.sort(key=lambda each: (order[each.code], each.lines))
    skipped = tuple(code for code in CODES if code in rules.skip)
    return Findings(len(items) + len(unread), len(items), tuple(found), skipped)


def _repeated_ids(items: Sequence[PlacedCase]) -> Iterator[Problem]:
    by_id: dict[str, list[PlacedCase]] = defaultdict(list)
    for item in items:
        by_id[item.id].append(item)
    for id, same in by_id.items():
        if len(same) > 1:
            yield problem("repeated-id", same, f"{len(same)} cases have the id '{id}'")


def _missing(items: Sequence[PlacedCase]) -> Iterator[Problem]:
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


def _copied(items: Sequence[PlacedCase]) -> Iterator[Problem]:
    both = [item for item in items if item.case.expected_output and item.case.response.strip()]
    if len(both) > 1 and all((item.case.expected_output or "").strip() == item.case.response.strip() for item in both):
        yield problem("copied-replies", both, f"expected_output is the response in each of {len(both)} cases")


def _thin_categories(items: Sequence[PlacedCase], *, least: int) -> Iterator[Problem]:
    by_name: dict[str, list[PlacedCase]] = defaultdict(list)
    for item in items:
        if item.case.category and item.case.category.strip():
            by_name[item.case.category].append(item)
    for name, members in by_name.items():
        if len(members) < least:
            number = f"{len(members)} case{'' if len(members) == 1 else 's'}"
            yield problem("thin-category", members, f"category '{name}' has {number}, fewer than {least}")


def _size(items: Sequence[PlacedCase]) -> Iterator[Problem]:
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


def _contradictions(items: Iterable[PlacedCase], *, plan: Plan) -> Iterator[Problem]:
    """One problem for each figure of an expected reply that a passage of its context contradicts, both quoted."""
    for item in items:
        passages = {f"context[{at}]": passage.text for at, passage in enumerate(item.case.context or ())}
        for anchor in contradictions(item.case, plan=plan):
            found = anchor.evidence[0]
            said = f"expected_output says {anchor.text}, {found.source} says {found.text}"
            expected = _quoted(item.case.expected_output or "", anchor.start, anchor.end)
            passage = _quoted(passages[found.source], found.start, found.end)
            yield problem("contradiction", [item], f"{said}: {expected} against {passage}")


def contradictions(case: Case, *, plan: Plan) -> tuple[Anchor, ...]:
    """The expected reply's figures that the context contradicts; what only the customer says is no contradiction."""
    expected = case.expected_output or ""
    if not case.context or not expected.strip() or len(expected) > plan.max_reply_chars:
        return ()
    given = (parse_reference(case.metadata.get(name)) for name in REFERENCE_DATE_FIELDS)
    today = next((day for day in given if day), None)
    named = [(f"context[{at}]", passage.text) for at, passage in enumerate(case.context)]
    named += [(f"input[{at}]", turn.content) for at, turn in case.earlier_turns]
    named += [("input", case.question)] if case.question.strip() else []
    sources = [read_text(name, raw, today=today) for name, raw in named]
    anchors = check_values(read_text("expected_output", expected, today=today), sources)
    contradicted = (each for each in anchors if each.kind in KINDS and each.status == "contradicted")
    return tuple(anchor for anchor in contradicted if anchor.evidence[0].source.startswith("context"))


def _quoted(text: str, start: int, end: int) -> str:
    """The span within its surroundings, cut at words."""
    before = text[max(0, start - _AROUND) : start]
    after = text[end : end + _AROUND]
    if start > _AROUND:
        before = "…" + before.partition(" ")[2]
    if end + _AROUND < len(text):
        after = after.rpartition(" ")[0] + "…"
    return f"“{' '.join((before + text[start:end] + after).split())}”"
