"""How replies worded alike were graded: weights that can be read, and the best part of what is said."""

import json
from math import isfinite, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

import touchstone as ts
from touchstone.core import resource
from touchstone.core.plan import Plan
from touchstone.evidence.check import check
from touchstone.judges.wording import (
    FILE,
    WordedGrade,
    packaged_weights,
    said_in,
    tell,
    weigh_all,
    weigh_best,
    wording_features,
)
from touchstone.text.reading import read

CRITERIA = ["accuracy", "completeness", "tone", "actionability"]
RUNS = {"open": 2.0, "then": 1.0, "soon": -3.0, "some day": -1.0}
SAID = st.lists(st.frozensets(st.sampled_from([*RUNS, "new", "other"])), max_size=6)
SHORT_SHRIFT = "We will look into it in due course."
HELP = "Sorry about that! Open Orders, choose the parcel and tap Trace; we'll write to you within 2 days."


def all_of(said):
    return weigh_all(tell(said, known=RUNS), RUNS)


def best_of(said):
    return weigh_best(tell(said, known=RUNS), RUNS)


def features(response):
    reading = read(
        ts.Case(input="My parcel is late, what can I do?", response=response, context=["Open Orders > Trace."])
    )
    return wording_features(reading, check(reading, plan=Plan()) or ())


def test_every_criterion_has_weights_that_can_be_read():
    content = json.loads(resource.text(FILE))
    assert list(content["base"]) == [*CRITERIA, "pass"] == list(packaged_weights())
    assert list(content["runs"]) == sorted(content["runs"])
    assert all(len(row) == len(CRITERIA) + 1 and all(map(isfinite, row)) for row in content["runs"].values())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_help_is_worded_better_than_short_shrift(criterion):
    assert features(HELP)[f"worded_{criterion}"] > features(SHORT_SHRIFT)[f"worded_{criterion}"]


def test_an_empty_reply_has_the_base():
    assert features("") == {f"worded_{criterion}": weights.base for criterion, weights in packaged_weights().items()}


def test_runs_are_those_of_each_sentence():
    reading = read(ts.Case(input="?", response="You can wait. You can pay.", context=["Pay now."]))
    first, second = said_in(reading, ())
    assert "you can" in first & second
    assert "can wait" in first - second


def test_more_runs_weigh_less_each():
    assert all_of([frozenset({"open"})]) == 2.0
    assert all_of([frozenset({"open", "new"})]) == pytest.approx(2.0 / sqrt(2))


def test_the_best_part_leaves_out_what_speaks_against():
    assert best_of([frozenset({"open", "then"}), frozenset({"soon"})]) == pytest.approx(3.0 / sqrt(2))


@given(SAID)
def test_the_best_part_is_never_worse_than_the_whole(said):
    assert best_of(said) >= all_of(said)


@given(SAID)
def test_a_grade_of_wording_stays_within_the_scale(said):
    weights = WordedGrade(3.5, RUNS)
    assert all(0 <= weights.grade(tell(said, known=RUNS), criterion) <= 4 for criterion in CRITERIA)


@given(SAID)
def test_the_order_of_sentences_does_not_matter(said):
    assert best_of(said[::-1]) == pytest.approx(best_of(said))
