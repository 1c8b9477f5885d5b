"""Equal values have equal bytes and names, and a row that is no case is refused by its field."""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.samples import records, results
from tests.tables import over

from touchstone.core import result
from touchstone.core.case import Case
from touchstone.core.codec import (
    KEYS,
    LAYOUTS,
    LISTS,
    canonical_json,
    case_from_dict,
    case_hash,
    case_to_dict,
    content_hash,
    decode,
    encode,
    members,
    result_to_dict,
)
from touchstone.core.errors import CaseError
from touchstone.core.result import Failure, Finding
from touchstone.runs import record
from touchstone.runs.evaluate import failed


def test_the_order_of_keys_makes_no_difference():
    assert canonical_json({"b": 1, "a": ["é", None]}) == '{"a":["é",null],"b":1}'
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(value)


def test_a_case_is_named_by_what_is_judged():
    case = Case(response="r", input="q", context=["c"])
    assert case_hash(case) == case_hash(Case(id="x", response="r", input="q", context=["c"], metadata={"n": 1}))
    others = [{"response": "s"}, {"input": "p"}, {"context": []}, {"context": None}, {"expected_output": "e"}]
    fields = {"response": "r", "input": "q", "context": ["c"]}
    assert case_hash(case) not in {case_hash(Case(**fields | other)) for other in others}


def test_a_half_character_has_a_name_too():
    assert case_hash(Case(response="\ud800"))


def test_what_was_not_given_is_left_out():
    assert case_to_dict(Case(response="r")) == {"input": "", "response": "r"}
    assert case_to_dict(Case(response="r", context=[]))["context"] == []


def test_other_columns_are_metadata():
    assert case_from_dict({"response": "r", "channel": "mail", "n": 3}).metadata == {"channel": "mail", "n": 3}


WRONG = [
    ({}, "field 'response' is missing"),
    ({"response": None}, "field 'response' is missing"),
    ({"response": 5}, "field 'response' is a number, allowed is a string"),
    ({"response": ["a"]}, "field 'response' is a list, allowed is a string"),
    ({"input": 5}, "field 'input' is a number, allowed is a string or a list of turns"),
    ({"input": ["Hi"]}, r"field 'input\[0\]' is a string, allowed is an object"),
    ({"input": [{"role": "user"}]}, r"field 'input\[0\].content' is null, allowed is a string"),
    ({"context": {"text": "c"}}, "field 'context' is an object"),
    ({"context": ["a", 5]}, r"field 'context\[1\]' is a number"),
    ({"context": [{"id": "p"}]}, r"field 'context\[0\].text' is null"),
    ({"expected_output": []}, "field 'expected_output' is a list"),
    ({"category": True}, "field 'category' is a boolean"),
    ({"confidence": "high"}, "field 'confidence' is a string, allowed is a number from 0 to 1"),
    ({"confidence": 1.5}, "field 'confidence' is 1.5, allowed is a number from 0 to 1"),
    ({"confidence": True}, "field 'confidence' is a boolean"),
    ({"id": 1.5}, "field 'id' is a number, allowed is a string or a whole number"),
    ({"labels": {}}, "field 'labels' is an object"),
    ({"labels": ["good"]}, r"field 'labels\[0\]' is a string"),
    ({"labels": [{"tone": 2.5}]}, r"field 'labels\[0\].tone' is a number, allowed is a whole number or null"),
    ({"labels": [{"violations": "pii"}]}, r"field 'labels\[0\].violations' is a string"),
]


@over(("row", "message"), WRONG)
def test_a_field_of_the_wrong_type_is_named_with_what_is_allowed(row, message):
    with pytest.raises(CaseError, match=message):
        case_from_dict(({} if message.endswith("missing") else {"response": "r"}) | row)


def test_a_layout_names_every_field_of_a_class_that_exists():
    kinds = {name: kind for module in (result, record) for name, kind in vars(module).items()}
    for name in (*LAYOUTS, *KEYS, *LISTS):
        named = {part.attribute for part in members(kinds[name]) if not part.is_derived} | {KEYS.get(name)}
        assert named >= {field.name for field in fields(kinds[name])}, name


@given(value=st.one_of(results, records))
def test_any_result_and_record_are_read_as_they_were_written(value):
    assert decode(type(value), json.loads(json.dumps(encode(value)))) == value


def test_what_a_later_version_wrote_is_passed_over_and_what_an_earlier_one_lacks_is_its_default():
    row = {"kind": "pii_leakage", "text": "Ann", "start": 0, "end": 3, "reason": "so", "evidence": [], "later": 1}
    assert decode(Finding, row) == Finding("pii_leakage", "Ann", 0, 3, "so")
    with pytest.raises(KeyError, match="kind"):
        decode(Finding, {"later": 1})


def test_a_failed_row_is_written_as_the_contract_says():
    row = result_to_dict(failed(None, Failure("read", "JSONError", "broken"), line=41))
    assert json.loads(json.dumps(row)) == {
        "id": None,
        "line": 41,
        "decision": "review",
        "verdict": None,
        "reasons": [],
        "metrics": None,
        "rubric": None,
        "failures": [{"stage": "read", "error": "JSONError", "message": "broken"}],
    }
