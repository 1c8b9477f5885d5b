"""What a reply was checked against: every place that speaks of it is marked once, and long texts are cut."""

from touchstone.core.case import Case, Turn
from touchstone.core.result import Anchor, Evidence, Finding, Result, Score
from touchstone.service.pages.sources import MOST_CHARS, MOST_IN_ALL, Mark, sources_of

CASE = Case(
    id="c",
    input=[Turn("user", "Hi"), Turn("agent", "Yes?"), Turn("user", "When?")],
    response="In 30 days.",
    context=["It takes 14 days.", {"id": "faq-2", "text": "Free of charge."}],
    expected_output="In 14 days.",
)


def result_with(*evidence):
    anchor = Anchor("duration", "30 days", 3, 10, "30 day", "contradicted", "", tuple(evidence))
    return Result("c", "block", "FAIL", (), {"hallucination": Score("hallucination", 1.0, "", {}, None, (anchor,))})


def texts(sources):
    return {source.name: "".join(piece.text for piece in source.pieces) for source in sources}


def test_every_text_is_there_under_the_name_that_evidence_gives_it():
    sources = sources_of(CASE, None)
    assert texts(sources) == {
        "input[0]": "Hi",
        "input[1]": "Yes?",
        "input": "When?",
        "context[0]": "It takes 14 days.",
        "context[1]": "Free of charge.",
        "expected_output": "In 14 days.",
    }
    assert [source.title for source in sources][3:5] == ["Passage 1", "Passage 2 · faq-2"]


def test_evidence_is_marked_and_leads_back_to_its_anchor():
    found = sources_of(CASE, result_with(Evidence("context[0]", 9, 16, "14 days")))
    (marked,) = [piece for source in found for piece in source.pieces if piece.is_marked]
    assert marked.text == "14 days"
    assert marked.ends == (Mark("f", 1),)


def test_overlapping_evidence_of_one_anchor_has_one_number_in_each_source():
    found = sources_of(CASE, result_with(Evidence("context[0]", 3, 16, ""), Evidence("context[0]", 9, 16, "")))
    ends = [mark for source in found for piece in source.pieces for mark in piece.ends]
    assert ends == [Mark("f", 1)]


def test_links_lead_to_the_first_place_of_several():
    found = sources_of(CASE, result_with(Evidence("input", 0, 4, ""), Evidence("context[0]", 9, 16, "")))
    ends = [mark for source in found for piece in source.pieces for mark in piece.ends]
    assert ends == [Mark("f", 1), Mark("f", 1, is_first=False)]


def test_without_a_result_nothing_is_marked():
    assert not any(piece.is_marked for source in sources_of(CASE, None) for piece in source.pieces)


def test_long_texts_are_cut_and_say_so_and_can_be_had_whole():
    case = Case(id="c", input="q", response="r", context=["x" * 10_000] * 20)
    cut = sources_of(case, None)
    assert all(len(text) <= MOST_CHARS for text in texts(cut).values())
    assert sum(len(text) for text in texts(cut).values()) <= MOST_IN_ALL
    assert "more characters" in cut[1].cut
    whole = texts(sources_of(case, None, is_whole=True))
    assert {len(text) for name, text in whole.items() if name != "input"} == {10_000}


def test_a_violations_evidence_is_marked_as_such():
    from dataclasses import replace

    from touchstone.core.result import Grading

    violation = Finding("hallucination", "30 days", 3, 10, "", (Evidence("context[0]", 9, 16, "14 days"),))
    grading = Grading("r", "1", "offline", (), (violation,), (), None, "FAIL", ())
    found = sources_of(CASE, replace(result_with(), rubric=grading))
    assert [mark for source in found for piece in source.pieces for mark in piece.ends] == [Mark("b", 1)]
