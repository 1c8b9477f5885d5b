"""Recorded answers replay through the command, byte for byte as they were given."""

import json

import pytest
from benchmarks.recorded import RECORDED, replayed
from scripts.labelled import SETS

from touchstone.clients.llm.call import Answered, Sampling, call_for
from touchstone.clients.llm.model import Records
from touchstone.judges.llm.answer import Answer


@pytest.mark.slow
def test_the_recorded_answers_replay_through_the_command(touchstone, tmp_path):
    support = list(replayed("support", stale=[]))
    answers = {
        row["id"]: row["answer"]
        for row in map(json.loads, (RECORDED / "support.jsonl").read_text(encoding="utf-8").splitlines())
    }
    records = Records(tmp_path / "calls")
    given = [json.loads(line) for line in SETS["support"].read_text().splitlines()]
    for each in support:
        call = call_for(each.request, model="recorded", sampling=Sampling())
        records.keep(call, Answered(Answer(json.dumps(answers[each.case.id]))))
    shown = [{key: value for key, value in row.items() if key != "expected_output"} for row in given]
    kept = [row for row in shown if row["id"] in answers]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    ended = touchstone("score", "cases.jsonl", "--model", "recorded", "--replay", "calls", "-o", "results.jsonl")
    assert ended.code == 0, ended.err
    results = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    by_id = {each.case.id: each for each in support}
    assert [row["rubric"]["outcome"] for row in results] == [by_id[row["id"]].model.outcome for row in results]
    assert sum(len(row["rubric"].get("dismissed", [])) for row in results) == sum(each.dismissed for each in support)
