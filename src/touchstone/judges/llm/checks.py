"""What was checked offline -> what a model is shown of it: the reply's figures, and questions it has to decide.

Everything that would keep the reply from being sent becomes a question: the detectors' findings, figures that no source
bears out, claims that a source contradicts. The judge's word on each decides, so no rule overrules it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.core.result import Anchor, Finding, Result
from touchstone.safety.signs import shortened

# Beyond these a table costs more than it says; what is not asked about stays suspected.
MOST_VALUES = 20
MOST_QUESTIONS = 8
LONGEST_SHOWN = 80
_SOURCE = re.compile(r"\b(context|input)\[(\d+)\]")
_NAMES = {"context": "source", "input": "earlier turn"}
_TITLES = {
    "supported": "stated",
    "derived": "follows",
    "contradicted": "stated otherwise",
    "unsupported": "stated nowhere",
}


@dataclass(frozen=True, slots=True)
class Question:
    """A finding that the model confirms or rejects; `is_suspected` is one that stays a suspicion if it does neither."""

    finding: Finding
    is_suspected: bool = True


@dataclass(frozen=True, slots=True)
class Checked:
    """What the offline checks found in a reply."""

    values: tuple[Anchor, ...] = ()
    questions: tuple[Question, ...] = ()


NOTHING_CHECKED = Checked()


def checked_of(result: Result) -> Checked:
    """The figures and questions of a result that the offline judge gave."""
    anchors = [anchor for score in (result.metrics or {}).values() for anchor in score.anchors or ()]
    grading = result.rubric
    findings = (*grading.violations, *grading.suspicions) if grading else ()
    questions = [Question(finding) for finding in findings]
    for anchor in anchors:
        is_open = anchor.status == "contradicted" if anchor.kind == "claim" else not anchor.holds
        if is_open and not any(_covers(question.finding, anchor) for question in questions):
            questions.append(Question(_finding(anchor), is_suspected=False))
    values = tuple(anchor for anchor in anchors if anchor.kind != "claim")
    return Checked(values, tuple(questions))


def describe_values(anchors: Sequence[Anchor]) -> str:
    """The figures by what became of them, a line each: `supported: 17-inch (source 9), 8GB (source 9)`."""
    rows: dict[str, dict[str, None]] = {}
    for anchor in anchors[:MOST_VALUES]:
        rows.setdefault(anchor.status, {})[f"{shortened(anchor.text, LONGEST_SHOWN)}{_place(anchor)}"] = None
    lines = [f"{_TITLES[status]}: {', '.join(shown)}" for status, shown in rows.items()]
    if len(anchors) > MOST_VALUES:
        lines.append(f"{len(anchors) - MOST_VALUES} more are not listed")
    return "\n".join(lines)


def describe_questions(questions: Sequence[Question]) -> str:
    """The questions by number: `1. hallucination: "30 days": reply says 30 days, source says 14 days (source 2)`."""
    lines = []
    for number, question in enumerate(questions[:MOST_QUESTIONS], start=1):
        finding = question.finding
        said = ", ".join(dict.fromkeys(_name(each.source) for each in finding.evidence[:2]))
        quoted = "" if finding.text in finding.reason else f'"{shortened(finding.text, LONGEST_SHOWN)}": '
        told = shortened(_named(finding.reason), 2 * LONGEST_SHOWN)
        lines.append(f"{number}. {finding.kind}: {quoted}{told}{f' ({said})' if said else ''}")
    return "\n".join(lines)


def _finding(anchor: Anchor) -> Finding:
    rule = "claim.contradicted" if anchor.kind == "claim" else f"value.{anchor.status}"
    return Finding("hallucination", anchor.text, anchor.start, anchor.end, anchor.reason, anchor.evidence, rule)


def _covers(finding: Finding, anchor: Anchor) -> bool:
    is_there = finding.start < anchor.end and anchor.start < finding.end
    return finding.kind == "hallucination" and (is_there or finding.text == anchor.text)


def _place(anchor: Anchor) -> str:
    """Where the figure appears, how it follows, or what appears there instead."""
    if anchor.status == "derived":
        return f" ({shortened(_named(anchor.reason), LONGEST_SHOWN)})"
    if not anchor.evidence:
        return ""
    first = anchor.evidence[0]
    there = f"{_name(first.source)}{f' {shortened(first.path, LONGEST_SHOWN)}' if first.path else ''}"
    is_same = anchor.status == "supported" and first.text == anchor.text
    return f" ({there})" if is_same else f" ({there}: {shortened(first.text, LONGEST_SHOWN)})"


def _name(source: str) -> str:
    """A source as the model's blocks are called."""
    return {"input": "customer's message", "expected_output": "expected reply"}.get(source) or _named(source)


def _named(text: str) -> str:
    return _SOURCE.sub(lambda found: f"{_NAMES[found[1]]} {int(found[2]) + 1}", text)
