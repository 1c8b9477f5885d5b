"""JSON within a text is read field by field, where it stands, as far as it goes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import is_linear

from touchstone.text.records import MAX_DEPTH, find_records


def fields(text):
    return {leaf.path: text[leaf.start : leaf.end] for record in find_records(text) for leaf in record.leaves}


def notes(text):
    return [record.note for record in find_records(text)]


ORDER = {
    "id": "W1",
    "items": [{"name": "Mug", "price": 5.5}, {"name": "Lamp", "price": 20}],
    "paid": True,
    "gift": None,
}
PATHS = {
    "id": "W1",
    "items[0].name": "Mug",
    "items[0].price": "5.5",
    "items[1].name": "Lamp",
    "items[1].price": "20",
    "paid": "true",
    "gift": "null",
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ORDER),
        json.dumps(ORDER, indent=2),
        json.dumps(ORDER, separators=(",", ":")),
        f"Looked up: {json.dumps(ORDER)} and that was all.",
        f'get_order({{"n": 1}}) -> {json.dumps(ORDER)}',
        json.dumps(json.dumps(ORDER)),
    ],
    ids=["plain", "indented", "tight", "in prose", "call", "encoded twice"],
)
def test_every_field_has_its_path_and_its_place(text):
    found = fields(text)
    assert {path: found[path] for path in PATHS} == PATHS


def test_a_string_that_holds_a_record_is_read_too():
    text = json.dumps({"name": "lookup", "result": json.dumps({"total": 12})})
    assert fields(text) == {"name": "lookup", "result.total": "12"}


def test_a_python_dictionary_is_read_like_json():
    assert fields("{'total': 12, 'open': None}") == {"total": "12", "open": "None"}


def test_lists_are_counted():
    (record,) = find_records('{"orders": ["a", "b", "c"], "none": []}')
    assert record.lists == (("orders", 3),)


@pytest.mark.parametrize(
    ("text", "told", "note"),
    [
        ('{"a": 1, "b": [1, 2', {"a": "1", "b[0]": "1", "b[1]": "2"}, "breaks off at character 19"),
        ('{"a": 1, "b": <3}', {"a": "1"}, "not understood from character 15 on"),
        ('{"a": "no end', {}, "not understood from character 7 on"),
    ],
)
def test_a_broken_record_is_read_as_far_as_it_goes_and_says_so(text, told, note):
    assert fields(text) == told
    assert [note in each for each in notes(text)] == [True]


@pytest.mark.parametrize("text", ["", "plain words", "[see below]", "{placeholder}", "a [1] and [2]", "}{", '"quoted"'])
def test_what_holds_no_field_is_no_record(text):
    assert fields(text) == {}


def test_what_is_nested_too_deep_is_left():
    text = '{"a":' * (MAX_DEPTH + 5) + "1" + "}" * (MAX_DEPTH + 5)
    assert "not understood" in notes(text)[0]


def flattened(value, path=""):
    if isinstance(value, dict):
        return {
            p: v for key, each in value.items() for p, v in flattened(each, f"{path}.{key}" if path else key).items()
        }
    if isinstance(value, list):
        return {p: v for at, each in enumerate(value) for p, v in flattened(each, f"{path}[{at}]").items()}
    return {path: value if isinstance(value, str) else json.dumps(value)}


KEYS = st.text("abcdefgh_", min_size=1, max_size=8)
WORDS = st.text("abc XYZ€-.,", max_size=12)
SCALARS = st.one_of(WORDS, st.integers(-1000, 1000), st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_the_fields_are_those_that_a_json_parser_finds(value):
    expected = flattened(value)
    text = json.dumps(value, ensure_ascii=False)
    found = fields(text)
    assert found == {path: said.rstrip() for path, said in expected.items()}


@given(st.text('{}[]":,\\ab1 \n', max_size=60))
def test_nothing_breaks_it_and_every_field_lies_within_the_text(text):
    for record in find_records(text):
        assert all(0 <= leaf.start <= leaf.end <= len(text) for leaf in record.leaves)


@pytest.mark.parametrize("unit", ["[", '{"a":', "{'", '{"a": 1} ', '\\"', '"'])
def test_the_cost_grows_with_the_length(unit):
    assert is_linear(lambda size: list(find_records(unit * size)), small=500, large=8_000)
