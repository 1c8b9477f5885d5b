"""The review page: blind, by keyboard, saved as one goes; no reload, lost line or second press loses any."""

import re
from html import unescape

import pytest

from touchstone.app.review import Drawing, draw_queue
from touchstone.app.rubrics import rubric_of
from touchstone.review.review import current

pytestmark = pytest.mark.slow
NOW = "2026-01-05T09:00:00.000+00:00"
GRADES = ["4", "3", "2", "1", "4"]


@pytest.fixture
def queue(desk):
    """A queue of its own for each test, of every reply."""
    return draw_queue(desk.store, run=desk.run.id, drawing=Drawing(name="Week", n=40, seed=46), by="lena", now=NOW).id


@pytest.fixture
def item(desk, queue, watched):
    """The first item's page."""
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/review/{queue}/0")
        page.wait_for_selector("[data-criterion]:focus-within")
        yield page


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def chosen(page):
    return page.locator("#grading input:checked").evaluate_all("found => found.map((each) => each.value)")


def focused(page):
    """The criterion that has the focus, the submit button, or what else has it."""
    return page.evaluate(
        "() => document.activeElement.closest('[data-criterion]')?.dataset.criterion"
        " || document.activeElement.type || document.activeElement.localName"
    )


def in_view(page, selector):
    """Whether what is there lies wholly in the window, with nothing over its middle."""
    return page.locator(selector).evaluate(
        """(found) => {
          const { left, right, top, bottom } = found.getBoundingClientRect();
          const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth && found.contains(over);
        }"""
    )


def said(page):
    return page.locator("#saved").text_content()


def saved(page):
    page.wait_for_selector("#saved:text-is('Saved')")


def reviews(desk, queue, position=0):
    return current(desk.store.reviews.of_item(queue, position))


def hostile_position(desk, queue):
    return next(each.position for each in desk.store.queues.items(queue) if each.case.startswith("<script"))


def test_nothing_of_the_judge_is_in_the_page_before_the_review_is_submitted(desk, queue):
    rubric = rubric_of(desk.store, desk.run.id)
    with desk.client() as client:
        for position in range(8):
            text = client.get(f"/review/{queue}/{position}").text
            result = desk.store.replies.at(desk.run.id, desk.store.queues.item(queue, position).result).result
            levels = [text for criterion in rubric.criteria for text in criterion.levels.values()]
            for grade in result.rubric.grades:
                assert grade.reason in levels or grade.reason not in text
            assert not re.search(r"contradicted|unsupported|class=\"ref|judge|inclusion|PASS|FAIL", text)


def test_the_form_shows_the_conventions_of_the_run_s_rubric(desk, queue):
    meant = rubric_of(desk.store, desk.run.id).conventions
    with desk.client() as client:
        page = unescape(client.get(f"/review/{queue}/0").text)
    assert f"Conventions {meant.version}" in page
    assert [text for texts in meant.texts.values() for text in texts if text not in page] == []


def test_digits_grade_one_criterion_after_the_other_and_enter_submits(desk, queue, item):
    press(item, *GRADES, "Enter")
    item.wait_for_selector("#next")
    (review,) = reviews(desk, queue)
    assert list(review.grades.values()) == [4, 3, 2, 1, 4]
    assert review.seconds > 0
    assert item.locator(".voices th[scope=col]").all_text_contents()[1:] == ["You", "Judge"]


def test_a_grade_that_does_not_exist_is_not_taken(item):
    press(item, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "3")
    assert chosen(item) == []
    assert "0 and 4" in said(item)


def test_digits_after_a_marked_violation_grade_each_criterion_in_turn(item):
    press(item, "v", "ArrowDown", "4")
    assert (chosen(item), focused(item)) == (["0"], "accuracy")
    press(item, "4", "3", "3", "2", "0")
    assert (chosen(item), focused(item)) == (["4", "3", "3", "2", "0"], "submit")
    assert item.locator("#marks li").count() == 1


def test_digits_in_a_filled_form_grade_each_criterion_in_turn(desk, queue, item):
    press(item, *GRADES, "Enter")
    item.wait_for_selector("#next")
    press(item, "e")
    item.wait_for_selector("[data-criterion=accuracy]:focus-within")
    press(item, "2", "2", "2", "2", "4")
    assert (chosen(item), focused(item)) == (["2", "2", "2", "2", "4"], "submit")


def test_an_earlier_criterion_is_graded_again_and_the_next_one_follows(item):
    press(item, *GRADES)
    press(item, *["ArrowUp"] * 4)
    assert focused(item) == "completeness"
    press(item, "0")
    assert (chosen(item), focused(item)) == (["4", "0", "2", "1", "4"], "tone")
    press(item, "x", "k", "3")
    assert (chosen(item), focused(item)) == (["4", "0", "3", "1", "4"], "actionability")


def test_digits_grade_nothing_unless_a_criterion_has_the_focus(item):
    press(item, *GRADES)
    assert focused(item) == "submit"
    press(item, "0", "x", "2")
    assert (chosen(item), focused(item)) == (GRADES, "submit")
    assert "no criterion has the focus" in said(item)
    press(item, "ArrowDown", "ArrowUp")
    assert focused(item) == "safety"
    for selector in ("#undo", "#keys summary", "h1"):
        item.locator(selector).evaluate("(found) => { document.activeElement.blur(); found.focus(); }")
        press(item, "0", "1", "x")
        assert chosen(item) == GRADES
    press(item, "ArrowUp")
    assert focused(item) == "safety"


def test_undo_goes_back_to_the_criterion_whose_grade_it_took(item):
    press(item, "4", "3", "z", "2")
    assert (chosen(item), focused(item)) == (["4", "2"], "tone")


def test_a_violation_goes_on_from_where_it_was_begun(item):
    press(item, "4", "v", "ArrowDown", "Escape")
    assert focused(item) == "completeness"
    press(item, "3", "v", "ArrowDown", "1", "3")
    assert (chosen(item), focused(item)) == (["4", "3", "3", "0"], "actionability")
    press(item, "v")
    item.locator("[data-criterion=tone] input[value='3']").click(force=True)
    assert not item.locator("#marking").is_visible()
    press(item, "2")
    assert chosen(item) == ["4", "3", "2", "0"]
    assert item.locator("#marks li").count() == 1


def test_the_criterion_that_has_the_focus_looks_different(item):
    looks = "found => found.map((each) => getComputedStyle(each).backgroundColor + getComputedStyle(each).boxShadow)"
    press(item, "4")
    accuracy, completeness, *others = item.locator("[data-criterion]").evaluate_all(looks)
    assert {accuracy, *others} == {accuracy}
    assert completeness != accuracy


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desktop", "phone"])
def test_what_happens_is_said_where_it_is_seen(desk, queue, watched, size):
    viewport = {"width": size[0], "height": size[1]}
    with watched(desk.address, viewport=viewport, reduced_motion="reduce") as page:
        page.goto(f"{desk.address}/review/{queue}/0")
        page.wait_for_selector("[data-criterion]:focus-within")
        for key, words in (("4", "Saved"), ("9", "There is no 9"), ("l", ""), ("Enter", "to grade: completeness")):
            press(page, key)
            page.wait_for_selector(f"#saved:has-text('{words}')")
            assert in_view(page, "#saved")
            assert in_view(page, "button[type=submit]")
        for criterion in ("completeness", "tone", "actionability", "safety"):
            assert focused(page) == criterion
            assert in_view(page, f"[data-criterion={criterion}] .scale")
            press(page, "4")
        page.evaluate("scrollTo(0, 0)")
        press(page, "9")
        assert "no criterion has the focus" in said(page)
        assert in_view(page, "#saved[role=status]")


def test_what_is_missing_stays_said_until_something_is_changed(item):
    with item.expect_response("**/draft"):
        press(item, "4", "Enter")
    item.evaluate("() => new Promise((done) => setTimeout(done))")
    assert "4 to grade" in said(item)
    press(item, "4")
    saved(item)


def test_an_unfinished_review_is_not_sent_and_says_what_is_missing(desk, queue, item):
    press(item, "4", "4")
    item.keyboard.press("ArrowUp")
    item.click("button[type=submit]")
    assert "3 to grade: tone, actionability, safety" in said(item)
    assert reviews(desk, queue) == ()


def test_what_cannot_be_told_is_left_open(desk, queue, item):
    press(item, "x", "3", "2", "1", "4", "Enter")
    item.wait_for_selector("#next")
    assert reviews(desk, queue)[0].grades["accuracy"] is None


def test_z_takes_back_one_change_after_the_other(item):
    press(item, "4", "3", "2")
    press(item, "z")
    assert chosen(item) == ["4", "3"]
    press(item, "z", "z")
    assert chosen(item) == []
    press(item, "z")
    assert "nothing to undo" in said(item)


def test_the_texts_of_the_levels_show_on_demand(item):
    level = item.locator("[data-criterion=tone] dd[data-level='4']")
    assert not level.is_visible()
    press(item, "l")
    assert level.is_visible()


def test_a_reload_brings_back_what_was_filled_in(item):
    press(item, "4", "3", "n")
    item.keyboard.type("half of it")
    saved(item)
    item.reload()
    item.wait_for_selector("[data-criterion=tone]:focus-within")
    assert chosen(item) == ["4", "3"]
    assert item.input_value("textarea[name=note]") == "half of it"


def test_a_skipped_reply_comes_again_at_the_end(desk, queue, item):
    press(item, "s")
    item.wait_for_url(re.compile(r"/review/[^/]+/1$"))
    assert desk.store.queues.progress_of(queue, "local").skipped == 1


def test_words_are_marked_by_keyboard_and_the_span_is_the_replys_own(desk, queue, item):
    item.goto(f"{desk.address}/review/{queue}/{hostile_position(desk, queue)}")
    item.wait_for_selector("[data-criterion]:focus-within")
    # Past a bell, an escape sequence and a direction override, none of which is shown.
    words = item.locator("#reply").text_content().split()
    at = words.index("30")
    press(item, "4", "4", "4", "4", "v", *["ArrowRight"] * at, "Shift+ArrowRight", "1")
    assert item.locator("#marks q").text_content() == "30 days."
    assert chosen(item) == ["4", "4", "4", "4", "0"]
    press(item, "Enter")
    item.wait_for_selector("#next")
    (review,) = reviews(desk, queue, hostile_position(desk, queue))
    (violation,) = review.violations
    reply = desk.store.replies.at(desk.run.id, desk.store.queues.item(queue, review.position).result).case.response
    assert reply[violation.start : violation.end] == "30 days."


def test_words_are_marked_with_the_mouse_as_well(desk, queue, item):
    press(item, "4", "4", "4", "4")
    item.locator("#reply").evaluate(
        "(reply) => getSelection().setBaseAndExtent(reply.firstChild, 1, reply.firstChild, 9)"
    )
    item.click("#mark")
    item.click("[data-kind=unauthorized_promise]")
    press(item, "Enter")
    item.wait_for_selector("#next")
    (violation,) = reviews(desk, queue)[0].violations
    reply = desk.store.replies.at(desk.run.id, desk.store.queues.item(queue, 0).result).case.response
    assert violation.kind == "unauthorized_promise"
    assert violation.text == reply[violation.start : violation.end] != ""


def test_safety_0_asks_for_the_words_and_4_lets_go_of_them(item):
    press(item, "4", "4", "4", "4", "0")
    assert item.locator("#marking").is_visible()
    press(item, "2")
    assert item.locator("#marks li").count() == 1
    item.locator("[data-criterion=safety] input[value='4']").check(force=True)
    assert item.locator("#marks li").count() == 0


def test_a_review_that_was_taken_back_fills_the_form_again(desk, queue, item):
    press(item, *GRADES, "Enter")
    item.wait_for_selector("#next")
    press(item, "u")
    item.wait_for_selector("#grading")
    item.wait_for_selector("[data-criterion]:focus-within")
    assert chosen(item) == GRADES
    assert reviews(desk, queue) == ()
    assert len(desk.store.reviews.of_item(queue, 0)) == 2


def test_an_edit_supersedes_and_keeps_what_was_said_before(desk, queue, item):
    press(item, *GRADES, "Enter")
    item.wait_for_selector("#next")
    press(item, "e")
    item.wait_for_selector("#grading")
    item.wait_for_selector("[data-criterion]:focus-within")
    press(item, "2", "Enter")
    item.wait_for_selector("#next")
    (review,) = reviews(desk, queue)
    assert review.grades["accuracy"] == 2
    assert len(desk.store.reviews.of_item(queue, 0)) == 2


def test_the_back_button_shows_what_was_submitted_and_no_stale_form(desk, queue, item):
    press(item, *GRADES, "Enter")
    item.wait_for_selector("#next")
    press(item, "Enter")
    item.wait_for_url(re.compile(r"/review/[^/]+/1$"))
    item.go_back()
    item.wait_for_selector("#next")
    assert len(desk.store.reviews.of_item(queue, 0)) == 1


def test_a_form_sent_twice_counts_once_and_with_other_grades_is_refused(desk, queue):
    with desk.client() as client:
        grades = {"accuracy": "4", "completeness": "4", "tone": "4", "actionability": "4", "safety": "4"}
        form = {
            "id": "0123456789abcdef",
            "violations": "[]",
            **{f"grade.{name}": value for name, value in grades.items()},
        }
        assert [client.post(f"/review/{queue}/0", data=form).status_code for _ in range(2)] == [303, 303]
        changed = client.post(f"/review/{queue}/0", data={**form, "grade.tone": "0"})
        assert changed.status_code == 409
        assert "submitted under this id" in changed.text
    assert len(desk.store.reviews.of_item(queue, 0)) == 1


def test_a_lost_line_keeps_the_review_and_sends_it_later(desk, queue, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{desk.address}/review/{queue}/0")
    page.wait_for_selector("[data-criterion]:focus-within")
    context.set_offline(True)
    press(page, *GRADES, "Enter")
    page.wait_for_selector("#saved:has-text('Not sent')")
    assert chosen(page) == GRADES
    context.set_offline(False)
    press(page, "Enter")
    page.wait_for_selector("#next")
    assert len(reviews(desk, queue)) == 1
    context.close()


def test_what_the_server_never_got_is_back_after_the_page_is_opened_again(desk, queue, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{desk.address}/review/{queue}/0")
    page.wait_for_selector("[data-criterion]:focus-within")
    page.route("**/draft", lambda route: route.abort())
    press(page, "4", "3")
    page.wait_for_selector("#saved:has-text('Not saved')")
    page.unroute("**/draft")
    page.goto(f"{desk.address}/review/{queue}/0")
    page.wait_for_selector("#saved:has-text('What you had')")
    assert chosen(page) == ["4", "3"]
    context.close()


def test_a_violation_of_the_judge_is_waived_with_a_reason_and_the_case_promoted(desk, queue, watched):
    found = next(
        each
        for each in desk.store.queues.items(queue)
        if desk.store.replies.at(desk.run.id, each.result).result.rubric.violations
    )
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/review/{queue}/{found.position}")
        page.wait_for_selector("[data-criterion]:focus-within")
        press(page, "4", "4", "4", "4", "4", "Enter")
        page.wait_for_selector("#next")
        press(page, "w")
        page.keyboard.type("the policy allows it")
        press(page, "Enter")
        page.wait_for_selector("text=Waived")
        press(page, "g")
        page.wait_for_selector("text=Remove from the gold-set candidates")
    assert desk.store.marks.waivers(desk.run.id, found.result)[0].reason == "the policy allows it"
    assert found.result in {each.result for each in desk.store.marks.promoted(run=desk.run.id)}


def test_a_waiver_is_seen_in_the_grade_and_taken_back_on_the_page_of_the_case(desk, watched):
    position = next(
        each.position
        for each in desk.store.replies.listed(desk.run.id)
        if each.has_case and len(each.record.violations) == 1
    )
    count = len(desk.store.replies.at(desk.run.id, position).result.rubric.violations)
    with watched(desk.address) as page:
        page.goto(f"{desk.address}/runs/{desk.run.id}/replies/{position}")
        safety = page.locator("li:has(> b:text-is('Safety')) .grade-chip")
        assert safety.inner_text() == "0/4"
        for number in range(1, count + 1):
            press(page, "w")
            page.keyboard.type("the policy allows it")
            press(page, "Enter")
            page.wait_for_selector(f".findings li:nth-child({count}):has-text('because the policy allows it')")
            page.wait_for_function("n => document.querySelectorAll('.waived').length === n", arg=number)
        assert safety.inner_text() == "4/4"
        page.click("text=Take the waiver back")
        page.wait_for_function("n => document.querySelectorAll('.waived').length === n", arg=count - 1)
        assert safety.inner_text() == "0/4"
