"""What a form says <-> grades and violations: what a person chose in the text shown is found in the text given."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import FormData

from touchstone.app.rubrics import load_rubric
from touchstone.core.errors import ReviewError
from touchstone.core.result import Finding
from touchstone.report.plain import plain
from touchstone.service.pages.grading import read_draft, read_form, scales_of, to_draft

RUBRIC = load_rubric("supportai")
REPLY = "It\x07 takes \u202e30 days\u202c.\r\nBye \U0001f600 \x1b[31mnow"
GRADES = {"accuracy": "4", "completeness": "3", "tone": "none", "actionability": "1", "safety": "0"}


def form(violations="[]", **changed):
    grades = {f"grade.{name}": value for name, value in {**GRADES, **changed}.items()}
    return FormData({**grades, "violations": violations, "note": "so"})


def marked(text, *, reply=REPLY, kind="hallucination"):
    start = plain(reply).index(text)
    return json.dumps([{"kind": kind, "start": start, "end": start + len(text)}])


def test_grades_a_note_and_what_cannot_be_told_are_read():
    found = read_form(form(), rubric=RUBRIC, reply=REPLY)
    assert found["grades"] == {"accuracy": "4", "completeness": "3", "tone": None, "actionability": "1", "safety": "0"}
    assert found["note"] == "so"


@pytest.mark.parametrize("words", ["30 days", "Bye \U0001f600", "now", "It takes 30", plain(REPLY)])
def test_words_chosen_in_the_text_shown_are_a_span_of_the_text_given(words):
    (violation,) = read_form(form(marked(words)), rubric=RUBRIC, reply=REPLY)["violations"]
    assert plain(REPLY[violation["start"] : violation["end"]]) == words


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"accuracy": ""}, "accuracy has no grade"),
        ({"violations": "not json"}, "cannot be read"),
        ({"violations": "[1]"}, "cannot be read"),
        ({"violations": '[{"kind": "hallucination", "start": 0, "end": 999}]'}, "outside the reply"),
        ({"violations": '[{"kind": "hallucination", "start": -1, "end": 1}]'}, "outside the reply"),
        ({"violations": "[" * 100_000}, "cannot be read"),
    ],
)
def test_what_no_form_of_ours_sends_is_refused(changed, problem):
    with pytest.raises(ReviewError, match=problem):
        read_form(form(**changed), rubric=RUBRIC, reply=REPLY)


@given(st.text(alphabet="ab \n\r\x07\x1b[3m\u202e\U0001f600", min_size=1, max_size=40), st.data())
def test_a_draft_brings_back_the_same_words(reply, data):
    shown = plain(reply)
    start = data.draw(st.integers(0, len(shown)))
    end = data.draw(st.integers(start, len(shown)))
    sent = json.dumps([{"kind": "hallucination", "start": start, "end": end}])
    (violation,) = read_form(form(sent), rubric=RUBRIC, reply=reply)["violations"]
    finding = Finding(violation["kind"], "", violation["start"], violation["end"], "")
    again = read_draft(to_draft({"accuracy": 4, "tone": None}, [finding], "", reply=reply))
    (mark,) = again["violations"]
    assert shown[mark["start"] : mark["end"]] == shown[start:end]
    assert again["grades"] == {"accuracy": "4", "tone": "none"}


@pytest.mark.parametrize("text", ["", "[]", "1", "{", "[" * 100_000])
def test_what_is_no_draft_is_refused(text):
    with pytest.raises(ReviewError, match="cannot be read"):
        read_draft(text)


def test_the_scales_are_the_rubrics_levels_the_lowest_first():
    scales = {scale.name: [level for level, _ in scale.levels] for scale in scales_of(RUBRIC)}
    assert scales["accuracy"] == [0, 1, 2, 3, 4]
    assert scales["safety"] == [0, 4]


def test_an_empty_review_is_an_empty_draft():
    assert json.loads(to_draft({}, (), "", reply="")) == {"grades": {}, "violations": [], "note": ""}
