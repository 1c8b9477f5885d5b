"""The story of a week: replies scored, a queue drawn, two people review, a lead rules, the report is made."""

import json
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest
from tests.store.review_samples import BAD, GOOD, NOW

from touchstone.app.calibration import calibrate_judge, write_calibration
from touchstone.app.config import Settings, load_settings
from touchstone.app.evaluation import evaluate_goldset
from touchstone.app.export import WEEKLY_RENDERERS, labelled_cases, promoted_cases, review_rows
from touchstone.app.replies import Assignment
from touchstone.app.review import Drawing, agreement, draw_queue, find_queue, view_item, weekly
from touchstone.app.rubrics import rubric_of
from touchstone.core.errors import ConfigError, ReviewError
from touchstone.review.queue import Progress
from touchstone.review.review import Review, Ruling
from touchstone.review.weekly import Action
from touchstone.store.runs import open_store

HOSTILE = "=cmd|' /C calc'!A0 <script>alert(1)</script>"
SIZE = 24


def reply(at):
    good = at % 3
    text = "You can return shoes within 30 days. Go to My Orders and choose Return." if good else "No idea, sorry."
    return {
        "id": f"p-{at}",
        "input": f"Can I return my {at} pairs of shoes, and how?",
        "response": text,
        "context": ["Shoes can be returned within 30 days: My Orders, then Return."],
        "category": ("returns", HOSTILE)[at % 2],
        "customer": str(at % 4),
    }


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    """A store with two scored batches, the second without the worst replies."""
    home = tmp_path_factory.mktemp("week")
    settings = replace(Settings(), store=str(home / "t.db"), runs=str(home / "runs"))
    with open_store(settings.store) as store:
        for name, rows in (("one", [reply(at) for at in range(SIZE)]), ("two", [reply(3 * at + 1) for at in range(9)])):
            path = home / f"{name}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            assignment = Assignment(goldset=str(path), kind="production", labels={"version": name})
            evaluate_goldset(
                assignment, settings=settings, store=store, on_start=lambda *_: None, on_step=lambda _: None
            )
    return settings


@pytest.fixture
def settings(week, tmp_path):
    from touchstone.store.backup import back_up

    back_up(week.store, tmp_path / "t.db")
    return replace(week, store=str(tmp_path / "t.db"))


@pytest.fixture
def store(settings):
    with open_store(settings.store) as opened:
        yield opened


def run_of(store, version):
    return store.list_runs(labels={"version": version})[0].id


def draw(store, *, n=SIZE, needed=2, **values):
    return draw_queue(store, run=run_of(store, "one"), drawing=Drawing(n=n, needed=needed, **values), by="lea", now=NOW)


def grade_all(store, queue, *, but=()):
    """Two people grade everything by whether the reply helps; they differ on the positions in `but`."""
    rubric = rubric_of(store, queue.run)
    for who in ("ann", "ben"):
        while (item := store.queues.next_item(queue.id, reviewer=who, now=NOW)) is not None:
            helps = int(item.case.removeprefix("p-")) % 3 != 0
            grades = GOOD if helps != (who == "ben" and item.position in but) else BAD
            review = Review(
                id=f"{who}-{item.position}",
                queue=queue.id,
                position=item.position,
                reviewer=who,
                made=NOW,
                grades=grades,
                note=HOSTILE,
            )
            store.reviews.submit(review, rubric=rubric)


def test_two_people_finish_a_queue_a_lead_rules_and_the_report_says_what_holds_for_all(store):
    queue = draw(store, n=12)
    grade_all(store, queue, but={0, 1})
    assert store.queues.progress(queue.id) == Progress(differs=2, done=10)
    view = view_item(store, queue.id, 0)
    assert view.differences[0].what == "outcome"
    assert view.scored.case.id == view.item.case
    for position in (0, 1):
        ruling = Ruling(id=f"u{position}", queue=queue.id, position=position, by="lea", made=NOW, grades=BAD)
        store.reviews.rule(ruling, rubric=view.rubric)
    report = weekly(store, queue.id, now=NOW)
    assert report.progress == Progress(done=10, settled=2)
    assert (report.corrected.n_all, report.corrected.n_reviewed, report.unadjudicated) == (SIZE, 12, 0)
    assert report.corrected.interval.low < report.corrected.rate < report.corrected.interval.high
    assert report.people.outcome.exact == pytest.approx(10 / 12)
    people, judge = agreement(store, queue.id, now=NOW)
    assert (people, judge.outcome.n) == (report.people, 12)


def test_all_replies_reviewed_need_no_correction(store):
    queue = draw(store)
    grade_all(store, queue)
    report = weekly(store, queue.id, now=NOW)
    assert report.corrected.rate == pytest.approx(16 / 24)
    assert report.corrected.estimator.startswith("people's outcomes")


def test_every_format_is_written_and_hostile_text_is_inert_in_it(store):
    queue = draw(store, name=HOSTILE)
    grade_all(store, queue)
    store.actions.keep(
        Action(
            id="a", revision=1, pattern=HOSTILE, owner="prompt", text=HOSTILE, state="open", by="x", made=NOW, run="r"
        )
    )
    report = weekly(store, queue.id, now=NOW)
    written = {name: render(report) for name, render in WEEKLY_RENDERERS.items()}
    assert "<script>alert" not in written["html"]
    assert not [line for line in written["csv"].splitlines() for cell in line.split(",") if cell.startswith("=")]
    assert json.loads(written["json"])["pass_rate"]["replies"] == SIZE
    assert json.loads(written["jsonl"]) == json.loads(written["json"])


def effect_since(store, made):
    """What the weekly report shows of an action on the first run's commonest pattern, made at that time."""
    first = run_of(store, "one")
    pattern = next(iter(store.replies.tags(first)))
    action = Action(
        id="a", revision=1, pattern=pattern, owner="prompt", text="mend", state="open", by="lea", made=made, run=first
    )
    store.actions.keep(action)
    # It was done long after; what counts is when it was decided.
    store.actions.keep(replace(action, revision=2, state="done", made="2099-01-01T00:00:00+00:00"))
    queue = draw(store, n=3)
    line = next(line for line in weekly(store, queue.id, now=NOW).patterns if line.name == pattern)
    return line.actions[0].effect


def test_an_action_shows_what_became_of_its_pattern_in_the_next_run(store):
    effect = effect_since(store, NOW)
    assert (effect.before.replies, effect.after.replies) == (SIZE, 9)
    assert effect.change == pytest.approx(effect.after.rate - effect.before.rate)


def test_a_run_from_before_an_action_shows_nothing_of_its_effect(store):
    begun = datetime.fromisoformat(store.list_runs(labels={"version": "two"})[0].started)
    assert effect_since(store, (begun + timedelta(seconds=1)).isoformat(timespec="milliseconds")) is None


def test_a_new_version_of_the_bot_reminds_of_the_rubric(store):
    second = draw_queue(store, run=run_of(store, "two"), drawing=Drawing(n=2), by="lea", now=NOW)
    runs = {run.labels["version"]: run.started for run in store.list_runs()}
    kinds = {each.kind for each in weekly(store, second.id, now=NOW).reminders}
    assert ("version" in kinds) == (runs["one"] < runs["two"])
    due = date.fromisoformat(NOW[:10]) - rubric_of(store, second.run).reviewed
    assert ("age" in kinds) == (due.days > 90)


def test_reviewed_cases_leave_as_rows_of_a_gold_set(store, tmp_path):
    queue = draw(store, n=6)
    grade_all(store, queue)
    rows = list(labelled_cases(store, queue.id))
    assert len(rows) == 6
    assert [label["rater"] for label in rows[0]["labels"]] == ["ann", "ben"]
    assert "safety" not in rows[0]["labels"][0]
    store.marks.promote(queue.run, store.queues.item(queue.id, 0).result, by="lea", at=NOW)
    promoted = list(promoted_cases(store))
    assert promoted == [rows[0]]
    assert list(promoted_cases(store, run="another")) == []
    reviews = list(review_rows(store, queue.id))
    assert (len(reviews), reviews[0]["outcome"] in ("PASS", "FAIL")) == (12, True)
    assert "response" not in reviews[0]


def test_queues_are_found_by_id_name_or_beginning(store):
    with pytest.raises(ReviewError, match="has no queue"):
        find_queue(store, None)
    first, second = draw(store, n=1, name="week 1"), draw(store, n=1, name="week 2")
    assert find_queue(store, None) == second
    assert find_queue(store, first.id) == find_queue(store, "week 1") == first
    for wrong in ("week", "year"):
        with pytest.raises(ReviewError, match=r"queues?: touchstone review queue lists them"):
            find_queue(store, wrong)


WRONG = [
    ({"n": 0}, "at least 1"),
    ({"oversampling": 0.5}, "give 1, all alike, to 100"),
    ({"oversampling": 101.0}, "give 1, all alike, to 100"),
    ({"oversampling": float("nan")}, "give 1, all alike, to 100"),
    ({"needed": 2, "reviewers": ("ada",)}, "1 is named: name one more"),
    ({"needed": 2, "reviewers": ("ada", "ada")}, "1 is named: name one more"),
    ({"needed": 3}, "allowed are 1 and 2"),
]


@pytest.mark.parametrize(("drawing", "message"), WRONG)
def test_a_queue_that_makes_no_sense_is_refused(store, drawing, message):
    with pytest.raises(ReviewError, match=message):
        draw(store, **drawing)


@pytest.mark.slow
def test_a_calibration_is_written_once_and_used_where_settings_name_it(store, settings, tmp_path):
    queue = draw(store)
    with pytest.raises(ReviewError, match="0 replies have been reviewed, at least 20"):
        calibrate_judge(store, settings=settings, today="2026-01-05")
    grade_all(store, queue)
    found = calibrate_judge(store, settings=settings, today="2026-01-05")
    assert found.offline.fitted.version == "2.0+2026-01-05.24"
    assert {gain.criterion for gain in found.offline.gains} == {"accuracy", "completeness", "tone", "actionability"}
    assert all(gain.error_after < gain.error_before for gain in found.offline.gains if gain.taken)
    path = tmp_path / "judge.json"
    write_calibration(found, path)
    with pytest.raises(ConfigError, match="an earlier version is kept"):
        write_calibration(found, path)
    (tmp_path / "touchstone.yaml").write_text("calibration: judge.json\n")
    assert load_settings(str(tmp_path / "touchstone.yaml")).fitted == found.offline.fitted
    for content, message in (("{}", "is not a calibration"), (None, "cannot be read")):
        path.unlink()
        if content:
            path.write_text(content)
        with pytest.raises(ConfigError, match=message):
            load_settings(str(tmp_path / "touchstone.yaml"))
        path.touch()
