"""The home page: first steps, the demo, the week as people corrected it; weeks with tabs; blind where it has to be."""

import json

import pytest
from tests.service.conftest import running
from tests.service.stored import MADE, add_run, add_user, row

from touchstone.app.review import Drawing, draw_queue
from touchstone.app.rubrics import rubric_of
from touchstone.app.weeks import recent_weeks
from touchstone.clients.llm.discovery import FoundServer
from touchstone.core.result import Finding
from touchstone.review.review import Review
from touchstone.service.routes import week as week_pages
from touchstone.store.runs import open_store

GOOD = {"accuracy": 4, "completeness": 4, "tone": 3, "actionability": 4, "safety": 4}
BAD = {**GOOD, "accuracy": 1, "safety": 0}


def grade(store, queue, position, *, grades=GOOD, by="ann", note=""):
    violations = (Finding("hallucination", "30 days", 9, 16, ""),) if grades["safety"] == 0 else ()
    review = Review(
        id=f"{queue.id}-{position}-{by}",
        queue=queue.id,
        position=position,
        reviewer=by,
        made=MADE,
        grades=grades,
        violations=violations,
        note=note,
    )
    return store.reviews.submit(review, rubric=rubric_of(store, queue.run))


def add_week(store, name, *, bad, size=8, started=MADE):
    """A production run of a few replies, all of them drawn."""
    run = add_run(store, name, rows=[row(n, is_good=n >= bad) for n in range(size)], kind="production", started=started)
    return draw_queue(store, run=run.id, drawing=Drawing(name=name, n=size), by="lena", now=started)


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    """Two weeks: the first graded whole, the second in part."""
    place = tmp_path_factory.mktemp("weeks") / "touchstone.db"
    with open_store(str(place)) as store:
        first = add_week(store, "week-1", bad=1, started="2026-03-02T09:00:00.000+00:00")
        second = add_week(store, "week-2", bad=4, started="2026-03-09T09:00:00.000+00:00")
        for queue in (first, second):
            items = store.queues.items(queue.id, limit=None)
            for item in items if queue is first else items[:6]:
                is_bad = int(item.case.removeprefix("c-")) < (1 if queue is first else 4)
                note = f"{queue.name}: the period is made up" if is_bad else ""
                grade(store, queue, item.position, grades=BAD if is_bad else GOOD, note=note)
        tokens = {name: add_user(store, name, role) for name, role in (("lena", "lead"), ("rob", "reviewer"))}
    with running(place, workers=1, has_auth=True) as started:
        started.tokens, started.queues = tokens, (first, second)
        yield started


@pytest.fixture
def page(weeks):
    def read(path, name="lena"):
        with weeks.client(headers={"Authorization": f"Bearer {weeks.tokens[name]}"}) as client:
            return client.get(path, follow_redirects=True).text.replace("\u00a0", " ")

    return read


def test_an_empty_service_leads_to_the_first_week(client):
    text = client.get("/").text
    assert "Three steps to your first week" in text
    assert 'action="/demo"' in text


def test_models_are_looked_for_when_the_button_is_pressed_and_no_key_is_shown(client, monkeypatch):
    asked = []

    def find():
        asked.append("this machine")
        return (FoundServer("Ollama", "http://127.0.0.1:11434/v1", ("qwen<b>",)),)

    monkeypatch.setattr(week_pages, "find_servers", find)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "touchstone judge setup" in client.get("/connect").text
    assert not asked
    text = client.post("/connect").text
    assert asked == ["this machine"]
    assert "<code>qwen&lt;b&gt;</code>" in text
    assert "OPENAI_API_KEY" in text
    assert "sk-secret" not in text


def test_the_newest_week_is_the_home_page_with_its_change(weeks, page):
    text = page("/")
    week = recent_weeks(weeks.store)[0]
    assert week.queue.name == "week-2"
    assert f"{week.rates.passed.rate * 100:.1f} %" in text
    assert week.passed.difference < 0
    assert "since the week before" in text
    assert "week-2: the period is made up" in text
    assert "Nobody has graded" not in text


def test_weeks_of_another_rubric_are_not_compared(weeks):
    *_, first = recent_weeks(weeks.store)
    assert first.passed is None
    assert first.apart is None


def test_who_still_has_a_reply_to_grade_reads_no_note_about_it(weeks, page):
    waiting = set(weeks.store.queues.to_grade("week-2", reviewer="rob"))
    assert waiting
    noted = {
        item.result
        for item in weeks.store.queues.items(weeks.queues[1].id, limit=None)
        if item.state != "waiting" and int(item.case.removeprefix("c-")) < 4
    }
    shown = page("/", "rob").count("week-2: the period is made up")
    assert shown == min(3, len(noted - waiting))


@pytest.mark.parametrize(
    ("path", "tab"), [("/review/{}", "Grade"), ("/queues/{}", "Progress and agreement"), ("/weekly/{}", "Report")]
)
def test_each_place_of_a_week_has_the_same_tabs(weeks, page, path, tab):
    text = page(path.format(weeks.queues[0].id))
    assert f'aria-current="page">{tab}</a>' in text
    assert text.count('class="tabs"') == 1


def test_people_without_a_part_in_it_see_no_tab_for_it(weeks, page):
    text = page(f"/weekly/{weeks.queues[0].id}", "rob")
    assert "Progress and agreement" not in text
    assert ">Grade</a>" in text


@pytest.mark.slow
def test_the_demo_is_two_weeks_and_loading_it_again_changes_nothing(tmp_path):
    with running(tmp_path / "touchstone.db", workers=1) as started, started.client() as client:
        for _ in range(2):
            assert client.post("/demo").headers["location"] == "/"
        queues = started.store.queues.list()
        assert [queue.name for queue in queues] == ["Demo week 2", "Demo week 1"]
        assert started.store.queues.progress(queues[1].id).reviewed == 25
        text = client.get("/").text
        assert "Grade 25 replies" in text
        assert "demo rater" not in text


def test_the_report_lists_every_reviewed_reply_and_hides_those_still_to_grade(weeks, page):
    queue = weeks.queues[1]
    waiting = weeks.store.queues.to_grade("week-2", reviewer="rob")
    cases = [item.case for item in weeks.store.queues.items(queue.id, limit=None)]
    graded = {item.case for item in weeks.store.queues.items(queue.id, limit=None) if item.state != "waiting"}
    for name, seen in (("lena", graded), ("rob", graded - set(waiting.values()))):
        for path in (f"/weekly/{queue.id}", f"/weekly/{queue.id}/export.html"):
            part = page(path, name).rpartition('id="reviewed-h"')[2]
            assert {case for case in cases if case in part} == seen


def test_a_lead_promotes_what_people_agree_on_and_downloads_it(weeks, page):
    queue = weeks.queues[0]
    assert "Promote 8 replies" in page(f"/queues/{queue.id}")
    with weeks.client(headers={"Authorization": f"Bearer {weeks.tokens['lena']}"}) as client:
        for _ in range(2):
            assert client.post(f"/queues/{queue.id}/promote").status_code == 303
        rows = [json.loads(line) for line in client.get(f"/queues/{queue.id}/goldset.jsonl").text.splitlines()]
    assert len(rows) == 8
    assert all(row["labels"][0]["rater"] == "ann" for row in rows)
    assert "Promote 8 replies" not in page(f"/queues/{queue.id}")


def test_a_calibration_needs_enough_reviews(weeks):
    with weeks.client(headers={"Authorization": f"Bearer {weeks.tokens['lena']}"}) as client:
        answer = client.post(f"/queues/{weeks.queues[0].id}/calibrate")
    assert answer.status_code == 422
    assert "at least 20 are needed" in answer.text


def test_a_calibration_is_kept_and_shown_with_agreement_before_and_after(tmp_path):
    place = tmp_path / "touchstone.db"
    with open_store(str(place)) as store:
        queue = add_week(store, "week-1", bad=10, size=24)
        for item in store.queues.items(queue.id, limit=None):
            grade(store, queue, item.position, grades=BAD if int(item.case.removeprefix("c-")) < 10 else GOOD)
    with running(place, workers=1) as started, started.client(headers={"Origin": started.address}) as client:
        answer = client.post(f"/queues/{queue.id}/calibrate")
        text = client.get(answer.headers["location"]).text
        (kept,) = tmp_path.glob("judge-*.json")
        assert json.loads(kept.read_text())["replies"] == 24
        for said in (
            "The judge is calibrated",
            "On 24 reviewed replies",
            "kappa before",
            "touchstone review calibrate",
        ):
            assert said in text
        assert "The judge is calibrated" not in client.get(f"/queues/{queue.id}?calibrated=1.0").text
        assert client.get(f"/queues/{queue.id}?calibrated=../x").status_code == 422
