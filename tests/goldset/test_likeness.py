"""Which texts are the same or nearly: an index must find what comparing every two would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.goldset.duplicates import AlikePair, groups, likeness, near_across, near_pairs, sign

ORDER = "Where is my order from last Tuesday, it has still not arrived at my house"
texts = st.lists(st.sampled_from("where is my order the parcel not here yet now 5 days".split()), max_size=14).map(
    " ".join
)
thresholds = st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0])


@pytest.mark.parametrize(
    ("other", "at_least", "at_most"),
    [
        (ORDER, 1.0, 1.0),
        (ORDER.upper() + "!!", 1.0, 1.0),
        (ORDER.replace("order", "parcel"), 0.7, 0.95),
        (ORDER.replace("house", "home"), 0.8, 0.95),
        (ORDER + " and I am worried about it now", 0.6, 0.8),
        ("How do I reset my password?", 0.0, 0.1),
        ("", 0.0, 0.0),
    ],
)
def test_likeness_is_high_for_the_same_question_in_almost_the_same_words(other, at_least, at_most):
    assert at_least <= likeness(sign(ORDER), sign(other)) <= at_most


@pytest.mark.parametrize("text", ["", "???", "😀", "a", "5"])
def test_a_text_without_words_is_like_itself_alone(text):
    assert likeness(sign(text), sign(text)) == 1
    assert likeness(sign(text), sign("something else")) == 0


@given(st.text(max_size=60))
def test_every_text_is_its_own_near_duplicate(text):
    assert near_pairs([sign(text), sign(text)], threshold=1.0) == [AlikePair(0, 1, 1.0)]


@given(texts, texts)
def test_likeness_is_symmetric_and_within_0_and_1(a, b):
    assert likeness(sign(a), sign(b)) == likeness(sign(b), sign(a))
    assert 0 <= likeness(sign(a), sign(b)) <= 1


@given(st.lists(texts, max_size=12), thresholds)
def test_the_index_finds_every_pair_that_comparing_all_would(many, threshold):
    signed = [sign(text) for text in many]
    every = [
        AlikePair(at, other, alike)
        for at in range(len(signed))
        for other in range(at + 1, len(signed))
        if (alike := likeness(signed[at], signed[other])) >= threshold
    ]
    assert near_pairs(signed, threshold=threshold) == every


@given(st.lists(texts, max_size=8), st.lists(texts, max_size=8), thresholds)
def test_what_is_near_across_two_lists_does_not_depend_on_which_comes_first(ours, theirs, threshold):
    a, b = [sign(text) for text in ours], [sign(text) for text in theirs]
    there = near_across(a, b, threshold=threshold)
    back = near_across(b, a, threshold=threshold)
    assert sorted((pair.second, pair.first, pair.likeness) for pair in back) == there
    assert len(there) == sum(likeness(x, y) >= threshold for x in a for y in b)


def test_texts_of_one_template_are_one_group_however_many():
    signed = [sign(f"Hello, order {number} has not come yet, could you find out where it is") for number in range(300)]
    assert groups(near_pairs(signed, threshold=0.7)) == [tuple(range(300))]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], []),
        ([(0, 1)], [(0, 1)]),
        ([(0, 3), (1, 2)], [(0, 3), (1, 2)]),
        ([(0, 1), (1, 2), (4, 5), (2, 5)], [(0, 1, 2, 4, 5)]),
        ([(3, 4), (0, 4)], [(0, 3, 4)]),
    ],
)
def test_pairs_that_share_a_text_are_one_group(pairs, expected):
    assert groups(AlikePair(a, b, 1.0) for a, b in pairs) == expected
