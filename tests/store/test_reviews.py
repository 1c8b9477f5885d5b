"""Reviews, rulings, drafts, waivers and promotions on each database."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from tests.store.review_samples import BAD, GOOD, NOW, PROMISE, RUBRIC_TEXT, UNSAFE, begin, review_of, ruling_on
from tests.store.review_samples import RUBRIC as rubric
from tests.store.samples import run_named, scored, texts

from touchstone.core.errors import ReviewError
from touchstone.core.result import Finding
from touchstone.review.review import current
from touchstone.runs.waivers import Waiver
from touchstone.store.marks import Promotion


def test_a_review_is_kept_as_it_was_given_and_finishes_the_item(store):
    begin(store)
    review = review_of(0, grades=UNSAFE, violations=(PROMISE,), note="no such promise", seconds=12.5)
    submitted = store.reviews.submit(review, rubric=rubric)
    assert (submitted.review, submitted.item.state, submitted.repeated) == (review, "done", False)
    assert store.reviews.of_item("q1", 0) == (review,)
    assert store.reviews.of_queue("q1") == {0: (review,)}
    assert store.queues.item("q1", 0).state == "done"


def test_a_submission_sent_twice_counts_once(store):
    begin(store)
    store.reviews.submit(review_of(0), rubric=rubric)
    again = store.reviews.submit(review_of(0, made="2026-01-05T10:00:09+00:00"), rubric=rubric)
    assert again.repeated
    assert again.review.made == NOW
    assert len(store.reviews.of_item("q1", 0)) == 1


def test_another_review_under_the_same_id_is_refused(store):
    begin(store)
    store.reviews.submit(review_of(0), rubric=rubric)
    with pytest.raises(ReviewError, match="under this id") as refused:
        store.reviews.submit(review_of(0, grades=BAD), rubric=rubric)
    assert refused.value.kind == "conflict"


def test_an_edit_is_appended_and_what_it_supersedes_stays(store):
    begin(store)
    first, second = review_of(0), review_of(0, id="v2", grades=BAD, supersedes="q1-0-ann")
    store.reviews.submit(first, rubric=rubric)
    store.reviews.submit(second, rubric=rubric)
    assert store.reviews.of_item("q1", 0) == (first, second)
    assert current(store.reviews.of_item("q1", 0)) == (second,)
    assert store.reviews.mine("q1", "ann") == (second,)


def test_a_person_s_reviews_are_read_page_by_page_also_when_one_is_taken_back_meanwhile(store):
    begin(store)
    for position in range(3):
        store.reviews.submit(review_of(position), rubric=rubric)
    first = store.reviews.mine("q1", "ann", limit=1)
    assert [review.position for review in first] == [2]
    store.reviews.withdraw(first[0].id, queue="q1", id="w1", by="ann", made=NOW, rubric=rubric)
    rest = store.reviews.mine("q1", "ann", after=first[0].id)
    assert [review.position for review in rest] == [1, 0]
    assert store.reviews.mine("q1", "ann", after=rest[-1].id) == ()
    for who, wrong in (("ann", "unheard-of"), ("ben", rest[0].id)):
        with pytest.raises(ReviewError, match="the cursor is none of this list"):
            store.reviews.mine("q1", who, after=wrong)


@pytest.mark.parametrize("supersedes", [None, "q1-0-ann", "unheard-of"])
def test_an_edit_of_anything_but_the_last_review_is_refused(store, supersedes):
    begin(store)
    store.reviews.submit(review_of(0), rubric=rubric)
    store.reviews.submit(review_of(0, id="v2", supersedes="q1-0-ann"), rubric=rubric)
    with pytest.raises(ReviewError, match="newer review") as refused:
        store.reviews.submit(review_of(0, id="v3", supersedes=supersedes), rubric=rubric)
    assert refused.value.kind == "conflict"
    assert len(store.reviews.of_item("q1", 0)) == 2


STATES = [
    ([GOOD], "partly"),
    ([GOOD, GOOD], "done"),
    ([GOOD, {**GOOD, "tone": 3}], "done"),
    ([GOOD, {**GOOD, "tone": 2}], "differs"),
    ([GOOD, BAD], "differs"),
]


@pytest.mark.parametrize(("grades", "state"), STATES)
def test_an_item_that_two_people_grade_is_done_when_they_agree(store, grades, state):
    begin(store, needed=2)
    for who, given_grades in zip(("ann", "ben"), grades, strict=False):
        last = store.reviews.submit(review_of(0, by=who, grades=given_grades), rubric=rubric)
    assert last.item.state == state


def test_a_third_review_of_a_finished_item_is_kept_as_well(store):
    begin(store)
    for who in ("ann", "ben"):
        store.reviews.submit(review_of(0, by=who), rubric=rubric)
    assert [review.reviewer for review in store.reviews.of_item("q1", 0)] == ["ann", "ben"]


def test_a_withdrawn_review_stays_on_record_and_counts_no_more(store):
    begin(store)
    store.reviews.submit(review_of(0), rubric=rubric)
    back = store.reviews.withdraw("q1-0-ann", queue="q1", id="w1", by="ann", made=NOW, rubric=rubric)
    assert back.item.state == "waiting"
    assert [review.withdrawn for review in store.reviews.of_item("q1", 0)] == [False, True]
    assert store.reviews.mine("q1", "ann") == ()
    assert store.reviews.submit(review_of(0, id="v2"), rubric=rubric).item.state == "done"


def test_only_the_reviewer_takes_a_review_back(store):
    begin(store)
    store.reviews.submit(review_of(0), rubric=rubric)
    with pytest.raises(ReviewError, match="ann's"):
        store.reviews.withdraw("q1-0-ann", queue="q1", id="w1", by="ben", made=NOW, rubric=rubric)
    with pytest.raises(ReviewError, match="no review 'x'"):
        store.reviews.withdraw("x", queue="q1", id="w1", by="ben", made=NOW, rubric=rubric)


def test_a_review_is_taken_back_in_its_own_queue(store):
    begin(store)
    begin(store, queue="q2")
    store.reviews.submit(review_of(0), rubric=rubric)
    with pytest.raises(ReviewError, match="q2 has no review") as refused:
        store.reviews.withdraw("q1-0-ann", queue="q2", id="w1", by="ann", made=NOW, rubric=rubric)
    assert refused.value.kind == "unknown"


BEYOND = Finding("hallucination", "", 0, 999, "")
REFUSED = [
    (review_of(0, grades={"tone": 3}), "invalid", "accuracy has no grade"),
    (review_of(0, grades={**GOOD, "tone": 7}), "invalid", "tone is 7: allowed are 0, 1, 2, 3, 4, or null"),
    (review_of(0, grades={**GOOD, "wit": 1}), "invalid", "'wit' is no criterion"),
    (review_of(0, grades=UNSAFE), "invalid", "safety is 0 without a violation"),
    (review_of(0, violations=(PROMISE,)), "invalid", "a violation is marked and safety is 4"),
    (review_of(0, grades=UNSAFE, violations=(BEYOND,)), "invalid", "outside the reply, which has 18 characters"),
    (review_of(9), "unknown", "no item 9"),
    (review_of(0, queue="q9"), "unknown", "no queue 'q9'"),
]


@pytest.mark.parametrize(("review", "kind", "message"), REFUSED)
def test_a_review_that_does_not_fit_is_refused_and_nothing_is_kept(store, review, kind, message):
    begin(store)
    with pytest.raises(ReviewError, match=message) as refused:
        store.reviews.submit(review, rubric=rubric)
    assert refused.value.kind == kind
    assert store.reviews.of_queue("q1") == {}


def test_a_closed_queue_takes_no_review_but_knows_those_it_took(store):
    begin(store)
    store.reviews.submit(review_of(0), rubric=rubric)
    store.queues.close("q1", at=NOW)
    assert store.reviews.submit(review_of(0), rubric=rubric).repeated
    with pytest.raises(ReviewError, match="closed") as refused:
        store.reviews.submit(review_of(1), rubric=rubric)
    assert refused.value.kind == "closed"


def test_a_ruling_settles_an_item_and_the_last_one_counts(store):
    begin(store, needed=2)
    for who, grades in (("ann", GOOD), ("ben", BAD)):
        store.reviews.submit(review_of(0, by=who, grades=grades), rubric=rubric)
    assert store.reviews.rule(ruling_on(0, reason="as the policy says"), rubric=rubric).state == "settled"
    store.reviews.rule(ruling_on(0), rubric=rubric)
    later = ruling_on(0, id="u2", grades=BAD)
    store.reviews.rule(later, rubric=rubric)
    assert store.reviews.ruling("q1", 0) == later
    assert store.reviews.rulings("q1") == {0: later}
    assert store.reviews.ruling("q1", 1) is None


def test_a_ruling_is_held_to_the_rubric(store):
    begin(store)
    with pytest.raises(ReviewError, match="tone is 9"):
        store.reviews.rule(ruling_on(0, grades={**GOOD, "tone": 9}), rubric=rubric)


def test_a_draft_is_kept_until_the_review_is_submitted(store):
    begin(store)
    for body in ('{"tone":1}', '{"tone":2}'):
        store.reviews.save_draft("q1", 0, "ann", body=body, at=NOW)
    assert store.reviews.draft("q1", 0, "ann") == '{"tone":2}'
    assert store.reviews.draft("q1", 0, "ben") is None
    store.reviews.submit(review_of(0), rubric=rubric)
    assert store.reviews.draft("q1", 0, "ann") is None


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(note=texts, text=texts)
def test_any_text_comes_back_as_it_was(store, note, text):
    number = len(store.queues.list())
    begin(store, queue=f"q{number}")
    marked = (replace(PROMISE, text=text, reason=note),)
    review = review_of(0, queue=f"q{number}", grades=UNSAFE, violations=marked, note=note)
    store.reviews.submit(review, rubric=rubric)
    assert store.reviews.of_item(f"q{number}", 0) == (review,)


def with_violation(store):
    entry = scored(0)
    grading = replace(entry.result.rubric, violations=(PROMISE,))
    store.create_run(run_named("r1"), rubric=RUBRIC_TEXT)
    store.replies.add("r1", [replace(entry, result=replace(entry.result, rubric=grading))])


def waiver(id="w1", **values):
    given_values = {"kind": "unauthorized_promise", "start": 8, "end": 14, "reason": "we do promise this"}
    return Waiver(id=id, run="r1", result=0, by="lea", made=NOW, **{**given_values, **values})


def test_a_waiver_is_kept_beside_the_violation(store):
    with_violation(store)
    back = waiver("w2", withdrawn=True, reason="")
    for each in (waiver(), waiver(), back):
        store.marks.waive(each)
    assert store.marks.waivers("r1", 0) == (waiver(), back)
    assert store.marks.waive(waiver("w3", reason="", withdrawn=True))
    assert store.replies.result("r1", "c-0").result.rubric.violations == (PROMISE,)


NOT_WAIVED = [(waiver(reason=" "), "with a reason"), (waiver(start=0), "found no unauthorized_promise at 0 to 14")]


@pytest.mark.parametrize(("given_waiver", "message"), NOT_WAIVED)
def test_a_waiver_needs_a_reason_and_a_violation(store, given_waiver, message):
    with_violation(store)
    with pytest.raises(ReviewError, match=message):
        store.marks.waive(given_waiver)


def test_a_case_is_marked_for_a_gold_set_once(store):
    begin(store)
    for _ in range(2):
        store.marks.promote("r1", 1, by="lea", at=NOW)
    assert store.marks.promoted() == store.marks.promoted(run="r1") == (Promotion("r1", 1, "lea", NOW),)
    store.marks.demote("r1", 1)
    assert store.marks.promoted() == ()
    with pytest.raises(ReviewError, match="no case at position 99"):
        store.marks.promote("r1", 99, by="lea", at=NOW)
