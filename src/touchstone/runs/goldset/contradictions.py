"""A case's expected reply and its own context -> the figures on which they contradict each other.

Amounts, shares, periods, dates and times only. Whether two sentences say the opposite is told too unsurely for a
check of data: on the 362 shipped cases statements gave 43 alarms, none of them right, figures 8.
"""

from collections.abc import Iterable, Iterator
from datetime import date

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import Anchor
from touchstone.evidence.values import check_values
from touchstone.runs.goldset.problems import Item, Problem, problem
from touchstone.text.dates import parse_reference
from touchstone.text.reading import REFERENCE_DATE_FIELDS, read_text

# A bare number may be a floor, a flight or a step: it contradicts nothing by itself.
KINDS = frozenset({"money", "percent", "quantity", "duration", "date", "time"})
_AROUND = 60


def find_contradictions(items: Iterable[Item], *, plan: Plan) -> Iterator[Problem]:
    """One problem for each figure of an expected reply that a passage of its context contradicts, both quoted."""
    for item in items:
        for anchor in contradictions(item.case, plan=plan):
            yield problem("contradiction", [item], _message(item.case, anchor))


def contradictions(case: Case, *, plan: Plan) -> tuple[Anchor, ...]:
    """The expected reply's figures that the context contradicts; what only the customer says is no contradiction."""
    expected = case.expected_output or ""
    if not case.context or not expected.strip() or len(expected) > plan.max_reply_chars:
        return ()
    today = _today(case)
    named = [(f"context[{at}]", passage.text) for at, passage in enumerate(case.context)]
    named += [(f"input[{at}]", turn.content) for at, turn in case.earlier_turns]
    named += [("input", case.question)] if case.question.strip() else []
    sources = [read_text(name, raw, today=today) for name, raw in named]
    anchors = check_values(read_text("expected_output", expected, today=today), sources)
    return tuple(anchor for anchor in anchors if anchor.kind in KINDS and _is_against_context(anchor))


def _today(case: Case) -> date | None:
    given = (parse_reference(case.metadata.get(name)) for name in REFERENCE_DATE_FIELDS)
    return next((day for day in given if day), None)


def _is_against_context(anchor: Anchor) -> bool:
    return anchor.status == "contradicted" and anchor.evidence[0].source.startswith("context")


def _message(case: Case, anchor: Anchor) -> str:
    found = anchor.evidence[0]
    at = int(found.source.removeprefix("context[").removesuffix("]"))
    passage = case.context[at].text if case.context else ""
    expected = _quoted(case.expected_output or "", anchor.start, anchor.end)
    said = f"expected_output says {anchor.text}, {found.source} says {found.text}"
    return f"{said}: {expected} against {_quoted(passage, found.start, found.end)}"


def _quoted(text: str, start: int, end: int) -> str:
    """The span within its surroundings, cut at words."""
    before = text[max(0, start - _AROUND) : start]
    after = text[end : end + _AROUND]
    if start > _AROUND:
        before = "…" + before.partition(" ")[2]
    if end + _AROUND < len(text):
        after = after.rpartition(" ")[0] + "…"
    return f"“{' '.join((before + text[start:end] + after).split())}”"
