"""Which case is scored next, and how much may wait, without a process."""

import asyncio

import pytest

from touchstone.core.case import Case
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.service.scoring.lanes import LONG, Lanes, OverloadError, effort

SHORT, LENGTHY = "Yes.", "1-" * LONG


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def loop():
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.fixture
def order(loop):
    """Put an order of these replies into lanes."""
    return lambda lanes, *replies: lanes.add(
        [Entry("request", at, Case(id=f"{at}", response=reply)) for at, reply in enumerate(replies, 1)],
        loop.create_future(),
    )


def test_a_short_single_case_goes_before_everything_that_was_there_first(order):
    lanes = Lanes(prompt=9, patient=99, workers=2)
    batch, long = order(lanes, SHORT, SHORT), order(lanes, LENGTHY)
    single = order(lanes, SHORT)
    assert [lanes.take().order for _ in range(4)] == [single, batch, long, batch]


def test_long_cases_never_hold_the_last_process(order):
    lanes = Lanes(prompt=9, patient=99, workers=3)
    batch = order(lanes, LENGTHY, LENGTHY, LENGTHY, SHORT)
    held = [lanes.take(), lanes.take()]
    assert [piece.at for piece in held] == [0, 1]
    single = order(lanes, SHORT)
    assert lanes.take().order is single
    other = order(lanes, SHORT, SHORT)
    assert lanes.take().order is other
    lanes.done(held[0])
    assert lanes.take().order is batch


def test_with_one_process_a_long_case_is_scored_all_the_same(order):
    lanes = Lanes(prompt=9, patient=99, workers=1)
    long = order(lanes, LENGTHY)
    assert lanes.take().order is long


def test_batches_take_turns(order):
    lanes = Lanes(prompt=9, patient=99, workers=2)
    large, small = order(lanes, *[SHORT] * 5), order(lanes, SHORT, SHORT)
    assert [lanes.take().order for _ in range(5)] == [large, small, large, small, large]


def test_what_is_removed_is_not_begun_and_leaves_its_room(order):
    lanes = Lanes(prompt=9, patient=4, workers=2)
    gone = order(lanes, *[SHORT] * 4)
    lanes.take()
    with pytest.raises(OverloadError):
        order(lanes, SHORT, SHORT)
    lanes.remove(gone)
    other = order(lanes, SHORT, SHORT)
    assert lanes.take().order is other
    assert lanes.cases == 3


def test_a_case_that_costs_more_takes_more_room_and_the_largest_is_let_in_when_nothing_waits(order):
    lanes = Lanes(prompt=3, patient=10, workers=2)
    order(lanes, "a" * 5_000)
    with pytest.raises(OverloadError):
        order(lanes, SHORT)
    huge = order(lanes, *[LENGTHY] * 3)
    with pytest.raises(OverloadError):
        order(lanes, SHORT, SHORT)
    lanes.remove(huge)
    order(lanes, *[LENGTHY] * 3)
    with pytest.raises(OverloadError):
        order(Lanes(prompt=3, patient=2, workers=2), *[SHORT] * 3)


def test_the_lag_is_how_long_a_short_single_case_has_waited_or_would_have(order):
    clock = Clock()
    lanes = Lanes(prompt=9, patient=99, workers=2, clock=clock)
    order(lanes, SHORT, SHORT, SHORT)
    lanes.take()
    clock.now = 3.0
    assert lanes.lag == 0.0
    second = lanes.take()
    clock.now = 7.0
    assert lanes.lag == 4.0
    lanes.done(second)
    assert lanes.lag == 0.0
    order(lanes, SHORT)
    clock.now = 17.0
    assert lanes.lag == 10.0


def test_after_the_end_nothing_is_handed_out(order):
    lanes = Lanes(prompt=9, patient=99, workers=2)
    left = order(lanes, SHORT)
    assert lanes.close() == [left]
    assert lanes.take() is None
    with pytest.raises(OverloadError):
        order(lanes, SHORT)


@pytest.mark.parametrize(
    ("case", "least"),
    [
        (Case(response="a" * 900), 900),
        (Case(response="a" * 900, input="b" * 300), 1000),
        (Case(response="", input=[{"role": "user", "content": "b" * 300}], context=["c" * 300]), 200),
        (Case(response="", expected_output="d" * 30), 10),
        (Failure("read", "CaseError", "no case"), 0),
    ],
)
def test_the_effort_is_estimated_from_all_texts(case, least):
    assert effort(Entry("request", 1, case)) == least
