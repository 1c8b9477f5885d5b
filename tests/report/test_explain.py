"""A case and its result become plain values to show; text from outside cannot do anything to a terminal."""

from io import StringIO

import pytest
from rich.console import Console
from tests.tables import over

from touchstone.core.case import Case
from touchstone.core.result import Anchor, Evidence, Failure, Finding, Grade, Grading, Result, Score
from touchstone.report.explain import Proof, Segment, explain, source_text
from touchstone.report.plain import excerpt, one_line, plain
from touchstone.report.terminal.explanation import show_explanation


def anchor(start, end, status, *evidence):
    return Anchor("money", "…", start, end, "…", status, "because", evidence)


def explained(response, *anchors, **fields):
    score = Score("hallucination", 0.5, "half", flag="WARN", anchors=anchors)
    return explain(Case(response=response, **fields), Result("c", "review", None, ("why",), {"hallucination": score}))


def test_the_reply_is_cut_at_its_anchors_and_each_is_numbered_where_it_ends():
    view = explained("It costs $5 or $6.", anchor(9, 11, "supported"), anchor(15, 17, "unsupported"))
    assert view.reply == (
        Segment("It costs "),
        Segment("$5", "supported", (1,)),
        Segment(" or "),
        Segment("$6", "unsupported", (2,)),
        Segment("."),
    )


def test_a_value_inside_a_claim_shows_its_own_status():
    view = explained("It costs $5 now", anchor(0, 15, "supported"), anchor(9, 11, "contradicted"))
    assert view.reply == (
        Segment("It costs ", "supported"),
        Segment("$5", "contradicted", (2,)),
        Segment(" now", "supported", (1,)),
    )


def test_anchors_that_end_together_are_numbered_together():
    view = explained("costs $5", anchor(0, 8, "supported"), anchor(6, 8, "derived"))
    assert view.reply[-1] == Segment("$5", "derived", (1, 2))


@pytest.mark.slow
def test_a_reply_of_many_anchors_is_cut_in_a_moment():
    many = [anchor(at, at + 1, "supported") for at in range(0, 100_000, 2)]
    assert len(explained("x" * 100_000, *many).reply) == 100_000


def test_an_anchor_stands_beside_its_evidence_in_its_surroundings():
    evidence = Evidence("context[0]", 19, 21, "$5")
    view = explained("$5", anchor(0, 2, "supported", evidence), context=["The fee for all is $5 a year."])
    (found,) = view.anchors
    assert view.proofs(found.evidence) == [Proof("context[0]", "The fee for all is ", "$5", " a year.")]


def violation(start, end, *evidence):
    return Finding("pii_leakage", "…", start, end, "read out", evidence)


def graded(response, *violations, anchors=(), **fields):
    grading = Grading(
        rubric="supportai", version="1.0", judge="offline",
        grades=(Grade("tone", 2, 1.9, 7.5, 0.4, "no thanks"), Grade("warmth", None, None, None, None, "not graded")),
        violations=violations, issues=("should say so",), total=None, outcome="FAIL", reasons=("safety",),
    )  # fmt: skip
    score = Score("hallucination", 0.5, "half", anchors=anchors)
    result = Result("c", "block", "PASS", (), {"hallucination": score}, rubric=grading)
    return explain(Case(response=response, **fields), result)


def test_the_reply_is_cut_at_violations_too_and_each_is_numbered_where_it_ends():
    view = graded("by John Smith, 42", violation(3, 13), violation(15, 17))
    assert view.reply == (
        Segment("by "),
        Segment("John Smith", violates=True, violation_ends=(1,)),
        Segment(", "),
        Segment("42", violates=True, violation_ends=(2,)),
    )


def test_an_anchor_inside_a_violation_keeps_its_status_and_number():
    view = graded("It costs $5 now", violation(3, 15), anchors=(anchor(9, 11, "contradicted"),))
    assert view.reply == (
        Segment("It "),
        Segment("costs ", violates=True),
        Segment("$5", "contradicted", (1,), violates=True),
        Segment(" now", violates=True, violation_ends=(1,)),
    )


def test_violations_that_overlap_are_each_numbered():
    view = graded("abcdef", violation(0, 4), violation(2, 6))
    assert [(part.text, part.violation_ends) for part in view.reply] == [("ab", ()), ("cd", (1,)), ("ef", (2,))]


def test_a_grading_is_shown_with_criteria_outcome_issues_and_violations():
    evidence = Evidence("context[0]", 4, 8, "John")
    view = graded("John", violation(0, 4, evidence), context=["for John only"])
    assert view.rubric_title == "supportai 1.0, judge offline"
    assert view.outcome == "FAIL"
    (found,) = view.grading.violations
    assert view.proofs(found.evidence) == [Proof("context[0]", "for ", "John", " only")]


def test_a_failed_case_is_shown_with_its_failure():
    failed = Result("c", "review", None, (), None, (Failure("score", "ReplyTooLong", "too long"),))
    view = explain(Case(response="r"), failed)
    assert (view.outcome, view.metrics, view.anchors, view.grading) == ("not scored", (), (), None)


CHAT = Case(
    input=[{"role": "user", "content": "first"}, {"role": "user", "content": "last"}],
    response="r",
    context=["c0", "c1"],
    expected_output="e",
)
SOURCES = [
    ("input", "last"), ("input[0]", "first"), ("context[1]", "c1"), ("expected_output", "e"), ("response", "r"),
    ("context[2]", None), ("context[x]", None), ("elsewhere", None), ("labels[0]", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), SOURCES)
def test_a_source_is_found_by_its_name(name, text):
    assert source_text(CHAT, name) == text


HARMFUL = {
    "a colour": ("\x1b[31mred\x1b[0m", "red"),
    "a cleared screen": ("a\x1b[2J\x1b[Hb", "ab"),
    "a window title": ("\x1b]0;owned\x07text", "text"),
    "a link": ("\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"),
    "an eight-bit sequence": ("\x9b31mred", "red"),
    "a lone escape": ("a\x1bb", "ab"),
    "a bell, a backspace, a NUL": ("a\x07\x08\x00b", "ab"),
    "a carriage return": ("safe\rhidden", "safehidden"),
    "a direction override": ("a\u202eb\u2066c\u200fd", "abcd"),
    "a lone surrogate": ("a\ud800b", "ab"),
    "line breaks and tabs": ("a\r\nb\tc", "a\nb\tc"),
    "emoji and right-to-left words": ("👩‍👧 שלום", "👩‍👧 שלום"),
}


@over(("text", "safe"), HARMFUL.values(), ids=HARMFUL.keys())
def test_what_could_harm_a_terminal_is_left_out(text, safe):
    assert plain(text) == safe


def test_no_text_of_a_case_or_its_result_does_anything_to_a_terminal():
    evil = "\x1b[31mx\u202e"
    view = explain(
        Case(id=evil, input=evil, response=evil, context=[evil]),
        Result(
            evil, "review", None, (evil,),
            {"m": Score("m", None, evil, anchors=(
                Anchor("claim", evil, 0, 6, evil, "supported", evil, (Evidence("context[0]", 0, 6, evil),)),))},
            (Failure("score", "…", evil),),
            rubric=Grading(
                evil, evil, evil, (Grade(evil, 1, 1.0, 1.0, 1.0, evil),),
                (Finding("pii_leakage", evil, 0, 6, evil, (Evidence(evil, 0, 6, evil),)),),
                (evil,), 1.0, "FAIL", (evil,),
            ),
        ),
    )  # fmt: skip
    console = Console(file=StringIO(), width=100)
    show_explanation(view, console=console)
    assert not set(console.file.getvalue()) & set("\x1b\u202e")


def test_an_excerpt_is_cut_on_both_sides_and_on_one_line():
    text = "a" * 100 + "\n[14\ndays]\n" + "b" * 100
    before, at, after = excerpt(text, 101, 110, around=5)
    assert (before, at, after) == ("…aaaa ", "[14 days]", " bbbb…")


def test_one_line_has_no_line_breaks_and_keeps_spaces_that_must_not_break():
    assert one_line(" a \r\n\n b\t\x00c ") == " a b c "
    assert one_line("46 \u00a0%") == "46 \u00a0%"


def decided(decision, outcome, *, total=43.75, reasons=(), failures=()):
    grades = (Grade("tone", 3, 3.0, 11.25, 0.9, "kind"),)
    grading = Grading("supportai", "1.0", "j", grades, (), (), total, outcome, reasons, pass_probability=0.04)
    result = Result("c", decision, None, (), {}, rubric=grading, failures=failures)
    return explain(Case(response="No."), result).sentence


@over(
    ("said", "sentence"),
    [
        (
            decided("send", "PASS", total=100.0),
            "It passes with 100 points and can be sent: pass probability",
        ),
        (
            decided("block", "FAIL", reasons=("tone", "score")),
            "It fails on tone and score with 43.75 points and is",
        ),
        (decided("review", None, total=None), "It has no outcome and needs a review: "),
        (
            decided("review", None, failures=(Failure("bot", "Timeout", "late"),)),
            "It could not be scored and needs a",
        ),
        (explained("No.").sentence, "It is not graded and needs a review."),
    ],
)
def test_outcome_and_decision_are_told_in_one_sentence(said, sentence):
    assert said.startswith(sentence)
    assert said.endswith(".")
