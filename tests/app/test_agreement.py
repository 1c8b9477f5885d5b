"""What is known of a run's judge: its own labels, then the store, then what ships, then nothing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.test_measurements import ONE
from tests.store.waiver_samples import RUBRIC, reply_with

from touchstone.app.agreement import ENOUGH, FITTED, data_of, judge_standing, shipped_standing
from touchstone.app.config import Settings
from touchstone.app.plan import receipt_of
from touchstone.core import resource
from touchstone.core.case import Label
from touchstone.rubric.card import write_rubric
from touchstone.runs.run import Run
from touchstone.stats.interval import proportion
from touchstone.store.runs import open_store

ROOT = Path(__file__).parents[2]
NAMES = ("accuracy", "completeness", "tone", "actionability")
PLAIN = receipt_of(Settings(), name="week-41.jsonl", data="d")
MODEL = replace(PLAIN, judge="llm:a #1")


@pytest.fixture
def store(tmp_path):
    with open_store(str(tmp_path / "touchstone.db")) as opened:
        yield opened


def run_with(store, receipt, *, labelled, id="r1"):
    """A finished run of which so many replies carry labels that fail every fourth; the judge passes all."""
    run = Run(id=id, started="2026-01-01T10:00:00+00:00", finished="2026-01-01T10:00:00+00:00", receipt=receipt)
    store.create_run(run, rubric=write_rubric(RUBRIC))
    replies = [reply_with(at) for at in range(labelled + 1)]
    marked = [
        replace(each, case=replace(each.case, labels=(Label("A", dict.fromkeys(NAMES, 0 if at % 4 == 0 else 4)),)))
        for at, each in enumerate(replies[:labelled])
    ]
    store.replies.add(id, [*marked, replies[-1]])
    return run


def standing(run, store):
    return judge_standing(run, rubric=RUBRIC, store=store)


def test_enough_labelled_replies_of_the_run_go_before_everything(store):
    store.measurements.keep(replace(ONE, rubric_hash=MODEL.rubric_hash))
    found = standing(run_with(store, MODEL, labelled=ENOUGH + 2), store)
    (own,) = found.measurements
    assert (found.judge, found.origin, found.remark) == ("llm:a #1", "run", "")
    assert (own.goldset, own.cases, own.figures.outcome) == ("week-41.jsonl", 32, proportion(24, 32))
    assert own.figures.false_pass == 8


@pytest.mark.parametrize(
    ("labelled", "changes"),
    [(ENOUGH - 1, {}), (ENOUGH, {"bot": "http://127.0.0.1"}), (ENOUGH, {"responses": "hash"})],
    ids=["too few labels", "labels of replies that a bot has replaced", "labels of replies that a file has replaced"],
)
def test_labels_that_are_too_few_or_of_other_replies_are_no_measurement(store, labelled, changes):
    found = standing(run_with(store, replace(MODEL, **changes), labelled=labelled), store)
    assert (found.origin, found.measurements) == ("none", ())


def test_the_newest_kept_measurements_of_the_same_judge_and_rubric_come_next(store):
    kept = replace(ONE, rubric_hash=MODEL.rubric_hash)
    newer = replace(kept, goldset="other")
    for each in (kept, newer, replace(kept, judge="llm:a #2"), replace(kept, goldset="third", rubric_hash="another")):
        store.measurements.keep(each)
    found = standing(run_with(store, MODEL, labelled=0), store)
    assert (found.origin, found.measurements) == ("store", (newer, kept))


def test_of_a_judge_that_nobody_measured_nothing_is_known(store):
    found = standing(run_with(store, MODEL, labelled=0), store)
    assert (found.judge, found.origin, found.measurements) == ("llm:a #1", "none", ())


def test_the_offline_judge_has_figures_that_ship_unless_the_store_has_some(store):
    run = run_with(store, PLAIN, labelled=0)
    found = standing(run, store)
    assert (found.origin, found.remark) == ("product", "")
    assert found.measurements[0].figures.outcome == proportion(904, 1083)
    own = replace(ONE, judge=PLAIN.judge, rubric_hash=PLAIN.rubric_hash)
    store.measurements.keep(own)
    assert standing(run, store).measurements == (own,)


@pytest.mark.parametrize(
    "changes", [{"goldset": "support"}, {"data": data_of("support", settings=Settings())}], ids=["by name", "a copy"]
)
def test_on_the_sets_it_was_fitted_on_the_offline_judge_s_own_labels_come_last(store, changes):
    store.measurements.keep(replace(ONE, judge=PLAIN.judge, rubric_hash=PLAIN.rubric_hash, **changes))
    found = standing(run_with(store, replace(PLAIN, **changes), labelled=ENOUGH), store)
    assert (found.origin, found.remark) == ("product", FITTED)
    calibrated = replace(PLAIN, judge="offline 2.0 feed", **changes)
    found = standing(run_with(store, calibrated, labelled=ENOUGH, id="r2"), store)
    assert (found.origin, found.remark) == ("run", FITTED)
    panel = replace(MODEL, judge="offline + llm:a #1", **changes)
    found = standing(run_with(store, panel, labelled=ENOUGH, id="r3"), store)
    assert (found.origin, found.remark) == ("run", "")


@pytest.mark.parametrize("changes", [{"judge": "offline feed"}, {"judge": "offline 2.0 feed"}, {"rubric": "ours"}])
def test_shipped_figures_are_of_the_judge_and_rubric_that_ship_alone(changes):
    assert shipped_standing(replace(PLAIN, **changes)).origin == "none"
    # Jobs call it by its first name alone.
    assert shipped_standing(replace(PLAIN, judge="offline")).origin == "product"


def test_shipped_figures_of_the_offline_judge_are_those_of_the_benchmark_and_the_fit():
    decided = json.loads((ROOT / "benchmarks/results/judge.json").read_text())["decisions"]
    agreement = json.loads(resource.text("judge.json"))["agreement"]
    found = {each.goldset: each for each in shipped_standing(PLAIN).measurements}
    for way, said in (("expected", "with an expected reply"), ("open", "with sources only")):
        rows = decided[way]["domains_left_out"]
        names = [name for name in rows if name != "violations"]
        for name in names:
            measured = found.pop(f"{'five labelled sets' if name == 'all' else name} {said}")
            right = rows[name]["outcome_right"]
            assert measured.figures.outcome == proportion(right["n"], right["of"])
            assert measured.cases == measured.figures.labelled == rows[name]["replies"]
            assert measured.figures.left_open == rows[name]["replies"] - right["of"]
            kappas = {each: kappa.value for each, kappa in measured.figures.kappas.items()}
            assert kappas == ({} if name == "all" else {each: agreement[way][each][name] for each in NAMES})
            of_violations = {each: getattr(measured.figures, each) for each in ("precision", "recall")}
            counted = rows["violations"] if name == "all" else {}
            assert of_violations == {
                each: proportion(counted[each]["n"], counted[each]["of"]) if counted else None for each in of_violations
            }
    assert found == {}
