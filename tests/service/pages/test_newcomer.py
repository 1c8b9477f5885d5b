"""A newcomer's path in a browser, without reading the docs: every click is in the test, none needs an explanation."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import touchstone

pytestmark = pytest.mark.slow
REPLY = "You have 14 days after delivery to return headphones."
SOURCE = "You have 14 days after delivery to return headphones."
FOREIGN = "\n".join(
    [
        "ticket,body,agent_text,kb,topic",
        *(f'T-{at},"How long may I return it, asks customer {at}?","{REPLY}","{SOURCE}",returns' for at in range(1, 8)),
        "T-8,too,many,cells,here,now",
    ]
)


@pytest.fixture
def address(tmp_path):
    """`touchstone serve`, as somebody starts it who has nothing yet."""
    command = [sys.executable, "-m", "touchstone", "serve", "--port", "0", "--workers", "1"]
    # The package under test, wherever the process starts.
    environment = {**os.environ, "PYTHONPATH": str(Path(touchstone.__file__).parents[1])}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found, "the service did not start"
        try:
            yield found[0]
        finally:
            process.terminate()
            process.communicate(timeout=60)


class Newcomer:
    """Somebody at a browser, and all that they did."""

    def __init__(self, page):
        self.page, self.did = page, []

    def click(self, words):
        """What can be seen and pressed under these words, as the page shows them; there is one of it."""
        found = self.page.get_by_role("link", name=words).or_(self.page.get_by_role("button", name=words))
        # A demo or a file is scored behind some clicks.
        found.click(timeout=180_000)
        self.did.append(f"click {words}")

    def choose_file(self, path):
        self.page.set_input_files("input[type=file]", str(path))
        self.did.append("choose a file")

    def choose(self, label, value):
        self.page.get_by_label(label).select_option(value)
        # The rows below follow at once.
        self.page.wait_for_selector(f".preview thead >> text={value}")
        self.did.append(f"{label}: {value}")

    def press(self, keys):
        for key in keys.split():
            self.page.keyboard.press(key)
        self.did.append(f"press {keys}")

    def sees(self, words, *, seconds=180):
        self.page.wait_for_selector(f"main >> text={words}", timeout=seconds * 1000)


@pytest.mark.parametrize("width", [1280, 390])
def test_from_an_empty_directory_to_a_closed_demo_week(watched, address, width):
    with watched(address, viewport={"width": width, "height": 844}) as page:
        page.goto(address)
        me = Newcomer(page)
        me.sees("Three steps to your first week")
        me.click("Load the demo")
        me.sees("Demo week 2")
        me.click("Grade 25 replies")
        for _ in range(25):
            page.wait_for_selector("[data-criterion]:focus-within")
            me.press("4 3 3 4 4 Enter")
            page.wait_for_selector("#next:focus")
            at = page.url
            me.press("Enter")
            page.wait_for_url(lambda url, at=at: url != at)
        me.sees("All done")
        me.click("Close the week")
        me.click("Close")
        me.sees("closed")
        me.click("This week")
        me.sees("Replies that pass")
        text = page.inner_text("main").replace("\u00a0", " ")
        assert re.search(r"Replies that pass\s+\d+\.\d %", text)
        assert "since the week before" in text
        assert "All done" in text
    grading = ["press 4 3 3 4 4 Enter", "press Enter"] * 25
    assert me.did == [
        "click Load the demo", "click Grade 25 replies", *grading, "click Close the week", "click Close",
        "click This week",
    ]  # fmt: skip


def test_a_file_with_foreign_columns_becomes_a_week(watched, address, tmp_path):
    (tmp_path / "export.csv").write_text(FOREIGN, encoding="utf-8")
    with watched(address) as page:
        page.goto(address)
        me = Newcomer(page)
        me.choose_file(tmp_path / "export.csv")
        me.sees("Choose the column that holds the reply")
        assert page.get_by_role("button", name="Score").count() == 0
        me.choose("Reply needed", "agent_text")
        me.choose("Customer’s message", "body")
        me.choose("Context", "kb")
        me.choose("Category", "topic")
        me.choose("Id to know", "ticket")
        me.sees("The first 5 of 7 replies, as read")
        me.sees("1 of 8 rows cannot be read")
        me.sees("line 9: the record has 6 cells, the header 5")
        assert page.locator(".preview tbody tr").count() == 5
        me.click("Score 7 replies")
        me.sees("1 of 8 rows could not be read")
        me.click("Draw the replies")
        me.sees("Progress and agreement")
        me.click("This week")
        me.click("Grade 7 replies")
        page.wait_for_selector("[data-criterion]:focus-within")
        assert "How long may I return it, asks customer" in page.inner_text("main")
    assert not list(tmp_path.rglob(".touchstone-uploads"))
    assert me.did == [
        "choose a file", "Reply needed: agent_text", "Customer’s message: body", "Context: kb", "Category: topic",
        "Id to know: ticket", "click Score 7 replies", "click Draw the replies", "click This week",
        "click Grade 7 replies",
    ]  # fmt: skip


def test_a_file_may_be_dropped_anywhere_in_the_box_and_one_that_is_too_large_is_not_sent(watched, address):
    drop = """([size, x, y]) => {
        const box = document.querySelector(".drop"), at = box.getBoundingClientRect(), moved = new DataTransfer();
        moved.items.add(new File(["response\\n" + "Yes.".padEnd(size)], "week.csv"));
        const input = document.elementFromPoint(at.left + at.width * x, at.top + at.height * y);
        input.dispatchEvent(new DragEvent("dragover", {bubbles: true, dataTransfer: moved}));
        const isMarked = box.classList.contains("over");
        // The browser's own part of a drop, which a script cannot bring about.
        input.files = moved.files;
        input.dispatchEvent(new Event("change", {bubbles: true}));
        return [isMarked, input.validationMessage];
    }"""
    with watched(address) as page:
        page.goto(address)
        marked, said = page.evaluate(drop, [5_000_000, 0.95, 0.05])
        assert marked
        assert said == "The file is larger than 4 MB: use touchstone review sample"
        assert page.evaluate(drop, [10, 0.05, 0.95]) == [True, ""]
        page.wait_for_selector("h1:has-text('week.csv')")


def test_the_same_steps_work_without_a_script(browser, address, tmp_path):
    (tmp_path / "export.csv").write_text(FOREIGN, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    page.set_input_files("input[type=file]", str(tmp_path / "export.csv"))
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Reply needed").select_option("agent_text")
    page.get_by_role("button", name="Read it with these columns").click()
    page.wait_for_selector("text=The first 5 of 7 replies, as read")
    page.get_by_role("button", name="Score 7 replies").click()
    page.wait_for_selector("text=Start a week", timeout=180_000)
    page.wait_for_selector("text=1 of 8 rows could not be read")
    context.close()
