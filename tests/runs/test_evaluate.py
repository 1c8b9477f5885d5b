"""One case in, one result out: scores, verdict and decision, or a failure that says what went wrong."""

import pytest

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.result import Failure
from touchstone.runs.evaluate import evaluate, failed

QUESTION = "What about my refund?"


def result_of(**fields):
    return evaluate(Case(**{"input": QUESTION, "response": "The refund takes 14 days."} | fields), plan=Plan())


def test_a_reply_its_evidence_supports_passes_with_every_metric():
    result = result_of(context=["Every refund takes 14 days."])
    assert (result.verdict, result.reasons, result.failures) == ("PASS", (), ())
    assert list(result.metrics) == ["relevance", "completeness", "hallucination"]
    assert all(score.metric == name for name, score in result.metrics.items())


VERDICTS = [
    ({"context": ["The refund takes 30 days."]}, "FAIL", ("hallucination 1.00 > 0.50",)),
    ({"response": "Hello!", "context": ["Hello!"]}, "FAIL", ("relevance 0.00 < 0.10", "completeness 0.00 < 0.60")),
    ({"input": "The refund, the fee?", "context": ["It takes 14 days."]}, "WARN", ("completeness 0.50 < 0.60",)),
    ({"context": None}, None, ("hallucination not scored: neither context nor expected_output to check against",)),
    ({"input": "", "context": ["The refund takes 14 days."]}, None,
     ("relevance not scored: no customer message to compare with",
      "completeness not scored: no customer message to cover")),
    ({"input": "", "context": ["The refund takes 30 days."]}, "FAIL",
     ("hallucination 1.00 > 0.50", "relevance not scored: no customer message to compare with",
      "completeness not scored: no customer message to cover")),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "verdict", "reasons"), VERDICTS)
def test_the_verdict_comes_with_its_reasons(fields, verdict, reasons):
    result = result_of(**fields)
    assert (result.verdict, result.reasons) == (verdict, reasons)


def test_a_case_without_question_still_has_its_facts_checked():
    result = result_of(input="", context=["The refund takes 14 days."])
    scores = {name: score.score for name, score in result.metrics.items()}
    assert scores == {"relevance": None, "completeness": None, "hallucination": 0.0}


@pytest.mark.parametrize("context", [None, []], ids=["not recorded", "nothing found"])
def test_the_expected_reply_counts_only_where_context_was_not_recorded(context):
    score = result_of(context=context, expected_output="The refund takes 14 days.").metrics["hallucination"]
    assert score.score == (0.0 if context is None else 1.0)


def test_a_failed_verdict_is_blocked():
    assert result_of(context=["The refund takes 30 days."]).decision == "block"


LIMIT = Plan().max_reply_chars


@pytest.mark.parametrize(("length", "is_scored"), [(LIMIT, True), (LIMIT + 1, False)])
def test_a_reply_longer_than_the_limit_fails(length, is_scored):
    result = result_of(response=" " * length, context=["The refund takes 14 days."])
    assert (result.metrics is not None, result.failures == ()) == (is_scored, is_scored)


def test_a_reply_that_is_too_long_is_a_failure_that_says_so():
    result = result_of(response="x" * 100_001, id="c-17")
    (failure,) = result.failures
    assert (failure.stage, failure.error) == ("score", "ReplyTooLong")
    assert failure.message.startswith("the reply has 100,001 characters, at most 100,000")
    assert (result.id, result.decision, result.verdict, result.metrics) == ("c-17", "review", None, None)


def test_a_row_that_failed_goes_to_a_person_and_keeps_its_place():
    failure = Failure("read", "CaseError", "field 'response' is missing")
    result = failed(None, failure, line=41)
    assert (result.decision, result.verdict, result.metrics, result.line) == ("review", None, None, 41)
    assert result.failures == (failure,)


def test_the_plan_decides():
    case = Case(input="The refund, the fee?", response="The refund takes 14 days.", context=["A refund takes 14 days."])
    assert evaluate(case, plan=Plan()).verdict == "WARN"
    assert evaluate(case, plan=Plan(completeness_warn=0.5)).verdict == "PASS"
