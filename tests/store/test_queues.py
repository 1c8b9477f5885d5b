"""Queues on each database: made, handed out, put off, closed."""

import threading

import pytest
from tests.store.review_samples import NOW, begin, item_at, queue_named, review_of
from tests.store.review_samples import RUBRIC as rubric

from touchstone.core.errors import ReviewError, StoreError
from touchstone.review.queue import Progress
from touchstone.store.queues import Mine
from touchstone.store.runs import open_store

LATER = "2026-01-05T11:00:00+00:00"


def next_position(store, reviewer, *, now=NOW, queue="q1"):
    item = store.queues.next_item(queue, reviewer=reviewer, now=now)
    return None if item is None else item.position


def test_a_queue_is_found_again_with_its_items(store):
    queue = begin(store, reviewers=("ann", "ben"))
    assert store.queues.get("q1") == queue
    assert store.queues.items("q1") == (item_at(0), item_at(1), item_at(2))
    assert store.queues.items("q1", after=0, limit=1) == (item_at(1),)
    assert store.queues.item("q1", 2) == item_at(2)
    assert store.queues.progress("q1") == Progress(waiting=3)


def test_queues_are_listed_newest_first_for_whom_they_are(store):
    begin(store, queue="q1", reviewers=("ann",))
    begin(store, queue="q2")
    begin(store, queue="q3")
    store.queues.close("q3", at=NOW)
    assert [queue.id for queue in store.queues.list()] == ["q3", "q2", "q1"]
    assert [queue.id for queue in store.queues.list(open_only=True)] == ["q2", "q1"]
    assert [queue.id for queue in store.queues.list(open_only=True, reviewer="ben")] == ["q2"]


def test_two_people_are_given_different_replies_of_a_singly_graded_queue(store):
    begin(store, items=3)
    assert [next_position(store, "ann"), next_position(store, "ben")] == [0, 1]
    assert next_position(store, "ann") == 0, "what one has open comes first"


def test_two_people_are_given_the_same_replies_of_a_doubly_graded_queue_and_a_third_is_not(store):
    begin(store, items=2, needed=2)
    assert [next_position(store, who) for who in ("ann", "ben", "cid")] == [0, 0, 1]


def test_a_reply_that_somebody_left_open_comes_back_after_a_while(store):
    begin(store, items=1)
    assert next_position(store, "ann") == 0
    assert next_position(store, "ben") is None
    assert next_position(store, "ben", now=LATER) == 0


def test_a_reply_that_is_given_back_is_free_at_once(store):
    begin(store, items=1)
    next_position(store, "ann")
    store.queues.release("q1", 0, reviewer="ann")
    assert next_position(store, "ben") == 0


def test_what_is_put_off_comes_last_and_others_may_have_it(store):
    begin(store, items=2)
    assert next_position(store, "ann") == 0
    store.queues.skip("q1", 0, reviewer="ann", at=NOW)
    store.queues.skip("q1", 0, reviewer="ann", at=NOW)
    assert next_position(store, "ann") == 1
    assert next_position(store, "ben") == 0
    store.queues.release("q1", 0, reviewer="ben")
    store.reviews.submit(review_of(1), rubric=rubric)
    assert next_position(store, "ann") == 0
    assert store.queues.progress_of("q1", "ann") == Mine(done=1, skipped=1, left=1)


def test_nobody_is_given_a_reply_twice(store):
    begin(store, items=2, needed=2)
    seen = []
    while (position := next_position(store, "ann")) is not None:
        seen.append(position)
        store.reviews.submit(review_of(position), rubric=rubric)
    assert seen == [0, 1]
    assert store.queues.progress("q1") == Progress(partly=2)
    assert store.queues.progress_of("q1", "ann") == Mine(2, 0, 0)
    assert store.queues.progress_of("q1", "ben") == Mine(0, 0, 2)


def test_a_withdrawn_review_brings_the_reply_back(store):
    begin(store, items=1)
    store.reviews.submit(review_of(0), rubric=rubric)
    assert next_position(store, "ann") is None
    store.reviews.withdraw("q1-0-ann", queue="q1", id="w1", by="ann", made=NOW, rubric=rubric)
    assert next_position(store, "ann") == 0


REFUSED = [
    (lambda store: store.queues.get("q9"), "unknown", "no queue 'q9'"),
    (lambda store: store.queues.item("q1", 9), "unknown", "no item 9"),
    (lambda store: store.queues.create(queue_named("q1"), []), "conflict", "queue q1 already"),
    (lambda store: store.queues.create(queue_named("q2", run="r9"), []), "unknown", "no run 'r9'"),
    (lambda store: store.queues.create(queue_named("q2", needed=3), []), "invalid", "allowed are 1 and 2"),
    (lambda store: store.queues.next_item("q1", reviewer="eve", now=NOW), "forbidden", "not for eve"),
]


@pytest.mark.parametrize(("act", "kind", "message"), REFUSED)
def test_what_cannot_be_done_is_refused_and_says_why(store, act, kind, message):
    begin(store, reviewers=("ann",))
    with pytest.raises(ReviewError, match=message) as refused:
        act(store)
    assert refused.value.kind == kind


def test_a_closed_queue_hands_out_nothing_until_it_is_opened_again(store):
    begin(store)
    assert store.queues.close("q1", at=NOW).closed == NOW
    with pytest.raises(ReviewError, match="closed") as refused:
        next_position(store, "ann")
    assert refused.value.kind == "closed"
    store.queues.reopen("q1")
    assert next_position(store, "ann") == 0


def test_a_run_with_reviews_is_not_deleted(store):
    begin(store)
    with pytest.raises(StoreError, match="people's work is not deleted"):
        store.delete_run("r1")
    assert store.queues.progress("q1").items == 3


def test_people_who_ask_at_once_are_given_different_replies(place):
    with open_store(place) as store:
        begin(store, items=8)
        given = []

        def ask(who):
            given.append(next_position(store, who))

        threads = [threading.Thread(target=ask, args=(f"p{at}",)) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(given) == list(range(8))
