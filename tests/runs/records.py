"""Records made by hand, and those of the shipped gold set."""

import json
from functools import cache
from importlib import resources

from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.rubric.parse import packaged
from touchstone.runs.evaluate import evaluate
from touchstone.runs.record import Record, record
from touchstone.runs.tags import Tag

RUBRIC = packaged("supportai")


def make(id, outcome="PASS", **fields):
    """A record that passes or fails with plausible grades; any field can be given."""
    grade = {"PASS": 4, "FAIL": 1, None: None}[outcome]
    given = {
        "draft": 1,
        "category": "billing",
        "confidence": 0.8,
        "decision": {"PASS": "send", "FAIL": "block", None: "review"}[outcome],
        "verdict": {"PASS": "PASS", "FAIL": "WARN", None: None}[outcome],
        "outcome": outcome,
        "total": {"PASS": 100.0, "FAIL": 32.5, None: None}[outcome],
        "grades": {criterion.name: grade for criterion in RUBRIC.criteria},
        "violations": (),
        "tags": (Tag("no next step", "prompt", "nothing to do"),) if outcome == "FAIL" else (),
        "failed": False,
    }
    return Record(id=str(id), **(given | fields))


def run(*outcomes, **fields):
    """One record for each outcome, ids from 0."""
    return [make(at, outcome, **fields) for at, outcome in enumerate(outcomes)]


@cache
def gold(name="support", step=3):
    """(case, result, record) of a shipped gold set, every `step`-th."""
    text = resources.files("touchstone").joinpath(f"data/goldsets/{name}.jsonl").read_text(encoding="utf-8")
    cases = [case_from_dict(json.loads(line)) for line in text.splitlines()[::step]]
    results = [evaluate(case, plan=Plan()) for case in cases]
    return tuple((case, result, record(case, result)) for case, result in zip(cases, results, strict=True))
