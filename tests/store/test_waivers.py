"""Waivers on each database: every figure, filter and result follows them, and what the judge said is kept."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, text
from tests.store.review_samples import NOW, RUBRIC_TEXT
from tests.store.samples import run_named
from tests.store.waiver_samples import LEAK, PROMISE, judged, reply_with, waiver

from touchstone.app.runs import compare_runs, open_run, view_run
from touchstone.core.codec import result_from_dict
from touchstone.runs.run import Terms
from touchstone.store.pages import Filters
from touchstone.store.runs import open_store

BROKEN = (LEAK, PROMISE)


@pytest.fixture
def filled(store):
    """Two runs of three replies, the first of each with two violations."""
    for id in ("r1", "r2"):
        store.create_run(run_named(id, finished=NOW), rubric=RUBRIC_TEXT)
        store.replies.add(id, [reply_with(0, *BROKEN), reply_with(1), reply_with(2, PROMISE)])
    return store


def waive(store, *violations, **values):
    for at, violation in enumerate(violations):
        store.marks.waive(waiver(violation, id=f"w{len(store.marks.waivers('r1', 0))}{at}", **values))


def seen(store, run="r1"):
    """Everything the store says of a run that waivers bear on."""
    return {
        "records": store.replies.records(run),
        "listed": [each.record for each in store.replies.listed(run)],
        "scored": [(each.record, each.result) for each in store.replies.scored(run)],
        "results": [result_from_dict(json.loads(line)) for line in store.replies.lines(run)],
        "at": store.replies.at(run, 0),
        "one": store.replies.result(run, "c-0"),
        "counts": store.replies.count_outcomes(run),
        "tags": store.replies.tags(run),
        "pages": [
            [each.position for each in store.replies.page(run, filters).items]
            for filters in (
                Filters(outcome="FAIL"),
                Filters(outcome="PASS"),
                Filters(decision="block"),
                Filters(tag="unbacked promise"),
                Filters(tag="leaked name", search="c-"),
            )
        ],
        "history": [each.record for each in store.replies.history("c-0") if each.run.id == run],
    }


def test_a_reply_without_violations_left_passes_everywhere(filled):
    waive(filled, LEAK, PROMISE)
    found = seen(filled)
    records = (found["records"][0], found["listed"][0], found["scored"][0][0], found["at"].record, found["one"].record)
    for record in (*records, found["history"][0]):
        assert (record.outcome, record.decision, record.total, record.grades["safety"]) == ("PASS", "review", 100.0, 4)
        assert (record.violations, record.tags) == ((), ())
        assert [(each.violation, each.by, each.reason) for each in record.waived] == [
            (violation, "lea", "the policy allows it") for violation in BROKEN
        ]
    for result in (found["results"][0], found["scored"][0][1], found["at"].result, found["one"].result):
        assert (result.rubric.outcome, result.decision, result.rubric.violations) == ("PASS", "review", ())
        assert result.rubric.waived == found["records"][0].waived
    assert found["counts"] == {"PASS": 2, "FAIL": 1}
    assert found["tags"] == {"unbacked promise": 1}
    assert found["pages"] == [[2], [0, 1], [2], [2], []]


def test_one_violation_left_is_enough_to_fail_and_is_the_only_one_counted(filled):
    waive(filled, LEAK)
    found = seen(filled)
    assert found["records"][0].violations == ("unauthorized_promise",)
    assert (found["at"].result.rubric.outcome, found["at"].result.decision) == ("FAIL", "block")
    assert (found["counts"], found["tags"]) == ({"PASS": 1, "FAIL": 2}, {"unbacked promise": 2})
    assert found["pages"] == [[0, 2], [1], [0, 2], [0, 2], []]


def test_taking_a_waiver_back_leaves_the_run_as_it_was(filled):
    before = seen(filled)
    waive(filled, *BROKEN)
    assert seen(filled) != before
    waive(filled, *BROKEN, withdrawn=True, reason="")
    assert seen(filled) == before


def test_only_the_run_it_was_given_in_follows_a_waiver_and_says_that_it_changed(filled):
    before = seen(filled, "r2")
    waive(filled, *BROKEN)
    assert seen(filled, "r2") == before
    assert [filled.find_run(id).revision for id in ("r1", "r2")] == [2, 0]


def test_waivers_count_when_the_store_is_opened_again(filled, place):
    waive(filled, *BROKEN)
    found = seen(filled)
    with open_store(place) as again:
        assert seen(again) == found


def test_what_the_judge_said_is_kept_as_it_was(filled, place):
    """In `bodies`, from where it comes back when a waiver is taken back."""
    engine = create_engine(place if "://" in place else f"sqlite:///{place}")

    def bodies():
        with engine.connect() as connection:
            return connection.execute(text("SELECT * FROM bodies ORDER BY run, position")).all()

    before = bodies()
    waive(filled, *BROKEN)
    assert bodies() == before
    engine.dispose()


def test_summary_gate_and_comparison_follow(filled):
    filled.keep_terms("r1", Terms(least_scored=0.9))

    def is_safe():
        checks = view_run(open_run("r1", store=filled), store=filled).gate.checks
        return [check.met for check in checks if "safety" in check.name]

    assert is_safe() == [False]
    waive(filled, *BROKEN)
    filled.marks.waive(waiver(PROMISE, id="other", result=2))
    assert is_safe() == [True]
    compared = compare_runs(open_run("r1", store=filled), open_run("r2", store=filled))
    assert sorted(flip.id for flip in compared.flips) == ["c-0", "c-2"]


def test_waivers_of_an_earlier_version_count_once_the_store_is_upgraded(filled, place):
    """There they were kept and changed nothing."""
    before = seen(filled)
    waive(filled, *BROKEN)
    engine = create_engine(place if "://" in place else f"sqlite:///{place}")
    with engine.begin() as connection:
        # It was not kept then.
        connection.execute(text("UPDATE results SET pass_probability = NULL"))
    after = seen(filled)
    filled.close()
    old = before["records"][0]
    with engine.begin() as connection:
        columns = {"outcome": old.outcome, "decision": old.decision, "total": old.total}
        columns["violations"] = '["pii_leakage","unauthorized_promise"]'
        connection.execute(
            text(
                "UPDATE results SET outcome = :outcome, decision = :decision, total = :total, violations = :violations "
                "WHERE run = 1 AND position = 0"
            ),
            columns,
        )
        connection.execute(text("ALTER TABLE results DROP COLUMN waived"))
        connection.execute(text("ALTER TABLE results DROP COLUMN pass_probability"))
        connection.execute(text("ALTER TABLE runs DROP COLUMN revision"))
        connection.execute(text("ALTER TABLE runs DROP COLUMN terms"))
        connection.execute(text("DROP TABLE measurements"))
        connection.execute(text("DROP TABLE invites"))
        connection.execute(text("UPDATE touchstone_version SET version_num = '0003'"))
    engine.dispose()
    with open_store(place) as upgraded:
        assert seen(upgraded) == after


def test_a_result_that_nobody_waived_anything_in_is_the_judge_s(filled):
    assert filled.replies.at("r1", 0).result == judged(*BROKEN)


def test_two_waivers_given_at_once_both_count(filled):
    """Each is counted with the other, whichever comes first."""
    for at in range(5):
        is_withdrawn = at % 2 == 1
        given = [waiver(each, id=f"{at}{each.kind}", withdrawn=is_withdrawn) for each in BROKEN]
        with ThreadPoolExecutor(2) as together:
            list(together.map(filled.marks.waive, given))
        assert filled.replies.records("r1")[0].outcome == ("FAIL" if is_withdrawn else "PASS")
