"""Rubric, case and prompt -> requests: the messages a model is sent and the JSON schema of its answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from touchstone.core.case import Case
from touchstone.core.policy import Policy
from touchstone.core.result import VIOLATION_KINDS
from touchstone.judges.llm.fence import Block, fence_for, fenced
from touchstone.judges.llm.prompt import Prompt, fill
from touchstone.rubric.model import SAFETY, Criterion, Rubric

Scope = Literal["case", "criterion"]
SCOPES: tuple[Scope, ...] = ("case", "criterion")
# Room for what is asked for and no more: a small model that cannot find an end is stopped here.
LONGEST_REASON = 240
LONGEST_QUOTE = 120
MOST_QUOTES = 2
MOST_VIOLATIONS = 4
NO_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked at once: the criteria it is to grade, and whether it is to look for violations."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    criteria: tuple[str, ...]
    asks_violations: bool


def build_requests(
    case: Case, *, rubric: Rubric, prompt: Prompt, policy: Policy = NO_POLICY, scope: Scope = "case"
) -> tuple[Request, ...]:
    """All that is asked about a case: at once, or one criterion at a time and the violations apart."""
    graded = graded_criteria(rubric)
    counts = heeds_violations(rubric)
    if scope == "case":
        return (_request(case, graded, rubric=rubric, prompt=prompt, policy=policy, asks_violations=counts),)
    alone = [
        _request(case, (criterion,), rubric=rubric, prompt=prompt, policy=policy, asks_violations=False)
        for criterion in graded
    ]
    if not counts:
        return tuple(alone)
    return (*alone, _request(case, (), rubric=rubric, prompt=prompt, policy=policy, asks_violations=True))


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
    asks_violations: bool,
) -> Request:
    blocks = blocks_of(case, policy=policy)
    fence = fence_for(blocks)
    tasks = []
    if criteria:
        text = prompt.criteria if len(criteria) > 1 else prompt.criterion
        tasks.append(fill(text, criteria="\n".join(map(_described, criteria))))
    if asks_violations:
        described = "\n".join(f"- {kind}: {text}" for kind, text in violation_kinds(rubric).items())
        tasks.append(fill(prompt.violations, kinds=described))
    kinds = tuple(violation_kinds(rubric)) if asks_violations else ()
    form = _form(criteria, kinds=kinds)
    return Request(
        messages=(
            Message("system", fill(prompt.system, task="\n\n".join(tasks), form=form)),
            Message("user", fill(prompt.user, data=fenced(blocks, fence=fence), fence=fence)),
        ),
        schema=_schema(criteria, kinds),
        criteria=tuple(criterion.name for criterion in criteria),
        asks_violations=asks_violations,
    )


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


def _described(criterion: Criterion) -> str:
    levels = "\n".join(f"  {grade}: {text}" for grade, text in criterion.levels.items())
    return f"- {criterion.name}: {criterion.question or criterion.summary}\n{levels}"


def _form(criteria: Sequence[Criterion], *, kinds: Sequence[str]) -> str:
    """The answer's form as types, for servers that do not enforce the schema; small models copy an example's words."""
    parts = []
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


def _schema(criteria: Sequence[Criterion], kinds: Sequence[str]) -> dict[str, Any]:
    """Strict in the sense of the servers that enforce it: every key required, no other allowed, in this order."""
    parts: dict[str, Any] = {}
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
