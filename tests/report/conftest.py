"""The browser that reports are opened in."""

import pytest
from tests.components import needs, program

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    needs(programs=("chromium",))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program("chromium"), args=list(FLAGS))
        yield chromium
        chromium.close()
