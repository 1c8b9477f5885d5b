"""Every page in a real browser: axe finds nothing amiss in either theme, a phone fits, hostile text stays text."""

import json
import re

import pytest
from tests.components import axe_core
from tests.service.conftest import running
from tests.service.pages.conftest import HOSTILE, add_people

from touchstone.app.review import Drawing, draw_queue
from touchstone.app.rubrics import rubric_of
from touchstone.review.review import Review
from touchstone.store.users import ApiToken

expect = pytest.importorskip("playwright.sync_api", reason="NOT TESTED: playwright is not installed").expect
pytestmark = pytest.mark.slow
NOW = "2026-01-05T09:00:00.000+00:00"
GRADES = {"accuracy": 4, "completeness": 3, "tone": 3, "actionability": 4, "safety": 4}
PAGES = (
    "/", "/runs", "/runs/{run}", "/runs/{run}?tab=patterns", "/runs/{run}?tab=replies", "/runs/{run}?tab=judge",
    "/runs/{run}?tab=facts", "/runs/{run}/replies/0", "/runs/{run}/replies/{hostile}", "/compare",
    "/compare?before={run}&after={gold}",
    "/review", "/review/{queue}/0", "/review/{queue}/1", "/queues", "/queues/{queue}", "/queues/{queue}/items/2",
    "/weekly", "/weekly/{queue}", "/playground", "/rubrics", "/users", "/no-such-page",
    "/queues/upload/{upload}", "/connect", "/?empty", "/login", "/login?problem=wrong",
)  # fmt: skip


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    return axe_core(tmp_path_factory.mktemp("axe"))


@pytest.fixture(scope="module")
def places(desk):
    """What the addresses of the pages are filled in with: people, and their double-scored queue that is partly done."""
    store = desk.store
    add_people(store)
    store.tokens.add(ApiToken(id="nightly", user="lena", label="nightly job", made=NOW), hash="nightly")
    queue = draw_queue(store, run=desk.run.id, drawing=Drawing(name="Week", n=40, needed=2), by="lena", now=NOW).id
    rubric = rubric_of(store, desk.run.id)
    for position, who, tone in ((1, "local", 3), (2, "ann", 4), (2, "ben", 0), (3, "ann", 4), (3, "ben", 4)):
        grades = {**GRADES, "tone": tone}
        review = Review(
            id=f"{who}{position}",
            queue=queue,
            position=position,
            reviewer=who,
            made=NOW,
            grades=grades,
            note="<b>so</b>",
        )
        store.reviews.submit(review, rubric=rubric)
    hostile = next(each for each in store.replies.listed(desk.run.id) if each.record.id.startswith("<script"))
    gold = store.list_runs(kind="goldset")[0].id
    row = json.dumps({**HOSTILE, "<script>alert('column')</script>": "\u202e"})
    with desk.client() as client:
        sent = client.post("/queues/upload", files={"file": ("<b>week</b>.jsonl", f"{row}\n{{\n".encode())})
    upload = sent.headers["location"].rsplit("/", 1)[1]
    return {"run": desk.run.id, "gold": gold, "queue": queue, "hostile": hostile.position, "upload": upload}


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    """A service that lets in only who signs in."""
    with running(tmp_path_factory.mktemp("door") / "touchstone.db", has_auth=True, workers=1, waits=False) as started:
        yield started


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    with running(tmp_path_factory.mktemp("empty") / "touchstone.db", workers=1, waits=False) as started:
        yield started


@pytest.fixture(scope="module")
def address_of(desk, door, empty, places):
    others = {"/login": door, "/?empty": empty}

    def find(path):
        return others.get(path.partition("?problem")[0], desk).address + path.format(**places)

    return find


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_amiss(address_of, browser, axe, path, scheme):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address_of(path))
    page.evaluate(axe)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    problems = [
        (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in found["violations"]
        if each["impact"] != "minor"
    ]
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def phone(browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_shows_the_page_without_scrolling_sideways(address_of, phone, path):
    phone.goto(address_of(path))
    for width in (390, 360):
        phone.set_viewport_size({"width": width, "height": 740})
        wide, shown = phone.evaluate(
            "() => [document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
        )
        assert wide <= shown


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_breaks_no_word_of_a_button_or_of_a_tables_head(address_of, phone, path):
    phone.goto(address_of(path))
    broken = phone.locator("button, thead th, .voices th").evaluate_all(
        """(found) => found.flatMap((each) => [...each.childNodes]).filter((node) => node.nodeType === 3)
          .flatMap((node) => [...node.data.matchAll(/\\S+/g)].map((word) => {
            const range = new Range();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            return [word[0], range.getClientRects().length];
          })).filter(([, lines]) => lines > 1)"""
    )
    assert broken == []


@pytest.mark.parametrize("path", [path for path in PAGES if path != "/no-such-page"])
def test_hostile_text_stays_text_and_nothing_is_loaded_from_elsewhere(address_of, watched, path):
    address = address_of(path)
    with watched("/".join(address.split("/")[:3])) as page:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert page.locator("img, iframe, object, embed, main script, main b[onclick]").count() == 0
        assert "\u202e" not in page.content()


def test_a_case_links_facts_evidence_and_reply_both_ways(desk, places, watched):
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/runs/{places['run']}/replies/{places['hostile']}")
        for link in page.locator("a.ref, blockquote a").all():
            target = link.get_attribute("href")
            assert page.locator(target).count() == 1, target


def test_replies_are_filtered_as_one_chooses_and_the_address_says_so(desk, places, watched):
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/runs/{places['run']}#replies-h")
        page.wait_for_url(re.compile("tab=replies"))
        rows = page.locator("#rows tr:not(#more)")
        assert rows.count() == 40
        page.select_option("select[name=outcome]", "FAIL")
        page.wait_for_url(re.compile("outcome=FAIL"))
        expect(page.locator("#rows .outcome.good")).to_have_count(0)
        failed = rows.count()
        assert 0 < failed < 40
        page.fill("#search", "gs-000")
        page.wait_for_url(re.compile("search=gs-000"))
        page.go_back()
        expect(rows).to_have_count(failed)
        page.go_back()
        expect(rows).to_have_count(40)


def test_the_playground_scores_as_one_types(desk, watched):
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/playground")
        page.wait_for_selector("#result .ruling")
        page.fill("textarea[name=reply]", "Refunds take 14 days <script>alert(1)</script>")
        page.wait_for_selector("#result .said:has-text('Refunds take')")
        assert page.locator("#result mark.supported").count() >= 1
        page.fill("textarea[name=reply]", "")
        page.wait_for_selector("text=Enter a reply to score it")


def test_an_action_is_kept_and_done(desk, places, watched):
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/weekly/{places['queue']}")
        page.locator("summary:has-text('Add an action')").first.click()
        page.locator("input[name=text]:visible").fill("Index the fee table")
        page.locator("button:has-text('Add'):visible").click()
        page.wait_for_selector("text=Index the fee table")
        page.click("text=Mark as done")
        page.wait_for_selector("text=Reopen")
    (action,) = desk.store.actions.list()
    assert (action.state, action.revision) == ("done", 2)
    assert action.by == "local"


@pytest.mark.parametrize("format", ["html", "csv", "jsonl"])
def test_a_report_is_exported(desk, places, format):
    with desk.client() as client:
        answer = client.get(f"/weekly/{places['queue']}/export.{format}")
        assert answer.status_code == 200
        assert f".{format}" in answer.headers["content-disposition"]
        assert "estimator" in answer.text


def test_the_theme_is_remembered(desk, watched):
    with watched(desk.address, color_scheme="light") as page:
        page.goto(desk.address)
        page.click("#theme")
        page.goto(f"{desk.address}/rubrics")
        assert page.locator("html").get_attribute("data-theme") == "dark"


def test_a_user_is_added_and_given_a_token(desk, watched):
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/users")
        page.fill("section[aria-labelledby=add-h] input[name=name]", "mia")
        page.fill("section[aria-labelledby=add-h] input[name=password]", "a few words in a row")
        page.click("button:text-is('Add')")
        page.wait_for_selector("th:has-text('mia')")
        page.fill("input[name=label]", "nightly")
        page.click("text=Make a token")
        secret = page.text_content(".secret")
        assert secret.startswith("ts_")
        page.goto(f"{desk.address}/users")
        assert secret not in page.content()
    assert desk.store.users.get("mia").role == "reviewer"
