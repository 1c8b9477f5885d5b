"""What a store promises, on each database."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import create_engine, event, func, select
from tests.store.samples import RECEIPT, run_named, scored, unread

from touchstone.core.codec import result_from_dict
from touchstone.core.errors import StoreError
from touchstone.store.runs import open_store
from touchstone.store.tables import metadata


def add_run(store, id="r1", *entries, **given):
    store.create_run(run_named(id, **given), rubric="the rubric")
    store.replies.add(id, entries)


def count_rows(place):
    engine = create_engine(place if "://" in place else f"sqlite:///{place}")
    with engine.connect() as connection:
        counts = {
            name: connection.scalar(select(func.count()).select_from(table)) for name, table in metadata.tables.items()
        }
    engine.dispose()
    return counts


def test_a_run_is_found_again_after_the_store_was_closed(place):
    run = run_named("20260101-a1", labels={"prompt": "v7", "model": "m"})
    with open_store(place) as store:
        store.create_run(run, rubric="name: supportai")
    with open_store(place) as store:
        assert store.find_run("20260101-a1") == run
        assert store.rubric(run.id) == "name: supportai"


def test_an_id_is_given_once(store):
    add_run(store, "r1")
    with pytest.raises(StoreError, match="has a run r1 already"):
        add_run(store, "r1")


FOUND = [
    ("abc-1", "abc-1"),
    ("abd", "abd-3"),
    ("ab", "'ab' is the beginning of 4 runs (abc-1, abc-12, abd-3 …): give more of the id"),
    ("abc-", "'abc-' is the beginning of 2 runs (abc-1, abc-12): give more of the id"),
    ("ABD", "has no run 'ABD': touchstone runs list shows them"),
    ("", "has no run '': touchstone runs list shows them"),
    ("a%", "a%b"),
    ("a_c", "has no run 'a_c'"),
    ("ab%", "has no run 'ab%'"),
    ("latest", "abd-3"),
    ("previous", "abc-12"),
]


@pytest.mark.parametrize(("name", "expected"), FOUND)
def test_a_run_is_found_by_id_beginning_and_time(store, name, expected):
    for day, id in enumerate(["abc-1", "abc-12", "abd-3", "a%b", "abx"], 1):
        finished = f"2026-01-0{day}T11:00:00+00:00" if day <= 3 else None
        add_run(store, id, started=f"2026-01-0{day}T10:00:00+00:00", finished=finished)
    try:
        found = store.find_run(name).id
    except StoreError as error:
        found = str(error)
    assert expected in found


@pytest.mark.parametrize(
    ("finished", "name", "message"),
    [
        (0, "latest", "there is no latest run, the store .* has no finished run: run touchstone eval"),
        (1, "previous", "there is no previous run, the store .* has fewer than two finished runs"),
    ],
)
def test_latest_and_previous_are_finished_runs(store, finished, name, message):
    add_run(store, "begun")
    for number in range(finished):
        add_run(store, f"done{number}", finished="2026-01-01T11:00:00+00:00")
    with pytest.raises(StoreError, match=message):
        store.find_run(name)


def test_a_gold_set_s_run_is_none_to_draw_production_replies_from(store):
    add_run(store, "done", finished="2026-01-01T11:00:00+00:00")
    with pytest.raises(StoreError, match="no finished run of production replies: name a file of replies"):
        store.find_run("latest", kind="production")


def test_runs_are_listed_newest_first_and_by_label(store):
    add_run(store, "b", started="2026-01-02T10:00:00+00:00", labels={"prompt": "v7", "model": "m"})
    add_run(store, "a", started="2026-01-01T10:00:00+00:00", labels={"prompt": "v7"})
    add_run(store, "c", started="2026-01-02T10:00:00+00:00", labels={"prompt": "v8"})
    assert [run.id for run in store.list_runs()] == ["c", "b", "a"]
    assert [run.id for run in store.list_runs(limit=2)] == ["c", "b"]
    assert [run.id for run in store.list_runs(labels={"prompt": "v7"})] == ["b", "a"]
    assert [run.id for run in store.list_runs(labels={"prompt": "v7", "model": "m"}, limit=5)] == ["b"]
    assert store.list_runs(labels={"prompt": "v9"}) == []


def test_labels_are_set_replaced_and_taken_away(store):
    add_run(store, "r1", labels={"prompt": "v7", "model": "m"})
    assert store.label_run("r1", {"prompt": "v8", "model": None, "team": "blue"}).labels == {
        "prompt": "v8",
        "team": "blue",
    }
    assert store.find_run("r1").labels == {"prompt": "v8", "team": "blue"}


def test_a_run_that_was_begun_with_the_same_receipt_and_labels_can_go_on(store):
    add_run(store, "other data", receipt=replace(RECEIPT, data="d2"))
    add_run(store, "other label", labels={"prompt": "v8"})
    add_run(store, "older", labels={"prompt": "v7"})
    add_run(store, "newer", labels={"prompt": "v7"}, started="2026-01-02T10:00:00+00:00")
    add_run(store, "finished", labels={"prompt": "v7"})
    store.finish_run("finished", finished="2026-01-01T11:00:00+00:00", seconds=1.0)
    found = store.unfinished_runs(RECEIPT, labels={"prompt": "v7"})
    assert [run.id for run in found] == ["newer", "older"]


def test_a_finished_run_says_when_and_how_long(store):
    add_run(store, "r1", labels={"prompt": "v7"})
    run = store.finish_run("r1", finished="2026-01-01T11:00:00+00:00", seconds=12.5)
    assert run == store.find_run("r1")
    assert (run.finished, run.seconds, run.labels) == ("2026-01-01T11:00:00+00:00", 12.5, {"prompt": "v7"})


def test_results_come_back_in_order_whatever_order_they_came_in(store):
    entries = [scored(3, outcome="FAIL"), unread(1), scored(0), scored(2, id="c-0", draft=2)]
    add_run(store, "r1", *entries)
    ordered = sorted(entries, key=lambda entry: entry.position)
    assert list(store.replies.scored("r1")) == ordered
    assert [result_from_dict(json.loads(line)) for line in store.replies.lines("r1")] == [
        entry.result for entry in ordered
    ]
    assert store.replies.records("r1") == [entry.record for entry in ordered]
    assert store.replies.positions("r1") == {0, 1, 2, 3}
    assert store.replies.count("r1") == 4
    assert store.replies.count_failed("r1") == 1
    assert store.replies.count_outcomes("r1") == {"PASS": 2, "FAIL": 1, None: 1}


def test_criteria_keep_the_rubric_s_order(store):
    add_run(store, "r1", scored(0))
    assert [grade.criterion for grade in store.replies.result("r1", "c-0").result.rubric.grades] == ["tone", "accuracy"]


@pytest.mark.parametrize("size", [0, 1, 499, 500, 501, 1001])
def test_results_are_streamed_whole_at_any_size(store, size):
    add_run(store, "r1", *(scored(position * 2) for position in range(size)))
    assert [json.loads(line)["id"] for line in store.replies.lines("r1")] == [
        f"c-{position * 2}" for position in range(size)
    ]
    assert [entry.position for entry in store.replies.scored("r1")] == [position * 2 for position in range(size)]


def test_one_result_is_found_by_case_and_draft(store):
    add_run(store, "r1", scored(0), scored(1, id="c-0", draft=2), unread(2, id="no draft"))
    assert store.replies.result("r1", "c-0") == scored(0)
    assert store.replies.result("r1", "c-0", draft=2).position == 1
    assert store.replies.result("r1", "no draft") == unread(2, id="no draft")
    with pytest.raises(StoreError, match="run r1 has no draft 3 for the case 'c-0'"):
        store.replies.result("r1", "c-0", draft=3)


def test_a_row_that_repeats_an_id_is_kept_beside_the_case_that_has_it(store):
    add_run(store, "r1", unread(0, id="c-1"), scored(1), unread(2, id="c-1"))
    assert store.replies.count("r1") == 3
    assert store.replies.result("r1", "c-1") == scored(1)


def test_a_result_is_added_once_and_the_first_is_kept(store):
    add_run(store, "r1", scored(0, text="first"), unread(1))
    repeated = store.replies.add("r1", [scored(0, text="second"), unread(1), scored(2), scored(2, text="again")])
    assert repeated == {0, 1, 2}
    assert store.replies.result("r1", "c-0").case.response == "first"
    assert store.replies.result("r1", "c-2") == scored(2)
    assert store.replies.count("r1") == 3


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (scored(0, id="other"), "has another reply at position 0 of the run: start the run anew"),
        (scored(5, id="c-0"), "has one of the replies at another position: start the run anew"),
    ],
)
def test_what_contradicts_the_run_is_refused_and_nothing_of_it_is_added(store, entry, message):
    add_run(store, "r1", scored(0))
    with pytest.raises(StoreError, match=message):
        store.replies.add("r1", [scored(1), entry])
    assert store.replies.positions("r1") == {0}


def test_the_same_case_is_stored_once_over_many_runs(store, place):
    for id in ("r1", "r2"):
        add_run(store, id, scored(0), scored(1), unread(2))
    add_run(store, "r3", scored(0, text="another reply"))
    counts = count_rows(place)
    assert (counts["cases"], counts["results"], counts["bodies"]) == (3, 7, 7)


def test_a_deleted_run_takes_with_it_what_no_other_run_has(store, place):
    add_run(store, "r1", scored(0), scored(1), unread(2), labels={"prompt": "v7"})
    add_run(store, "r2", scored(0))
    store.delete_run("r1")
    assert [run.id for run in store.list_runs()] == ["r2"]
    assert store.replies.result("r2", "c-0") == scored(0)
    left = {name: count for name, count in count_rows(place).items() if count}
    assert left == {"runs": 1, "cases": 1, "results": 1, "bodies": 1, "rubric_versions": 1}
    store.delete_run("r2")
    assert {name for name, count in count_rows(place).items() if count} == {"rubric_versions"}


UNKNOWN = [
    lambda store: store.replies.add("none", [scored(0)]),
    lambda store: store.replies.positions("none"),
    lambda store: store.replies.records("none"),
    lambda store: store.replies.lines("none"),
    lambda store: store.replies.scored("none"),
    lambda store: store.replies.result("none", "c-0"),
    lambda store: store.rubric("none"),
    lambda store: store.replies.count("none"),
    lambda store: store.finish_run("none", finished="", seconds=0.0),
    lambda store: store.label_run("none", {"a": "b"}),
    lambda store: store.delete_run("none"),
    lambda store: store.find_run("none"),
]


@pytest.mark.parametrize("use", UNKNOWN)
def test_an_unknown_run_is_named_with_the_remedy(store, use):
    with pytest.raises(StoreError, match="has no run 'none': touchstone runs list shows them"):
        use(store)


def test_all_that_a_thread_reads_inside_of_reading_is_one_transaction(store):
    add_run(store, "r1", scored(0))
    begun = []
    event.listen(store._database._engine, "begin", begun.append)

    def look():
        return store.find_run("r1").id, store.replies.count("r1"), store.replies.at("r1", 0).position

    apart = look()
    assert len(begun) > 1
    begun.clear()
    with store.reading(), ThreadPoolExecutor(1) as other:
        assert look() == apart
        assert len(begun) == 1
        assert other.submit(look).result() == apart
        # Another thread has transactions of its own.
        assert len(begun) > 2


def test_what_fails_inside_of_a_transaction_takes_it_back_whole(store):
    add_run(store, "r1")

    def add_to_both():
        with store._database.writing():
            store.replies.add("r1", [scored(0)])
            assert store.replies.count("r1") == 1
            store.replies.add("r2", [scored(0)])

    with pytest.raises(StoreError, match="has no run 'r2'"):
        add_to_both()
    assert store.replies.count("r1") == 0
