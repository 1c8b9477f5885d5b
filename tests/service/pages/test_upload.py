"""A file of production replies from the browser: refused if nothing in it can be used; what is lost is said."""

import html
import re

import pytest

REPLY = "You have 14 days after delivery to return headphones."


def upload(client, name, text):
    return client.post("/queues/upload", files={"file": (name, text.encode())}, follow_redirects=True)


def words(answer):
    """What a person reads of a page."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", answer.text)))


UNUSABLE = {
    "no usable column": (
        "tickets.csv",
        "ticket,body,agent_text\n1,Hello,Hi\n2,Hello,Hi\n",
        "tickets.csv has no column for 'response', only 'ticket', 'body', 'agent_text'; expected are response or "
        "actual_output or answer",
    ),
    "no reply in the column": ("replies.csv", "input,response\nq,\nq,\n", "replies.csv has no replies in its 2 rows"),
    "no readable row": (
        "replies.jsonl",
        '{"response": 7}\n',
        "line 1: field 'response' is a number, allowed is a string",
    ),
    "a broken header": ("replies.csv", "a,a\n1,2\n", "replies.csv:1: the header names column 'a' twice"),
    "nothing": ("replies.jsonl", "", "replies.jsonl holds no cases"),
}


@pytest.mark.parametrize(("name", "text", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_cannot_be_used_is_refused_with_what_is_expected_and_makes_no_run(
    service, client, name, text, said
):
    before = service.store.list_runs()
    answer = upload(client, name, text)
    assert answer.status_code == 422
    assert said in words(answer)
    assert "/replies" not in words(answer)
    assert service.store.list_runs() == before


def test_rows_that_cannot_be_read_are_counted_and_named_with_line_and_reason(service, client):
    good = [f'p-{at},How long may I return it?,"{REPLY}"' for at in range(3)]
    bad = [f"b-{at},too,many,cells" for at in range(12)]
    answer = upload(client, "replies.csv", "\n".join(["id,input,response", good[0], *bad, *good[1:]]) + "\n")
    assert answer.status_code == 200
    page = words(answer)
    assert "12 of 15 rows could not be read and are not among the replies" in page
    assert page.count("the record has 4 cells, the header 3") == 10
    assert "line 3: the record has 4 cells" in page
    assert "and 2 more" in page
    run = service.store.list_runs(kind="production")[0]
    assert f"/runs/{run.id}?outcome=open" in answer.text
    assert f'value="{run.id}" selected' in answer.text


def test_a_file_that_is_read_whole_says_nothing_of_lost_rows(client):
    answer = upload(client, "replies.csv", f'id,input,response\na,How long?,"{REPLY}"\n')
    assert answer.status_code == 200
    assert "could not be read" not in words(answer)


def test_replies_of_a_file_are_counted_as_scored(client):
    def scored():
        lines = client.get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("touchstone_scored_total{"))

    before = scored()
    upload(client, "replies.csv", f'id,input,response\na,How long?,"{REPLY}"\nb,How long?,"{REPLY}"\n')
    assert scored() - before == 2
