"""Rubric, case and prompt -> requests: the messages a model is sent and the JSON schema of its answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from touchstone.core.case import Case
from touchstone.core.policy import Policy
from touchstone.core.result import VIOLATION_KINDS, Finding
from touchstone.judges.llm.blocks import NO_POLICY, Block, blocks_of, fence_for, fenced
from touchstone.judges.llm.checks import (
    MOST_QUESTIONS,
    NOTHING_CHECKED,
    Checked,
    Question,
    describe_questions,
    describe_values,
)
from touchstone.judges.llm.prompt import Prompt, WorkedExample, fill
from touchstone.rubric.model import GENERAL, SAFETY, Criterion, Rubric

# `checklist` is built apart: see judges.llm.checklist.
Scope = Literal["case", "criterion", "checklist"]
# Room for what is asked for and no more: a small model that cannot find an end is stopped here.
LONGEST_REASON = 240
LONGEST_QUOTE = 120
MOST_QUOTES = 2
MOST_VIOLATIONS = 4
VALUES = "values"
QUESTIONS = "questions"
CONFIRMED = "confirmed"
REJECTED = "rejected"
# A question's number, in the form of the answer.
NUMBER = "NUMBER"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One question of a checklist: its topic, the words it is about, and the finding behind it."""

    topic: str
    passage: str | None = None
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked at once: the criteria it is to grade, and whether it is to look for violations.

    `questions` are findings that it has to confirm or reject, by their number from 1; of very many only the first are
    put to it. A checklist's request has an `item` instead, and is answered with yes or no.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    criteria: tuple[str, ...]
    asks_violations: bool
    questions: tuple[Question, ...] = ()
    item: ChecklistItem | None = None


def build_requests(
    case: Case,
    *,
    rubric: Rubric,
    prompt: Prompt,
    policy: Policy = NO_POLICY,
    scope: Scope = "case",
    checked: Checked = NOTHING_CHECKED,
) -> tuple[Request, ...]:
    """All that is asked about a case: at once, or one criterion at a time and the violations apart."""
    # Safety follows from the violations.
    graded = tuple(criterion for criterion in rubric.criteria if criterion.name != SAFETY)
    counts = heeds_violations(rubric)
    asked: list[tuple[tuple[Criterion, ...], bool]] = [(graded, counts)]
    if scope != "case":
        asked = [((criterion,), False) for criterion in graded] + ([((), True)] if counts else [])
    requests = []
    for criteria, asks_violations in asked:
        questions = checked.questions if asks_violations else ()
        blocks = (*blocks_of(case, policy=policy), *_checks(checked, questions))
        fence = fence_for(blocks)
        numbers = [str(number) for number in range(1, min(len(questions), MOST_QUESTIONS) + 1)]
        decide = f"Decide questions 1 to {numbers[-1]}. " if numbers else ""
        schema = _schema(criteria, _kinds(rubric, asks_violations=asks_violations), questions=numbers)
        system = _instructions(criteria, rubric=rubric, prompt=prompt, asks_violations=asks_violations)
        user = fill(prompt.user, data=fenced(blocks, fence=fence), fence=fence, asked=decide)
        messages = (Message("system", system), Message("user", user))
        names = tuple(criterion.name for criterion in criteria)
        requests.append(Request(messages, schema, names, asks_violations, questions))
    return tuple(requests)


def heeds_violations(rubric: Rubric) -> bool:
    """Whether a violation changes anything under this rubric."""
    graded = rubric.criterion(SAFETY) is not None
    return graded or bool(rubric.violations) or any(gate.criterion is None for gate in rubric.gates)


def violation_kinds(rubric: Rubric) -> Mapping[str, str]:
    """The kinds of violation with the rubric's words for them."""
    return rubric.violations or {kind: kind.replace("_", " ") for kind in VIOLATION_KINDS}


def _kinds(rubric: Rubric, *, asks_violations: bool) -> tuple[str, ...]:
    return tuple(violation_kinds(rubric)) if asks_violations else ()


def _instructions(criteria: Sequence[Criterion], *, rubric: Rubric, prompt: Prompt, asks_violations: bool) -> str:
    """The system message. Nothing of a case is in it, so that it is the same for all of them."""
    tasks = []
    if criteria:
        text = prompt.criteria if len(criteria) > 1 else prompt.criterion
        tasks.append(fill(text, criteria="\n".join(_described(each, rubric) for each in criteria)))
    if asks_violations:
        tasks.append(fill(prompt.violations, kinds="\n".join(_described_kinds(rubric))))
    if general := "\n".join(f"- {text}" for text in rubric.conventions_of(GENERAL)):
        tasks.append(f"Of all of these:\n{general}")
    tasks += [prompt.values, *([prompt.questions] if asks_violations else [])]
    names = [criterion.name for criterion in criteria]
    fitting = [example for example in prompt.worked if set(names) <= set(example.grades)]
    shown = [_shown(example, names, asks_violations=asks_violations) for example in fitting]
    examples = fill(prompt.examples, examples="\n".join(shown)) + "\n" if shown else ""
    # Servers that do not enforce the schema are told the form as types; small models copy an example's words.
    asked = _schema(criteria, _kinds(rubric, asks_violations=asks_violations), questions=[NUMBER] * asks_violations)
    return fill(prompt.system, task="\n\n".join(tasks), examples=examples, form=_form(asked))


def _checks(checked: Checked, questions: Sequence[Question]) -> tuple[Block, ...]:
    values = (Block(VALUES, describe_values(checked.values)),) if checked.values else ()
    return (*values, Block(QUESTIONS, describe_questions(questions))) if questions else values


def _described(criterion: Criterion, rubric: Rubric) -> str:
    levels = [f"  {grade}: {text}" for grade, text in criterion.levels.items()]
    meant = [f"  - {text}" for text in rubric.conventions_of(criterion.name)]
    return "\n".join([f"- {criterion.name}: {criterion.question or criterion.summary}", *levels, *meant])


def _described_kinds(rubric: Rubric) -> Iterator[str]:
    for kind, text in violation_kinds(rubric).items():
        yield f"- {kind}: {text}"
        yield from (f"  - {meant}" for meant in rubric.conventions_of(kind))


def _shown(example: WorkedExample, names: Sequence[str], *, asks_violations: bool) -> str:
    """A worked example with what this request asks for, in one line each for question, reply and answer."""
    told = [f"{name} {text}" for name, text in example.grades.items() if name in names]
    if asks_violations:
        told.append(f"violations: {example.violations}")
    return f"Customer: {example.customer}\nReply: {example.reply}\nGrades: {'; '.join(told)}"


def _schema(criteria: Sequence[Criterion], kinds: Sequence[str], *, questions: Sequence[str]) -> dict[str, Any]:
    """Strict in the sense of the servers that enforce it: every key required, no other allowed, in this order."""
    reason, quote = _text(LONGEST_REASON), _text(LONGEST_QUOTE)
    parts: dict[str, Any] = {}
    if questions:
        answer = {"type": "string", "enum": [CONFIRMED, REJECTED]}
        decided = _object({"reason": reason, "quote": quote, "answer": answer})
        parts[QUESTIONS] = _object(dict.fromkeys(questions, decided))
    if criteria:
        parts["criteria"] = _object(
            {
                criterion.name: _object(
                    {
                        "reason": reason,
                        "quotes": {"type": "array", "items": quote, "maxItems": MOST_QUOTES},
                        "grade": {"type": ["integer", "null"], "enum": [*sorted(criterion.levels), None]},
                        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                    }
                )
                for criterion in criteria
            }
        )
    if kinds:
        items = _object({"kind": {"type": "string", "enum": list(kinds)}, "quote": quote, "reason": reason})
        parts["violations"] = {"type": "array", "items": items, "maxItems": MOST_VIOLATIONS}
    return _object(parts)


def _form(schema: Mapping[str, Any]) -> str:
    """The schema in one line, as types: `{"kind": "a" | "b", "quote": string}`."""
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    if schema["type"] == "array":
        return f"[{_form(schema['items'])}]"
    if schema["type"] != "object":
        return str(schema["type"])
    named = {name if name == NUMBER else f'"{name}"': part for name, part in schema["properties"].items()}
    return "{" + ", ".join(f"{name}: {_form(part)}" for name, part in named.items()) + "}"


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}
