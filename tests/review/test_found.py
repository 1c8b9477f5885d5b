"""What people found in a week: counts, their words, the judge's beside them, and the change since the week before."""

from dataclasses import replace

import pytest
from tests.store.review_samples import BAD, GOOD, PROMISE, UNSAFE, item_at, review_of, ruling_on
from tests.store.review_samples import RUBRIC as rubric

from touchstone.review.found import ReviewedItem, change, people_found, settle_items
from touchstone.runs.record import Record
from touchstone.stats.corrected import corrected_rate


def reviewed(position, *reviews, ruling=None):
    return ReviewedItem(item_at(position), reviews, ruling)


def found_in(items, judged=None):
    return people_found(settle_items(items, rubric=rubric), judged or {}, rubric=rubric)


def judged(id, *, grades=GOOD, violations=()):
    return Record(id, 1, None, None, "send", "PASS", "PASS", 90.0, grades, violations, (), failed=False)


def test_low_grades_and_violations_are_counted_with_peoples_words():
    items = [
        reviewed(0, replace(review_of(0, grades=BAD), note="quotes the old fee")),
        reviewed(1, review_of(1, grades=UNSAFE, violations=(PROMISE,))),
        reviewed(2, review_of(2)),
        reviewed(3),
    ]
    found = {line.name: line for line in found_in(items, {0: judged("c-0", grades=BAD)})}
    assert found[PROMISE.kind].positions == (1,)
    assert found["accuracy"].positions[0] == 0
    assert found["accuracy"].by_judge == 1
    assert [note.text for note in found["accuracy"].notes] == ["quotes the old fee"]


def test_violations_come_first_and_nothing_found_is_no_line():
    items = [reviewed(0, review_of(0, grades=BAD)), reviewed(1, review_of(1, grades=UNSAFE, violations=(PROMISE,)))]
    assert found_in(items)[0].kind == "violation"
    assert found_in([reviewed(0, review_of(0))]) == ()


def test_a_ruling_counts_for_the_reviews_it_settles_and_its_reason_comes_first():
    two = (review_of(0), replace(review_of(0, by="ben", grades=BAD), note="wrong fee"))
    ruled = reviewed(0, *two, ruling=replace(ruling_on(0, grades=BAD), reason="the fee is 5"))
    line = next(line for line in found_in([ruled]) if line.name == "accuracy")
    assert [note.text for note in line.notes] == ["the fee is 5", "wrong fee"]
    assert found_in([reviewed(0, *two, ruling=ruling_on(0))]) == ()


def test_the_change_between_two_weeks_has_an_interval_and_none_without_reviews():
    def week(passed):
        drawn = {at: at < passed for at in range(40)}
        return corrected_rate([True] * 200, drawn, dict.fromkeys(drawn, 0.2))

    assert change(week(40), corrected_rate([True] * 5, {}, {})) is None
    clear = change(week(40), week(10))
    assert clear.difference == pytest.approx(-0.75)
    assert clear.interval.high < 0
    assert clear.is_clear
    assert not change(week(30), week(29)).is_clear
