"""A week of review from end to end, in a browser: queue made by a lead, graded by two, adjudicated, reported."""

import re

import pytest
from tests.service.conftest import running
from tests.service.pages.conftest import PASSWORD, add_people

from touchstone.store.runs import open_store

pytestmark = pytest.mark.slow
SIZE = 24


@pytest.fixture
def team(place):
    """A service with logins on each database in turn."""
    with open_store(str(place)) as store:
        add_people(store)
    with running(place, workers=1, has_auth=True) as started:
        yield started


def sign_in(page, team, name):
    """By keyboard: the name's field has the focus."""
    page.goto(f"{team.address}/login")
    page.wait_for_selector("[name=name]:focus")
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.wait_for_selector("[name=password]:focus")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{team.address}/")


def grade_queue(page, team, keys_of):
    """Everything there is for this person, by keyboard alone; returns how many replies that were."""
    page.goto(f"{team.address}/review")
    page.keyboard.press("Enter")
    done = 0
    while True:
        page.wait_for_selector("[data-criterion]:focus-within, h1:has-text('All done')")
        if page.locator("#grading").count() == 0:
            return done
        for key in keys_of(page):
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_selector("#next:focus")
        done += 1
        address = page.url
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, last=address: url != last)


def number_of(page):
    """The item that is open."""
    return int(page.url.rsplit("/", 1)[1])


# Two replies are read quite otherwise by the second person: one breaches safety in its first sentence, one fails.
OTHERWISE = {3: ["4", "3", "3", "4", "v", "ArrowDown", "1"], 7: ["0", "0", "3", "1", "4"]}


@pytest.mark.parametrize("width", [1280, 390])
def test_a_week_is_reviewed_by_two_people_and_reported(watched, team, production, width):
    size = {"width": width, "height": 844}
    with watched(team.address, viewport=size) as lead:
        sign_in(lead, team, "lena")
        queue = make_queue(lead, production)
        with watched(team.address, viewport=size) as page:
            sign_in(page, team, "ann")
            assert grade_queue(page, team, lambda page: ["4", "3", "3", "4", "4"]) == SIZE
        with watched(team.address, viewport=size) as page:
            sign_in(page, team, "ben")
            keys = ["4", "4", "3", "4", "4"]
            assert grade_queue(page, team, lambda page: OTHERWISE.get(number_of(page), keys)) == SIZE
        progress = team.store.queues.progress(queue)
        assert (progress.done, progress.differs) == (SIZE - 2, 2)
        rule_on_differences(lead)
        assert team.store.queues.progress(queue).settled == 2
        check_report(lead)
        lead.goto(f"{team.address}/queues/{queue}")
        lead.click("text=Close")
        lead.wait_for_selector("text=Reopen")
    assert team.store.queues.get(queue).closed
    check_reviews(team.store, queue)


def make_queue(page, production):
    """From a file, twenty-four replies, each graded by two people."""
    page.click("nav >> text=Weeks")
    page.set_input_files("input[type=file]", str(production))
    page.fill("input[name=label]", "version=4.2")
    page.click("text=Score 40 replies")
    page.wait_for_selector("text=Draw the replies", timeout=180_000)
    page.fill("input[name=name]", "Week 46")
    page.fill("input[name=size]", str(SIZE))
    page.select_option("select[name=needed]", "2")
    page.check("input[value=ann]")
    page.check("input[value=ben]")
    page.click("text=Draw the replies")
    page.wait_for_selector(".week-name:has-text('Week 46')")
    return page.url.rsplit("/", 1)[1]


def rule_on_differences(page):
    page.reload()
    page.click("text=Adjudicate 2 differences")
    for _ in OTHERWISE:
        page.wait_for_selector("#grading")
        page.wait_for_selector("[data-criterion]:focus-within")
        # What both gave alike is filled in, and passed over with an arrow: only the rest is graded.
        for key in {3: ["0", "ArrowDown", "1"], 7: ["0", "0", "ArrowDown", "1"]}[number_of(page)]:
            page.keyboard.press(key)
        page.keyboard.press("n")
        page.keyboard.type("The source says otherwise")
        address = page.url
        page.keyboard.press("Control+Enter")
        page.wait_for_url(lambda url, last=address: url != last)


def check_report(page):
    page.click("a:has-text('Weekly report')")
    page.wait_for_selector("text=How many of all replies are good enough")
    text = page.inner_text("main")
    assert page.locator('[title*="difference estimator"]').count() == 1
    assert "Corrected with 24 reviewed replies of 40" in text
    assert re.search(r"95 % interval \d", text)
    assert "Between people and the judge" in text


def check_reviews(store, queue):
    """Nothing is lost, and the words that were marked are the reply's own."""
    kept = store.reviews.of_queue(queue)
    assert sum(map(len, kept.values())) == 2 * SIZE
    (violation,) = next(review for review in kept[3] if review.reviewer == "ben").violations
    reply = store.replies.at(store.queues.get(queue).run, store.queues.item(queue, 3).result).case.response
    assert violation.kind == "hallucination"
    assert violation.text == reply[violation.start : violation.end] != ""
