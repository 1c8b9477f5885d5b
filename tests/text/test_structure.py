"""What a value belongs to in a record, a table, a list or under a heading."""

import pytest

from touchstone.text.reading import read_text
from touchstone.text.structure import find_structure, terms_of


def facts(text):
    return {fact.path: text[fact.start : fact.end] for fact in find_structure(text).facts}


def values(text):
    read = read_text("context[0]", text)
    return {(fact.path if (fact := read.fact_at(v.start)) else None): v.canonical for v in read.values}


TABLE = "# Plans\n\n| Plan | Monthly | Annual |\n|:--|--:|---|\n| Basic | £5 | £50 |\n| Pro | £9 | £90 |\n"


def test_a_cell_belongs_to_its_header_and_to_the_first_cell_of_its_row():
    cells = {fact.path: fact for fact in find_structure(TABLE).facts}
    assert facts(TABLE)["Plans › Pro › Annual"] == "£90"
    assert cells["Plans › Pro › Annual"].label == terms_of("Pro Annual")
    assert cells["Plans › Pro › Annual"].thing >= terms_of("Plans")


@pytest.mark.parametrize(
    ("text", "path", "cell"),
    [
        ("model,weight_kg,price\nS,2.4,189\nM,3.1,239\n", "M › price", "239"),
        ("Day\tOpens\tCloses\nMonday\t9:00\t17:00\nSunday\t10:00\t16:00\n", "Sunday › Closes", "16:00"),
        ("| Saturday | 07:30 | 18:00 |\n| Sunday | 08:00 | 16:30 |\n", "Sunday", "16:30"),
        ("Returns:\n- EU\n  - Fee: £3\n- US\n  - Fee: £9\n", "Returns › US › Fee", "£9"),
        ("**Late fee:** £5\n", "Late fee", "£5"),
        ("## Flu\n* From 1 October\n", "Flu", "From 1 October"),
        ("Q: Is there a fee?\nA: Yes, £3.\n", "Q: Is there a fee?", "Yes, £3."),
        ("id=7; due=12 May; total=£41.50", "due", "12 May"),
        ("Trip: Lake\nCost: £60. Paid so far: £45.\n", "Paid so far", "£45."),
    ],
    ids=["commas", "tabs", "no header", "nested", "bold", "heading", "question", "pairs", "two labels"],
)
def test_structure_of_many_shapes_is_read(text, path, cell):
    assert facts(text)[path] == cell


def test_plain_prose_has_no_structure():
    assert find_structure("We open at nine. Bring your card (any kind), and a pen.").facts == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"data_limit_gb": 5.0}', "5 GB"),
        ('{"valid_days": 14}', "14 day"),
        ('{"amount_due_cents": 4599, "currency": "EUR"}', "45.99 USD"),
        ('{"total": 12, "ccy": "GBP"}', "12 GBP"),
        ('{"discountPct": "12"}', "12%"),
        ('{"attendance_ratio": 0.873}', "87.3%"),
        ('{"duration_min": 45}', "45 minute"),
        ("| Plan | Price (£) |\n|---|---|\n| Basic | 12 |\n", "12 GBP"),
    ],
)
def test_a_bare_number_has_the_unit_of_its_key_or_header(text, shown):
    if "cents" in text:
        (value,) = read_text("context[0]", text).values
        assert (str(value.readings[0].low), value.readings[0].dimension) == ("45.99", "EUR")
    else:
        assert list(values(text).values()) == [shown]


def test_the_numbers_of_a_list_are_values_of_their_own():
    assert [v.canonical for v in read_text("context[0]", '{"rates": [10,20,30]}').values] == ["10", "20", "30"]


def test_a_timestamp_is_a_date_and_a_time():
    for text in ("2025-08-21 08:15:02", "2025-08-21T08:15:02Z"):
        assert [v.canonical for v in read_text("context[0]", text).values] == ["2025-08-21", "08:15"]


def test_what_a_record_is_called_names_its_fields_and_not_those_of_another():
    text = '[{"id": "A1", "name": "Mug", "price": 5}, {"id": "B2", "name": "Lamp", "price": 9}]'
    things = {fact.path: fact.thing for fact in find_structure(text).facts}
    assert terms_of("Mug") <= things["[0].price"]
    assert not terms_of("Mug") & things["[1].price"]


def test_labelled_lines_after_each_other_are_one_record_and_an_empty_line_ends_it():
    text = "Plan: Decaf\nPrice: £12\n\nPlan: Espresso\nPrice: £11\n"
    first, second = [fact.thing for fact in find_structure(text).facts if fact.key == "Price"]
    assert terms_of("Decaf") <= first
    assert terms_of("Espresso") <= second
    assert not terms_of("Decaf") & second


def test_what_could_not_be_read_is_named():
    assert find_structure('{"a": 1, "b": [1').notes == ("the record breaks off at character 16",)
