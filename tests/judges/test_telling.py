"""What a reply passes on of the passages, and whether it is what was needed."""

import pytest

import touchstone as ts
from touchstone.judges.grounding import telling_features
from touchstone.text.reading import read

QUESTION = "My train was cancelled. Can I get my money back?"
PASSAGES = [
    "Cancelled trains: refunds are paid in full to the original card within five days.",
    "Bicycles travel free outside rush hour and need a reservation at weekends.",
]
EXPECTED = "Yes, you get a full refund to your original card within five days."


def told(response, *, expected=EXPECTED, context=PASSAGES):
    case = ts.Case(input=QUESTION, response=response, context=context, expected_output=expected)
    return telling_features(read(case))


def test_an_answer_from_the_passage_that_matters():
    found = told("It comes back in full to the original card within five days.")
    assert found["needed_told"] >= 0.8
    assert found["beside_told"] == 0
    assert found["same_passages"] == pytest.approx(1)
    assert found["nearest_share"] == 1


def test_another_passage_at_length_tells_nothing_needed():
    found = told("Bicycles travel free outside rush hour and need a reservation at weekends.")
    assert found["passed_on"] > 0.4
    assert (found["needed_told"], found["beside_told"], found["same_passages"]) == (0, 1, 0)
    assert found["nearest_said"] == found["nearest_share"] == 0


def test_an_echo_of_the_question_passes_nothing_on():
    found = told("I see that your train was cancelled and that you want your money back.")
    assert (found["passed_on"], found["needed_told"], found["beside_told"]) == (0, 0, 0)


def test_without_an_expected_reply_nothing_is_held_against_it():
    assert set(told("In full.", expected=None)) == {"passed_on", "nearest_said", "nearest_share"}


def test_without_passages_there_is_nothing_to_pass_on():
    found = told("In full.", context=[])
    assert found["passed_on"] == 0
    assert (found["needed_told"], found["same_passages"]) == (1, 1)


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_passages_does_not_matter(order):
    response = "In full, to the card; bicycles travel free."
    assert told(response, context=PASSAGES[::order]) == pytest.approx(told(response))
