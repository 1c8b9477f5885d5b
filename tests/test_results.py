"""What the shipped gold set scores, kept as text: whoever changes a result without meaning to sees which and how."""

import json
from hashlib import sha256

import pytest

import touchstone as ts
from touchstone.core.codec import case_from_dict, result_to_dict
from touchstone.core.resource import text

# Without the expected reply, and without any source, a case is graded by other models.
VIEWS = {"": (), " without expected": ("expected_output",), " without sources": ("expected_output", "context")}


def rounded(value):
    """Figures as far as any machine agrees on them."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def told(name, result):
    """A result in a few lines: the decision, every figure, every finding; and a mark of all the rest."""
    row = rounded(result_to_dict(result))
    rubric, whole = row["rubric"], json.dumps(row, sort_keys=True)
    grades = " ".join(f"{name} {each['grade']} ({each['value']})" for name, each in rubric["criteria"].items())
    yield f"{name}: {row['decision']}, {row['verdict']}, {rubric['outcome']}, pass {rubric['pass_probability']}"
    scores = " ".join(f"{name} {score['score']}" for name, score in row["metrics"].items())
    yield f"  {scores} | {grades}"
    for anchor in row["metrics"]["hallucination"].get("anchors", ()):
        yield f"  {anchor['status']} {anchor['kind']} {anchor['start']}-{anchor['end']} {anchor['value']}"
    for status in ("violations", "suspicions"):
        yield from (
            f"  {status} {each['rule']} {each['start']}-{each['end']} {each['confidence']}" for each in rubric[status]
        )
    yield f"  all {sha256(whole.encode()).hexdigest()[:8]}"


@pytest.mark.parametrize("goldset", ["support", pytest.param("industries", marks=pytest.mark.slow)])
def test_the_shipped_cases_score_what_they_did(goldset, snapshots):
    rows = [json.loads(line) for line in text(f"goldsets/{goldset}.jsonl").splitlines()]
    lines = []
    for at, row in enumerate(rows):
        for view, hidden in VIEWS.items():
            if view and at % 3:
                continue
            case = case_from_dict({key: value for key, value in row.items() if key not in hidden})
            lines += told(f"{row['id']}{view}", ts.score(case))
    snapshots.check(f"results-{goldset}.txt", "\n".join(lines))
