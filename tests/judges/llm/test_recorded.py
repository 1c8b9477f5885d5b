"""Recorded answers replay: the requests are those that were answered, and what people say of the replies is met.

These are regression tests: the conventions were written with other cases, but the figures have been seen.
"""

import json
import os
from collections import Counter

import pytest
from benchmarks import record
from benchmarks.recorded import RECORDED, replayed
from scripts.labelled import AGENTS
from scripts.measured_judges import PATH, recorded_rows

from touchstone.judges.llm.prompt import packaged_prompt
from touchstone.rubric.parse import packaged
from touchstone.trust.pairs import pair
from touchstone.trust.trust import in_short

pytestmark = pytest.mark.slow
RUBRIC = packaged("supportai")


@pytest.fixture(scope="module")
def support():
    stale = []
    found = list(replayed("support", stale=stale))
    assert stale == [], "prompt, conventions or checks have changed: answer these requests again"
    return found


def rows(name):
    return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_recorded_answers_agree_with_people_as_measured(support):
    figures = in_short([pair(each.case, each.model, rubric=RUBRIC) for each in support], rubric=RUBRIC)
    assert figures.labelled == 100
    assert figures.outcome.value >= 0.95
    assert figures.precision.value >= 0.85
    assert figures.recall.value >= 0.80
    assert min(kappa.value for kappa in figures.kappas.values()) >= 0.85


def test_a_cascade_costs_at_most_two_outcomes_in_a_hundred(support):
    alone, cascade = (
        in_short([pair(each.case, getattr(each, name), rubric=RUBRIC) for each in support], rubric=RUBRIC).outcome.value
        for name in ("model", "cascaded")
    )
    assert alone - cascade <= 0.02
    assert sum(each.is_asked for each in support) < 70


def test_every_recorded_question_was_asked_and_most_false_alarms_are_dismissed(support):
    asked = [question.finding.rule for each in support for question in each.request.questions]
    assert Counter(asked)["value.unsupported"] > 0
    assert sum(each.dismissed for each in support) > len(asked) / 2


def test_of_the_agents_replies_no_text_is_kept():
    known = {"id", "part", "prompt", "conventions", "request", "grades", "violations", "suspicions", "questions"}
    for row in rows("agents"):
        assert set(row) == known | {"dismissed"}
        assert set(row["grades"]) == {criterion.name for criterion in RUBRIC.criteria}
    assert len(rows("agents")) == 148
    assert all(set(row) == {"id", "set", "checklist", "features"} for row in rows("checklists"))


def test_the_agents_requests_are_those_that_were_answered():
    if not AGENTS.exists():
        if os.environ.get("TOUCHSTONE_TESTS_NEED_ALL"):
            pytest.fail("TOUCHSTONE_DATA names no folder with agents/")
        pytest.skip("THE AGENTS' REQUESTS WERE NOT COMPARED: TOUCHSTONE_DATA names no folder with agents/")
    stale = []
    assert len(list(replayed("agents", stale=stale))) == 148
    assert stale == []


def test_recorded_rows_name_the_prompt_and_conventions_in_force():
    versions = {(row["prompt"], row["conventions"]) for name in ("support", "agents") for row in rows(name)}
    assert versions == {(packaged_prompt().version, RUBRIC.conventions.version)}


def test_what_ships_of_recorded_answers_is_what_the_benchmark_measured():
    shipped = json.loads(PATH.read_text(encoding="utf-8"))["judges"]
    assert {name: shipped[name] for name in shipped if name != "offline"} == recorded_rows(record.read("recorded"))
