import pytest
from tests.runs.records import gold, make

from touchstone.runs.patterns import find_patterns
from touchstone.runs.tags import Tag

LEAK = Tag("leaked card", "bot safety", "'Visa 4242'")
MISSED = Tag("missed question", "prompt", "'How?' is not taken up")
LACKED = Tag("missed question", "retrieval", "'Why?' is not taken up")


def test_patterns_are_ranked_by_count_with_share_owner_and_examples():
    records = [
        make("a", "FAIL", tags=(MISSED, LACKED)),
        make("b", "FAIL", tags=(MISSED, LEAK)),
        make("c", "FAIL", tags=()),
        make("d"),
    ]
    first, second = find_patterns(records)
    assert (first.name, first.count, first.share) == ("missed question", 2, pytest.approx(2 / 3))
    assert (first.owner, first.owners) == ("prompt", (("prompt", 2), ("retrieval", 1)))
    assert first.examples == (("a", MISSED.detail), ("b", MISSED.detail))
    assert (second.name, second.count, second.owner) == ("leaked card", 1, "bot safety")


def test_at_most_three_cases_are_shown_and_each_once():
    records = [make(f"c{at // 2}", "FAIL", draft=at % 2 + 1, tags=(LEAK,)) for at in range(10)]
    (pattern,) = find_patterns(records)
    assert pattern.count == 10
    assert [case for case, _ in pattern.examples] == ["c0", "c1", "c2"]


@pytest.mark.parametrize(
    ("outcome", "verdict", "counted"),
    [("FAIL", "PASS", True), ("PASS", "FAIL", False), (None, "FAIL", True), (None, "WARN", False)],
)
def test_a_reply_counts_when_the_rubric_fails_it_or_leaves_it_to_the_verdict(outcome, verdict, counted):
    assert bool(find_patterns([make("a", outcome, verdict=verdict, tags=(LEAK,))])) is counted


def planted(*, here, elsewhere, size=20, categories=5):
    """`here` tagged replies in the first category, `elsewhere` in each of the others."""
    tagged = {c: here if c == 0 else elsewhere for c in range(categories)}
    bad = {"outcome": "FAIL", "tags": (LEAK,)}
    return [
        make(f"{c}-{at}", category=f"k{c}", **(bad if at < tagged[c] else {}))
        for c in range(categories)
        for at in range(size)
    ]


def test_a_category_with_more_than_its_share_is_found_with_its_lift():
    (pattern,) = find_patterns(planted(here=12, elsewhere=2))
    (found,) = pattern.concentrations
    assert (found.category, found.count, found.replies, found.lift) == ("k0", 12, 20, pytest.approx(6.0))
    assert found.significant
    assert found.p < found.q <= 0.05


def test_an_even_spread_is_significant_nowhere():
    (pattern,) = find_patterns(planted(here=4, elsewhere=4))
    assert not any(found.significant for found in pattern.concentrations)


def test_a_tag_of_one_category_alone_has_no_lift():
    (pattern,) = find_patterns(planted(here=5, elsewhere=0))
    assert pattern.concentrations[0].lift is None
    assert pattern.concentrations[0].significant


def test_a_single_reply_is_no_pattern_of_a_category():
    (pattern,) = find_patterns(planted(here=1, elsewhere=0))
    assert pattern.concentrations == ()


def test_one_category_or_none_is_nothing_to_compare():
    for category in ("only", None):
        (pattern,) = find_patterns([make(at, "FAIL", category=category, tags=(LEAK,)) for at in range(5)])
        assert pattern.concentrations == ()


def test_copies_of_the_same_replies_make_nothing_more_certain():
    once = planted(here=6, elsewhere=2)
    copied = [record for record in once for _ in range(5)]
    (alone,), (together,) = find_patterns(once), find_patterns(copied)
    assert together.count == 5 * alone.count
    assert together.concentrations[0].p == alone.concentrations[0].p


def test_corrected_values_never_fall_below_the_plain_ones_on_the_gold_set():
    patterns = find_patterns([made for _, _, made in gold()])
    assert [p.count for p in patterns] == sorted((p.count for p in patterns), reverse=True)
    for pattern in patterns:
        assert all(found.p <= found.q and found.count >= 2 for found in pattern.concentrations)


def test_no_failed_reply_means_no_pattern():
    assert find_patterns([make("a")]) == ()
    assert find_patterns([]) == ()
