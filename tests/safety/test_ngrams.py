"""A sentence as runs of words: marks for figures, contacts and names, and what counts by itself."""

import pytest
from tests.safety.noticing import NO_POLICY, read_reply
from tests.tables import over

from touchstone.core.policy import Policy
from touchstone.safety.ngrams import MAX_WORDS, ngrams_of


def runs_of(response, *, policy=NO_POLICY, **fields):
    reading, anchors = read_reply(response, **{"input": "Where is it?"} | fields)
    return [said.ngrams for said in ngrams_of(reading, anchors, policy=policy)]


MARKED = [
    ("You get $5 back.", {}, {"<money>", "get <money>", "get <money> back", "<money> new", "held: no source"}),
    ("You get $5 back.", {"context": ["Late parcels: you get $5 back."]}, {"<money> held", "held: most"}),
    ("You get $5 back.", {"context": ["Late parcels: you get $3 back."]}, {"<money> new", "held: half"}),
    ("You can try Globex, honestly.", {}, {"<name>", "try <name> ,", ", honestly .", "+globex", "+honestly"}),
    ("You can try Globex now.", {"context": ["Globex is our partner."]}, {"<ours>", "try <ours>"}),
    ("You can try Globex's lamp.", {"context": ["Globex is our partner."]}, {"<ours> lamp"}),
    ("You can try Globex now.", {"input": "Is Globex good?"}, {"<theirs>", "try <theirs>"}),
    ("You can ask Acme directly.", {"policy": Policy(company="Acme")}, {"ask <ours>"}),
    ("You can ask Acme directly.", {"policy": Policy(domains=("acme.example",))}, {"ask <ours>"}),
    ("We trust Grand Old Bank fully.", {}, {"trust <name> fully"}),
    ("Bank on it, the Bank says.", {}, {"the <name>", "^ bank on"}),
    ("The bank is open, the Bank says.", {}, {"the bank says"}),
    ("Then I said so.", {}, {"then i said"}),
    ("Mail us at help@acme.example.", {}, {"at <email>"}),
    ("It is fine", {}, {"^ it is", "is fine ."}),
    ("Shall we?", {}, {"we ?"}),
    ("Do it!", {}, {"it !"}),
    ("Pay by card (or cash) now.", {}, {"card , or", "cash , now"}),
]


@over(("response", "fields", "expected"), MARKED)
def test_a_sentence_becomes_runs_with_marks(response, fields, expected):
    (runs,) = runs_of(response, **fields)
    assert expected - runs == set()


def test_runs_have_one_to_three_words():
    (runs,) = runs_of("It is quite fine.")
    plain = {run for run in runs if not run.startswith(("+", "held"))}
    assert {run for run in plain if len(run.split()) == 1} == {"^", "it", "is", "quite", "fine", "."}
    threes = {run for run in plain if len(run.split()) == 3}
    assert threes == {"^ it is", "it is quite", "is quite fine", "quite fine ."}
    assert max(len(run.split()) for run in plain) == 3


def test_a_word_that_anybody_used_is_not_counted_by_itself():
    (runs,) = runs_of("Green lamps glow.", input="lamps?", context=["All is green."])
    assert {run for run in runs if run.startswith("+")} == {"+glow"}


@pytest.mark.parametrize(
    ("source", "share"),
    [("alpha beta gamma delta", "most"), ("alpha beta gamma", "most"), ("alpha beta", "half"), ("alpha", "few")],
)
def test_how_much_the_sources_say_is_most_half_or_few(source, share):
    (runs,) = runs_of("Alpha beta gamma delta.", context=[source])
    assert [run for run in runs if run.startswith("held:")] == [f"held: {share}"]


def test_figures_of_another_sentence_are_not_counted_with_this_one():
    first, second = runs_of("You get $5 back. It is fine.")
    assert "<money> new" in first
    assert "<money> new" not in second


@pytest.mark.parametrize(("words", "pieces"), [(MAX_WORDS, 1), (MAX_WORDS + 1, 2), (3 * MAX_WORDS, 3)])
def test_a_very_long_sentence_comes_in_pieces(words, pieces):
    assert len(runs_of("word " * words)) == pieces


def test_pieces_are_whole_words_of_the_reply():
    reading, anchors = read_reply("word " * (2 * MAX_WORDS + 5))
    found = [said.sentence for said in ngrams_of(reading, anchors, policy=NO_POLICY)]
    assert [(s.first, s.last) for s in found] == [(0, 120), (120, 240), (240, 245)]
    assert all(reading.reply.raw[s.start : s.end].split() == ["word"] * (s.last - s.first) for s in found)


def test_runs_are_the_same_whoever_asks_first():
    fields = {"input": "Who are you?", "context": ["We help."]}
    (reading, anchors), ours = read_reply("Then Fernway will help you.", **fields), Policy(company="Fernway")
    plain, named = (ngrams_of(reading, anchors, policy=policy) for policy in (NO_POLICY, ours))
    assert plain != named
    assert ngrams_of(reading, anchors, policy=ours) is named
    assert ngrams_of(reading, anchors, policy=NO_POLICY) == plain
    assert ngrams_of(reading, None, policy=NO_POLICY) == plain
    again, checked = read_reply("Then Fernway will help you.", **fields)
    assert ngrams_of(again, checked, policy=ours) == named
