"""How much a page weighs, all it needs included, and how many requests bring it."""

import re

import pytest

from touchstone.app.review import Drawing, draw_queue

pytestmark = pytest.mark.slow
LIMIT = 100 * 1024


@pytest.fixture(scope="module")
def queue(desk):
    now = "2026-01-05T09:00:00.000+00:00"
    return draw_queue(desk.store, run=desk.run.id, drawing=Drawing(n=40), by="lena", now=now).id


@pytest.mark.parametrize("path", ["/runs/{run}/replies/0", "/review/{queue}/0"])
def test_a_page_with_its_style_and_scripts_is_below_100_kb_unzipped(desk, queue, path):
    with desk.client(headers={"Accept-Encoding": "identity"}) as client:
        page = client.get(path.format(run=desk.run.id, queue=queue))
        needed = re.findall(r'(?:href|src)="(/assets/[^"]+)"', page.text)
        files = [client.get(address) for address in needed]
    assert {file.headers["cache-control"] for file in files} == {"public, max-age=31536000, immutable"}
    assert sum(len(each.content) for each in (page, *files)) < LIMIT


def test_an_asset_is_zipped_for_those_who_take_it_and_found_by_no_other_name(desk):
    with desk.client() as client:
        address = re.search(r'"(/assets/[^"]+style.css)"', client.get("/").text)[1]
        zipped = client.get(address)
        assert zipped.headers["content-encoding"] == "gzip"
        assert client.get(address, headers={"Accept-Encoding": "identity"}).text == zipped.text
        assert client.get("/assets/0/style.css").headers["cache-control"] == "no-store"
        assert client.get("/assets/0/..%2Frouter.py").status_code == 404


def test_pages_carry_no_inline_script_or_style(desk, queue):
    with desk.client() as client:
        for path in (
            "/",
            f"/runs/{desk.run.id}",
            f"/runs/{desk.run.id}/replies/0",
            f"/review/{queue}/0",
            "/playground",
        ):
            text = client.get(path).text
            assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=(?!alert)", text), path
