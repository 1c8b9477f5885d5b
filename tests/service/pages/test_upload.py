"""A file of production replies from the browser: previewed, mapped, confirmed; what is lost is said, with its line."""

import html
import re
import time

import pytest

from touchstone.app.config import Settings
from touchstone.service.problems import Refusal
from touchstone.service.uploads import KEPT_SECONDS, MOST_WAITING, Uploads

REPLY = "You have 14 days after delivery to return headphones."
FOREIGN = "ticket,body,agent_text\n" + "".join(f'{at},How long?,"{REPLY}"\n' for at in range(7))


def upload(client, name, text):
    """The page with the preview."""
    return client.post("/queues/upload", files={"file": (name, text.encode())}, follow_redirects=True)


def confirm(client, page, **form):
    """The page that the scored file leads to."""
    client.post(f"{page.url}/score", data=form)
    until = time.monotonic() + 60
    while (answer := client.get(page.url)).status_code == 200 and "Scoring" in answer.text:
        assert time.monotonic() < until
        time.sleep(0.1)
    return client.get(page.url, follow_redirects=True)


def words(answer):
    """What a person reads of a page."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", answer.text)))


def kept(service):
    """The files that wait."""
    return list(service.app.state.service.uploads.directory.glob("*/*"))


UNUSABLE = {
    "a broken header": ("replies.csv", "a,a\n1,2\n", "replies.csv:1: the header names column 'a' twice"),
    "nothing": ("replies.jsonl", "", "replies.jsonl holds no cases"),
    "another ending": ("replies.xlsx", "PK", "'replies.xlsx' is no .jsonl, .json, .csv file"),
}


@pytest.mark.parametrize(("name", "text", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_cannot_be_read_is_refused_and_not_kept(service, client, name, text, said):
    before = kept(service)
    answer = upload(client, name, text)
    assert answer.status_code == 422
    assert said in words(answer)
    assert "/replies" not in words(answer)
    assert kept(service) == before


HOPELESS = {
    "no usable column": ("t.csv", FOREIGN, "Choose the column that holds the reply"),
    "no reply in the column": ("r.csv", "input,response\nq,\nq,\n", "r.csv has no replies in its 2 rows"),
    "no readable row": ("r.jsonl", '{"response": 7}\n', "line 1: field 'response' is a number, allowed is a string"),
}


@pytest.mark.parametrize(("name", "text", "said"), HOPELESS.values(), ids=HOPELESS)
def test_a_file_without_a_reply_says_why_and_cannot_be_scored(service, client, name, text, said):
    before = service.store.list_runs()
    page = upload(client, name, text)
    assert said in words(page)
    assert "/score" not in page.text
    # Not from a page that was open before, either.
    confirm(client, page)
    assert service.store.list_runs() == before
    client.post(f"{page.url}/cancel")


def test_nothing_is_scored_or_stored_before_it_is_confirmed_and_cancelling_removes_the_file(service, client):
    before, runs = kept(service), service.store.list_runs()
    page = upload(client, "replies.csv", f'id,input,response\na,How long?,"{REPLY}"\n')
    assert "Read as CSV: 1 row, 3 columns" in words(page)
    assert "could not be read" not in words(page)
    (file,) = set(kept(service)) - set(before)
    assert [path.stat().st_mode & 0o077 for path in (file, file.parent)] == [0, 0]
    assert client.post(f"{page.url}/cancel").headers["location"] == "/queues#new-h"
    assert kept(service) == before
    assert client.get(page.url).status_code == 404
    assert service.store.list_runs() == runs


def test_columns_are_mapped_by_hand_and_the_run_has_them(service, client):
    before = kept(service)
    page = upload(client, "tickets.csv", FOREIGN)
    chosen = {"field.input": "body", "field.response": "agent_text", "field.id": "ticket", "label": "4.2"}
    shown = words(client.post(page.url, data=chosen, follow_redirects=True))
    assert "The first 5 of 7 replies, as read" in shown
    assert "Reply agent_text" in shown
    answer = confirm(client, page, **chosen)
    run = service.store.list_runs(kind="production")[0]
    assert f'value="{run.id}" selected' in answer.text
    assert run.labels == {"version": "4.2"}
    case = service.store.replies.at(run.id, 3).case
    assert (case.id, case.input, case.response) == ("3", "How long?", REPLY)
    assert kept(service) == before


def test_one_column_for_two_fields_is_said_and_not_scored(service, client):
    page = upload(client, "tickets.csv", FOREIGN)
    chosen = {"field.input": "body", "field.response": "body"}
    shown = words(client.post(page.url, data=chosen, follow_redirects=True))
    assert "Column 'body' is chosen for 'input' and for 'response'" in shown
    before = service.store.list_runs()
    confirm(client, page, **chosen)
    assert service.store.list_runs() == before
    client.post(f"{page.url}/cancel")


def test_rows_that_cannot_be_read_are_counted_and_named_with_line_and_reason(service, client):
    good = [f'p-{at},How long may I return it?,"{REPLY}"' for at in range(3)]
    bad = [f"b-{at},too,many,cells" for at in range(12)]
    page = upload(client, "replies.csv", "\n".join(["id,input,response", good[0], *bad, *good[1:]]) + "\n")
    assert "12 of 15 rows cannot be read" in words(page)
    answer = confirm(client, page)
    assert answer.status_code == 200
    assert "12 of 15 rows could not be read and are not among the replies" in words(answer)
    for shown in map(words, (page, answer)):
        assert shown.count("the record has 4 cells, the header 3") == 10
        assert "line 3: the record has 4 cells" in shown
        assert "and 2 more" in shown
    run = service.store.list_runs(kind="production")[0]
    assert f"/runs/{run.id}?outcome=open" in answer.text


def test_a_file_that_is_read_whole_says_nothing_of_lost_rows(client):
    answer = confirm(client, upload(client, "replies.csv", f'id,input,response\na,How long?,"{REPLY}"\n'))
    assert answer.status_code == 200
    assert "could not be read" not in words(answer)


def test_the_page_that_watches_the_scoring_is_led_on_when_it_is_done(client):
    page = upload(client, "replies.csv", f'id,input,response\nz,How long?,"{REPLY}"\n')
    confirm(client, page)
    answer = client.get(page.url, headers={"HX-Request": "true", "HX-Target": "progress"})
    assert answer.headers["hx-redirect"].startswith("/queues?run=")


def test_scoring_that_was_stopped_says_so_and_continues_in_the_same_run(service, client):
    before = len(service.store.list_runs())
    page = upload(client, "replies.csv", f'id,input,response\ns,How long?,"{REPLY}"\nt,How long?,"{REPLY}"\n')
    uploads = service.app.state.service.uploads
    uploads.is_closing = True
    try:
        assert "The service was stopped: send the file again" in words(confirm(client, page))
    finally:
        uploads.is_closing = False
    assert "Start a week" in words(confirm(client, page))
    runs = service.store.list_runs()
    assert len(runs) == before + 1
    assert runs[0].finished


def test_a_file_is_its_senders_and_goes_after_an_hour_with_what_an_earlier_service_left(tmp_path, monkeypatch):
    uploads = Uploads(Settings(store=str(tmp_path / "touchstone.db")))
    found = uploads.add("replies.csv", b"response", by="lena")
    left = uploads.directory / "of-another"
    left.mkdir()
    assert uploads.get(found.id, by="lena") is found
    with pytest.raises(Refusal, match="not here any more"):
        uploads.get(found.id, by="ben")
    uploads.sweep()
    assert found.path.exists()
    later = time.time() + KEPT_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    uploads.sweep()
    assert not uploads.directory.exists()
    with pytest.raises(Refusal):
        uploads.get(found.id, by="lena")


def test_a_further_file_takes_the_place_of_the_oldest(tmp_path):
    uploads = Uploads(Settings(store=str(tmp_path / "touchstone.db")))
    theirs = uploads.add("theirs.csv", b"x", by="ben")
    mine = [uploads.add(f"{n}.csv", b"x", by="ann") for n in range(MOST_WAITING + 2)]
    with pytest.raises(Refusal):
        uploads.get(mine[1].id, by="ann")
    assert [each.path.is_file() for each in mine] == [False, False, *[True] * MOST_WAITING]
    assert theirs.path.is_file()


def test_a_store_on_a_server_has_its_files_beside_the_runs(tmp_path):
    settings = Settings(store="postgresql://example/db", runs=str(tmp_path / "touchstone-runs"))
    assert Uploads(settings).directory.parent == tmp_path


def test_replies_of_a_file_are_counted_as_scored(client):
    def scored():
        lines = client.get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("touchstone_scored_total{"))

    before = scored()
    confirm(client, upload(client, "replies.csv", f'id,input,response\na,How long?,"{REPLY}"\nb,How long?,"{REPLY}"\n'))
    assert scored() - before == 2
