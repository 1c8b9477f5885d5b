"""The page: one file, valid inside, readable without script, and deaf to what the replies say."""

import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from tests.report.sample import (
    HOSTILE,
    RUN,
    failed_case,
    hostile_view,
    record,
    records,
    scored_case,
    unscored,
    view_of,
)

from touchstone.core.result import Dismissed
from touchstone.report import html as html_module
from touchstone.report.html import render_html
from touchstone.report.markdown import render_markdown

VOID = {"meta", "input", "br", "rect", "line", "circle"}


class Page(HTMLParser):
    """What a page holds: its elements with attributes, whether they close, and its text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def ordinary():
    return render_html(view_of([*records(40), unscored(41)], best=[scored_case("c-0001")]))


def inline(html, tag):
    return re.search(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL).group(1)


def test_the_page_allows_its_own_style_and_script_and_nothing_else(ordinary):
    policy = next(meta["content"] for meta in Page(ordinary).all("meta") if "http-equiv" in meta)
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        digest = b64encode(sha256(inline(ordinary, tag).encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_the_page_names_no_other_place(ordinary):
    page = Page(ordinary)
    named = [
        value
        for _, attrs in page.elements
        for name, value in attrs.items()
        if name in ("src", "href", "action", "data")
    ]
    assert named
    assert all(value.startswith("#") for value in named)
    assert not re.search(r"https?://|url\(|@import", inline(ordinary, "style") + inline(ordinary, "script"))


@pytest.mark.parametrize("make", [lambda: view_of([*records(40)]), hostile_view], ids=["ordinary", "hostile"])
def test_every_id_is_its_own_and_every_link_arrives(make):
    page = Page(render_html(make()))
    ids = Counter(attrs["id"] for _, attrs in page.elements if "id" in attrs)
    assert [name for name, times in ids.items() if times > 1] == []
    for attrs in page.all("a"):
        assert attrs["href"].removeprefix("#") in ids
    referred = [id for _, attrs in page.elements for id in attrs.get("aria-labelledby", "").split()]
    assert set(referred) <= set(ids)


def test_text_from_outside_stays_text():
    page = Page(render_html(hostile_view()))
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert page.all("img") == page.all("iframe") == []
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on") or name == "style"]
    shown = "".join(text for tag, text in page.texts if tag not in ("script", "style"))
    assert "<script>window.hacked = 1</script>" in shown
    assert "{{ 7 * 7 }}" in shown
    assert not set(shown) & set("\u202e\u2066\x1b\x00\x07")


def test_what_a_model_dismissed_is_shown_and_is_text_whatever_it_says():
    case, result = scored_case("c-0001")
    kept = (Dismissed(result.rubric.violations[0], HOSTILE, HOSTILE),)
    graded = replace(result, rubric=replace(result.rubric, violations=(), dismissed=kept))
    page = Page(render_html(view_of(records(3), worst=[(case, graded)])))
    assert page.all("img") == page.all("iframe") == []
    shown = "".join(text for tag, text in page.texts if tag not in ("script", "style"))
    assert "Found by the checks, dismissed by the judge" in shown
    assert "Dismissed: " in shown
    assert len(page.all("script")) == 1


def test_every_table_has_a_caption_and_its_heads_a_scope(ordinary):
    page = Page(ordinary)
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in attrs for attrs in page.all("th"))


def test_every_drawing_is_named_or_left_out_of_the_reading(ordinary):
    drawings = Page(ordinary).all("svg")
    assert drawings
    assert all(attrs.get("role") == "img" or attrs.get("aria-hidden") == "true" for attrs in drawings)


def test_the_page_has_landmarks_a_skip_link_and_a_language(ordinary):
    page = Page(ordinary)
    assert page.all("html")[0]["lang"] == "en"
    assert [len(page.all(tag)) for tag in ("main", "h1", "nav")] == [1, 1, 1]
    assert page.all("a")[0] == {"class": "skip", "href": "#main"}


def test_evidence_and_the_reply_lead_to_each_other(ordinary):
    links = {(attrs.get("id"), attrs["href"]) for attrs in Page(ordinary).all("a")}
    assert ("w1a1", "#w1f1") in links
    assert (None, "#w1a1") in links
    assert ("w1v1", "#w1b1") in links


def test_met_and_missed_are_said_in_words(ordinary):
    words = [text for tag, text in Page(ordinary).texts if tag == "span"]
    assert {"met", "missed", "not met"} <= set(words)


@pytest.mark.parametrize(
    "view",
    [
        lambda: view_of([], worst=[], gate=None),
        lambda: view_of([unscored(1)], worst=[failed_case()]),
        lambda: view_of([record(n, category=None, confidence=None) for n in (1, 2)], worst=[], gate=None),
        lambda: view_of([record(n, draft=d, outcome="PASS" if d == 1 else "FAIL") for n in (1, 2) for d in (1, 2)]),
        lambda: view_of(records(9), run=replace(RUN, finished=None, labels={})),
    ],
    ids=["no replies", "nothing scored", "no categories and no confidence", "several drafts", "interrupted"],
)
def test_a_page_is_made_of_any_run(view):
    made = view()
    page = Page(render_html(made))
    assert "NaN" not in "".join(text for _, text in page.texts)
    assert ("confidence" in {attrs.get("id") for attrs in page.all("section")}) is bool(made.summary.reliability)


def test_a_thousand_cases_with_nine_examples_stay_under_three_megabytes():
    examples = [
        scored_case(f"c-{n:04}", response="You get $50 back within 14 days. " + "word " * 1_000) for n in range(1, 10)
    ]
    page = render_html(view_of(records(1_000), worst=examples))
    assert len(page.encode()) < 3_000_000
    assert page.count("<tr id=") == 1_000


def test_a_page_that_leaves_rows_out_says_so_and_names_the_file_with_all(monkeypatch):
    monkeypatch.setattr(html_module, "MOST_ROWS", 10)
    page = render_html(view_of(records(40)))
    assert page.count("<tr id=") == 10
    assert "10 of 40 replies" in page
    assert "results.jsonl" in page


def test_the_sections_come_in_the_order_in_which_they_are_asked_for(ordinary):
    ids = [attrs.get("id") for attrs in Page(ordinary).all("section")]
    assert ids == ["headline", "patterns", "categories", "examples", "scores", "confidence", "cases", "receipt"]
    assert "each shown by its worst reply" in ordinary


def test_the_same_view_gives_the_same_bytes():
    assert render_html(view_of(records(12))) == render_html(view_of(records(12)))


def test_the_hostile_text_is_what_it_is_meant_to_be():
    assert all(part in HOSTILE for part in ("</script>", "onerror", "\u202e", "\x1b", "@everyone"))


@pytest.mark.parametrize("text", ["\ud800", "\ufffe\uffff", "\x00", "\u202e", ""])
def test_no_text_keeps_the_page_from_being_written(text):
    assert render_html(hostile_view(text)).encode("utf-8")
    assert render_markdown(hostile_view(text)).encode("utf-8")
