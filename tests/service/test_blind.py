"""The judge's word on a reply is kept from those who have still to grade it, on every route, and from nobody else."""

import json

import pytest
from tests.service.conftest import running
from tests.service.stored import add_run, add_user, row

GRADES = {"accuracy": 4, "completeness": 4, "tone": 4, "actionability": 4, "safety": 4}
PEOPLE = {"vera": "viewer", "ada": "reviewer", "ben": "reviewer", "cy": "reviewer", "lea": "lead"}
MINE, OTHERS = 0, 1
# Words of the judge that stand on a page of a reply with a wrong number, and not in its texts.
TELLING = ("contradicted", "hallucination", "FAIL", "Criteria")


@pytest.fixture(scope="module")
def team(either_place):
    """A production run of which ada and ben have one reply to grade, beside one of a closed queue and others."""
    with running(either_place, has_auth=True, workers=1, waits=False, rate=100_000.0) as started:
        store = started.store
        rows = [row(n, is_good=False) for n in range(4)]
        add_run(store, "week-1", rows=rows, kind="production", started="2026-03-01T00:00:00.000+00:00")
        good = [row(n) for n in range(4)]
        add_run(store, "week-2", rows=good, kind="production", started="2026-03-08T00:00:00.000+00:00")
        tokens = {name: add_user(store, name, role, has_password=False) for name, role in PEOPLE.items()}
        started.people = {
            name: started.client(headers={"Authorization": f"Bearer {token}"}) for name, token in tokens.items()
        }
        _draw(store, "open", result=MINE, reviewers=("ada", "ben"))
        _draw(store, "closed", result=OTHERS, closed="2026-03-02T00:00:00.000+00:00")
        yield started
        for client in started.people.values():
            client.close()


def _draw(store, id, *, result, reviewers=(), closed=None):
    from touchstone.review.queue import Item, Queue

    queue = Queue(
        id=id, name=id, run="week-1", made="2026", by="lea", needed=2, population=4, seed=1, oversampling=1.0,
        reviewers=reviewers,
    )  # fmt: skip
    item = Item(queue=id, position=0, result=result, case=f"c-{result}", draft=1, category="returns", inclusion=0.5)
    store.queues.create(queue, [item])
    if closed:
        store.queues.close(id, at=closed)


def seen(team, who, path):
    answer = team.people[who].get(path)
    assert answer.status_code == 200, (path, answer.text)
    return answer.text


def says(team, who, path):
    return [word for word in TELLING if word in seen(team, who, path)]


@pytest.mark.parametrize("who", ["ada", "ben"])
def test_the_page_of_a_reply_that_is_mine_to_grade_shows_its_texts_and_says_why_there_is_no_more(team, who):
    path = f"/runs/week-1/replies/{MINE}"
    assert says(team, who, path) == []
    text = seen(team, who, path)
    assert "You have this reply to grade" in text
    assert "You have 30 days to return" in text
    assert "You have 14 days after delivery" in text


@pytest.mark.parametrize("who", ["vera", "cy", "lea"])
def test_others_see_the_reply_as_before(team, who):
    assert says(team, who, f"/runs/week-1/replies/{MINE}") == list(TELLING)


def test_a_reply_of_no_open_queue_of_mine_is_seen_as_before(team):
    for position in (OTHERS, 2):
        assert says(team, "ada", f"/runs/week-1/replies/{position}") == list(TELLING)


def results(team, who, query=""):
    rows = team.people[who].get(f"/v1/runs/week-1/results?{query}").json()["results"]
    return {each["position"]: each for each in rows}


def test_the_list_of_results_names_the_reply_and_says_nothing_of_it(team):
    assert results(team, "ada")[MINE] == {"position": 0, "id": "c-0", "draft": 1, "category": "delivery", "blind": True}
    assert results(team, "ada")[OTHERS]["outcome"] == "FAIL"
    for who in ("vera", "cy", "lea"):
        assert results(team, who)[MINE]["outcome"] == "FAIL"


@pytest.mark.parametrize("query", ["outcome=FAIL", "decision=block", "tag={tag}", "outcome=FAIL&limit=1"])
def test_a_filter_on_the_judge_s_word_does_not_tell_it_either(team, query):
    query = query.format(tag=next(iter(team.store.replies.tags("week-1"))))
    assert MINE in results(team, "lea", query)
    assert MINE not in results(team, "ada", query)
    assert results(team, "ada", query)
    page = seen(team, "ada", f"/runs/week-1?{query}".replace("&limit=1", ""))
    assert f"/runs/week-1/replies/{MINE}" not in page
    assert MINE in results(team, "ada", "search=c-0&category=delivery")


def test_one_result_is_null_with_the_reason_why(team):
    found = json.loads(seen(team, "ada", f"/v1/runs/week-1/results/{MINE}"))
    assert (found["blind"], found["result"], found["waivers"]) == (True, None, None)
    assert found["case"]["response"]
    assert "once you have submitted" in found["why"]
    for who in ("vera", "cy", "lea"):
        assert json.loads(seen(team, who, f"/v1/runs/week-1/results/{MINE}"))["result"]["decision"] == "block"


def named(team, who, path):
    return '"c-0"' in seen(team, who, path)


@pytest.mark.parametrize(
    "path",
    ["/v1/runs/week-1", "/v1/runs/week-1/patterns", "/v1/patterns?run=week-1",
     "/v1/comparisons?before=week-1&after=week-2"],
)  # fmt: skip
def test_examples_and_flips_leave_it_out(team, path):
    assert named(team, "lea", path)
    assert not named(team, "ada", path)


def test_pages_with_examples_and_flips_leave_it_out(team):
    for path in ("/runs/week-1?tab=patterns", "/compare?before=week-1&after=week-2"):
        everything = seen(team, "lea", path)
        mine = seen(team, "ada", path)
        assert mine.count("c-0") < everything.count("c-0")
    assert "yours to grade" in seen(team, "ada", "/runs/week-1?tab=replies")
    assert ">c-0<" not in seen(team, "ada", "/compare?before=week-1&after=week-2")


def test_the_history_of_a_case_leaves_out_what_is_mine_to_grade(team):
    first, second = json.loads(seen(team, "ada", "/v1/cases/c-0"))["history"]
    assert (first["run"]["id"], first["outcome"]) == ("week-2", "PASS")
    assert (second["run"]["id"], second["blind"], "outcome" in second) == ("week-1", True, False)
    page = seen(team, "ada", f"/runs/week-2/replies/{MINE}")
    assert "Criteria" in page
    assert "FAIL" not in page


def test_a_violation_is_not_waived_before_the_reply_is_graded(team):
    ada = team.people["ada"]
    body = {"kind": "hallucination", "start": 9, "end": 16, "reason": "none"}
    assert ada.post(f"/v1/runs/week-1/results/{MINE}/waivers", json=body).status_code == 409
    assert ada.post(f"/runs/week-1/replies/{MINE}/waive", data=body).status_code == 409


def test_once_submitted_all_is_shown_to_me_and_not_to_the_other(team):
    answer = team.people["ada"].post("/v1/queues/open/items/0/reviews", json={"grades": GRADES})
    assert answer.status_code == 201
    assert says(team, "ada", f"/runs/week-1/replies/{MINE}") == list(TELLING)
    assert results(team, "ada")[MINE]["outcome"] == "FAIL"
    assert says(team, "ben", f"/runs/week-1/replies/{MINE}") == []
    review = answer.json()["id"]
    team.people["ada"].post(f"/v1/queues/open/reviews/{review}/withdraw")
    assert says(team, "ada", f"/runs/week-1/replies/{MINE}") == []
    team.people["lea"].post("/v1/queues/open/close")
    assert says(team, "ada", f"/runs/week-1/replies/{MINE}") == list(TELLING)
