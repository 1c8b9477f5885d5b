"""The run for machines and pull requests: JUnit any parser reads, Markdown that does nothing, JSON with numbers."""

import json
from xml.etree import ElementTree as Tree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.report.sample import HOSTILE, hostile_view, record, records, unscored, view_of

from touchstone.report.junit import render_junit
from touchstone.report.markdown import render_markdown
from touchstone.report.plain import literal, prose
from touchstone.report.run import run_to_dict
from touchstone.runs.gate import GateRuling

ACTIVE = {"html_inline", "html_block", "link_open", "image", "heading_open", "fence", "code_block"}


def tokens(markdown):
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        yield token
        yield from token.children or ()


@pytest.mark.parametrize(
    "text", [HOSTILE, "# a", "1. a", "- a", "+ a", "a\n\n# b", "<b>", "![i](u)", "`", "``a|b", "---"]
)
def test_no_text_from_outside_does_anything_in_markdown(text):
    for line in (
        f"- {prose(text)}",
        f"x {literal(text)}",
        f"| h |\n|---|\n| {prose(text)} |",
        f"| h |\n|---|\n| {literal(text)} |",
    ):
        found = list(tokens(line))
        assert {token.type for token in found} & ACTIVE == set()
        assert sum(token.type == "list_item_open" for token in found) <= 1
        assert sum(token.type == "td_open" for token in found) == line.count("| h |")


@pytest.mark.parametrize(
    "text", ["@everyone", "#12", "https://evil.example", "www.evil.example", "me@evil.example", "GH-12"]
)
def test_no_text_from_outside_is_linked_after_markdown_was_read(text):
    assert "\u200b" in prose(text)


def test_the_summary_for_a_pull_request_is_short_and_says_what_counts():
    text = render_markdown(view_of(records(90)))
    assert "❌ **Release gate: closed.**" in text
    assert "| pass rate | **66.7 %** |" in text
    assert "❌ missed" in text
    assert "| missed question | 30 (100.0 %) | prompt | `c-0003`, `c-0006`, `c-0009` |" in text
    assert len(text) < 4_000


def test_junit_and_the_report_say_why_a_reply_was_not_scored():
    from touchstone.report.html import render_html

    view = view_of([record(1), unscored(2)])
    (error,) = Tree.fromstring(render_junit(view)).iter("error")
    assert error.get("message") == "could not be scored: the bot <b>gave</b> no reply"
    assert "the bot &lt;b&gt;gave&lt;/b&gt; no reply" in render_html(view)


def test_a_summary_full_of_hostile_text_has_only_our_own_headings():
    found = list(tokens(render_markdown(hostile_view())))
    kinds = {token.type for token in found}
    assert kinds & (ACTIVE - {"heading_open"}) == set()
    assert sum(token.type == "heading_open" for token in found) == 3


def test_each_reply_is_a_test_case_and_the_unscored_is_an_error():
    root = Tree.fromstring(render_junit(view_of([*records(9), unscored(10), record(11, outcome=None, total=None)])))
    replies, gate = root
    assert [replies.get(name) for name in ("tests", "failures", "errors")] == ["11", "3", "2"]
    assert (
        replies.find("testcase[@name='c-0010']/error").get("message")
        == "could not be scored: the bot <b>gave</b> no reply"
    )
    assert (
        replies.find("testcase[@name='c-0011']/error").get("message")
        == "left open by the judge: without an outcome it has not passed"
    )
    why = replies.find("testcase[@name='c-0009']/failure").get("message")
    assert why == "total 24.5; violation: hallucination; missed question; invented number"
    assert gate.get("name") == "release gate"
    assert int(gate.get("failures")) >= 1


def test_junit_and_markdown_say_what_keeps_a_reply_from_being_sent():
    why = ("block: reply says 30 days", "pass probability 0.03", "violation hallucination (value.contradicted): so")
    view = view_of([*records(9), record(10, why=why, outcome="FAIL", decision="block")])
    failure = Tree.fromstring(render_junit(view)).find(".//testcase[@name='c-0010']/failure")
    assert failure.get("message").endswith("block: reply says 30 days")
    assert failure.text.splitlines() == ["decision block, outcome FAIL, verdict PASS", *why]
    assert "- `c-0010`: block: reply says 30 days" in render_markdown(view)


def test_an_undecided_gate_is_said_to_be_so_and_what_would_decide_it():
    view = view_of(
        [
            *(record(1, id=f"p{at}", confidence=0.9) for at in range(9)),
            record(10, confidence=0.9, outcome=None, total=None, grades={}),
        ]
    )
    text = render_markdown(view)
    assert "❔ **Release gate: undecided.**" in text
    assert "undecided: scored, 9 of 10 replies have an outcome" in text
    assert "touchstone review" in text
    assert "Pass rate: 90.0 to 100.0" in text.replace("\u00a0", " ")
    gate = Tree.fromstring(render_junit(view))[1]
    assert {each.get("type") for each in gate.iter("failure")} >= {"undecided"}
    assert run_to_dict(view)["gate"]["standing"] == "undecided"


def test_a_gate_without_conditions_is_a_failure_and_no_gate_is_no_suite():
    assert Tree.fromstring(render_junit(view_of(records(3), gate=GateRuling(()))))[1].get("failures") == "1"
    assert len(Tree.fromstring(render_junit(view_of(records(3), gate=None)))) == 1


@settings(max_examples=30)
@given(st.text(st.characters(codec=None), max_size=40))
def test_junit_is_valid_xml_whatever_the_texts_are(text):
    root = Tree.fromstring(render_junit(hostile_view(text)).encode("utf-8"))
    assert root.get("tests") == "14"


def test_the_json_holds_numbers_and_is_plain_json():
    row = json.loads(json.dumps(run_to_dict(view_of(records(90))), allow_nan=False))
    measure = row["summary"]["measures"][0]
    assert (measure["name"], measure["met"]) == ("pass_rate", False)
    assert measure["value"] == pytest.approx(2 / 3)
    assert row["gate"]["open"] is False
    assert row["patterns"][0]["owners"] == {"prompt": 30}
    assert row["run"]["receipt"]["rubric"] == "supportai"
    assert row["summary"]["criteria"][0]["counts"]["4"] == 60


def test_the_json_of_a_run_with_nothing_scored_holds_nulls():
    row = json.loads(json.dumps(run_to_dict(view_of([unscored(1)], worst=[], gate=None)), allow_nan=False))
    assert row["gate"] is None
    assert row["summary"]["measures"][0]["value"] is None
