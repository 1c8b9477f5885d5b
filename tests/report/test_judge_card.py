"""The judge card in a real browser: nothing is loaded or run, both themes can be read, a phone fits."""

import random

import pytest
from tests.components import axe_core
from tests.report.test_browser import CONTRASTS, opened
from tests.trust.test_trust import RUBRIC, made

from touchstone.report.html import render_card
from touchstone.report.judge import TrustReport
from touchstone.trust.trust import trust

pytestmark = pytest.mark.slow
HOSTILE = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</title></svg><svg onload=window.hacked=1>",
    "{{ 7 * 7 }} \x1b[31m \u202egnillib",
)


def card(*, judge="offline, then llm:qwen2.5-7b-instruct #3f2a90c1", categories=("billing", "shipping"), n=90, bias=0):
    """A judge that is mostly right and surer than it should be, on so many labelled cases."""
    draw = random.Random(7)

    def near(grade):
        return max(0, min(4, grade + draw.choice((-1, 0, 0, 0, 1)) + bias))

    pairs = []
    for at in range(n):
        people = tuple(draw.choice((1, 2, 3, 4, 4)) for _ in range(4))
        judged = tuple(map(near, people)) if at % 11 else (None, 3, 3, 3)
        pairs.append(
            made(
                people,
                judged,
                id=f"c{at}",
                category=categories[at % len(categories)],
                words=draw.randrange(5, 200),
                confidence=draw.choice((0.3, 0.6, 0.9)),
            )
        )
    remarks = ["3 cases could not be graded, or only in part"]
    return render_card(TrustReport(trust(pairs, judge=judge, rubric=RUBRIC), "week-41.jsonl", notes=remarks))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("card") / "card.html"
    file.write_text(card(), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    return axe_core(tmp_path_factory.mktemp("axe"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("other", [False, True], ids=["as the system", "toggled"])
def test_the_card_can_be_read_in_both_themes(browser, page_file, scheme, other):
    with opened(browser, page_file, color_scheme=scheme) as page:
        if other:
            page.click("#theme")
        assert page.evaluate(CONTRASTS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_amiss(browser, page_file, axe, scheme):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.evaluate(axe)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    context.close()
    assert [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found["violations"]] == []


@pytest.mark.parametrize("width", [320, 390, 768, 1920])
def test_the_card_never_scrolls_sideways(browser, page_file, width):
    with opened(browser, page_file, viewport={"width": width, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_that_a_name_says_is_run_or_loaded(browser, tmp_path):
    file = tmp_path / "card.html"
    file.write_text(card(judge=HOSTILE[0], categories=HOSTILE), encoding="utf-8")
    with opened(browser, file) as page:
        page.wait_for_timeout(200)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, [onload], [onerror]").count() == 0
        assert "{{ 7 * 7 }}" in page.content()
        assert "\x1b" not in page.content()


def test_a_set_that_is_too_small_and_a_judge_that_left_all_open_still_make_a_card(browser, tmp_path):
    file = tmp_path / "card.html"
    for n, told in ((3, "too little to say"), (1, "too little to say")):
        file.write_text(card(n=n), encoding="utf-8")
        with opened(browser, file) as page:
            assert told in page.locator(".ruling").inner_text()


def test_on_paper_the_card_is_black_on_white(browser, page_file):
    with opened(browser, page_file, color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate(CONTRASTS) == []
