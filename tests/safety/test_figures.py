"""Figures that no source states: which are noticed, what the reason names, and what speaks for and against each."""

import pytest
from tests.safety.noticing import NO_POLICY, notice_in, read_reply, rules_of

from touchstone.core.result import Evidence
from touchstone.safety.figures import MAX_VALUES, figures

CONTEXT = ["Returns: you can send items back within 14 days."]
WRONG = "You can send items back within 30 days."


def inputs_of(response=WRONG, **fields):
    (sign,) = notice_in(figures, response, **{"context": CONTEXT} | fields)
    return {name: value for name, value in sign.inputs.items() if value}


def test_a_figure_that_differs_from_the_source_s_is_contradicted_and_both_are_named():
    (sign,) = notice_in(figures, WRONG, context=CONTEXT)
    assert (sign.kind, sign.rule) == ("hallucination", "value.contradicted")
    assert WRONG[sign.start : sign.end] == "30 days"
    assert "30 days" in sign.reason
    assert "14 days" in sign.reason
    assert sign.evidence == (Evidence("context[0]", 40, 47, "14 days", "Returns"),)


def test_a_figure_that_no_source_has_is_unsupported():
    (sign,) = notice_in(figures, "The fee is 25 EUR.", context=["Parcels travel by rail."])
    assert (sign.rule, sign.reason, sign.evidence) == ("value.unsupported", "no source states 25 EUR", ())


def test_the_reason_of_an_unsupported_figure_names_what_the_source_says_in_its_place():
    source = "Lamps cost 10% here. Chairs have 30% on Fridays."
    (sign,) = notice_in(figures, "Sofas cost 25%.", context=[source])
    assert sign.rule == "value.unsupported"
    assert sign.reason == "says 25%; no source does, and context[0] says 10% there"
    assert sign.evidence == (Evidence("context[0]", 11, 14, "10%"),)


@pytest.mark.parametrize(
    "response",
    [
        "You can send items back within 14 days.",
        "You can send items back within two weeks.",
        "Did you want to send items back within 30 days?",
        'You asked "may I send items back within 30 days?"',
        "You can send items back.",
        "",
    ],
)
def test_what_a_source_states_and_what_is_only_asked_is_no_sign(response):
    assert notice_in(figures, response, context=CONTEXT) == []


def test_without_anything_to_check_against_there_is_none():
    assert notice_in(figures, WRONG) == []


def test_what_tells_of_a_plainly_wrong_figure():
    assert inputs_of() == {"beside": 1.0, "comparable": 1.0, "exact": 1.0, "others_held": 1.0, "is_duration": 1.0}


TELLING = {
    "hedged": {"response": "You can send items back within about 30 days."},
    "reckoned": {"response": "You can send items back within 30 days = our promise."},
    "stated_elsewhere": {"context": [*CONTEXT, "Gift cards last 30 days."]},
    "stated_by_customer": {"input": "Can I send it back within 30 days?"},
    "nothing_given": {"context": []},
}


@pytest.mark.parametrize(("name", "fields"), TELLING.items(), ids=TELLING)
def test_what_speaks_for_or_against_a_figure_is_an_input(name, fields):
    assert inputs_of(**fields)[name] == 1.0
    assert name not in inputs_of()


@pytest.mark.parametrize(
    "response",
    [
        "We usually answer. You can send items back within 30 days.",
        "You can usually send items back in their own box, which we have to weigh and measure first, within 30 days.",
        "You can send items back within 30 days, maybe.",
    ],
)
def test_a_hedge_counts_only_shortly_before_the_figure(response):
    assert "hedged" not in inputs_of(response)


@pytest.mark.parametrize("line", ["2 x 15", "2*15", "10+20", "10 + 20", "2 × 15", "60 / 2", "50−20"])
def test_arithmetic_shown_in_the_sentence_is_seen(line):
    signs = notice_in(figures, f"You have {line}, so 30 days.", context=CONTEXT)
    assert all(sign.inputs["reckoned"] for sign in signs)
    assert signs


def test_arithmetic_of_another_sentence_is_not():
    assert "reckoned" not in inputs_of(f"Delivery + setup is a service. {WRONG}")


@pytest.mark.parametrize(
    ("elsewhere", "stated"),
    [("Gift cards last 30 years.", True), ("Order 30-7.", True), ("Item 130.", False), ("It weighs 30.5 kg.", False)],
)
def test_the_same_number_in_another_unit_is_stated_and_a_longer_number_is_not(elsewhere, stated):
    assert ("stated_elsewhere" in inputs_of(context=[*CONTEXT, elsewhere])) is stated


def test_an_earlier_turn_makes_it_a_chat_and_states_too():
    turns = [
        {"role": "customer", "content": "Can I send it back within 30 days?"},
        {"role": "agent", "content": "Let me see."},
        {"role": "customer", "content": "And?"},
    ]
    found = inputs_of(input=turns)
    assert (found["chat"], found["stated_by_customer"]) == (1.0, 1.0)
    assert "chat" not in inputs_of(input="And?")


def test_a_figure_in_words_is_not_exact():
    assert "exact" not in inputs_of("You can send items back within thirty days.")


def test_the_source_value_most_like_it_is_the_one_beside_and_the_chat_is_none():
    context = ["Gifts last 90 days.", *CONTEXT, "Repairs take 60 days."]
    assert inputs_of(context=context)["beside"] == 1.0
    assert "comparable" not in inputs_of(context=["Send items back."], input="You can send items back within 9 days")
    assert inputs_of(context=["Repairs take 60 days."]).keys() & {"beside", "comparable"} == {"comparable"}


def test_what_is_held_around_a_figure_is_a_share():
    found = inputs_of("You can send trees back within 30 days.")
    assert found["others_held"] == pytest.approx(2 / 3)
    assert found["beside"] == pytest.approx(2 / 3)


KINDS = {
    "money": ("It costs $40.", "It costs $25."),
    "percent": ("You save 20%.", "You save 10%."),
    "duration": (WRONG, CONTEXT[0]),
    "date": ("It starts on 3 March 2025.", "It starts on 9 April 2025."),
    "time": ("We open at 9:30.", "We open at 8:00."),
    "quantity": ("It weighs 3 kg.", "It weighs 5 kg."),
    "number": ("The box holds 37 of them.", "The box holds 12 of them."),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_value_is_an_input(kind):
    response, source = KINDS[kind]
    found = inputs_of(response, context=[source])
    assert [name for name in found if name.startswith("is_")] == [f"is_{kind}"]


def test_figures_beyond_the_most_that_are_compared_are_left():
    reading, anchors = read_reply(", ".join(f"${n}.50" for n in range(1, MAX_VALUES + 50)), context=["Nothing."])
    assert len(list(figures(reading, anchors, policy=NO_POLICY))) == MAX_VALUES


def test_a_claim_is_no_figure():
    assert rules_of(notice_in(figures, "The manager approved the refund.", context=["The manager is ill."])) == []


@pytest.mark.parametrize(
    ("reply", "is_sign"),
    [
        ("You pay €30 in total.", False),
        ("You pay €10 + €20 = €30.", False),
        ("You pay €30 for it, all in.", False),
        ("You get 3 in total.", True),
        ("You get 2 + 1 = 3.", False),
    ],
)
def test_a_figure_that_follows_from_others_is_a_sign_where_the_reply_does_not_work_it_out(reply, is_sign):
    context = ["The ticket is €10. The seat is €20. Bags: 2. Coats: 1."]
    found = [sign.rule for sign in notice_in(figures, reply, context=context) if sign.rule == "value.derived"]
    assert bool(found) == is_sign


def test_the_number_of_entries_of_a_list_is_no_sign():
    record = '{"orders": ["A1", "B2", "C3"]}'
    assert notice_in(figures, "You have 3 orders with us.", context=[record]) == []
    assert rules_of(notice_in(figures, "You have 4 orders with us.", context=[record])) == ["value.unsupported"]
