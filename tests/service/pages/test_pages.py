"""Every page of a service with runs, a queue and a review is shown, whole or the part that is asked for."""

import pytest
from sqlalchemy import event
from tests.service.stored import MADE, add_run, row

from touchstone.app.review import Drawing, draw_queue

GRADES = {f"grade.{name}": 4 for name in ("accuracy", "completeness", "tone", "actionability", "safety")}
PAGES = (
    "/ /runs /runs/run-1 /runs/run-1?outcome=FAIL /runs/run-1?tab=patterns /runs/run-1/replies/0 "
    "/runs/run-3/replies/1?full=true /runs/run-1?tab=replies /runs/run-1?tab=judge /runs/run-1?tab=facts "
    "/runs/run-1/cases?id=c-1 /compare /compare?before=run-0&after=run-1 /review /review/{queue} "
    "/review/{queue}/0 /review/{queue}/0?edit=true /review/{queue}/1 /queues /queues?run=run-3 /queues/{queue} "
    "/queues/{queue}/items/0 /weekly /weekly/{queue} /weekly/{queue}/export.html /playground /rubrics /users"
).split()
PARTS = {"/runs/run-1": "replies", "/queues/{queue}": "progress"}


@pytest.fixture(scope="module")
def queue(service):
    """A queue whose first item is reviewed and adjudicated."""
    for at, kind in enumerate(("goldset", "goldset", "production", "production")):
        rows = [row(n, is_good=(n + at) % 3 > 0) for n in range(8)]
        add_run(service.store, f"run-{at}", rows=rows, kind=kind, started=MADE.replace("-02T", f"-0{at + 1}T"))
    made = draw_queue(service.store, run="run-3", drawing=Drawing(n=6), by="local", now=MADE).id
    with service.client() as client:
        for path in (f"/review/{made}/0", f"/queues/{made}/items/0"):
            sent = client.post(path, data={**GRADES, "id": "r1", "violations": "[]", "note": "it helps"})
            assert sent.status_code == 303
    return made


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_shown(client, queue, path):
    answer = client.get(path.format(queue=queue), follow_redirects=True)
    assert answer.status_code == 200
    assert "<h1>" in answer.text


@pytest.mark.parametrize("path", PARTS)
def test_a_part_of_a_page_is_shown(client, queue, path):
    answer = client.get(path.format(queue=queue), headers={"HX-Target": PARTS[path]})
    assert answer.status_code == 200
    assert "<html" not in answer.text


@pytest.mark.parametrize(
    ("query", "tab"),
    [("", "Overview"), ("?tab=facts", "Facts"), ("?tag=off_topic", "Replies"), ("?outcome=FAIL", "Replies")],
)
def test_a_run_has_tabs_and_a_filter_leads_to_its_replies(client, queue, query, tab):
    page = client.get(f"/runs/run-1{query}").text
    assert f'aria-current="page">{tab}</a>' in page
    # The sections of the long page that a run was: each is on this tab, or names the tab that has it.
    for old in ("patterns", "replies", "replies-h", "scores", "receipt"):
        assert page.count(f'id="{old}"') == 1


def test_the_columns_of_the_replies_have_their_whole_names(client, queue):
    page = client.get("/runs/run-1?tab=replies").text
    assert all(f">{name}</th>" in page for name in ("accuracy", "completeness", "actionability", "decision"))


def test_a_form_to_review_in_is_read_in_one_transaction(service, client, queue):
    begun = []

    def count(connection):
        begun.append(connection)

    engine = service.store._database._engine
    event.listen(engine, "begin", count)
    try:
        assert client.get(f"/review/{queue}/1").status_code == 200
    finally:
        event.remove(engine, "begin", count)
    assert len(begun) == 1
