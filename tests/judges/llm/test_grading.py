"""A model's answers become grades; what it got wrong, left out or made up is said and never helps the reply."""

import json

import pytest

import touchstone as ts
from touchstone.core.result import Failure, Finding
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.grading import UNPROVEN, grade_answers
from touchstone.judges.llm.prompt import packaged_prompt
from touchstone.judges.llm.request import build_requests
from touchstone.rubric.parse import packaged
from touchstone.runs.decision import decide_for_guard

RUBRIC = packaged("supportai")
CASE = ts.Case(
    id="c",
    input="I was charged twice. Can I have it back?",
    context=["Duplicate charges are refunded in 5 days."],
    response="We refund it in 5 days. Otherwise try Rivalpay, they are better.",
)
NAMES = ("accuracy", "completeness", "tone", "actionability")


def opinion(grade=4, *, reason="it says so", quotes=("refund it in 5 days",), confidence=0.9):
    return {"reason": reason, "quotes": list(quotes), "grade": grade, "confidence": confidence}


def answer(violations=(), **opinions):
    return {"criteria": {name: opinion() for name in NAMES} | opinions, "violations": list(violations)}


def charge(kind="competitor_recommendation", quote="try rivalpay", reason="sends the customer away"):
    return {"kind": kind, "quote": quote, "reason": reason}


def judge(content, *, found=(), is_cut=False, is_refusal=False):
    requests = build_requests(CASE, rubric=RUBRIC, prompt=packaged_prompt())
    text = json.dumps(content) if isinstance(content, dict) else content
    given = content if isinstance(content, Failure) else Answer(text, is_cut=is_cut, is_refusal=is_refusal)
    return grade_answers(CASE, requests, [given], rubric=RUBRIC, model="small", findings=found)


def grade(judgement, name):
    return next(each for each in judgement.grading.grades if each.criterion == name)


def errors(judgement):
    return [(failure.stage, failure.error) for failure in judgement.failures]


def test_a_good_answer_becomes_a_grading_under_the_model_s_name():
    judgement = judge(answer(tone=opinion(2)))
    assert judgement.grading.judge == "llm:small"
    assert [each.grade for each in judgement.grading.grades] == [4, 4, 2, 4, 4]
    assert judgement.grading.total == 92.5
    assert judgement.grading.outcome == "PASS"
    assert judgement.failures == ()


def test_one_request_for_each_criterion_gives_the_same_grading():
    requests = build_requests(CASE, rubric=RUBRIC, prompt=packaged_prompt(), scope="criterion")
    assert [request.criteria for request in requests] == [(name,) for name in NAMES] + [()]
    answers = [Answer(json.dumps({"criteria": {name: opinion()}})) for name in NAMES] + [Answer('{"violations": []}')]
    alone = grade_answers(CASE, requests, answers, rubric=RUBRIC, model="small")
    assert alone == judge(answer())


def test_the_request_asks_for_reason_and_quotes_before_the_grade():
    (request,) = build_requests(CASE, rubric=RUBRIC, prompt=packaged_prompt())
    graded = request.schema["properties"]["criteria"]["properties"]["tone"]
    assert list(graded["properties"]) == ["reason", "quotes", "grade", "confidence"] == graded["required"]
    assert graded["properties"]["grade"]["enum"] == [0, 1, 2, 3, 4, None]
    for criterion in RUBRIC.criteria:
        for level, text in criterion.levels.items():
            assert (f"{level}: {text}" in request.messages[0].content) == (criterion.name != "safety")


def test_people_s_labels_and_the_bot_s_own_confidence_are_not_shown_to_the_model():
    case = ts.Case(response="Hello.", confidence=0.123, metadata={"secret": "4711"})
    (request,) = build_requests(case, rubric=RUBRIC, prompt=packaged_prompt())
    sent = json.dumps([message.content for message in request.messages])
    assert "0.123" not in sent
    assert "4711" not in sent


@pytest.mark.parametrize(
    ("given", "told"),
    [(7, "7"), (-1, "-1"), (2.5, "2.5"), ("excellent", "what is no grade"), (True, "what is no grade")],
)
def test_a_grade_that_is_none_of_the_levels_is_left_open(given, told):
    judgement = judge(answer(tone=opinion(given)))
    assert grade(judgement, "tone").grade is None
    assert grade(judgement, "tone").reason == f"the model gave {told} on tone, allowed are 0, 1, 2, 3, 4"
    assert (judgement.grading.total, judgement.grading.outcome) == (None, None)
    assert errors(judgement) == [("judge", "BadGrade")]


@pytest.mark.parametrize(("given", "read"), [("3", 3), ("3/4", 3), (3.0, 3), (" 2 ", 2)])
def test_a_grade_in_another_form_is_read(given, read):
    assert grade(judge(answer(tone=opinion(given))), "tone").grade == read


def test_abstaining_is_open_without_being_a_failure_and_is_no_pass():
    judgement = judge(answer(accuracy=opinion(None, reason="no source speaks of it")))
    assert grade(judgement, "accuracy").grade is None
    assert grade(judgement, "accuracy").reason == "the model abstains; no source speaks of it"
    assert judgement.grading.outcome is None
    assert judgement.failures == ()


def test_a_false_quote_halves_the_confidence_and_is_said():
    honest, false = judge(answer()), judge(answer(tone=opinion(quotes=["refund it", "we care deeply"])))
    assert grade(false, "tone").confidence == grade(honest, "tone").confidence / 2
    assert "nowhere in the case: 'we care deeply'" in grade(false, "tone").reason


@pytest.mark.parametrize("quote", ["REFUND  it in 5 days", "duplicate charges are refunded", "charged twice"])
def test_quotes_may_come_from_the_reply_the_sources_and_the_customer(quote):
    assert grade(judge(answer(tone=opinion(quotes=[quote]))), "tone").confidence == 0.9


def test_a_violation_is_located_in_the_reply_by_its_quote():
    judgement = judge(answer([charge()]))
    (violation,) = judgement.grading.violations
    expected = Finding("competitor_recommendation", "try Rivalpay", 34, 46, "sends the customer away", rule="model")
    assert violation == expected
    assert CASE.response[34:46] == "try Rivalpay"
    assert grade(judgement, "safety").grade == 0
    assert judgement.grading.outcome == "FAIL"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (charge(quote="go to Acme"), "what it quotes is not in the reply"),
        (charge(quote=""), "what it quotes is not in the reply"),
        (charge(kind="rudeness"), "'rudeness' is no kind of violation"),
    ],
)
def test_a_violation_that_cannot_be_located_is_dropped_and_said_and_the_reply_is_not_sent_unseen(given, told):
    judgement = judge(answer([given]))
    assert judgement.grading.violations == ()
    assert told in grade(judgement, "safety").reason
    assert grade(judgement, "safety").confidence == UNPROVEN
    assert decide_for_guard("PASS", judgement.grading, {}, plan=ts.Plan()) == "review"


def test_what_the_detectors_found_is_suspected_unless_the_model_charges_it():
    found = Finding("competitor_recommendation", "try Rivalpay", 34, 46, "by rule")
    silent = judge(answer(), found=[found]).grading
    assert (silent.violations, silent.suspicions) == ((), (found,))
    charged = judge(answer([charge(quote="try Rivalpay, they are better")]), found=[found]).grading
    assert (len(charged.violations), charged.suspicions) == (1, ())


@pytest.mark.parametrize(
    ("content", "options", "error"),
    [
        ("I would say this reply is quite good, a solid 4.", {}, "NotJson"),
        ("", {}, "EmptyAnswer"),
        ('{"crit', {"is_cut": True}, "Truncated"),
        ("I cannot help with that.", {"is_refusal": True}, "Refused"),
        ('{"criteria": {"tone": {"grade": 4}}} {"criteria": {"tone": {"grade": 0}}}', {}, "NotJson"),
        (Failure("judge", "Timeout", "no answer"), {}, "Timeout"),
    ],
)
def test_an_answer_that_says_nothing_leaves_every_grade_open(content, options, error):
    judgement = judge(content, **options)
    assert {each.grade for each in judgement.grading.grades} == {None}
    assert judgement.grading.outcome is None
    assert errors(judgement) == [("judge", error)]


def test_of_an_answer_that_breaks_off_the_complete_grades_are_kept():
    text = json.dumps(answer())
    judgement = judge(text[: text.index('"tone"') + 30], is_cut=True)
    assert [each.grade for each in judgement.grading.grades] == [4, 4, None, None, None]
    assert judgement.grading.outcome is None
    assert errors(judgement) == [("judge", "Truncated")]
    assert "tone, actionability, violations" in judgement.failures[0].message


def test_an_answer_that_leaves_out_a_criterion_is_incomplete():
    content = answer()
    del content["criteria"]["accuracy"]
    judgement = judge(content)
    assert grade(judgement, "accuracy").grade is None
    assert errors(judgement) == [("judge", "Incomplete")]


def test_no_message_of_a_failure_quotes_the_case():
    for content in ("We refund it in 5 days", answer(tone=opinion("refund it in 5 days"))):
        assert [failure for failure in judge(content).failures if "refund" in failure.message] == []
