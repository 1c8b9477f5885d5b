"""The verifier's word as features: none without one, each in its range, and worse when a sentence is doubted."""

import pytest
from tests.evidence.verifier.reader import DOUBTFUL, OPPOSED, SILENT, SURE

from touchstone.core import resource
from touchstone.core.result import Statement, Verification
from touchstone.judges.model import WAYS, deep_models, models
from touchstone.judges.verified import NAMES, verified_features

STATUS = {SURE: "supported", DOUBTFUL: "not_stated", OPPOSED: "contradicted", SILENT: "no_claim"}


def features(*chances):
    statements = [Statement("x", at, at + 1, STATUS[each], "model", "", each) for at, each in enumerate(chances)]
    return verified_features(Verification("table", "1", "0" * 16, 0.8, tuple(statements)))


def test_there_are_none_where_no_verifier_spoke():
    assert verified_features(None) == {}


@pytest.mark.parametrize("chances", [(), (SURE,), (DOUBTFUL, OPPOSED), (SILENT,), (SURE, SILENT, OPPOSED) * 9])
def test_every_feature_is_there_and_in_its_range(chances):
    found = features(*chances)
    assert set(found) == set(NAMES)
    assert all(0 <= value <= 4 for value in found.values())


def test_one_doubted_sentence_among_sound_ones_shows():
    sound, spoilt = features(SURE, SURE, SILENT), features(SURE, OPPOSED, SILENT)
    for name in ("doubt_most", "doubt_mean", "contradicted_most", "sentences_doubted"):
        assert spoilt[name] > sound[name]
    assert spoilt["sentences_supported"] < sound["sentences_supported"]


def test_a_courtesy_more_changes_nothing():
    assert features(SURE, OPPOSED) == features(SURE, OPPOSED, SILENT, SILENT)


def test_every_feature_has_words():
    named = {line.split("|")[0].strip() for line in resource.lines("features.txt")}
    assert set(NAMES) <= named


@pytest.mark.parametrize("way", WAYS)
def test_models_for_verified_replies_use_the_verifier_and_only_criteria_that_the_judge_knows(way):
    assert set(deep_models(way)) <= set(models(way))
    for model in deep_models(way).values():
        assert not {term.feature for term in model.terms}.isdisjoint(NAMES)
