"""The API and the pages are two doors to the same commands: same entries, same figures, same limits."""

import json
from itertools import count
from pathlib import Path

import pytest
from tests.service.conftest import running
from tests.service.stored import MADE, add_run, add_user, row

from touchstone.app.review import Drawing, draw_queue
from touchstone.store.users import AuditEntry

RIGHT = {"accuracy": 4, "completeness": 4, "tone": 4, "actionability": 4, "safety": 4}
ACTION = {"pattern": "wrong value", "owner": "retrieval", "text": "index it"}
PEOPLE = {"ada": "reviewer", "ben": "reviewer", "lea": "lead"}
_numbers = count()


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    place = tmp_path_factory.mktemp("doors") / "touchstone.db"
    with running(place, has_auth=True, workers=1, waits=False, rate=100_000.0) as started:
        tokens = {name: add_user(started.store, name, role, has_password=False) for name, role in PEOPLE.items()}
        started.people = {
            name: started.client(headers={"Authorization": f"Bearer {token}"}) for name, token in tokens.items()
        }
        yield started
        for client in started.people.values():
            client.close()


class Door:
    """A run of two replies with a violation each, a queue of both, and one of the ways to them."""

    def __init__(self, team, *, who="lea", reviewers=()):
        self.store, self.client, self.who = team.store, team.people[who], who
        self.run = f"run-{next(_numbers)}"
        add_run(self.store, self.run, rows=[row(n, is_good=False) for n in range(2)], kind="production")
        drawing = Drawing(n=2, reviewers=reviewers)
        self.found = self.store.replies.at(self.run, 0).result.rubric.violations[0]
        self.queue = draw_queue(self.store, run=self.run, drawing=drawing, by="lea", now=MADE).id
        self.begun = self.store.audit.page(limit=1)[0].number

    def violation(self):
        return {"kind": self.found.kind, "start": self.found.start, "end": self.found.end}

    def action(self):
        """The action of this door's run, as it is now."""
        return next(each for each in self.store.actions.list() if each.run == self.run)


class Api(Door):
    def make_queue(self, **fields):
        return self.client.post("/v1/queues", json={"name": "week", "run": self.run, "size": 2, **fields})

    def close_queue(self):
        return self.client.post(f"/v1/queues/{self.queue}/close")

    def reopen_queue(self):
        return self.client.post(f"/v1/queues/{self.queue}/reopen")

    def review(self, **fields):
        body = {"id": "r" + self.run, "grades": RIGHT, **fields}
        return self.client.post(f"/v1/queues/{self.queue}/items/0/reviews", json=body)

    def withdraw(self):
        return self.client.post(f"/v1/queues/{self.queue}/reviews/r{self.run}/withdraw")

    def save_draft(self, draft):
        body, headers = json.dumps(draft), {"Content-Type": "application/json"}
        return self.client.put(f"/v1/queues/{self.queue}/items/0/draft", content=body, headers=headers)

    def skip(self):
        return self.client.post(f"/v1/queues/{self.queue}/items/0/skip")

    def rule(self, **fields):
        body = {"grades": RIGHT, "reason": "see the policy", **fields}
        return self.client.post(f"/v1/queues/{self.queue}/items/0/ruling", json=body)

    def waive(self, **fields):
        body = {**self.violation(), "reason": "the policy allows it", **fields}
        return self.client.post(f"/v1/runs/{self.run}/results/0/waivers", json=body)

    def take_waiver_back(self):
        return self.waive(reason="", withdrawn=True)

    def promote(self):
        return self.client.put(f"/v1/runs/{self.run}/results/0/promotion")

    def demote(self):
        return self.client.delete(f"/v1/runs/{self.run}/results/0/promotion")

    def make_action(self, **fields):
        return self.client.post("/v1/actions", json={**ACTION, "run": self.run, **fields})

    def finish_action(self, **fields):
        body = {"revision": 1, "owner": "retrieval", "text": "index it", "state": "done", **fields}
        return self.client.put(f"/v1/actions/{self.action().id}", json=body)


class Page(Door):
    def make_queue(self, **fields):
        return self.client.post("/queues", data={"name": "week", "run": self.run, "size": 2, **fields})

    def close_queue(self):
        return self.client.post(f"/queues/{self.queue}/close")

    def reopen_queue(self):
        return self.client.post(f"/queues/{self.queue}/reopen")

    def review(self, **fields):
        return self.client.post(f"/review/{self.queue}/0", data=form(**{"id": "r" + self.run, **fields}))

    def withdraw(self):
        return self.client.post(f"/review/{self.queue}/0/undo")

    def save_draft(self, draft):
        return self.client.post(f"/review/{self.queue}/0/draft", data={"body": json.dumps(draft)})

    def skip(self):
        return self.client.post(f"/review/{self.queue}/0/skip")

    def rule(self, *, reason="see the policy", **fields):
        said = form(id=f"s{self.run}".replace("-", ""), note=reason, **fields)
        return self.client.post(f"/queues/{self.queue}/items/0", data=said)

    def waive(self, **fields):
        body = {**self.violation(), "reason": "the policy allows it", **fields}
        return self.client.post(f"/runs/{self.run}/replies/0/waive", data=body)

    def take_waiver_back(self):
        # The page's button sends no reason.
        return self.client.post(f"/runs/{self.run}/replies/0/waive", data={**self.violation(), "withdrawn": "yes"})

    def promote(self):
        return self.client.post(f"/runs/{self.run}/replies/0/promote")

    demote = promote

    def make_action(self, **fields):
        return self.client.post(f"/weekly/{self.queue}/actions", data={**ACTION, **fields})

    def finish_action(self, **fields):
        body = {**ACTION, "action": self.action().id, "revision": 1, "state": "done", **fields}
        return self.client.post(f"/weekly/{self.queue}/actions", data=body)


def form(*, id, grades=RIGHT, violations=(), note="", **fields):
    said = {f"grade.{name}": grade for name, grade in grades.items()}
    return {"id": id, "violations": json.dumps(violations), "note": note, **said, **fields}


def noted(door):
    """What the audit log has about this door's run and queue, in the order it was done, without their names."""
    names = {door.run: "run", door.queue: "queue"}
    names |= {queue.id: "new queue" for queue in door.store.queues.list() if queue.run == door.run} | names
    names |= {action.id: "action" for action in door.store.actions.list() if action.run == door.run}
    entries = reversed(door.store.audit.page(limit=50))
    return [
        (entry.who, entry.act, "/".join([names[thing], *place]), entry.detail)
        for entry in entries
        for thing, *place in [entry.subject.split("/")]
        if thing in names and entry.number > door.begun
    ]


def figures(team):
    """What Prometheus is told to have been counted, but for the requests themselves, which differ by route."""
    told = dict(line.rsplit(" ", 1) for line in team.people["lea"].get("/metrics").text.splitlines())
    counted = (name for name in told if "_total" in name and not name.startswith(("#", "touchstone_requests")))
    return {name: float(told[name]) for name in counted}


def grown(before, after):
    return {name: after[name] - before.get(name, 0.0) for name in after if after[name] != before.get(name, 0.0)}


# What is done in turn, what the audit log says of it, and how many reviews are counted.
ACTS = {
    "draw a queue": (["make_queue"], [("queue made", "new queue", "")], 0),
    "close a queue twice": (["close_queue", "close_queue"], [("queue closed", "queue", "")], 0),
    "open one that is open": (["reopen_queue"], [], 0),
    "close and open": (
        ["close_queue", "reopen_queue"], [("queue closed", "queue", ""), ("queue reopened", "queue", "")], 0,
    ),
    "submit a review twice": (["review", "review"], [("review submitted", "queue/0", "")], 1),
    "withdraw it": (
        ["review", "withdraw"], [("review submitted", "queue/0", ""), ("review withdrawn", "queue/0", "")], 1,
    ),
    "save a draft": ([("save_draft", {"note": "so far"})], [], 0),
    "rule": (["review", "rule"], [("review submitted", "queue/0", ""), ("ruling", "queue/0", "")], 1),
    "waive": (["waive"], [("violation waived", "run/0", "hallucination")], 0),
    "take a waiver back": (
        ["waive", "take_waiver_back"],
        [("violation waived", "run/0", "hallucination"), ("waiver withdrawn", "run/0", "hallucination")],
        0,
    ),
    "promote": (["promote"], [("promoted", "run/0", "")], 0),
    "demote": (["promote", "demote"], [("promoted", "run/0", ""), ("demoted", "run/0", "")], 0),
    "decide on an action": (["make_action"], [("action made", "action", "open")], 0),
    "finish an action": (
        ["make_action", "finish_action"], [("action made", "action", "open"), ("action changed", "action", "done")], 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("door", [Api, Page])
@pytest.mark.parametrize("what", ACTS)
def test_what_is_done_is_noted_and_counted_alike_through_either_door(team, what, door):
    steps, entries, reviews = ACTS[what]
    opened, before = door(team), figures(team)
    for step in steps:
        name, *arguments = (step,) if isinstance(step, str) else step
        assert getattr(opened, name)(*arguments).status_code < 400
    assert noted(opened) == [("lea", *entry) for entry in entries]
    assert grown(before, figures(team)) == ({"touchstone_reviews_total": float(reviews)} if reviews else {})


def test_every_act_is_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")
    for _, entries, _ in ACTS.values():
        for act, *_ in entries:
            assert f"| `{act}` |" in page


def long(length):
    return "a" * length


# What is sent, with which fields, and whether it is taken.
LIMITS = [
    ("make_queue", {"oversampling": 100}, True),
    ("make_queue", {"oversampling": 101}, False),
    ("make_queue", {"oversampling": 0.5}, False),
    ("make_queue", {"size": 10_000}, True),
    ("make_queue", {"size": 10_001}, False),
    ("make_queue", {"size": 0}, False),
    ("make_queue", {"name": ""}, True),
    ("make_queue", {"name": long(200)}, True),
    ("make_queue", {"name": long(201)}, False),
    ("make_queue", {"seed": 2**31 - 1}, True),
    ("make_queue", {"seed": 2**31}, False),
    ("make_queue", {"seed": -1}, False),
    ("make_queue", {"needed": 3}, False),
    ("make_queue", {"needed": 2, "reviewers": ["ada", "ben"]}, True),
    ("make_queue", {"needed": 2, "reviewers": ["ada"]}, False),
    ("make_queue", {"needed": 2, "reviewers": ["ada", "ada"]}, False),
    ("make_queue", {"reviewers": [f"r{n}" for n in range(101)]}, False),
    ("make_queue", {"reviewers": [long(201)]}, False),
    ("make_queue", {"run": "none"}, False),
    ("review", {"note": long(10_000)}, True),
    ("review", {"note": long(10_001)}, False),
    ("review", {"id": long(65)}, False),
    ("review", {"id": "ünique"}, False),
    ("review", {"supersedes": "none"}, False),
    ("review", {"grades": {**RIGHT, "tone": 5}}, False),
    ("review", {"grades": {**RIGHT, "safety": 0}}, False),
    ("review", {"violations": [{"kind": "rude", "start": 0, "end": 1}]}, False),
    ("review", {"violations": [{"kind": "hallucination", "start": 0, "end": 10**6}]}, False),
    ("review", {"violations": [{"kind": "hallucination", "start": 0, "end": 1}] * 101}, False),
    ("rule", {"reason": long(10_000)}, True),
    ("rule", {"reason": long(10_001)}, False),
    ("rule", {"reason": " "}, False),
    ("waive", {"reason": long(2000)}, True),
    ("waive", {"reason": long(2001)}, False),
    ("waive", {"reason": " "}, False),
    ("make_action", {"text": long(2000), "owner": long(200), "pattern": long(200)}, True),
    ("make_action", {"text": long(2001)}, False),
    ("make_action", {"text": " "}, False),
    ("make_action", {"owner": long(201)}, False),
    ("make_action", {"pattern": long(201)}, False),
    ("finish_action", {"revision": 7}, False),
    ("finish_action", {"text": long(2001)}, False),
    ("finish_action", {"state": "postponed"}, False),
]  # fmt: skip
DRAFTS = [
    ({"grades": {"tone": "4"}, "violations": [], "note": long(10_000)}, True),
    ({"note": long(99_000)}, True),
    ({"note": long(100_000)}, False),
    ({"note": "\u00fc" * 10_000}, True),
    ({"charm": 4}, False),
    ({"seconds": float("nan")}, False),
]


@pytest.mark.parametrize("door", [Api, Page])
@pytest.mark.parametrize(("what", "fields", "is_taken"), LIMITS)
def test_limits_and_checks_are_the_same_at_either_door(team, what, fields, is_taken, door):
    opened = door(team)
    if what == "finish_action":
        opened.make_action()
    check(opened, getattr(opened, what)(**fields), is_taken)


@pytest.mark.parametrize("door", [Api, Page])
@pytest.mark.parametrize(("draft", "is_taken"), DRAFTS)
def test_a_draft_is_as_long_as_it_may_be_at_either_door(team, draft, is_taken, door):
    opened = door(team)
    check(opened, opened.save_draft(draft), is_taken)


def check(door, response, is_taken):
    assert response.status_code < 400 if is_taken else response.status_code in (404, 409, 422), response.text
    if not is_taken:
        assert [entry for entry in noted(door) if entry[1] != "action made"] == []


@pytest.mark.parametrize("door", [Api, Page])
def test_who_is_not_named_for_a_queue_neither_grades_nor_drafts_in_it(team, door):
    opened = door(team, who="ben", reviewers=("ada",))
    assert opened.review().status_code == 403
    assert opened.save_draft({"note": "mine"}).status_code == 403
    assert opened.skip().status_code == 403
    assert noted(opened) == []


def test_a_page_says_which_field_cannot_be_used(team):
    answer = Page(team).make_queue(oversampling=101)
    assert "Oversampling: Input should be less than or equal to 100" in answer.text


def test_entries_of_earlier_versions_are_still_listed(team):
    team.store.audit.note(AuditEntry(at=MADE, who="zoe", act="made a gold-set candidate", subject="week-1/0"))
    lea = team.people["lea"]
    (entry,) = lea.get("/v1/audit", params={"person": "zoe"}).json()["entries"]
    assert entry["act"] == "made a gold-set candidate"
    assert "made a gold-set candidate" in lea.get("/users").text
