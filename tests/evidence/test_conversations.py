"""Values and states of a reply held against chats, lookups, tables, pages and policies."""

import json

import pytest
from tests.tables import rows

from touchstone import Case
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.evidence.check import MAX_CHECKED, check, unchecked
from touchstone.text.reading import read

# What the tables agree to when this was written is 0.87 and 0.84; on their first runs it was 0.69 and 0.78.
AGREED = 0.86
AGREED_SECOND = 0.83
WORST_FIRST = ("contradicted", "unsupported", "derived", "supported")
SAID_FIRST = ("contradicted", "supported", "derived", "unsupported")


def anchors(reply, *context, input="", **fields):
    case = Case(input=input, response=reply, context=list(context), **fields)
    return check(read(case), plan=Plan())


def statuses(reply, *context, **fields):
    return {anchor.text: anchor.status for anchor in anchors(reply, *context, **fields) if anchor.kind != "claim"}


def status_of(row):
    """The status of a row's phrase; a figure that is none only must not be missing."""
    fields = {"input": row["input"], "context": row["context"], "response": row["reply"]}
    start = row["reply"].index(row["phrase"])
    end = start + len(row["phrase"])
    near = [a for a in check(read(case_from_dict(fields)), plan=Plan()) if a.start < end and start < a.end]
    figures = [a for a in near if a.kind != "claim"]
    if row["status"] == "none":
        return next((a.status for a in figures if not a.holds), "none")
    if figures:
        return min((a.status for a in figures), key=WORST_FIRST.index)
    return min((a.status for a in near), key=SAID_FIRST.index, default=None)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "least"), [("conversations", AGREED), ("conversations_second", AGREED_SECOND)])
def test_the_statuses_of_the_tables_mostly_agree(table, least):
    found = [(row["id"], status_of(row) == row["status"]) for row in rows(table)]
    wrong = [id for id, agrees in found if not agrees]
    assert len(wrong) <= (1 - least) * len(found), wrong


COVER = "Basic cover costs £60 and full cover £120 a year."
PRICES = "| Plan | Monthly | Annual |\n|---|---|---|\n| Basic | £5 | £50 |\n| Pro | £9 | £90 |\n"
ORDERS = (
    'get_orders({"user": "u1"}) -> [{"id": "A17", "item": "Mug", "price": 5.5, "status": "delivered"}, '
    '{"id": "B42", "item": "Lamp", "price": 20.0, "status": "pending"}]'
)


@pytest.mark.parametrize(
    ("reply", "source", "wrong"),
    [
        ("Basic cover costs £120 and full cover £60 a year.", COVER, {"£120", "£60 a year"}),
        ("The Pro plan is £5 monthly.", PRICES, {"£5 monthly"}),
        ("The Pro plan is £9 for the annual one.", PRICES, {"£9"}),
        ("The lamp was £5.50.", ORDERS, {"£5.50"}),
        ("Students get 30% off.", "Pensioners get 30% off, students 20%.", {"30%"}),
        ("Express takes 3 days.", "Standard takes 3 days.\nExpress takes 1 day.", {"3 days"}),
    ],
)
def test_a_value_of_another_thing_is_contradicted(reply, source, wrong):
    assert {text for text, status in statuses(reply, source).items() if status == "contradicted"} == wrong


@pytest.mark.parametrize(
    ("reply", "source"),
    [
        ("Basic cover costs £60 and full cover £120 a year.", COVER),
        ("Full cover is £120 a year, basic cover £60.", COVER),
        ("The Pro plan is £9 monthly, or £90 for the annual one.", PRICES),
        ("The lamp is £20 and the mug £5.50.", ORDERS),
        ("Your train leaves just after noon.", "departs: 12:05"),
        ("It comes to about $100.", '{"total_usd": 100.30}'),
        ("That is around 400 km.", "The distance is 397 km."),
    ],
)
def test_a_value_of_the_same_thing_is_supported(reply, source):
    assert set(statuses(reply, source).values()) == {"supported"}


@pytest.mark.parametrize(
    ("reply", "source"),
    [("It takes about 41 minutes.", "It takes 40 minutes."), ("It comes to about $120.", "It costs $100.30.")],
)
def test_an_approximation_is_rounder_than_what_it_rounds_and_near_it(reply, source):
    assert set(statuses(reply, source).values()).isdisjoint({"supported"})


def test_the_evidence_of_a_field_is_its_path():
    (anchor,) = [a for a in anchors("The lamp is £20.", ORDERS) if a.kind == "money"]
    assert anchor.evidence[0].path == "[1].price"
    assert anchor.reason == "context[0] [1].price states 20.0"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("Your lamp is still pending.", "supported"),
        ("Your lamp has been delivered.", "contradicted"),
        ("Your mug isn't delivered yet.", "contradicted"),
        ("Your mug has been delivered.", "supported"),
        ("Once your lamp is delivered, you can return it.", None),
        ("Has your lamp been delivered?", None),
    ],
)
def test_a_state_is_held_against_the_record_of_its_thing(reply, status):
    found = {a.status for a in anchors(reply, ORDERS) if a.kind == "claim" and a.value in ("pending", "delivered")}
    assert found == ({status} if status else set())


def test_a_field_that_is_true_or_false_gives_its_key_as_a_state():
    record = '{"entry": "MR-7", "refundable": false, "transferable": true}'
    assert [a.status for a in anchors("The entry is refundable.", record)] == ["contradicted"]
    assert [a.status for a in anchors("The entry is transferable.", record)] == ["supported"]


def test_the_customer_s_question_is_no_evidence_for_its_answer():
    asked = "Can I take 2 tablets a day?"
    leaflet = "Ask a pharmacist about the dose."
    assert list(statuses("Yes, you can take 2 tablets a day.", leaflet, input=asked).values()) == ["unsupported"]
    assert list(statuses("You asked about 2 tablets a day.", leaflet, input=asked).values()) == ["supported"]


def test_what_the_customer_states_is_evidence():
    assert list(statuses("As you paid £50, you get it back.", "We refund.", input="I paid £50.").values()) == [
        "supported"
    ]


@pytest.mark.parametrize(
    ("reply", "formula"),
    [
        ("The mug and the lamp come to £25.50 in total.", "5.5 + 20 = 25.5 GBP"),
        ("Your 2 orders are on their way.", "orders has 2 entries"),
    ],
)
def test_totals_and_counts_of_records_are_derived(reply, formula):
    source = '{"orders": [{"item": "Mug", "price": 5.5}, {"item": "Lamp", "price": 20}]}'
    assert [a.reason for a in anchors(reply, source) if a.status == "derived"] == [formula]


def test_a_bare_multiple_derives_nothing():
    assert set(statuses("You get it within 60 days.", "Exchanges: 30 days.").values()).isdisjoint(
        {"derived", "supported"}
    )
    assert set(statuses("The fine is €300.", "The service fee is €150.").values()).isdisjoint({"derived", "supported"})


def test_a_total_that_its_own_figures_do_not_give_is_contradicted():
    reply = "The seat is €32, the satnav €28 and the driver €45, so your extras total €115."
    source = '{"extras": [{"name": "seat", "eur": 32}, {"name": "satnav", "eur": 28}, {"name": "driver", "eur": 45}]}'
    assert statuses(reply, source)["€115"] == "contradicted"


@pytest.mark.parametrize(
    "reply",
    [
        "Call 999 or go to A&E.",
        "You can ring Samaritans on 116 123.",
        "Please rate us from 1 to 5 stars.",
        "The line is open 24/7.",
        "Install version 14.2 first.",
    ],
)
def test_what_no_source_has_to_state_is_no_missing_figure(reply):
    assert statuses(reply, "We look after you.") == {}


def test_a_tool_s_output_in_the_chat_is_a_source_like_any_other():
    turns = [
        {"role": "user", "content": "Where is it?"},
        {"role": "tool", "content": '{"order": "A1", "eta": "2025-05-03"}'},
        {"role": "user", "content": "Well?"},
    ]
    reading = read(Case(input=turns, response="It comes on 3 May.", context=[]))
    assert [source.name for source in reading.contexts] == ["input[1]"]
    assert [turn.name for turn in reading.earlier] == ["input[0]"]
    assert [a.status for a in check(reading, plan=Plan()) if a.kind == "date"] == ["supported"]


BROKEN = {
    "cut off": ('lookup({"id": 1}) -> {"price": 5, "items": [{"name": "Mu', "context[0]: the record"),
    "encoded twice": (json.dumps(json.dumps({"price": 5})), None),
    "a lookup that failed": ('lookup({"id": 1}) -> Error: not found', None),
    "a table without header": ("| Mug | £5 |\n| Lamp | £9 |\n", None),
    "dates without a year": ("From 3 May to 5 June", None),
    "several currencies": ("Mug: £5\nLamp: 9 EUR\nTray: $7\n", None),
    "nothing but signs": ("{[|:=", None),
}


@pytest.mark.parametrize(("source", "note"), BROKEN.values(), ids=BROKEN)
def test_broken_sources_are_read_as_far_as_they_go_and_say_so(source, note):
    reading = read(Case(input="How much?", response="The mug is £5.", context=[source]))
    notes = [f"{text.name}: {each}" for text in reading.sources for each in text.notes]
    assert check(reading, plan=Plan()) is not None
    assert [each.startswith(note) for each in notes] == [True] if note else notes == []


def test_two_hundred_turns_of_strange_roles_are_read_and_named():
    turns = [{"role": f"robot {n}", "content": f"Item {n} costs £{n}."} for n in range(199)]
    reading = read(Case(input=[*turns, {"role": "guest", "content": "And 7?"}], response="It costs £7.", context=[]))
    assert reading.question.raw == "And 7?"
    assert reading.sources[7].notes == ("role 'robot 7' is not known and taken for an agent",)


def test_more_values_than_are_checked_are_counted():
    reading = read(Case(response=" ".join(f"£{n}.50 off." for n in range(MAX_CHECKED + 40)), context=["None."]))
    assert unchecked(reading) == 40
    assert len([a for a in check(reading, plan=Plan()) if a.kind == "money"]) == MAX_CHECKED


def test_a_means_of_payment_is_held_against_the_only_one_on_record():
    one = '{"order": "A1", "payment": "credit card (Visa)"}'
    several = '{"methods": [{"brand": "visa"}, {"brand": "gift card"}]}'
    told = "Your order A1 was paid by PayPal."
    assert [a.status for a in anchors(told, one) if a.value == "paypal"] == ["contradicted"]
    assert [a for a in anchors(told, several) if a.value == "paypal"] == []
    assert [a for a in anchors("You can also use PayPal for order A1.", one) if a.value == "paypal"] == []
