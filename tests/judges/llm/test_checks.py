"""What was checked offline becomes figures and questions, with sources by the names of the model's blocks."""

import touchstone as ts
from touchstone.core.result import Anchor, Evidence, Finding
from touchstone.judges.llm.checks import (
    MOST_QUESTIONS,
    MOST_VALUES,
    Question,
    checked_of,
    describe_questions,
    describe_values,
)


def anchor(text="30 days", status="supported", *, kind="duration", start=0, evidence=(), reason="because"):
    return Anchor(kind, text, start, start + len(text), text, status, reason, tuple(evidence))


def there(source="context[1]", text="30 days", path=None):
    return Evidence(source, 0, len(text), text, path)


def test_figures_stand_by_what_became_of_them_with_where_they_stand():
    told = describe_values(
        [
            anchor("17-inch", evidence=[there("context[8]", "17-inch", "items[0].screen")]),
            anchor("May 17", evidence=[there("context[7]", "2024-05-17", "date")]),
            anchor("$25.50", "derived", reason="20 + 5.5 = 25.5"),
            anchor("30 days", "contradicted", evidence=[there(text="14 days")]),
            anchor("$300", "unsupported"),
            anchor("8GB", evidence=[there("input", "8GB")]),
            anchor("3 PM", evidence=[there("input[2]", "3 PM")]),
        ]
    )
    assert told.splitlines() == [
        "stated: 17-inch (source 9 items[0].screen), May 17 (source 8 date: 2024-05-17), 8GB (customer's message), "
        "3 PM (earlier turn 3)",
        "follows: $25.50 (20 + 5.5 = 25.5)",
        "stated otherwise: 30 days (source 2: 14 days)",
        "stated nowhere: $300",
    ]


def test_a_figure_that_stands_twice_is_listed_once_and_a_long_table_is_cut():
    assert describe_values([anchor(), anchor(start=40)]) == "stated: 30 days"
    many = [anchor(f"{number} days") for number in range(MOST_VALUES + 3)]
    assert describe_values(many).endswith("\n3 more are not listed")


def test_questions_have_numbers_kinds_words_and_sources():
    wrong = Finding("hallucination", "30 days", 0, 7, "reply says 30 days, context[1] says 14 days", (there(),))
    worded = Finding("unauthorized_promise", "We promise.", 0, 11, "commits to what no source grants")
    assert describe_questions([Question(wrong), Question(worded)]).splitlines() == [
        "1. hallucination: reply says 30 days, source 2 says 14 days (source 2)",
        '2. unauthorized_promise: "We promise.": commits to what no source grants',
    ]


def test_all_that_would_hold_the_reply_back_is_asked_about():
    case = ts.Case(
        input="How long do I have to return my headphones, and what does it cost?",
        response="You have 30 days to return your headphones. Returns cost $300.",
        context=["You have 14 days after delivery to return headphones."],
    )
    result = ts.score(case)
    checked = checked_of(result)
    assert [value.text for value in checked.values] == ["30 days", "$300"]
    found = [each.text for each in (*result.rubric.violations, *result.rubric.suspicions)]
    assert "30 days" in found
    asked = {question.finding.text: question.is_suspected for question in checked.questions}
    assert asked == {"30 days": True, "$300": "$300" in found}


def test_a_sound_reply_is_asked_nothing_about_and_questions_have_a_limit():
    sound = ts.Case(input="How long?", response="You have 14 days.", context=["You have 14 days."])
    assert checked_of(ts.score(sound)).questions == ()
    many = " ".join(f"Plan {number} costs ${number}." for number in range(101, 131))
    flooded = ts.Case(input="What do the plans cost?", response=many, context=["Plans are listed on the site."])
    questions = checked_of(ts.score(flooded)).questions
    assert len(questions) > MOST_QUESTIONS
    assert len(describe_questions(questions).splitlines()) == MOST_QUESTIONS
