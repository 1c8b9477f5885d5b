"""A text becomes words and numbers, and each word a term that its other forms and synonyms share."""

import pytest

from touchstone.text.reading import read_text

WORDS = [
    ("Where is my ORDER?", ["where", "is", "my", "order"]),
    ("don't, O'Brien's", ["don't", "o'brien's"]),
    ("don’t", ["don't"]),
    ("25MB", ["25", "mb"]),
    ("co-op_x", ["co", "op", "x"]),
    ("1,200.50 and 2.4.1", ["1,200.50", "and", "2.4.1"]),
    ("Straße", ["strasse"]),
    ("مرحبا بكم", ["مرحبا", "بكم"]),
    ("😀 -- …", []),
    ("", []),
]


@pytest.mark.parametrize(("raw", "words"), WORDS)
def test_a_text_is_cut_into_words_and_numbers(raw, words):
    assert [token.word for token in read_text("input", raw).tokens] == words


SAME_TERM = [
    ["refund", "refunds", "refunded", "Refunding", "reimbursement", "refund's"],
    ["parcel", "package", "parcels", "PACKAGES"],
    ["bill", "invoice", "invoices", "billing"],
    ["cancel", "cancelled", "canceled", "cancellation"],
    ["1,200", "1200", "1'200", "1200.00", "1\u202f200"],
    ["3.5", "3.50"],
    ["café", "cafe\u0301"],
    ["month", "monthly", "months"],
]


@pytest.mark.parametrize("words", SAME_TERM, ids=lambda words: words[0])
def test_forms_and_synonyms_of_a_word_are_one_term(words):
    assert len({read_text("input", word).terms for word in words}) == 1


OTHER_TERMS = [("refund", "return"), ("1200", "12.00"), ("1.5", "15"), ("100", "1000"), ("delivery", "shipping")]


@pytest.mark.parametrize(("one", "other"), OTHER_TERMS)
def test_words_that_differ_in_meaning_are_two_terms(one, other):
    assert read_text("input", one).terms != read_text("input", other).terms


def test_stop_words_do_not_count():
    assert read_text("input", "Where is the kettle?").terms == ("kettl",)


def test_stop_words_count_where_nothing_else_is_said():
    assert read_text("input", "What is it?").terms == ("what", "is", "it")


def test_a_word_longer_than_any_real_one_is_kept_as_it_is():
    assert read_text("input", "refunding" * 9).terms == ("refunding" * 9,)


def test_positions_tell_where_each_term_stands():
    text = read_text("input", "A refund is a refund.")
    assert text.positions["refund"] == (1, 4)
