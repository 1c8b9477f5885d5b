"""A customer's text goes from every table and from the file; counts, grades and ids stay."""

import json
import logging
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from tests.fragments import left_of
from tests.store.full_samples import SHARED, full_of_text
from tests.store.review_samples import GOOD, NOW, RUBRIC_TEXT, UNSAFE, begin, review_of, ruling_on
from tests.store.review_samples import RUBRIC as rubric
from tests.store.samples import run_named, scored
from tests.store.waiver_samples import LEAK, PROMISE, reply_with, waiver

from touchstone.app.runs import open_run, view_run, write_run
from touchstone.core.case import Case
from touchstone.core.errors import StoreError
from touchstone.core.result import Anchor, Evidence, Failure, Finding, Score
from touchstone.runs.tags import Tag
from touchstone.store.backup import back_up
from touchstone.store.erasure import ERASED
from touchstone.store.pages import Filters
from touchstone.store.runs import open_store
from touchstone.store.tables import metadata

SECRET = "Quillfeather"
SPAN = Finding("pii_leakage", SECRET, 5, 17, f"{SECRET} is a name", (Evidence("context[0]", 0, 12, SECRET),))


def telling(position, *, customer="17"):
    """A reply whose every text holds the secret."""
    entry = scored(position, outcome="FAIL")
    anchor = Anchor("claim", SECRET, 5, 17, SECRET, "unsupported", f"{SECRET}?", (Evidence("input", 0, 12, SECRET),))
    score = Score("hallucination", 0.5, f"{SECRET}!", parts={"s_claims": 0.5, "words": [SECRET]}, anchors=(anchor,))
    grades = tuple(replace(grade, reason=SECRET) for grade in entry.result.rubric.grades)
    grading = replace(entry.result.rubric, grades=grades, violations=(SPAN,), issues=(SECRET,))
    result = replace(
        entry.result,
        metrics={"hallucination": score},
        rubric=grading,
        reasons=(f"says {SECRET}", "hallucination 0.67 > 0.50"),
        failures=(Failure("score", "E", SECRET),),
    )
    record = replace(entry.record, tags=(Tag("off topic", "prompt", SECRET),), violations=("pii_leakage",))
    case = Case(
        id=f"c-{position}",
        input=f"I am {SECRET}",
        response=f"Dear {SECRET}, hello",
        context=[f"{SECRET} lives here"],
        expected_output=SECRET,
        category="returns",
        confidence=0.75,
        metadata={"customer": customer, "name": SECRET},
    )
    return replace(entry, case=case, record=record, result=result)


def fill(store):
    store.create_run(run_named("r0", finished=NOW), rubric=RUBRIC_TEXT)
    store.replies.add("r0", [telling(0), scored(1)])
    store.create_run(run_named("r1", finished=NOW), rubric=RUBRIC_TEXT)
    store.replies.add("r1", [telling(0), scored(1), telling(2, customer="18"), scored(3)])
    begin(store, items=3, needed=2)
    store.reviews.submit(review_of(0, grades=UNSAFE, violations=(SPAN,), note=SECRET), rubric=rubric)
    store.reviews.submit(review_of(1, note="fine"), rubric=rubric)
    store.reviews.save_draft("q1", 0, "ben", body=SECRET, at=NOW)
    store.reviews.rule(ruling_on(0, grades=UNSAFE, violations=(SPAN,), reason=SECRET), rubric=rubric)
    store.idempotency.claim("k", who="a", route="x", request_hash="h", at=NOW)
    store.idempotency.finish("k", who="a", route="x", status=200, body=SECRET)


def dump(place):
    """Every value of every row, as text."""
    engine = create_engine(place if "://" in place else f"sqlite:///{place}")
    with engine.connect() as connection:
        tables = [f'SELECT * FROM "{table.name}"' for table in metadata.sorted_tables]
        rows = [row for query in tables for row in connection.exec_driver_sql(query)]
    engine.dispose()
    return "\n".join(map(str, rows))


WAYS = [{"cases": ["c-0", "c-2"]}, {"cases": ["c-2"], "metadata": {"customer": "17"}}]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_the_text_is_left_and_every_count_is(store, place, way):
    fill(store)
    before = [store.replies.count_outcomes(run) for run in ("r0", "r1")]
    forgotten = store.forget(**way, at=NOW)
    assert (forgotten.cases, forgotten.results, forgotten.reviews, forgotten.runs) == (2, 3, 2, ("r0", "r1"))
    assert SECRET not in dump(place)
    assert [store.replies.count_outcomes(run) for run in ("r0", "r1")] == before
    assert store.replies.tags("r1") == {"off topic": 2}
    assert store.queues.progress("q1").settled == 1


def test_grades_scores_and_kinds_stay(store):
    fill(store)
    store.forget(cases=["c-0"], at=NOW)
    left = store.replies.result("r1", "c-0")
    assert left.case == Case(id="c-0", response="", category="returns", confidence=0.75, metadata={"erased": NOW})
    assert left.record.grades == scored(0).record.grades
    assert left.result.metrics["hallucination"].parts == {"s_claims": 0.5, "words": []}
    assert left.result.metrics["hallucination"].anchors == ()
    assert left.result.reasons == ("hallucination 0.67 > 0.50",)
    assert [v.kind for v in left.result.rubric.violations] == ["pii_leakage"]
    review = store.reviews.of_item("q1", 0)[0]
    assert (review.grades, review.note, review.violations[0].kind) == (UNSAFE, ERASED, "pii_leakage")


def test_what_others_wrote_is_left_alone(store):
    fill(store)
    store.forget(cases=["c-0"], at=NOW)
    assert store.replies.result("r1", "c-1") == scored(1)
    assert store.reviews.of_item("q1", 1) == (review_of(1, note="fine"),)
    assert SECRET in store.replies.result("r1", "c-2").case.response


def test_nothing_is_erased_where_nothing_is_meant(store):
    fill(store)
    for way in ({"cases": ["c-99"]}, {"metadata": {"customer": "99"}}, {"metadata": {"nobody": ""}}, {}):
        assert store.forget(**way, at=NOW).results == 0
    assert store.idempotency.claim("k", who="a", route="x", request_hash="h", at=NOW).body == SECRET


def test_an_erased_case_can_be_erased_again_and_come_again(store):
    fill(store)
    for _ in range(2):
        store.forget(cases=["c-0"], at=NOW)
    store.create_run(run_named("r2"), rubric="")
    store.replies.add("r2", [telling(0)])
    assert store.replies.result("r2", "c-0") == telling(0)
    assert store.replies.result("r1", "c-0").case.response == ""


def test_a_reviewed_item_goes_on_after_its_text_was_erased(store):
    fill(store)
    store.forget(cases=["c-0"], at=NOW)
    review = review_of(0, by="ben", grades=GOOD)
    assert store.reviews.submit(review, rubric=rubric).item.state == "settled"
    assert [item.position for item in store.replies.page("r1", Filters(tag="off topic")).items] == [0, 2]


@pytest.mark.skipif(shutil.which("grep") is None, reason="grep reads the file's bytes")
def test_the_bytes_are_gone_from_sqlite_s_files(tmp_path):
    path = tmp_path / "touchstone.db"
    with open_store(str(path)) as store:
        fill(store)
        store.forget(cases=["c-0", "c-2"], at=NOW)
        files = [str(each) for each in Path(tmp_path).iterdir()]
        found = subprocess.run(["grep", "-l", "-a", SECRET, *files], capture_output=True, text=True, check=False)
    assert found.stdout == ""


# With line breaks, quotes and letters beyond ASCII.
LETTERS = 'abcdefghijklmnopqrstuvwxyz \n"éß…'


def says_in(place, *, seed, letters=LETTERS):
    """A text that shares no twelve characters with any other, in the letters given."""
    chosen = random.Random(f"{seed} {place}")
    return "".join(chosen.choice(letters) for _ in range(60))


def review_fully(store, *, says):
    """Reviews, rulings, drafts, waivers and kept answers about the first reply, each with a text of its own."""
    begin(store, items=2, needed=2)
    marked = (Finding("pii_leakage", says("marked"), 0, 3, says("why marked")),)
    store.reviews.submit(review_of(0, grades=UNSAFE, violations=marked, note=says("note")), rubric=rubric)
    edit = review_of(0, id="e", grades=UNSAFE, violations=marked, note=says("edit"), supersedes="q1-0-ann")
    store.reviews.submit(edit, rubric=rubric)
    store.reviews.save_draft("q1", 0, "ben", body=says("draft"), at=NOW)
    store.reviews.rule(ruling_on(0, grades=UNSAFE, violations=marked, reason=says("ruling")), rubric=rubric)
    for at, (violation, is_withdrawn) in enumerate([(LEAK, False), (LEAK, True), (LEAK, False)]):
        store.marks.waive(waiver(violation, id=f"w{at}", reason=says(f"waiver {at}"), withdrawn=is_withdrawn))
    store.idempotency.claim("k", who="a", route="x", request_hash="h", at=NOW)
    store.idempotency.finish("k", who="a", route="x", status=200, body=says("answer kept"))


@pytest.fixture
def erasing(store, tmp_path, caplog):
    """A store with replies full of text among others; their texts, after which they are erased."""
    caplog.set_level(logging.DEBUG)
    entry, texts = full_of_text(0, says=lambda place: says_in(place, seed="erased"))
    other, kept = full_of_text(1, says=lambda place: says_in(place, seed="other"))
    failed, failing = full_of_text(3, says=lambda place: says_in(place, seed="failed"), fails=True)
    waived, waiving = full_of_text(4, says=lambda place: says_in(place, seed="waived"), is_waived=True)
    texts += failing + waiving
    store.create_run(run_named("r1", finished=NOW), rubric=RUBRIC_TEXT)
    store.replies.add("r1", [entry, other, reply_with(2), failed, waived])
    written = []

    def says(place):
        written.append(says_in(place, seed="people"))
        return written[-1]

    review_fully(store, says=says)
    before = (store.replies.records("r1"), *counted(store))
    exports(store, tmp_path / "export")
    store.forget(cases=["c-0", "c-3", "c-4"], at=NOW)
    return (*texts, *written), kept, before


def counted(store):
    return store.replies.count_outcomes("r1"), store.replies.tags("r1"), store.queues.progress("q1")


def exports(store, directory):
    """The files of the run as they are written now, in place of those of before."""
    directory.mkdir(exist_ok=True)
    view = view_run(open_run("r1", store=store), store=store)
    write_run(view, directory, lines=store.replies.lines("r1"))
    return b"".join(each.read_bytes() for each in directory.iterdir())


def test_no_twelve_characters_of_an_erased_case_are_left_in_any_column_export_or_log(
    store, place, erasing, tmp_path, caplog
):
    texts, kept, _ = erasing
    content = (
        dump(place)
        + json.dumps(dump(place))
        + repr([each for each in store.replies.scored("r1") if each.position != 1])
    )
    assert left_of(texts, content.encode()) == []
    assert left_of(texts, exports(store, tmp_path / "export")) == []
    assert left_of((*texts, *kept), caplog.text.encode()) == []
    assert all(
        text in repr(store.replies.at("r1", 1)) or repr(text)[1:-1] in repr(store.replies.at("r1", 1)) for text in kept
    )
    assert SHARED in repr(store.replies.at("r1", 1))


def test_an_erased_reply_counts_as_it_did_with_its_waivers(store, erasing):
    _, _, (records, counts, tags, progress) = erasing
    after = store.replies.records("r1")
    for old, new in zip(records, after, strict=True):
        assert (new.outcome, new.decision, new.total, new.grades) == (old.outcome, old.decision, old.total, old.grades)
        assert (new.violations, [tag.name for tag in new.tags]) == (old.violations, [tag.name for tag in old.tags])
    assert (store.replies.count_outcomes("r1"), store.replies.tags("r1"), store.queues.progress("q1")) == (
        counts,
        tags,
        progress,
    )
    left = store.replies.at("r1", 0).result.rubric
    assert [each.kind for each in left.violations] == ["unauthorized_promise"]
    assert [(each.violation.kind, each.by, each.reason) for each in left.waived] == [("pii_leakage", "lea", ERASED)]
    assert (left.judge, left.outcome, left.reasons) == ("llm:some-model", "FAIL", ("safety",))
    store.marks.waive(waiver(PROMISE, id="late"))
    assert (store.replies.records("r1")[0].outcome, store.replies.records("r1")[0].tags) == ("PASS", ())


@pytest.mark.slow
def test_no_twelve_characters_are_left_in_sqlite_s_files_wherever_rows_were_moved(tmp_path):
    """Replies come in any order and change afterwards, so that SQLite moves rows from page to page."""
    path, order = tmp_path / "store" / "touchstone.db", random.Random(0)
    texts = {}
    with open_store(str(path)) as store:
        store.create_run(run_named("r1", finished=NOW), rubric=RUBRIC_TEXT)
        positions = list(range(150))
        order.shuffle(positions)
        for position in positions:
            entry, texts[position] = full_of_text(
                position, says=lambda place, at=position: says_in(place, seed=at, letters="abcdefghijklm ")
            )
            store.replies.add("r1", [entry])
        for at, position in enumerate(order.choices(positions, k=150)):
            store.marks.waive(waiver(PROMISE, id=f"w{at}", result=position, withdrawn=order.random() < 0.5))
        erased = sorted(order.sample(positions, 75))
        store.forget(cases=[f"c-{position}" for position in erased], at=NOW)
        content = b"".join(each.read_bytes() for each in path.parent.iterdir())
        back_up(str(path), tmp_path / "backup.db")
    content += (tmp_path / "backup.db").read_bytes()
    assert left_of([text for position in erased for text in texts[position]], content) == []
    kept = [texts[position][0] for position in positions if position not in erased]
    assert all(text.encode() in content for text in kept)


def test_erasing_says_so_when_another_process_still_reads_the_old_text(tmp_path, monkeypatch):
    monkeypatch.setattr("touchstone.store.database.PATIENCE_SECONDS", 0.1)
    path = tmp_path / "touchstone.db"
    with open_store(str(path)) as store:
        fill(store)
        engine = create_engine(f"sqlite:///{path}")
        with engine.connect() as reader:
            reader.exec_driver_sql("BEGIN")
            reader.exec_driver_sql("SELECT count(*) FROM bodies").all()
            with pytest.raises(StoreError, match="erase it again when that process has ended"):
                store.forget(cases=["c-0", "c-2"], at=NOW)
        engine.dispose()
        store.forget(cases=["c-0", "c-2"], at=NOW)
        assert SECRET.encode() not in b"".join(each.read_bytes() for each in tmp_path.iterdir())
