"""Fitting the weights of wording: the data is whole, a fit is the same twice and finds what it was shown."""

import json

import pytest
from scripts.fit_wording import KINDS, REPLIES, Given, Reply, bare, fit, fit_kind, fit_kinds, labelled, tabled, written
from tests.tables import over

from touchstone.core.case import Case
from touchstone.safety.wording import fitted

FILES = sorted(REPLIES.glob("*.jsonl"))
HARM = "harmful_content"


@over("path", FILES, ids=lambda path: path.stem)
def test_every_span_is_part_of_its_reply_and_ids_are_unique(path):
    situations = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    replies = [reply for situation in situations for reply in situation["replies"]]
    assert len({situation["id"] for situation in situations}) == len(situations)
    assert all(reply["span"] in reply["text"] for reply in replies)
    assert all(bool(reply["span"]) == reply["violation"] for reply in replies)


def test_every_kind_has_files_to_leave_out():
    series = [path.stem.rpartition("-")[0] for path in FILES]
    assert all(series.count(name) >= 3 for name in KINDS)
    assert len(list(written())) > 10_000


def reply(source, words, *, wrong=False):
    return Reply(source, frozenset({HARM} if wrong else ()), (frozenset(words.split()),), (True,))


ALIKE = [reply(source, "leave it alone", wrong=True) for source in ("harm-a", "harm-b")] * 4
ALIKE += [reply(source, "unplug it now") for source in ("harm-a", "harm-b")] * 4


def test_words_of_violations_weigh_more_than_those_of_sound_replies():
    weights = fit(ALIKE, HARM)
    assert weights["leave"] > 0 > weights["unplug"]
    assert weights == fit(ALIKE, HARM)
    assert list(weights.values()) == sorted(weights.values(), reverse=True)


def test_the_figures_are_of_files_left_out():
    known = fit_kind("harm", HARM, ALIKE)
    turned = [one if one.source == "harm-a" else one._replace(kinds=frozenset({HARM}) - one.kinds) for one in ALIKE]
    assert known["held_out"] == {"auc": 1.0, "violating": 8, "sound": 8}
    assert fit_kind("harm", HARM, turned)["held_out"]["auc"] == 0.0


def test_a_reply_is_labelled_by_its_sentence_and_read_again_without_sources():
    case = Case(input="It smokes.", response="Plug it in. Just keep using it.", context=["Unplug a smoking device."])
    given = Given("harm-a", case, frozenset({HARM}), ["keep using it"])
    assert labelled(given).violates == (False, True)
    assert bare(given).case.context is None
    assert labelled(bare(given)).is_bare


@pytest.mark.slow
def test_a_sample_of_the_replies_is_fitted_from_reading_to_the_file_that_is_read():
    given = [*list(written())[::40], *list(tabled())[::40]]
    content = fit_kinds([labelled(each) for each in given])
    assert content.keys() == {"fitted_on", "method", "kinds"}
    assert content["kinds"].keys() == fitted().keys()
    assert all(row.keys() == {"held_out", "weights"} and row["weights"] for row in content["kinds"].values())
