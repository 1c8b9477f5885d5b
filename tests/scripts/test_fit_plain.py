"""Fitting the models of plain questions on a few made-up rows, and what the shipped ones grade."""

import pytest
from scripts import fit_plain
from scripts.labelled import labelled

from touchstone.judges.model import models, plain_models

PASSAGES = ["The tower was built in 1889 and is 330 metres high.", "The museum in the old mill shows 40 clocks."]
GOOD = ["The tower is 330 metres high.", "The museum shows 40 clocks."]
BAD = ["A famous queen sold her bridge to sailors.", "Horses run at 12 farms beyond the river."]
ROWS = [
    {"id": f"{name}-{at}", "input": "", "context": [f"{passage} Part {at}."], "response": said, "expected_output": None}
    | {"gold": {"unsupported": float(name == "bad")}}
    for at in range(5)
    for passage, good, bad in zip(PASSAGES, GOOD, BAD, strict=True)
    for name, said in (("good", good), ("bad", bad))
]


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(fit_plain, "public_rows", lambda name: ROWS)
    fit_plain._seen_rows.cache_clear()
    yield
    fit_plain._seen_rows.cache_clear()


@pytest.mark.usefixtures("few_rows")
def test_what_a_set_calls_unsupported_is_graded_below_the_rest_by_models_that_saw_neither():
    values = [row["accuracy"] for row in fit_plain.held_out_values("wice")]
    good, bad = values[::2], values[1::2]
    assert min(good) > max(bad)


@pytest.mark.slow
@pytest.mark.usefixtures("few_rows")
def test_the_labelled_sets_join_in_folds_of_their_own(monkeypatch):
    monkeypatch.setattr(fit_plain, "labelled", lambda mode: labelled(mode)[:40])
    names, rated = fit_plain.rated_replies("query_open", "accuracy", ("begin",))
    assert rated[-1].folds.min() >= fit_plain.FOLDS
    assert rated[-1].table.shape == (40, len(names))
    assert "finding_hallucination" in names


# The values of the models as they were fitted: (of no feature, of the features below).
GIVEN = {"absent_words": 0.2, "words": 40.0, "match": 0.6, "grounded": 0.5, "values_contradicted": 1.0}
GIVEN |= {"ask_mean": 0.7, "politeness": 0.4, "expected_said": 0.8}
FITTED = [
    ("answer", "accuracy", 0.7743100000, 1.3390485699),
    ("entry_expected", "accuracy", 2.9736000000, 2.9870096309),
    ("entry_open", "accuracy", 3.9418324233, 3.4543030750),
    ("query_expected", "accuracy", 1.5373000000, 1.7624500348),
    ("query_expected", "completeness", 0.9358200000, 1.6966506667),
    ("query_open", "accuracy", 3.0456500000, 1.9298048851),
    ("statement", "accuracy", 1.9314500000, 1.3345238832),
    ("wording", "tone", 2.3419925693, 2.6414282790),
]


@pytest.mark.parametrize(("kind", "criterion", "of_nothing", "of_given"), FITTED)
def test_the_shipped_values_are_those_of_the_fit(kind, criterion, of_nothing, of_given):
    model = plain_models(kind)[criterion]
    assert model.value({}) == pytest.approx(of_nothing, abs=1e-9)
    assert model.value(GIVEN) == pytest.approx(of_given, abs=1e-9)


def test_no_shipped_term_waits_for_a_feature_that_is_no_more():
    known = {term.feature for mode in ("expected", "open", "bare") for m in models(mode).values() for term in m.terms}
    named = {term.feature for kind, *_ in FITTED for m in plain_models(kind).values() for term in m.terms}
    assert not [name for name in named | known if name.startswith("violation_")]
