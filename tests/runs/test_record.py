import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.runs.records import gold, make

from touchstone.core.case import Case
from touchstone.core.codec import decode, encode
from touchstone.core.plan import Plan
from touchstone.core.result import VIOLATION_KINDS, Failure
from touchstone.runs.evaluate import evaluate, failed
from touchstone.runs.record import Record, record
from touchstone.runs.tags import Tag

CASE = Case(id="c-1", input="How do I cancel?", response="Go to Settings > Plan.", context=[], category="billing")


def test_a_scored_reply_keeps_what_the_figures_need():
    result = evaluate(CASE, plan=Plan())
    made = record(CASE, result, draft=2)
    assert (made.id, made.draft, made.category, made.failed) == ("c-1", 2, "billing", False)
    assert made.outcome == result.rubric.outcome
    assert made.total == result.rubric.total
    assert list(made.grades) == [grade.criterion for grade in result.rubric.grades]


def test_a_reply_that_could_not_be_scored_has_no_outcome_and_is_failed():
    made = record(CASE, failed("c-1", Failure("bot", "Timeout", "no answer in 30 s")))
    assert made.failed
    assert (made.outcome, made.total, made.verdict, made.grades, made.tags) == (None, None, None, {}, ())
    assert not made.fails


def test_a_result_with_failures_never_counts_as_a_pass_whatever_else_it_holds():
    result = replace(evaluate(CASE, plan=Plan()), failures=(Failure("judge", "Timeout", "no answer"),))
    assert record(CASE, result).outcome is None
    assert record(CASE, result).failed


def test_a_result_without_a_grading_is_not_scored():
    assert record(CASE, replace(evaluate(CASE, plan=Plan()), rubric=None)).failed


def test_a_row_that_could_not_be_read_is_known_by_its_line():
    assert record(None, failed(None, Failure("read", "CaseError", "…"), line=41)).id == "line 41"


def test_each_kind_of_violation_is_named_once():
    records = [made for _, _, made in gold()]
    assert any(made.violations for made in records)
    assert all(len(set(made.violations)) == len(made.violations) for made in records)


def test_gold_records_survive_the_way_through_json():
    for _, _, made in gold():
        assert decode(Record, json.loads(json.dumps(encode(made)))) == made


def test_what_is_empty_is_left_out():
    row = encode(make("a", None, category=None, confidence=None, grades={}))
    assert row == {"id": "a", "draft": 1, "decision": "review"}


numbers = st.none() | st.floats(0, 100, allow_nan=False)
records = st.builds(
    Record,
    id=st.text(),
    draft=st.integers(1, 9),
    category=st.none() | st.text(),
    confidence=numbers,
    decision=st.sampled_from(("send", "review", "block")),
    verdict=st.sampled_from((None, "PASS", "WARN", "FAIL")),
    outcome=st.sampled_from((None, "PASS", "FAIL")),
    total=numbers,
    grades=st.dictionaries(st.text(), st.none() | st.integers(0, 4), max_size=5),
    violations=st.lists(st.sampled_from(VIOLATION_KINDS), unique=True).map(tuple),
    tags=st.lists(st.builds(Tag, st.text(), st.sampled_from(("prompt", "policy")), st.text()), max_size=3).map(tuple),
    failed=st.booleans(),
)


@given(records)
def test_any_record_survives_the_way_through_json(made):
    assert decode(Record, json.loads(json.dumps(encode(made)))) == made
