"""What a reply says of the passages' answer, what it passes on of them, and whether a passage speaks for a company."""

import pytest

import touchstone as ts
from touchstone.judges.choice import of_business
from touchstone.judges.grounding import answering, opening, passage_features, passages_of, telling_features
from touchstone.text.reading import read, read_text

QUERY = "Is there parking at the Astoria?"
ENTRY = "Astoria: Is there parking at the Astoria? No, only street parking is available, for 4 hours."
SAID = [
    ("the entry itself", "No, only street parking is available, for 4 hours.", {"passage_said": 1.0, "unheard": 0.0}),
    ("the question's words alone", "Yes, there is parking at the Astoria.", {"passage_new": 0.0, "subject_said": 1.0}),
    ("yes for no", "Yes, street parking is available.", {"passage_denied": 1.0, "limit_differs": 1.0}),
    ("no as no", "Sorry, there is only street parking.", {"passage_denied": 0.0, "limit_differs": 0.0}),
    ("a figure left out", "Only street parking is available.", {"figures_left": 1.0}),
    ("another matter", "Breakfast costs extra at the Bellevue.", {"passage_said": 0.0, "subject_said": 0.0}),
    ("a question alone", "Which street?", {"passage_denied": 1.0}),
    ("nothing", "", {"passage_said": 0.0, "unheard": 0.0}),
]


@pytest.mark.parametrize(("reply", "shown"), [row[1:] for row in SAID], ids=[row[0] for row in SAID])
def test_what_the_reply_says_of_the_entry(reply, shown):
    found = passage_features(read(ts.Case(input=QUERY, response=reply, context=[ENTRY])))
    assert {name: found[name] for name in shown} == shown


def test_what_a_reply_asks_in_the_end_is_not_held_against_the_entry():
    plain, asking = (
        passage_features(read(ts.Case(input=QUERY, response=reply, context=[ENTRY])))
        for reply in ("There is street parking.", "There is street parking. Shall I book the Bellevue for you?")
    )
    assert asking == plain


def test_of_long_passages_the_statements_on_the_question_count():
    passage = "Rooms face the sea. Breakfast is at 8. Parking at the Astoria is free. Dogs stay out. Towels are blue."
    reading = read(ts.Case(input=QUERY, response="Yes.", context=[passage]))
    first, *others = answering(passages_of(reading), reading.question)
    assert [token.word for token in first] == "parking at the astoria is free".split()
    assert len(others) == 2


@pytest.mark.parametrize(("text", "sign"), [("Yes, it is", 1), ("No.", -1), ("I'm sorry", -1), ("It is", 0), ("", 0)])
def test_how_a_reply_opens(text, sign):
    assert opening(read_text("response", text).tokens) == sign


BUSINESS = [
    ("You can return it within a month.", True),
    ("Write to help@astoria.example for a refund.", True),
    ("A night is $90 and breakfast costs $12.", True),
    ("Refunds take 3 working days.", True),
    ("Settings > Plan shows the fee.", True),
    ("Helmets are required and must be worn.", True),
    ("Refunds are rare.", False),
    ("The waxwing breeds in the north.", False),
    ("The band played together for 33 years.", False),
    (
        "The river runs through the old town and past the mill, and in spring it floods the meadows below it. " * 4
        + "Ferries cost 2 euros.",
        False,
    ),
]


@pytest.mark.parametrize(("passage", "is_business"), BUSINESS)
def test_a_passage_that_speaks_for_a_company_is_known_by_what_it_speaks_of(passage, is_business):
    assert of_business([read_text("context[0]", passage)]) is is_business


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
