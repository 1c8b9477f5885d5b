"""Other tools' column names become ours, and nothing is taken for something else."""

import pytest
from tests.tables import over

from touchstone.core.errors import CaseError
from touchstone.io.columns import arrange

TOOLS = {
    "deepeval": {"input": "q", "actual_output": "r", "retrieval_context": ["c"], "expected_output": "e"},
    "ragas": {"user_input": "q", "response": "r", "retrieved_contexts": ["c"], "reference": "e"},
    "ragas before 0.2": {"question": "q", "answer": "r", "contexts": ["c"], "ground_truth": "e"},
    "autoevals": {"input": "q", "output": "r", "expected": "e", "context": ["c"]},
    "mlflow with text": {"inputs": "q", "outputs": "r", "expectations": "e", "context": ["c"]},
    "ours": {"input": "q", "response": "r", "context": ["c"], "expected_output": "e"},
}


@pytest.mark.parametrize("row", TOOLS.values(), ids=TOOLS.keys())
def test_each_tool_s_columns_give_the_same_fields(row):
    assert arrange(row, columns={}) == {"input": "q", "response": "r", "context": ["c"], "expected_output": "e"}


OBJECTS = [
    ({"inputs": {"question": "q"}, "outputs": {"response": "r"}}, {"input": "q", "response": "r"}),
    ({"inputs": {"ticket": "q"}, "outputs": "r"}, {"input": "q", "response": "r"}),
    ({"outputs": {"response": "r", "tokens": 9}}, {"response": "r"}),
    (
        {"inputs": {"messages": [{"role": "user", "content": "q"}]}, "outputs": "r"},
        {"input": [{"role": "user", "content": "q"}], "response": "r"},
    ),
    ({"outputs": "r", "expectations": {"expected_response": "e"}}, {"response": "r", "expected_output": "e"}),
    ({"outputs": "r", "expectations": {"expected_facts": ["f"]}}, {"response": "r"}),
]


@pytest.mark.parametrize(("row", "fields"), OBJECTS)
def test_an_mlflow_object_gives_the_text_inside_and_stays_as_metadata(row, fields):
    arranged = arrange(row, columns={})
    assert {name: arranged[name] for name in fields} == fields
    assert {name: value for name, value in arranged.items() if name not in fields} == {
        name: value for name, value in row.items() if isinstance(value, dict)
    }


def test_an_mlflow_object_without_a_known_key_is_refused_with_the_known_ones():
    with pytest.raises(CaseError, match=r"column 'inputs' is an object without one of the keys question"):
        arrange({"inputs": {"a": "x", "b": "y"}, "outputs": "r"}, columns={})


def test_ragas_messages_get_the_roles_of_their_types():
    turns = [{"content": "Hi", "type": "human"}, {"content": "Hello", "type": "ai"}, {"content": "…", "type": "tool"}]
    arranged = arrange({"user_input": turns, "response": "r"}, columns={})
    assert [turn["role"] for turn in arranged["input"]] == ["user", "assistant", "tool"]


def test_our_own_name_wins_over_an_alias_which_becomes_metadata():
    assert arrange({"response": "ours", "answer": "theirs"}, columns={}) == {"response": "ours", "answer": "theirs"}


def test_an_alias_counts_when_our_own_column_is_null():
    assert arrange({"response": None, "answer": "theirs"}, columns={}) == {"response": "theirs"}


def test_two_aliases_that_differ_are_refused_and_both_named():
    with pytest.raises(CaseError, match=r"columns 'actual_output' and 'answer' both give 'response' and differ"):
        arrange({"answer": "a", "actual_output": "b"}, columns={})


def test_two_aliases_that_agree_are_one_value():
    assert arrange({"answer": "a", "actual_output": "a"}, columns={}) == {"response": "a"}


def test_the_user_s_mapping_wins_over_our_own_name():
    row = {"response": "HTTP 200", "reply": "r"}
    assert arrange(row, columns={"reply": "response"}) == {"response": "r"}


def test_a_mapped_column_is_nothing_else_as_well():
    row = {"input": "e", "answer": "q", "response": "r"}
    columns = {"input": "expected_output", "answer": "input"}
    assert arrange(row, columns=columns) == {"input": "q", "response": "r", "expected_output": "e"}


@pytest.mark.parametrize("row", [{}, {"response": None}, {"input": "q"}, {"reply": "r"}])
def test_a_row_without_a_reply_is_refused(row):
    with pytest.raises(CaseError, match="field 'response' is missing"):
        arrange(row, columns={})


def test_every_other_column_is_kept_as_metadata():
    row = {"response": "r", "channel": "mail", "agent": None, "tags": ["a"]}
    assert arrange(row, columns={}) == row


CELLS = [
    ({"context": '["a", "b"]'}, {"context": ["a", "b"]}),
    ({"contexts": "['a', \"it's\"]"}, {"context": ["a", "it's"]}),
    ({"context": '[{"id": "p", "text": "a"}]'}, {"context": [{"id": "p", "text": "a"}]}),
    ({"context": "[]"}, {"context": []}),
    ({"context": "[1] Refunds take 14 days."}, {"context": "[1] Refunds take 14 days."}),
    ({"context": "plain"}, {"context": "plain"}),
    ({"context": ""}, {}),
    ({"input": '[{"role": "user", "content": "q"}]'}, {"input": [{"role": "user", "content": "q"}]}),
    ({"input": "[urgent] where is it?"}, {"input": "[urgent] where is it?"}),
    ({"input": '{"error": 500} what is this?'}, {"input": '{"error": 500} what is this?'}),
    ({"input": '["order 5"] is missing'}, {"input": '["order 5"] is missing'}),
    ({"inputs": '{"question": "q"}'}, {"input": "q"}),
    ({"confidence": "0.5"}, {"confidence": 0.5}),
    ({"confidence": ""}, {}),
    ({"id": "007"}, {"id": "007"}),
    ({"labels": '[{"rater": "a", "tone": 4}]'}, {"labels": [{"rater": "a", "tone": 4}]}),
    ({"note": "", "team": "x"}, {"team": "x"}),
]


@over(("cells", "fields"), CELLS)
def test_a_cell_of_text_gets_the_type_of_its_field(cells, fields):
    assert arrange({"response": "r", **cells}, columns={}, is_text=True) == {"response": "r", **fields}


@pytest.mark.parametrize("column", ["response", "answer", "outputs"])
def test_an_empty_reply_cell_is_an_empty_reply(column):
    assert arrange({column: "", "input": "q"}, columns={}, is_text=True) == {"response": "", "input": "q"}


def test_a_reply_that_looks_like_json_stays_text():
    assert arrange({"response": '["a"]'}, columns={}, is_text=True) == {"response": '["a"]'}


BROKEN_CELLS = [
    ({"context": '["a", '}, "column 'context': not valid JSON"),
    ({"labels": '{"rater": '}, "column 'labels': not valid JSON"),
    ({"input": '[{"role": "user", "content": "q"}'}, "column 'input': not valid JSON"),
    ({"confidence": "high"}, "column 'confidence' is not a number"),
    ({"confidence": "0,5"}, "column 'confidence' is not a number"),
]


@pytest.mark.parametrize(("cells", "message"), BROKEN_CELLS)
def test_a_cell_that_is_broken_is_refused_without_quoting_it(cells, message):
    with pytest.raises(CaseError, match=message) as caught:
        arrange({"response": "r", **cells}, columns={}, is_text=True)
    assert "high" not in str(caught.value)
