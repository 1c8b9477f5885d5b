"""Which models grade a case, and the features that only those for plain questions use."""

import pytest
from tests.tables import over

import touchstone as ts
from touchstone.judges.choice import plain_kind
from touchstone.judges.coverage import answer_features, count_pages
from touchstone.judges.grounding import grounding_features
from touchstone.judges.tone import politeness
from touchstone.text.reading import read

MATTER = "I ordered a lamp nine days ago and it has still not come, where is it now?"
QUERY = "How long is the return window?"
LONG = "You can return it within 30 days of delivery, as long as it has not been worn."
TALK = "I love these birds, my aunt used to feed them each winter, do you know where they come from?"
LORE = "The waxwing breeds in the north and comes south in hard winters."
KINDS = [
    ("a customer with a matter of their own", {"input": MATTER, "context": ["Orders take 5 days."]}, None),
    ("a plain question on an entry", {"input": QUERY, "context": ["Returns take 30 days."]}, "entry_open"),
    ("the same with an expected reply", {"input": QUERY, "expected_output": LONG}, "entry_expected"),
    ("a plain question on longer passages", {"input": QUERY, "context": [LONG] * 5}, "query_open"),
    (
        "the same with an expected reply",
        {"input": QUERY, "context": [LONG] * 5, "expected_output": LONG},
        "query_expected",
    ),
    ("a terse customer", {"input": "no dumplings!!! paid for 2 got 0", "context": ["We refund missing items."]}, None),
    ("an order in few words", {"input": "cancel my pass", "context": [LONG]}, None),
    ("talk at some length about a text of no company", {"input": TALK, "context": [LORE]}, "entry_open"),
    ("a statement on a source", {"input": "", "context": [LORE]}, "statement"),
    ("a short expected answer", {"input": MATTER, "expected_output": "Paris"}, "answer"),
    ("wording alone", {"input": "", "context": []}, "wording"),
    ("a plain question with nothing to hold the reply against", {"input": QUERY}, None),
    (
        "a short message after one that told the matter",
        {"input": [{"role": "user", "content": MATTER}, {"role": "user", "content": "So?"}], "context": [LONG]},
        None,
    ),
]


@over(("fields", "kind"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS])
@over("reply", ["Yes.", "I am sorry, you can send it back to us within 30 days, please."])
def test_the_kind_of_a_case_is_that_of_its_question_whatever_the_reply(fields, kind, reply):
    assert plain_kind(read(ts.Case(response=reply, **fields))) == kind


ANSWERS = [
    ("Paris", "It is Paris, the capital.", 1.0),
    ("Paris", "It is Rome.", 0.0),
    ("Rome/Paris", "It is Paris.", 1.0),
    ("The Pilgrims (Plymouth Colony)", "They were the Pilgrims.", 1.0),
    ("Dimitri Shostakovitch", "Dmitri Shostakovich wrote it.", 1.0),
    ("eight days", "It takes 8 days.", 1.0),
    ("eight days", "It takes 9 days.", 0.5),
    (LONG, "It is Rome.", 0.5),
]


@pytest.mark.parametrize(("expected", "reply", "given"), ANSWERS)
def test_a_short_answer_is_found_in_any_spelling(expected, reply, given):
    reading = read(ts.Case(input=QUERY, response=reply, expected_output=expected))
    assert answer_features(reading.reply, reading.expected)["answer_given"] == given


@pytest.mark.parametrize("raw", ["We answer 24/7.", "Yes. Ask the desk/the app. Then wait for a day or two."])
def test_a_slash_in_a_sentence_parts_no_alternatives(raw):
    assert read(ts.Case(input=QUERY, response="x", expected_output=raw)).expected.raw == raw


PASSAGE = "The museum is open from 9 am to 5 pm. Dogs are not allowed."
GROUNDED = [
    (
        "The museum is open from 9 am to 5 pm.",
        {"absent_words": 0.0, "absent_names": 0.0, "closest": 1.0, "denied": 0.0},
    ),
    ("Dogs are allowed.", {"denied": 1.0, "absent_words": 0.0}),
    ("Breakfast costs 12 at Hotel Astoria.", {"absent_names": 3.0, "closest": 0.0, "match": 0.0}),
    ("", {"absent_words": 0.0, "closest": 1.0, "match": 0.0}),
]


@pytest.mark.parametrize(("reply", "shown"), GROUNDED)
def test_how_closely_a_reply_keeps_to_the_passages(reply, shown):
    reading = read(ts.Case(input=QUERY, response=reply, context=[PASSAGE]))
    found = grounding_features(reading.reply, reading.sources)
    assert {name: found[name] for name in shown} == shown


PATHS = [
    ("Go to Settings > Plan > Cancel.", 3),
    ("Settings → Personal Info → Edit", 3),
    ("Tap Cards, select the card and switch on Freeze.", 2),
    ("Choose Skip.", 0),
    ("Write to London or come on Monday.", 0),
]


@pytest.mark.parametrize(("reply", "pages"), PATHS)
def test_a_path_is_followed_by_arrows_or_in_sentences(reply, pages):
    assert count_pages(reply) == pages


def test_politer_wording_is_politer():
    asked = ["Why did you remove it?", "Could you say why you removed it?", "Hi, thanks! Could you say why, please?"]
    assert [politeness(raw) for raw in asked] == sorted(politeness(raw) for raw in asked)
    assert politeness("") == 0
