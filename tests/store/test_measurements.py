"""Measurements of judges on each database, and the labelled replies of a run."""

from dataclasses import replace

import pytest
from sqlalchemy import create_engine, text
from tests.store.review_samples import NOW, RUBRIC_TEXT
from tests.store.samples import run_named
from tests.store.test_upgrade import begin_at
from tests.store.waiver_samples import LEAK, PROMISE, reply_with, waiver

from touchstone.core.case import Label
from touchstone.stats.interval import Interval, proportion
from touchstone.store.runs import open_store
from touchstone.trust.measurement import Measurement
from touchstone.trust.pairs import AgreementFigures, Kappa

FIGURES = AgreementFigures(
    labelled=40,
    outcome=proportion(33, 38),
    left_open=2,
    false_pass=3,
    kappas={"accuracy": Kappa(0.81, Interval(0.7, 0.9, "bootstrap")), "tone": Kappa(None, None)},
    precision=proportion(4, 5),
    recall=proportion(4, 9),
)
ONE = Measurement(
    judge="llm:a #1", goldset="gold", data="d", rubric_hash="r", made="2026-01-01T10:00:00+00:00", cases=44,
    figures=FIGURES,
)  # fmt: skip


def test_the_newest_of_a_judge_on_each_gold_set_counts(store):
    newer = replace(ONE, cases=45, made="2025-01-01T10:00:00+00:00")
    other_set, other_judge = replace(ONE, goldset="\x00week\ud800"), replace(ONE, judge="llm:a #2")
    for each in (ONE, other_set, newer, other_judge):
        store.measurements.keep(each)
    assert store.measurements.of_judge("llm:a #1") == (newer, other_set)
    assert store.measurements.of_judge("llm:a #2") == (other_judge,)
    assert store.measurements.of_judge("llm:a") == ()


def test_a_judge_has_a_new_revision_when_it_is_measured_and_only_then(store):
    assert store.measurements.revision("llm:a #1") == 0
    store.measurements.keep(ONE)
    before = store.measurements.revision("llm:a #1")
    store.measurements.keep(replace(ONE, judge="llm:b #1"))
    assert store.measurements.revision("llm:a #1") == before > 0
    store.measurements.keep(ONE)
    assert store.measurements.revision("llm:a #1") > before


def test_labelled_replies_are_those_of_the_run_as_the_judge_gave_them(store):
    labels = (Label("A", {"accuracy": 4}),)
    lured = reply_with(2)
    lured = replace(lured, case=replace(lured.case, input='see "labels":[1]', metadata={"x": {"labels": [1]}}))
    labelled = [reply_with(0, LEAK), reply_with(1)]
    labelled = [replace(each, case=replace(each.case, labels=labels)) for each in labelled]
    for id in ("r1", "r2"):
        store.create_run(run_named(id, finished=NOW), rubric=RUBRIC_TEXT)
    store.replies.add("r1", [labelled[1], lured, labelled[0]])
    store.replies.add("r2", [reply_with(0)])
    store.marks.waive(waiver(LEAK))
    found = list(store.measurements.labelled_replies("r1"))
    assert [each.position for each in found] == [0, 1]
    assert [each.case.labels for each in found] == [labels, labels]
    assert [[v.kind for v in each.result.rubric.violations] for each in found] == [["pii_leakage"], []]
    assert list(store.measurements.labelled_replies("r2")) == []


@pytest.mark.parametrize("version", ["0001", "0005"])
def test_a_store_of_an_earlier_version_takes_measurements(empty_place, version):
    begin_at(empty_place, version)
    with open_store(empty_place) as store:
        assert store.measurements.of_judge("llm:a #1") == ()
        store.measurements.keep(ONE)
        assert store.measurements.of_judge("llm:a #1") == (ONE,)


def test_a_measurement_is_added_and_none_is_changed(store, place):
    for _ in range(3):
        store.measurements.keep(ONE)
    engine = create_engine(place if "://" in place else f"sqlite:///{place}")
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT judge, cases, labelled FROM measurements ORDER BY number")).all()
    engine.dispose()
    assert rows == [("llm:a #1", 44, 40)] * 3


def test_a_waived_reply_is_the_judge_s_own_word_here(store):
    reply = reply_with(0, LEAK, PROMISE)
    reply = replace(reply, case=replace(reply.case, labels=(Label("A", {"tone": 1}),)))
    store.create_run(run_named("r1", finished=NOW), rubric=RUBRIC_TEXT)
    store.replies.add("r1", [reply])
    for at, violation in enumerate((LEAK, PROMISE)):
        store.marks.waive(waiver(violation, id=f"w{at}"))
    (found,) = store.measurements.labelled_replies("r1")
    assert found.result == reply.result
    assert store.replies.at("r1", 0).result.rubric.violations == ()
