"""`touchstone review`, `store` and `user` as a user meets them."""

import io
import json
import sys
from pathlib import Path

import pytest
from tests.store.review_samples import GOOD, NOW

from touchstone.app.rubrics import rubric_of
from touchstone.app.scaffold import EXAMPLES
from touchstone.review.review import Review
from touchstone.store.runs import open_store

STORE = ".touchstone/touchstone.db"
LEAK = {
    "id": "leak",
    "input": "Who am I?",
    "response": "The other account is jo.brown@gmail.com, card 4111 1111 1111 1111.",
    "context": ["Account 17: Jo Brown, jo.brown@gmail.com, card 4111 1111 1111 1111."],
    "customer": "17",
}


def write(*rows):
    Path("replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def queue(touchstone):
    """The id of a queue of three replies."""
    write(*({**EXAMPLES[0], "id": f"p-{at}"} for at in range(2)), LEAK)
    ended = touchstone("review", "sample", "replies.jsonl", "-q", "--label", "version=7", "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)["queue"]


def grade(queue, position, who="ann"):
    with open_store(STORE) as store:
        review = Review(id=f"{who}{position}", queue=queue, position=position, reviewer=who, made=NOW, grades=GOOD)
        store.reviews.submit(review, rubric=rubric_of(store, store.queues.get(queue).run))


def test_a_file_of_replies_becomes_a_queue_and_another_one_of_the_same_run(touchstone, queue):
    again = touchstone(
        "review", "sample", "-n", "2", "--double", "--name", "again", "--reviewer", "ann", "--reviewer", "ben"
    )
    assert (again.code, "2 of 3 replies" in again.out) == (0, True)
    listed = json.loads(touchstone("review", "queue", "--json").out)
    assert (listed[0]["name"], listed[0]["needed"], listed[0]["reviewers"]) == ("again", 2, ["ann", "ben"])
    assert queue in touchstone("review", "queue").out


def test_a_queue_is_closed_and_opened_again(touchstone, queue):
    assert "closed" in touchstone("review", "queue", queue, "--close").out
    assert json.loads(touchstone("review", "queue", queue, "--reopen", "--json").out)[0]["closed"] is None


def test_the_week_is_reported_in_every_format(touchstone, queue):
    assert "Nothing was reviewed yet" in touchstone("review", "weekly").out
    for position in range(3):
        grade(queue, position)
    shown = touchstone("review", "weekly", queue)
    assert "100.0" in shown.out
    assert json.loads(touchstone("review", "weekly", "--json").out)["pass_rate"]["reviewed"] == 3
    for name in ("html", "csv", "jsonl"):
        assert touchstone("review", "weekly", "--format", name, "-o", f"week.{name}").code == 0
        assert Path(f"week.{name}").stat().st_size > 100
    assert "accuracy" in touchstone("review", "agreement").out
    assert json.loads(touchstone("review", "agreement", "--json").out)["judge"]["outcome"]["n"] == 3


def test_reviewed_cases_are_exported_for_a_gold_set(touchstone, queue):
    grade(queue, 0)
    rows = touchstone("review", "export", "-o", "gold.jsonl")
    assert rows.err.endswith("1 rows\n")
    (row,) = map(json.loads, Path("gold.jsonl").read_text().splitlines())
    assert row["labels"][0]["rater"] == "ann"
    assert json.loads(touchstone("review", "export", "--what", "reviews").out)["by"] == "ann"
    assert touchstone("review", "export", "--what", "promoted").out == ""


REFUSED = [
    (("review", "sample", "nosuch"), "no run 'nosuch'"),
    (("review", "sample", "--redact"), "--redact and --rubric are for a file"),
    (("review", "queue", "--close"), "name the queue"),
    (("review", "queue", "q", "--close", "--reopen"), "not both"),
    (("review", "export", "--what", "all"), "allowed are cases, reviews, promoted"),
    (("review", "weekly", "--format", "pdf"), "allowed are terminal, html, csv, json, jsonl"),
    (("review", "weekly", "year"), "touchstone review queue lists them"),
    (("review", "calibrate"), "0 replies have been reviewed, at least 20 are needed"),
    (("store", "forget"), "name what to erase"),
    (("store", "restore", "none", "-y"), "cannot be read"),
    (("user", "role", "eve", "lead"), "no user 'eve'"),
    (("user", "token", "eve"), "no user 'eve'"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_cannot_be_done_is_one_line_that_says_why(touchstone, queue, arguments, message):
    ended = touchstone(*arguments)
    assert (ended.code, message in ended.err) == (2, True), ended.err
    assert ended.err.count("\n") == 1


def test_without_a_store_nothing_is_begun_by_asking(touchstone):
    assert touchstone("review", "queue").code == 2
    assert not Path(STORE).exists()


def test_personal_data_is_taken_out_before_it_is_kept(touchstone):
    write(LEAK)
    assert touchstone("review", "sample", "replies.jsonl", "-q", "--redact").code == 0
    with open_store(STORE) as store:
        (kept,) = store.replies.scored(store.find_run("latest", kind="production").id)
    assert kept.case.response == "The other account is [email], card [card]."
    assert kept.record.violations == ("pii_leakage",)


def test_a_customer_is_forgotten_and_a_backup_brings_the_store_back(touchstone, queue):
    assert touchstone("store", "backup", "copy.db").code == 0
    forgotten = touchstone("store", "forget", "--where", "customer=17", "-y")
    assert forgotten.out == "erased 1 cases in 1 replies and 0 reviews\n"
    assert "files that may still hold the text" in forgotten.err

    def reply():
        with open_store(STORE) as store:
            return store.replies.result(store.find_run("latest", kind="production").id, "leak").case.response

    assert reply() == ""
    assert "before-restore" in touchstone("store", "restore", "copy.db", "-y").out
    assert reply() == LEAK["response"]


def test_people_are_added_with_a_password_from_stdin_and_get_tokens(touchstone, monkeypatch):
    pytest.importorskip("argon2")
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse battery\n"))
    assert touchstone("user", "add", "ann", "--role", "lead").out == "ann is a lead\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    assert "allowed are 10 to 256" in touchstone("user", "passwd", "ann").err
    assert touchstone("user", "role", "ann", "reviewer").out == "ann is a reviewer\n"
    secret = touchstone("user", "token", "ann", "--label", "ci").out.strip()
    assert secret.startswith("ts_")
    id = touchstone("user", "token", "ann", "--list").out.split("\t")[0]
    assert "is revoked" in touchstone("user", "token", "ann", "--revoke", id).out
    assert "revoked" in touchstone("user", "token", "ann", "--list").out
    assert touchstone("user", "disable", "ann").out == "ann has no more access\n"
    assert touchstone("user", "list").out == "ann\treviewer\tdisabled\n"
    with open_store(STORE) as store:
        assert secret not in repr(store.tokens.list())
        assert store.users.password_hash("ann").startswith("$argon2id$")
        acts = [entry.act for entry in store.audit.page()]
    # The same entries as the service makes.
    assert acts == ["user disabled", "token revoked", f"token {id} added", "role set to reviewer", "user added as lead"]


def test_replies_are_added_night_by_night_and_drawn_from(touchstone):
    write(*({**EXAMPLES[0], "id": f"p-{at}"} for at in range(2)))
    assert touchstone("review", "add", "replies.jsonl", "2026-W12", "--label", "version=7").out == (
        "2026-W12: 2 added; 2 replies in all\n"
    )
    write({**EXAMPLES[0], "id": "p-1"}, {"input": "no reply"}, {**EXAMPLES[1], "id": "p-0"}, {**LEAK, "id": "p-2"})
    ended = touchstone("review", "add", "replies.jsonl", "2026-W12", "--json")
    found = json.loads(ended.out)
    assert (ended.code, found["added"], found["repeated"], found["unread"], found["conflicts"]) == (3, 1, 1, 1, ["p-0"])
    assert "replies.jsonl:2:" in ended.err
    other = touchstone("review", "add", "replies.jsonl", "2026-W12", "--label", "version=8")
    assert (other.code, "run 2026-W12 has version=7, and these replies are labelled version=8" in other.err) == (
        2,
        True,
    )
    drawn = json.loads(touchstone("review", "sample", "-n", "2", "--json").out)
    assert (drawn["run"], drawn["population"]) == ("2026-W12", 3)
    late = touchstone("review", "add", "replies.jsonl", "2026-W12")
    assert (late.code, "add these to another run" in late.err) == (2, True)
    assert "cannot be a run's name" in touchstone("review", "add", "replies.jsonl", "latest").err
    with open_store(STORE) as store:
        acts = [(entry.act, entry.subject) for entry in reversed(store.audit.page())]
    assert acts == [*[("replies stored", "2026-W12")] * 2, ("queue made", drawn["queue"])]


def test_a_file_without_a_reply_begins_no_run(touchstone):
    write({"input": "no reply"})
    ended = touchstone("review", "add", "replies.jsonl", "week")
    assert (ended.code, "replies.jsonl has no readable reply" in ended.err) == (2, True)
    assert touchstone("runs", "list", "--json").out == "[]\n"
    ended = touchstone("review", "sample", "replies.jsonl")
    assert (ended.code, "replies.jsonl has no column for 'response', only 'input'" in ended.err) == (2, True)
    write({**EXAMPLES[0], "id": "p-1"})
    ended = touchstone("review", "add", "replies.jsonl", "week", "--map", "inputt=input")
    assert (ended.code, "nearest is 'input'" in ended.err) == (2, True)


def test_a_run_that_is_added_to_keeps_to_one_way_of_redaction(touchstone):
    write(LEAK)
    assert touchstone("review", "add", "replies.jsonl", "week", "--redact", "-q").code == 0
    again = touchstone("review", "add", "replies.jsonl", "week", "--redact", "--json")
    assert json.loads(again.out)["repeated"] == 1
    assert "another setting of --redact" in touchstone("review", "add", "replies.jsonl", "week").err
