"""A customer's message becomes its asks: each question or request, punctuated or not."""

import pytest
from tests.tables import rows

from touchstone.core.case import Case
from touchstone.text.asks import find_asks
from touchstone.text.reading import read, read_text

FLOOR = 0.90
MIN_OVERLAP = 0.5


def overlap(one, other):
    """Intersection over union of two spans."""
    shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return shared / (one[1] - one[0] + other[1] - other[0] - shared)


def hits(wanted, found):
    """How many wanted spans have a found one of their own that overlaps them by half or more."""
    left = list(found)
    count = 0
    for span in wanted:
        best = max(left, key=lambda other: overlap(span, other), default=None)
        if best and overlap(span, best) >= MIN_OVERLAP:
            left.remove(best)
            count += 1
    return count


def spans(row):
    """The row's asks as spans, and those found."""
    starts = [(row["input"].index(ask), len(ask)) for ask in row["asks"]]
    found = find_asks(read_text("input", row["input"]))
    return [(start, start + length) for start, length in starts], [(ask.start, ask.end) for ask in found]


def test_most_asks_of_the_table_are_found_and_most_found_are_asks():
    pairs = [spans(row) for row in rows("asks")]
    hit = sum(hits(wanted, found) for wanted, found in pairs)
    assert hit / sum(len(found) for _, found in pairs) >= FLOOR, "precision"
    assert hit / sum(len(wanted) for wanted, _ in pairs) >= FLOOR, "recall"


ASKS = [
    ("Where is my parcel?", ["Where is my parcel?"]),
    ("Where is my parcel and when will it arrive?", ["Where is my parcel", "when will it arrive?"]),
    ("hi how do i cancel", ["how do i cancel"]),
    ("Please cancel my order, and send me a refund.", ["Please cancel my order", "send me a refund"]),
    ("I'd like to change my seat", ["I'd like to change my seat"]),
    ("Could you tell me what the fee is?", ["Could you tell me what the fee is?"]),
    ("My kettle is broken.", ["My kettle is broken"]),
    ("Is this a joke? Where is my money?", ["Where is my money?"]),
    ("Thanks, that solved it!", []),
    ("Hello!", []),
    ("", []),
]


@pytest.mark.parametrize(("message", "asks"), ASKS)
def test_each_question_or_request_is_an_ask(message, asks):
    assert [ask.text for ask in find_asks(read_text("input", message))] == asks


def test_an_ask_knows_its_topic_without_filler():
    (ask,) = find_asks(read_text("input", "Hi, what is the delivery fee, please?"))
    assert ask.terms == ("deliveri", "fee")


def test_a_message_that_asks_nothing_leaves_open_what_was_asked_last():
    turns = [
        {"role": "user", "content": "Hi, I want to exchange my laptop. What does it cost?"},
        {"role": "assistant", "content": "Could you give me your zip code?"},
        {"role": "user", "content": "Sure. My name is Lei Li and it's 85033."},
    ]
    asks = read(Case(input=turns, response="Thanks.")).asks
    assert [ask.source for ask in asks] == ["input[0]"] * len(asks)
    assert "What does it cost?" in [ask.text for ask in asks]
    asking = [*turns[:2], {"role": "user", "content": "85033. Do you ship it?"}]
    assert [ask.source for ask in read(Case(input=asking, response="Thanks.")).asks] == ["input"]
