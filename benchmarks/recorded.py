"""Recorded answers of a model -> how far it agrees with people, alone and behind the offline judge; and what it takes.

The answers were written by careful reading of each request alone, blind to labels and code, in place of a strong model.
They count for the prompt, rubric and checks that made their requests: each row has its request's hash, and an answer
whose request has changed since is counted as stale, not replayed. Of the agents' replies, whose texts stay out of the
repository, only grades and violations are kept; they are measured where `TOUCHSTONE_DATA` has the cases.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from scripts.labelled import AGENTS, ROOT, SETS

import touchstone as ts
from benchmarks import record
from touchstone.core.case import Case
from touchstone.core.codec import canonical_json, case_from_dict, content_hash
from touchstone.core.result import Finding, Grade, Grading, Result
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.checks import checked_of
from touchstone.judges.llm.fits import model_chance
from touchstone.judges.llm.grading import grade_answers
from touchstone.judges.llm.prompt import packaged_prompt
from touchstone.judges.llm.request import Request, build_requests
from touchstone.rubric.outcome import conclude
from touchstone.rubric.parse import packaged
from touchstone.runs.decision import decide_for_guard
from touchstone.stats.interval import Proportion
from touchstone.trust.pairs import AgreementFigures, Pair, figures_to_dict, pair
from touchstone.trust.trust import in_short

RECORDED = ROOT / "data/judge/recorded"
JUDGE = "recorded"
RUBRIC = packaged("supportai")
PLAN = ts.Plan()
CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Replayed:
    """A case with what the offline judge and the recorded model say of it, and the request that was answered."""

    case: Case
    part: str
    offline: Result
    model: Grading
    request: Request
    dismissed: int

    @property
    def is_asked(self) -> bool:
        """Whether a cascade asks about it."""
        return self.offline.decision == "review"

    @property
    def cascaded(self) -> Grading:
        """What a cascade says of it."""
        assert self.offline.rubric is not None
        return self.model if self.is_asked else self.offline.rubric


def run() -> None:
    """Measure the recorded answers, set by set."""
    versions = {"prompt": f"judge {packaged_prompt().version}", "conventions": RUBRIC.conventions.version}
    figures: dict[str, Any] = dict(versions)
    for name in ("support", "agents"):
        stale: list[str] = []
        found = list(replayed(name, stale=stale))
        if found:
            figures[name] = {"stale": len(stale)} | _figures(found)
        else:
            why = "TOUCHSTONE_DATA has no agents/, or all are stale"
            print(f"THE RECORDED ANSWERS ON {name.upper()} WERE NOT MEASURED: {why}")
    record.write("recorded", figures)


def replayed(name: str, *, stale: list[str]) -> Iterator[Replayed]:
    """The recorded cases of a set; the ids of those whose request is another by now go into `stale`."""
    source = SETS[name] if name != "agents" else AGENTS
    rows = {row["id"]: row for row in _lines(RECORDED / f"{name}.jsonl")}
    for row in _lines(source) if source.exists() else ():
        if (answered := rows.get(row["id"])) is None:
            continue
        case = open_case(row)
        offline = ts.score(case)
        request = request_for(case, offline)
        if request_hash(request) != answered["request"]:
            stale.append(row["id"])
            continue
        model = _replay(case, request, answered)
        labelled = replace(case, labels=case_from_dict(row).labels)
        dismissed = answered.get("dismissed", len(model.dismissed))
        yield Replayed(labelled, answered["part"], offline, model, request, dismissed)


def open_case(row: Mapping[str, Any]) -> Case:
    """The case as the model saw it: without the expected reply and without labels."""
    return case_from_dict({key: value for key, value in row.items() if key not in ("expected_output", "labels")})


def request_for(case: Case, offline: Result) -> Request:
    (request,) = build_requests(case, rubric=RUBRIC, prompt=packaged_prompt(), checked=checked_of(offline))
    return request


def request_hash(request: Request) -> str:
    """A name for all that the model was sent."""
    messages = [[message.role, message.content] for message in request.messages]
    return content_hash(json.loads(canonical_json({"messages": messages, "schema": dict(request.schema)})))


def _replay(case: Case, request: Request, row: Mapping[str, Any]) -> Grading:
    if "answer" in row:
        answer = Answer(json.dumps(row["answer"], ensure_ascii=False))
        return grade_answers(case, [request], [answer], rubric=RUBRIC, model=JUDGE).grading
    return kept_grading(row)


def kept_grading(row: Mapping[str, Any]) -> Grading:
    """A grading of which only grades with confidence and kinds of violation were kept."""
    grades = [
        Grade(name, grade, None if grade is None else float(grade), None, confidence, "")
        for name, (grade, confidence) in row["grades"].items()
    ]
    violations = [Finding(kind, "", 0, 0, "", rule="model") for kind in row["violations"]]
    suspicions = [Finding(kind, "", 0, 0, "", rule="model") for kind in row["suspicions"]]
    chance = model_chance(RUBRIC, grades, violations, suspicions)
    return conclude(RUBRIC, grades, violations, judge=f"llm:{JUDGE}", suspicions=suspicions, pass_probability=chance)


def _figures(found: Sequence[Replayed]) -> dict[str, Any]:
    parts = sorted({each.part for each in found})
    asked = [each for each in found if each.is_asked]
    return {
        "model": _agreement(found, [each.model for each in found]),
        "by part": {
            part: _agreement(mine, [each.model for each in mine])
            for part in parts
            if (mine := [each for each in found if each.part == part])
        },
        "offline": _agreement(found, [each.offline.rubric for each in found if each.offline.rubric]),
        "cascade": {"asked": len(asked) / len(found)} | _agreement(found, [each.cascaded for each in found]),
        "decisions": _decisions(found),
        "questions": {
            "asked": sum(len(each.request.questions) for each in found),
            "dismissed": sum(each.dismissed for each in found),
        },
        "tokens": {
            "fixed": fmean(len(each.request.messages[0].content) for each in found) / CHARACTERS_A_TOKEN,
            "of the case": fmean(len(each.request.messages[1].content) for each in found) / CHARACTERS_A_TOKEN,
        },
    }


def _agreement(found: Sequence[Replayed], gradings: Sequence[Grading]) -> dict[str, Any]:
    pairs: list[Pair] = [pair(each.case, grading, rubric=RUBRIC) for each, grading in zip(found, gradings, strict=True)]
    return _shown(in_short(pairs, rubric=RUBRIC))


def _shown(figures: AgreementFigures) -> dict[str, Any]:
    return {
        "cases": figures.labelled,
        "left open": figures.left_open,
        "outcome": _proportion(figures.outcome),
        "passed that people fail": figures.false_pass,
        "violations": {"precision": _proportion(figures.precision), "recall": _proportion(figures.recall)},
        "kappa": {
            name: {"value": kappa.value, "interval": kappa.interval and [kappa.interval.low, kappa.interval.high]}
            for name, kappa in figures.kappas.items()
        },
        "counts": figures_to_dict(figures),
    }


def _proportion(found: Proportion | None) -> dict[str, Any] | None:
    if found is None or found.interval is None:
        return None
    return {"value": found.value, "of": found.of, "interval": [found.interval.low, found.interval.high]}


def _decisions(found: Sequence[Replayed]) -> dict[str, Any]:
    """What a guard would do with the model's word, and how often people agree."""
    passes: dict[str, Counter[bool]] = {}
    for each in found:
        decision = decide_for_guard(each.offline.verdict, each.model, each.offline.metrics, plan=PLAN)
        people = pair(each.case, each.model, rubric=RUBRIC).people_outcome
        if people is not None:
            passes.setdefault(decision, Counter())[people == "PASS"] += 1
    return {name: {"pass": counts[True], "fail": counts[False]} for name, counts in sorted(passes.items())}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)
