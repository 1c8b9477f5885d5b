"""What is put into the store comes out of it, whatever the texts are."""

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.samples import replies, run_named, runs, scored, texts

from touchstone.core.case import Case
from touchstone.store.runs import open_store
from touchstone.store.tables import from_json, to_json

# The store is emptied after each example, so that examples do not see each other.
one_store = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@one_store
@given(runs, texts)
def test_a_run_comes_back(store, run, rubric):
    store.create_run(run, rubric=rubric)
    try:
        assert store.list_runs() == [run]
        assert store.rubric(run.id) == rubric
        assert store.list_runs(labels=run.labels) == [run]
        assert store.unfinished_runs(run.receipt, labels=run.labels) == ([] if run.finished else [run])
    finally:
        store.delete_run(run.id)


@one_store
@given(replies)
def test_scored_replies_come_back(store, entries):
    store.create_run(run_named("r1"), rubric="")
    try:
        assert store.replies.add("r1", entries) == set()
        ordered = sorted(entries, key=lambda entry: entry.position)
        assert list(store.replies.scored("r1")) == ordered
        assert store.replies.records("r1") == [entry.record for entry in ordered]
        for entry in entries:
            assert store.replies.result("r1", entry.record.id, draft=entry.record.draft) == entry
    finally:
        store.delete_run("r1")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts, st.lists))
def test_json_comes_back_and_can_be_encoded(value):
    text = to_json(value)
    assert from_json(text) == value
    assert "\x00" not in text
    text.encode()


def test_metadata_that_json_has_no_form_for_is_kept_as_its_text(store):
    entry = scored(0)
    case = Case(id="c-0", response="r", metadata={"sent": date(2026, 1, 2)})
    store.create_run(run_named("r1"), rubric="")
    store.replies.add("r1", [type(entry)(position=0, case=case, record=entry.record, result=entry.result)])
    assert store.replies.result("r1", "c-0").case.metadata == {"sent": "2026-01-02"}


@pytest.mark.parametrize("name", ["100% sure.db", "naïve kö.db", "a?b#c.db", "x" * 100])
def test_a_file_may_have_any_name(tmp_path, name):
    place = tmp_path / "50% of %(it)s" / name
    with open_store(str(place)) as store:
        store.create_run(run_named("r1"), rubric="")
    assert [path.name for path in place.parent.iterdir()] == [name]
    with open_store(str(place), creates=False) as store:
        assert store.find_run("r1").id == "r1"
