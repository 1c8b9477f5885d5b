"""The JSON object in an answer is read with its usual faults; what is ambiguous is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.judges.llm.json_reading import FoundObject, read_object

KEYS = ("criteria",)
ONE = {"criteria": {"tone": {"reason": "kind", "grade": 3}}}
WRITTEN = json.dumps(ONE)


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"Here is my grading:\n\n{WRITTEN}\n\nI hope this helps {{:-)}}.",
        f"<think>{{'criteria': 'no'}}</think>{WRITTEN}",
        f'{{"answer": {WRITTEN}}}',
        '{"criteria": {"tone": {"reason": "kind", "grade": 3,},},}',
        "{'criteria': {'tone': {'reason': 'kind', 'grade': 3}}}",
        '{criteria: {"tone": {"reason": "kind", "grade": 3}}}',
        f"{WRITTEN} {WRITTEN}",
        '{"criteria": {"tone": {"reason": "kind" "grade": 3}}}',
    ],
)
def test_an_object_is_found_in_what_surrounds_it(text):
    assert read_object(text, keys=KEYS) == FoundObject(ONE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"criteria": {"tone": {"grade": 3}, "accuracy": {"grade": 1', {"tone": {"grade": 3}, "accuracy": {}}),
        ('{"criteria": {"tone": {"grade": 3}, "accuracy": {"reason": "it sa', {"tone": {"grade": 3}, "accuracy": {}}),
        ('{"criteria": {"tone": {"grade": 3}, "accu', {"tone": {"grade": 3}}),
        ('{"criteria": {"tone": {"quotes": ["a", "b"', {"tone": {}}),
    ],
)
def test_of_an_object_that_breaks_off_only_what_is_complete_is_read(text, value):
    assert read_object(text, keys=KEYS) == FoundObject({"criteria": value}, is_whole=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The reply deserves a 4.",
        "[1, 2]",
        '{"other": 1}',
        '{"criteria": 1} or rather {"criteria": 2}',
        f'{WRITTEN} {{"criteria": {{}}}}',
    ],
)
def test_no_object_or_two_that_differ_is_no_answer(text):
    assert read_object(text, keys=KEYS) is None


@pytest.mark.parametrize("end", ["}", "},"])
def test_a_key_with_two_values_has_none(end):
    text = '{"criteria": {"tone": {"grade": 1, "grade": 4}}' + end
    assert read_object(text, keys=KEYS).value == {"criteria": {"tone": {"grade": None}}}


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    read_object("{" + text, keys=KEYS)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    ),
    st.data(),
)
def test_a_whole_object_is_read_as_json_reads_it_and_a_cut_one_never_gains(value, data):
    text = json.dumps({"criteria": value})
    assert read_object(text, keys=KEYS) == FoundObject({"criteria": value})
    cut = data.draw(st.integers(0, len(text) - 1))
    found = read_object(text[:cut], keys=KEYS)
    assert found is None or not found.is_whole


@pytest.mark.parametrize(
    "text", ["{" * 100_000, '{"criteria":' * 50_000, '{"criteria": "' + "\\" * 100_000, "{[" * 50_000]
)
def test_hostile_answers_take_no_longer_than_long_ones(text):
    read_object(text, keys=KEYS)
