"""A customer's text goes from every table and from the file; counts, grades and ids stay."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, select
from tests.store.review_samples import GOOD, NOW, UNSAFE, begin, review_of, ruling_on
from tests.store.review_samples import RUBRIC as rubric
from tests.store.samples import run_named, scored

from touchstone.core.case import Case
from touchstone.core.result import Anchor, Evidence, Failure, Score, Violation
from touchstone.runs.record import Tag
from touchstone.runs.waivers import Waiver
from touchstone.store.erasure import ERASED
from touchstone.store.runs import Filters, open_store
from touchstone.store.schema import metadata

SECRET = "Quillfeather"
SPAN = Violation("pii_leakage", SECRET, 5, 17, f"{SECRET} is a name", (Evidence("context[0]", 0, 12, SECRET),))


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
    store.create_run(run_named("r0", finished=NOW), rubric="")
    store.add_results("r0", [telling(0), scored(1)])
    store.create_run(run_named("r1", finished=NOW), rubric="")
    store.add_results("r1", [telling(0), scored(1), telling(2, customer="18"), scored(3)])
    begin(store, items=3, needed=2)
    store.reviews.submit(review_of(0, grades=UNSAFE, violations=(SPAN,), note=SECRET), rubric=rubric)
    store.reviews.submit(review_of(1, note="fine"), rubric=rubric)
    store.reviews.save_draft("q1", 0, "ben", body=SECRET, at=NOW)
    store.reviews.rule(ruling_on(0, grades=UNSAFE, violations=(SPAN,), reason=SECRET), rubric=rubric)
    store.marks.waive(
        Waiver(id="w", run="r1", result=0, kind="pii_leakage", start=5, end=17, by="lea", made=NOW, reason=SECRET)
    )
    store.idempotency.claim("k", who="a", route="x", request_hash="h", at=NOW)
    store.idempotency.finish("k", who="a", route="x", status=200, body=SECRET)


def dump(place):
    """Every value of every row, as text."""
    engine = create_engine(place if "://" in place else f"sqlite:///{place}")
    with engine.connect() as connection:
        rows = [row for table in metadata.sorted_tables for row in connection.execute(select(table))]
    engine.dispose()
    return "\n".join(map(str, rows))


WAYS = [{"cases": ["c-0", "c-2"]}, {"cases": ["c-2"], "metadata": {"customer": "17"}}]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_the_text_is_left_and_every_count_is(store, place, way):
    fill(store)
    before = [store.count_outcomes(run) for run in ("r0", "r1")]
    forgotten = store.forget(**way, at=NOW)
    assert (forgotten.cases, forgotten.results, forgotten.reviews, forgotten.runs) == (2, 3, 2, ("r0", "r1"))
    assert SECRET not in dump(place)
    assert [store.count_outcomes(run) for run in ("r0", "r1")] == before
    assert store.tags("r1") == {"off topic": 2}
    assert store.queues.progress("q1").settled == 1


def test_grades_scores_and_kinds_stay(store):
    fill(store)
    store.forget(cases=["c-0"], at=NOW)
    left = store.result("r1", "c-0")
    assert left.case == Case(id="c-0", response="", category="returns", confidence=0.75, metadata={"erased": NOW})
    assert left.record.grades == scored(0).record.grades
    assert left.result.metrics["hallucination"].parts == {"s_claims": 0.5}
    assert left.result.reasons == ("hallucination 0.67 > 0.50",)
    assert [v.kind for v in left.result.rubric.violations] == ["pii_leakage"]
    review = store.reviews.of_item("q1", 0)[0]
    assert (review.grades, review.note, review.violations[0].kind) == (UNSAFE, ERASED, "pii_leakage")


def test_what_others_wrote_is_left_alone(store):
    fill(store)
    store.forget(cases=["c-0"], at=NOW)
    assert store.result("r1", "c-1") == scored(1)
    assert store.reviews.of_item("q1", 1) == (review_of(1, note="fine"),)
    assert SECRET in store.result("r1", "c-2").case.response


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
    store.add_results("r2", [telling(0)])
    assert store.result("r2", "c-0") == telling(0)
    assert store.result("r1", "c-0").case.response == ""


def test_a_reviewed_item_goes_on_after_its_text_was_erased(store):
    fill(store)
    store.forget(cases=["c-0"], at=NOW)
    review = review_of(0, by="ben", grades=GOOD)
    assert store.reviews.submit(review, rubric=rubric).item.state == "settled"
    assert [item.position for item in store.page("r1", Filters(tag="off topic")).items] == [0, 2]


@pytest.mark.skipif(shutil.which("grep") is None, reason="grep reads the file's bytes")
def test_the_bytes_are_gone_from_sqlite_s_files(tmp_path):
    path = tmp_path / "touchstone.db"
    with open_store(str(path)) as store:
        fill(store)
        store.forget(cases=["c-0", "c-2"], at=NOW)
        files = [str(each) for each in Path(tmp_path).iterdir()]
        found = subprocess.run(["grep", "-l", "-a", SECRET, *files], capture_output=True, text=True, check=False)
    assert found.stdout == ""
