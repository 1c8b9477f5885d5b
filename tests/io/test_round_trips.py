"""What is written is read back: values through dicts, cases through every file format."""

import csv
import io
import json

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from touchstone.core.case import Case, Label, Passage, Turn
from touchstone.core.codec import case_from_dict, case_to_dict, result_from_dict, result_to_dict
from touchstone.core.result import Anchor, Evidence, Failure, Result, Score
from touchstone.io.cases import read_cases
from touchstone.io.formats import read_csv, read_json, read_json_lines, read_parquet

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
names = st.text("abcdefgh", min_size=1, max_size=5)
shares = st.floats(0, 1)
labels = st.builds(
    Label,
    rater=names,
    grades=st.dictionaries(st.sampled_from(["accuracy", "tone"]), st.none() | st.integers(0, 4)),
    violations=st.lists(names, max_size=2).map(tuple),
    reason=texts,
)
passages = st.builds(Passage, texts, st.none() | names)
cases = st.builds(
    Case,
    id=names,
    input=texts | st.lists(st.builds(Turn, names, texts), max_size=3),
    response=texts,
    context=st.none() | st.lists(passages, max_size=3),
    expected_output=st.none() | texts,
    category=st.none() | names,
    confidence=st.none() | shares,
    labels=st.lists(labels, max_size=2),
    metadata=st.dictionaries(names.map("m_{}".format), texts | st.integers() | st.none(), max_size=2),
)
spans = st.integers(0, 99)
anchors = st.builds(
    Anchor,
    kind=st.sampled_from(["money", "claim"]),
    text=texts,
    start=spans,
    end=spans,
    value=texts,
    status=st.sampled_from(["supported", "contradicted"]),
    reason=texts,
    evidence=st.lists(st.builds(Evidence, names, spans, spans, texts), max_size=2).map(tuple),
)
scores = st.fixed_dictionaries(
    {
        metric: st.builds(
            Score,
            metric=st.just(metric),
            score=st.none() | shares,
            reason=texts,
            parts=st.dictionaries(names.map("s_{}".format), shares, max_size=2),
            flag=st.sampled_from([None, "WARN", "FAIL"]),
            anchors=st.none() | st.lists(anchors, max_size=2).map(tuple),
        )
        for metric in ("relevance", "hallucination")
    }
)
results = st.builds(
    Result,
    id=st.none() | names,
    decision=st.sampled_from(["send", "review", "block"]),
    verdict=st.sampled_from([None, "PASS", "WARN", "FAIL"]),
    reasons=st.lists(texts, max_size=2).map(tuple),
    metrics=st.none() | scores,
    failures=st.lists(st.builds(Failure, names, names, texts), max_size=2).map(tuple),
    line=st.none() | st.integers(1, 99),
)


@given(cases)
def test_a_case_comes_back_from_its_dict(case):
    assert case_from_dict(json.loads(json.dumps(case_to_dict(case)))) == case


@given(results)
def test_a_result_comes_back_from_its_dict(result):
    assert result_from_dict(json.loads(json.dumps(result_to_dict(result)))) == result


def read_back(rows):
    return [entry.case for entry in read_cases(rows, file="f")]


@given(cases)
def test_a_case_comes_back_from_json(case):
    line = json.dumps(case_to_dict(case)).encode()
    assert read_back(read_json_lines(io.BytesIO(line), file="f")) == [case]
    assert read_back(read_json(io.BytesIO(b"[" + line + b"]"), file="f")) == [case]


# A table cannot tell an empty cell from one left out, and has no types: each field here is one it can hold.
table_cases = st.builds(
    Case,
    id=names,
    input=texts.map("q{}".format) | st.lists(st.builds(Turn, names, texts), min_size=1, max_size=3),
    response=texts,
    context=st.none() | st.lists(passages, max_size=3),
    expected_output=st.none() | texts.map("e{}".format),
    confidence=st.none() | shares,
    labels=st.lists(labels, max_size=2),
    metadata=st.just({}),
)


@given(st.lists(table_cases, min_size=1, max_size=3, unique_by=lambda case: case.id))
def test_cases_come_back_from_csv(given_cases):
    fields = ("id", "input", "response", "context", "expected_output", "confidence", "labels")
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(fields)
    for case in given_cases:
        row = case_to_dict(case)
        cells = [row.get(field, "") for field in fields]
        table.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in cells])
    assert read_back(read_csv(io.BytesIO(text.getvalue().encode()), file="f")) == given_cases


def with_passage_objects(case):
    """A Parquet column has one type: every passage as an object, every input a list of turns."""
    row = case_to_dict(case)
    context = None if case.context is None else [{"id": p.id, "text": p.text} for p in case.context]
    return {name: value for name, value in row.items() if name != "labels"} | {"context": context}


chat_cases = st.builds(
    Case,
    id=names,
    input=st.lists(st.builds(Turn, names, texts), max_size=3),
    response=texts,
    context=st.none() | st.lists(passages, max_size=3),
    expected_output=st.none() | texts,
    confidence=st.none() | shares,
)


@given(st.lists(chat_cases, min_size=1, max_size=3, unique_by=lambda case: case.id))
def test_cases_come_back_from_parquet(given_cases):
    turns = pa.list_(pa.struct({"role": pa.string(), "content": pa.string()}))
    context = pa.list_(pa.struct({"id": pa.string(), "text": pa.string()}))
    fields = {"id": pa.string(), "input": turns, "response": pa.string(), "context": context}
    schema = pa.schema(fields | {"expected_output": pa.string(), "confidence": pa.float64()})
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([with_passage_objects(case) for case in given_cases], schema=schema), sink)
    assert read_back(read_parquet(io.BytesIO(sink.getvalue()), file="f")) == given_cases
