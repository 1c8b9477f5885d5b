"""Runs that grow batch by batch, runs listed page by page, and what a person has still to grade, on each database."""

from dataclasses import replace

import pytest
from tests.store.review_samples import GOOD, NOW, RUBRIC, begin, item_at, queue_named, review_of
from tests.store.samples import run_named, scored

from touchstone.core.errors import ReviewError, StoreError

LATER = "2026-01-06T10:00:00+00:00"


def grow(store, *entries, finished=NOW):
    return store.append("p1", entries, data="d", finished=finished, seconds=1.0)


@pytest.fixture
def growing(store):
    store.create_run(replace(run_named("p1"), kind="production"), rubric="")
    return store


def test_replies_are_added_behind_those_there_are_each_case_once(growing):
    assert growing.get_run("p1").finished is None
    first = grow(growing, scored(0, id="a"), scored(0, id="b"))
    second = grow(growing, scored(0, id="b", text="other"), scored(0, id="c"), finished=LATER)
    assert ((first.added, first.total), (second.added, second.total)) == ((2, 2), (1, 3))
    kept = list(growing.replies.scored("p1"))
    assert [(each.position, each.record.id) for each in kept] == [(0, "a"), (1, "b"), (2, "c")]
    assert kept[1].case.response == scored(0).case.response
    run = growing.get_run("p1")
    assert (run.finished, run.seconds) == (LATER, 2.0)
    assert growing.find_run("latest", kind="production") == run
    assert growing.get_run("p") is None


def test_the_receipt_changes_with_what_is_added(growing):
    receipts = [growing.get_run("p1").receipt]
    for id in "ab":
        grow(growing, scored(0, id=id))
        receipts.append(growing.get_run("p1").receipt)
    assert len({receipt.data for receipt in receipts}) == 3


def test_cases_that_a_run_has_are_known_by_their_text(growing):
    grow(growing, scored(0, id="a"), scored(0, id="b"))
    held = growing.replies.held("p1", ["a", "b", "z", *map(str, range(1200))])
    assert set(held) == {"a", "b"}
    assert len(set(held.values())) == 2


def test_a_run_that_a_queue_was_drawn_from_takes_no_more(growing):
    grow(growing, *(scored(0, id=f"c-{at}") for at in range(3)))
    with pytest.raises(ReviewError, match="added to run p1 meanwhile: draw again"):
        growing.queues.create(queue_named(run="p1", population=2), [item_at(0)], is_counted=True)
    growing.queues.create(queue_named(run="p1", population=3), [item_at(0)], is_counted=True)
    with pytest.raises(ReviewError, match="add these to another run"):
        grow(growing, scored(0, id="c-9"))
    assert growing.replies.count("p1") == 3


def test_runs_are_paged_the_newest_first(store):
    for at in range(7):
        kind = "production" if at % 2 else "goldset"
        # Two at a time began in one second.
        run = run_named(f"r{at}", started=f"2026-01-0{1 + at // 2}T10:00:00+00:00", labels={"n": str(at % 3)})
        store.create_run(replace(run, kind=kind), rubric="")

    def walk(**wanted):
        found, after = [], None
        while True:
            page = store.page_runs(after=after, limit=2, **wanted)
            found += [run.id for run in page.items]
            after = page.next
            if after is None:
                return found

    assert walk() == [f"r{at}" for at in range(6, -1, -1)] == [run.id for run in store.list_runs()]
    assert walk(kind="production") == ["r5", "r3", "r1"]
    assert walk(labels={"n": "0"}) == ["r6", "r3", "r0"]
    with pytest.raises(StoreError, match="begin at its first page"):
        store.page_runs(after="none")


def test_what_a_person_has_still_to_grade_is_what_is_open_theirs_and_not_submitted(store):
    begin(store, items=3, needed=2)
    begin(store, queue="q2", items=4, reviewers=("ben",))
    assert store.queues.to_grade("r1", reviewer="ann") == {0: "c-0", 1: "c-1", 2: "c-2"}
    assert set(store.queues.to_grade("r1", reviewer="ben")) == {0, 1, 2, 3}
    store.reviews.submit(review_of(0, grades=GOOD), rubric=RUBRIC)
    store.queues.close("q2", at=NOW)
    assert set(store.queues.to_grade("r1", reviewer="ann")) == {1, 2}
    assert set(store.queues.to_grade("r1", reviewer="ben")) == {0, 1, 2}
    store.reviews.submit(review_of(0, by="ben", grades=GOOD), rubric=RUBRIC)
    assert set(store.queues.to_grade("r1", reviewer="cy")) == {1, 2}
    assert store.queues.to_grade("r2", reviewer="ann") == {}
    assert store.queues.find("q2").closed
    assert store.queues.find("q") is None
