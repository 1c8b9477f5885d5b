"""The page in a real browser: filtering, sorting, keyboard, print and both themes; hostile replies stay text."""

from contextlib import contextmanager

import pytest
from playwright.sync_api import expect
from tests.report.sample import CATEGORIES, hostile_view, records, scored_case, unscored, view_of

from touchstone.report.html import render_html

pytestmark = pytest.mark.slow
# WCAG 2.2, success criterion 1.4.3: 4.5 to 1, or 3 to 1 for text from 24 px on, or from 18.66 px on if bold.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => { for (let e = element; e; e = e.parentElement) {
    const colour = rgba(getComputedStyle(e).backgroundColor);
    if (colour[3] === 255) return colour; } return [255, 255, 255]; };
  const poor = [];
  for (const element of document.querySelectorAll("body *:not(script, style, svg *, option)")) {
    if (![...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const [a, b] = [light(rgba(style.color)), light(ground(element))].sort((x, y) => y - x);
    const need = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if ((a + 0.05) / (b + 0.05) < need) poor.push([element.tagName, element.className, element.textContent]);
  }
  return poor;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    best = [scored_case("c-0001")]
    file.write_text(render_html(view_of([*records(120), unscored(121)], best=best)), encoding="utf-8")
    return file


@contextmanager
def opened(browser, file, **options):
    """A page without a console message, an error or a request but for its own file, up to the end of the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page, trouble, requests = context.new_page(), [], []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert trouble == []
    assert requests == [file.as_uri()]
    context.close()


def visible(page, column=0):
    return page.locator("#all tbody tr:visible").evaluate_all(
        "(rows, at) => rows.map((row) => row.cells[at].textContent.trim())", column
    )


def test_the_table_is_filtered_by_outcome_category_tag_and_words(browser, report):
    with opened(browser, report) as page:
        assert page.locator("#shown").text_content() == "121 of 121 shown"
        page.select_option("#pick-outcome", label="FAIL")
        assert len(visible(page)) == 40
        page.select_option("#pick-category", label=CATEGORIES[0])
        assert set(visible(page, 1)) == {CATEGORIES[0]}
        page.click("text=Clear")
        page.select_option("#pick-tag", label="invented number")
        assert visible(page) == [f"c-{n:04}" for n in range(9, 121, 9)]
        page.click("text=Clear")
        page.fill("#find", "HALLUCINATION c-0009")
        expect(page.locator("#shown")).to_have_text("1 of 121 shown")
        assert visible(page) == ["c-0009"]
        page.click("text=Clear")
        page.select_option("#pick-outcome", label="not scored")
        assert visible(page) == ["c-0121"]


def test_a_column_sorts_both_ways_and_what_has_no_value_comes_last(browser, report):
    with opened(browser, report) as page:
        head = page.locator("#all th:has(button:text-is('total'))")
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        totals = visible(page, 3)
        assert totals[-1] == "–"
        assert [float(total) for total in totals[:-1]] == sorted(float(total) for total in totals[:-1])
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert visible(page, 3) == [*sorted(totals[:-1], key=float, reverse=True), "–"]


def test_a_pattern_leads_to_its_replies_and_a_link_to_a_hidden_row_shows_it(browser, report):
    with opened(browser, report) as page:
        page.locator("a[data-tag]").last.click()
        expect(page.locator("#shown")).to_have_text("13 of 121 shown")
        page.locator(".samples a[href='#r3']").first.click()
        expect(page.locator("#r3")).to_be_visible()
        assert len(visible(page)) == 121
        assert page.locator("#shown").text_content() == "121 of 121 shown"


def test_a_thousand_rows_are_filtered_and_sorted_in_a_moment(browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render_html(view_of(records(1_000))), encoding="utf-8")
    with opened(browser, file) as page:
        took = page.evaluate(
            """() => { const start = performance.now(), pick = document.getElementById("pick-outcome");
            pick.value = "1"; pick.dispatchEvent(new Event("change"));
            document.querySelector("#all th button").click(); document.body.offsetHeight;
            return performance.now() - start; }"""
        )
        assert len(visible(page)) == 333
        assert took < 2_000


def test_nothing_a_reply_says_is_run_or_loaded(browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render_html(hostile_view()), encoding="utf-8")
    with opened(browser, file) as page:
        page.fill("#find", "<script>")
        page.wait_for_timeout(200)
        assert page.evaluate("window.hacked") is None
        assert page.locator("script").count() == 1
        assert len(visible(page)) == 12


def test_script_put_into_the_page_would_be_refused(browser, tmp_path, report):
    file = tmp_path / "report.html"
    spoiled = report.read_text(encoding="utf-8").replace("<main", "<script>window.hacked = 1</script><main")
    file.write_text(spoiled, encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("window.hacked") is None
    page.close()


def test_everything_is_reached_by_keyboard_and_the_focus_is_seen(browser, report):
    with opened(browser, report) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        seen = set()
        for _ in range(120):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
            if {"find", "pick-tag", "BUTTON"} <= seen:
                break
        assert {"find", "pick-outcome", "pick-category", "pick-tag", "SUMMARY", "A"} <= seen


def test_evidence_is_reached_from_the_reply_and_back(browser, report):
    with opened(browser, report) as page:
        page.click("#w1a1")
        assert page.evaluate("document.querySelector(':target').id") == "w1f1"
        page.click("#w1f1 a.ref")
        assert page.evaluate("document.querySelector(':target').id") == "w1a1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("other", [False, True], ids=["as the system", "toggled"])
def test_text_can_be_read_in_both_themes(browser, report, scheme, other):
    with opened(browser, report, color_scheme=scheme) as page:
        if other:
            page.click("#theme")
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.evaluate(CONTRASTS) == []


@pytest.mark.parametrize("width", [320, 390, 768, 1920])
def test_the_page_never_scrolls_sideways(browser, report, width):
    with opened(browser, report, viewport={"width": width, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_script_everything_is_there_and_no_dead_control(browser, report):
    with opened(browser, report, java_script_enabled=False) as page:
        assert page.locator("#all tbody tr:visible").count() == 121
        assert not page.locator("#filter").is_visible()
        assert not page.locator("#theme").is_visible()


def test_on_paper_the_controls_are_gone_and_the_ground_is_white_even_from_the_dark_theme(browser, report):
    with opened(browser, report, color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not any(page.locator(each).is_visible() for each in ("#filter", "#theme", ".contents"))
        assert page.locator("#all").is_visible()
        assert page.evaluate(CONTRASTS) == []
        assert page.pdf().startswith(b"%PDF")
