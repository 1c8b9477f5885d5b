"""What a check finds in small gold sets made to have one thing wrong."""

import json

import pytest
from tests.tables import over

from touchstone.core import resource
from touchstone.core.case import Case, Label, Turn
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.core.result import Failure
from touchstone.goldset.check import Rules, check_goldset, contradictions
from touchstone.goldset.problems import CODES, KINDS, SEVERITIES, PlacedCase, Unread
from touchstone.rubric.parse import packaged

RUBRIC = packaged("supportai")
GOOD = {"accuracy": 4, "completeness": 4, "tone": 4, "actionability": 4}
POOR = {"accuracy": 1, "completeness": 1, "tone": 2, "actionability": 1}
TOPICS = "invoice password parcel router refund voucher booking warranty contract battery".split()
# Said of a set this small whatever is in it.
ALWAYS = {"too-small", "thin-category"}


def case(topic, **changes):
    fields = {
        "id": f"id-{topic}",
        "input": f"Hello, my {topic} is broken since Monday, what can you do about a {topic}?",
        "response": f"Sorry about your {topic}. Write to us and we will look at the {topic}.",
        "context": [f"Faulty {topic}: write to us."],
        "expected_output": f"I am sorry. Please write to us about your {topic}.",
        "category": "faults",
    }
    return Case(**fields | changes)


def label(grades=GOOD, rater="A", violations=()):
    return Label(rater, dict(grades), tuple(violations))


def found(*cases, unread=(), against=(), **rules):
    items = [PlacedCase(line, each) for line, each in enumerate(cases, 1)]
    others = [PlacedCase(line, each) for line, each in enumerate(against, 1)]
    rules = Rules(rubric=RUBRIC, **{"near": 0.9, **rules})
    findings = check_goldset(items, unread, rules=rules, against=others, other="other.jsonl")
    return {each.code: each for each in findings.problems if each.code not in ALWAYS}


SOUND = [case(topic) for topic in TOPICS]


def test_a_sound_set_has_nothing_to_be_said_of_but_its_size():
    assert found(*SOUND) == {}


FAULTS = {
    "repeated-id": ([case("a"), case("parcel", id="id-a")], (1, 2), "2 cases have the id 'id-a'"),
    "no-input": ([case("a", input=" ")], (1,), "the case has no input"),
    "duplicate": (
        [case("a"), case("b"), case("a", id="2", input=case("a").input.upper())],
        (1, 3),
        "2 cases have the same input and reply",
    ),
    "same-input": (
        [case("a"), case("a", id="2", response="No idea at all, sorry.")],
        (1, 2),
        "2 cases have the same input and 2 different replies",
    ),
    "label-range": ([case("a", labels=[label({**GOOD, "tone": 5})])], (1,), "rater A grades tone 5"),
    "raters-disagree": (
        [case("a", labels=[label(), label({**GOOD, "tone": 2}, "B", ["pii_leakage"])])],
        (1,),
        "tone: B 2, A 4; pii_leakage: B yes, A no",
    ),
    "repeated-rater": ([case("a", labels=[label(), label()])], (1,), "rater A is named 2 times"),
    "contradiction": (
        [
            case(
                "a",
                context=["Returns: you have 14 days after delivery to send it back."],
                expected_output="You have 30 days after delivery to send it back.",
            )
        ],
        (1,),
        "expected_output says 30 days, context[0] says 14 days: “You have 30 days after delivery to send it back.” "
        "against “Returns: you have 14 days after delivery to send it back.”",
    ),
    "no-expected": ([case("a", expected_output=None), *SOUND], (1,), "1 of 11 cases has no expected_output"),
    "no-category": ([case("a", category=""), *SOUND], (1,), "1 of 11 cases has no category"),
    "no-context": ([case("a", context=None), *SOUND], (1,), "1 of 11 cases has no context"),
    "no-response": ([case("a", response=""), *SOUND], (1,), "1 of 11 cases has no response"),
    "copied-replies": (
        [case(topic, response=case(topic).expected_output) for topic in TOPICS[:2]],
        (1, 2),
        "expected_output is the response in each of 2 cases",
    ),
}


@over(("code", "fault"), FAULTS.items(), ids=FAULTS)
def test_each_fault_is_found_with_its_lines_and_nothing_else_is(code, fault):
    cases, lines, message = fault
    problems = found(*cases)
    assert list(problems) == [code]
    assert (problems[code].lines, problems[code].message) == (lines, message)
    assert problems[code].ids == tuple(cases[line - 1].id for line in lines)
    assert problems[code].remedy


def test_context_that_was_searched_for_and_not_found_is_not_missing():
    assert found(case("a", context=[])) == {}


def test_a_row_that_is_no_case_is_named_with_what_to_do():
    unread = [Unread(7, Failure("read", "CaseError", "field 'response' is missing: give the reply"))]
    problem = found(*SOUND, unread=unread)["unreadable"]
    assert (problem.lines, problem.message) == ((7,), "field 'response' is missing: give the reply")


@pytest.mark.parametrize(
    ("labels", "remedy"),
    [
        (label({**GOOD, "tone": -1}), "allowed are 0, 1, 2, 3, 4"),
        (label({**GOOD, "safety": 2}), "allowed are 0, 4"),
        (label({**GOOD, "acuracy": 3}), "nearest is 'accuracy'"),
        (label({**GOOD, "wit": 3}), "its criteria are accuracy, completeness, tone, actionability, safety"),
        (label(violations=["pii_leak"]), "nearest is 'pii_leakage'"),
    ],
)
def test_a_label_the_rubric_does_not_know_comes_with_what_it_allows(labels, remedy):
    assert found(case("a", labels=[labels]))["label-range"].remedy == remedy


NEAR = case("parcel", id="near", input=case("parcel").input.replace("since Monday", "since Tuesday"))


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (label(), label(POOR), "conflicting-labels"),
        (label(), label({**GOOD, "tone": 2}), "conflicting-labels"),
        (label(), label({**GOOD, "tone": 3}), None),
        (label(), label(violations=["pii_leakage"]), "conflicting-labels"),
    ],
)
def test_the_same_case_graded_differently_is_an_error(first, second, code):
    problems = found(case("a", labels=[first]), case("a", id="2", labels=[second]))
    assert set(problems) == {"duplicate", *([code] if code else [])}
    if code:
        assert problems[code].severity == "error"


@pytest.mark.parametrize(
    ("response", "grades", "codes"),
    [
        (NEAR.response, POOR, {"near-duplicate", "near-conflict"}),
        (NEAR.response, GOOD, {"near-duplicate"}),
        ("I do not know anything about that.", POOR, {"near-duplicate"}),
    ],
)
def test_nearly_the_same_case_is_a_warning_and_so_are_other_grades_of_it(response, grades, codes):
    near = case("parcel", id="near", input=NEAR.input, response=response, labels=[label(grades)])
    problems = found(case("parcel", labels=[label()]), case("x", input="Hi"), near, near=0.7)
    assert {code for code in problems if "near" in code} == codes
    assert problems["near-duplicate"].message == "2 cases have nearly the same input, 79 % alike"
    assert problems["near-duplicate"].lines == (1, 3)


def test_the_turns_of_a_chat_are_compared_as_a_whole():
    chat = [Turn("user", "My parcel is late."), Turn("assistant", "Which one?"), Turn("user", "The blue one.")]
    other = [Turn("user", "My router is dead."), Turn("assistant", "Which one?"), Turn("user", "The blue one.")]
    assert set(found(case("a", input=chat), case("b", input=chat))) == {"same-input"}
    assert set(found(case("a", input=chat), case("b", input=other))) == set()


def test_inputs_that_another_file_holds_are_leaks():
    problems = found(case("parcel"), case("router"), against=[case("router", id="x"), NEAR], near=0.75)
    assert (problems["leakage"].lines, problems["leakage"].against) == ((2,), (1,))
    assert problems["leakage"].message == "the input is that of other.jsonl:1"
    assert (problems["near-leakage"].lines, problems["near-leakage"].against) == ((1,), (2,))


@pytest.mark.parametrize(
    ("count", "code"), [(1, "too-small"), (99, "too-small"), (100, None), (150, None), (151, "too-large")]
)
def test_the_size_is_compared_with_what_is_recommended(count, code):
    cases = [PlacedCase(line, case(f"topic{line}")) for line in range(1, count + 1)]
    problems = check_goldset(cases, rules=Rules(rubric=RUBRIC, near=1.0, thin=0)).problems
    assert [each.code for each in problems] == ([code] if code else [])


@pytest.mark.parametrize(("thin", "names"), [(0, []), (2, ["'b'"]), (3, ["'a'", "'b'"]), (4, ["'a'", "'b'", "'c'"])])
def test_categories_with_too_few_cases_are_named(thin, names):
    cases = [case(f"{at}", category=name) for at, name in enumerate("aabccc")]
    items = [PlacedCase(line, each) for line, each in enumerate(cases, 1)]
    problems = check_goldset(items, rules=Rules(rubric=RUBRIC, near=1.0, thin=thin)).problems
    assert [each.message.split()[1] for each in problems if each.code == "thin-category"] == names


def test_what_is_skipped_is_not_looked_for_and_said():
    items = [PlacedCase(1, case("a", context=None)), PlacedCase(2, case("a"))]
    findings = check_goldset(items, rules=Rules(rubric=RUBRIC, skip=("duplicate", "repeated-id")))
    assert {"duplicate", "repeated-id"}.isdisjoint(each.code for each in findings.problems)
    assert findings.skipped == ("repeated-id", "duplicate")


def test_problems_come_gravest_first_and_every_code_has_a_severity_and_remedy():
    assert len(set(CODES)) == len(CODES)
    ranks = [SEVERITIES.index(kind.severity) for kind in KINDS]
    assert ranks == sorted(ranks)
    assert all(kind.meaning and kind.remedy for kind in KINDS)


@pytest.mark.parametrize(
    ("expected", "context", "texts"),
    [
        ("The fee is $5.", ["The fee is $4."], ["$5"]),
        ("The fee is $4.", ["The fee is $4."], []),
        ("The fee is $5.", [], []),
        ("The fee is $5.", None, []),
        ("", ["The fee is $4."], []),
        ("Take the lift to floor 3.", ["Take the lift to floor 2."], []),
    ],
)
def test_figures_of_the_expected_reply_are_held_against_the_context(expected, context, texts):
    case = Case(input="What is the fee?", response="", expected_output=expected, context=context)
    assert [anchor.text for anchor in contradictions(case, plan=Plan())] == texts


@pytest.mark.parametrize("name", ["support", "industries"])
def test_the_shipped_sets_have_no_errors(name):
    rows = [json.loads(row) for row in resource.text(f"goldsets/{name}.jsonl").splitlines()]
    items = [PlacedCase(line, case_from_dict(row)) for line, row in enumerate(rows, 1)]
    findings = check_goldset(items, rules=Rules(rubric=RUBRIC, skip=["contradiction"]))
    assert findings.count("error") == 0
