"""Rubric, case and prompt -> requests: the messages a model is sent and the JSON schema of its answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

from touchstone.core.case import Case
from touchstone.core.policy import Policy
from touchstone.core.result import VIOLATION_KINDS, Finding
from touchstone.judges.llm.checks import (
    MOST_QUESTIONS,
    NOTHING_CHECKED,
    Checked,
    Question,
    describe_questions,
    describe_values,
)
from touchstone.judges.llm.fence import Block, fence_for, fenced
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
NO_POLICY = Policy()


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
    build = partial(_request, case, rubric=rubric, prompt=prompt, policy=policy, checked=checked)
    graded = graded_criteria(rubric)
    counts = heeds_violations(rubric)
    if scope == "case":
        return (build(graded, asks_violations=counts),)
    alone = tuple(build((criterion,), asks_violations=False) for criterion in graded)
    return (*alone, build((), asks_violations=True)) if counts else alone


def heeds_violations(rubric: Rubric) -> bool:
    """Whether a violation changes anything under this rubric."""
    graded = rubric.criterion(SAFETY) is not None
    return graded or bool(rubric.violations) or any(gate.criterion is None for gate in rubric.gates)


def graded_criteria(rubric: Rubric) -> tuple[Criterion, ...]:
    """The criteria a model is asked to grade; safety follows from the violations."""
    return tuple(criterion for criterion in rubric.criteria if criterion.name != SAFETY)


def violation_kinds(rubric: Rubric) -> Mapping[str, str]:
    """The kinds of violation with the rubric's words for them."""
    return rubric.violations or {kind: kind.replace("_", " ") for kind in VIOLATION_KINDS}


def _request(
    case: Case,
    criteria: Sequence[Criterion],
    *,
    rubric: Rubric,
    prompt: Prompt,
    policy: Policy,
    checked: Checked,
    asks_violations: bool,
) -> Request:
    questions = checked.questions if asks_violations else ()
    blocks = (*blocks_of(case, policy=policy), *_checks(checked, questions))
    fence = fence_for(blocks)
    put = min(len(questions), MOST_QUESTIONS)
    asked = f"Decide questions 1 to {put}. " if put else ""
    kinds = tuple(violation_kinds(rubric)) if asks_violations else ()
    system = instructions(criteria, rubric=rubric, prompt=prompt, asks_violations=asks_violations)
    return Request(
        messages=(
            Message("system", system),
            Message("user", fill(prompt.user, data=fenced(blocks, fence=fence), fence=fence, asked=asked)),
        ),
        schema=_schema(criteria, kinds, questions=put),
        criteria=tuple(criterion.name for criterion in criteria),
        asks_violations=asks_violations,
        questions=questions,
    )


def instructions(criteria: Sequence[Criterion], *, rubric: Rubric, prompt: Prompt, asks_violations: bool) -> str:
    """The system message. Nothing of a case is in it, so that it is the same for all of them."""
    tasks = []
    general = "\n".join(f"- {text}" for text in rubric.conventions_of(GENERAL))
    if criteria:
        text = prompt.criteria if len(criteria) > 1 else prompt.criterion
        tasks.append(fill(text, criteria="\n".join(_described(each, rubric) for each in criteria)))
    if asks_violations:
        tasks.append(fill(prompt.violations, kinds="\n".join(_described_kinds(rubric))))
    tasks += [f"Of all of these:\n{general}"] if general else []
    tasks.append(prompt.values)
    tasks += [prompt.questions] if asks_violations else []
    names = [criterion.name for criterion in criteria]
    fitting = [example for example in prompt.worked if set(names) <= set(example.grades)]
    shown = [_shown(example, names, asks_violations=asks_violations) for example in fitting]
    examples = fill(prompt.examples, examples="\n".join(shown)) + "\n" if shown else ""
    form = _form(criteria, kinds=tuple(violation_kinds(rubric)) if asks_violations else ())
    return fill(prompt.system, task="\n\n".join(tasks), examples=examples, form=form)


def _checks(checked: Checked, questions: Sequence[Question]) -> tuple[Block, ...]:
    values = (Block(VALUES, describe_values(checked.values)),) if checked.values else ()
    return (*values, Block(QUESTIONS, describe_questions(questions))) if questions else values


def blocks_of(case: Case, *, policy: Policy = NO_POLICY) -> tuple[Block, ...]:
    """Everything of the case that the model sees, the reply last. Labels, confidence and metadata stay behind."""
    blocks = [Block(f"earlier turn {at + 1} ({turn.role})", turn.content) for at, turn in case.earlier_turns]
    blocks = [Block(_one_line(block.name), block.text) for block in blocks]
    if case.question:
        blocks.append(Block("customer's message", case.question))
    if case.context is not None:
        passages = case.context
        blocks += [Block(f"source {at + 1}", passage.text) for at, passage in enumerate(passages)]
        if not passages:
            blocks.append(Block("sources", "(retrieval found nothing)"))
    if case.expected_output:
        blocks.append(Block("expected reply", case.expected_output))
    if policy != NO_POLICY:
        blocks.append(Block("company policy", json.dumps(asdict(policy), ensure_ascii=False)))
    return (*blocks, Block("reply", case.response))


def _one_line(name: str) -> str:
    return " ".join(name.split())[:60]


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


def _form(criteria: Sequence[Criterion], *, kinds: Sequence[str]) -> str:
    """The answer's form as types, for servers that do not enforce the schema; small models copy an example's words."""
    parts = []
    if kinds:
        decided = f'{{"reason": string, "quote": string, "answer": "{CONFIRMED}" | "{REJECTED}"}}'
        parts.append(f'"{QUESTIONS}": {{NUMBER: {decided}}}')
    if criteria:
        graded = [f'"{criterion.name}": {_grade_form(criterion)}' for criterion in criteria]
        parts.append('"criteria": {' + ", ".join(graded) + "}")
    if kinds:
        named = " | ".join(f'"{kind}"' for kind in kinds)
        parts.append(f'"violations": [{{"kind": {named}, "quote": string, "reason": string}}]')
    return "{" + ", ".join(parts) + "}"


def _grade_form(criterion: Criterion) -> str:
    levels = " | ".join(map(str, sorted(criterion.levels)))
    return f'{{"reason": string, "quotes": [string], "grade": {levels} | null, "confidence": number}}'


def _schema(criteria: Sequence[Criterion], kinds: Sequence[str], *, questions: int) -> dict[str, Any]:
    """Strict in the sense of the servers that enforce it: every key required, no other allowed, in this order."""
    parts: dict[str, Any] = {}
    if questions:
        answer = {"type": "string", "enum": [CONFIRMED, REJECTED]}
        decided = _object({"reason": _text(LONGEST_REASON), "quote": _text(LONGEST_QUOTE), "answer": answer})
        parts[QUESTIONS] = _object({str(number): decided for number in range(1, questions + 1)})
    if criteria:
        parts["criteria"] = _object({criterion.name: _grade_schema(criterion) for criterion in criteria})
    if kinds:
        violation = {"kind": {"type": "string", "enum": list(kinds)}, "quote": _text(LONGEST_QUOTE)}
        items = _object({**violation, "reason": _text(LONGEST_REASON)})
        parts["violations"] = {"type": "array", "items": items, "maxItems": MOST_VIOLATIONS}
    return _object(parts)


def _grade_schema(criterion: Criterion) -> dict[str, Any]:
    return _object(
        {
            "reason": _text(LONGEST_REASON),
            "quotes": {"type": "array", "items": _text(LONGEST_QUOTE), "maxItems": MOST_QUOTES},
            "grade": {"type": ["integer", "null"], "enum": [*sorted(criterion.levels), None]},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}
