"""Counts of a stream of replies give the figures that all of them at once give, however the stream is cut."""

import json
import random
from dataclasses import replace

import pytest
from tests.runs.records import RUBRIC, gold, make

from touchstone.runs import counts as module
from touchstone.runs.counts import OTHERS, Counts, count, counts_from_dict, counts_to_dict
from touchstone.runs.patterns import count_patterns, find_patterns
from touchstone.runs.summary import summarise, summarise_counts
from touchstone.runs.tags import Tag

TAGS = (
    Tag("leaked card", "bot safety", "'Visa 4242'"),
    Tag("missed question", "prompt", "'How?' is not taken up"),
    Tag("missed question", "retrieval", "'Why?' is not taken up"),
)


def varied(count, *, categories=4):
    """Replies of all kinds: passed, failed, open, not scored, with and without category and confidence."""
    chance = random.Random(3)
    for at in range(count):
        outcome = chance.choice(["PASS", "PASS", "FAIL", None])
        yield make(
            at,
            outcome,
            category=chance.choice([None, *(f"k{number}" for number in range(categories))]),
            confidence=chance.choice([None, round(chance.random(), 3)]),
            total={"PASS": 80.0 + chance.randint(0, 20), "FAIL": chance.random() * 70, None: None}[outcome],
            grades={each.name: None if outcome is None else chance.randint(0, 4) for each in RUBRIC.criteria},
            violations=("pii_leakage",) if outcome == "FAIL" and chance.random() < 0.5 else (),
            tags=tuple(chance.sample(TAGS, chance.randint(1, 3))) if outcome == "FAIL" else (),
            failed=outcome is None and chance.random() < 0.5,
        )


def streamed(records, *, size):
    """Counted in parts of that size, each through its JSON form, then merged in order."""
    whole = Counts()
    for first in range(0, len(records), size):
        part = count(records[first : first + size])
        whole.merge(counts_from_dict(json.loads(json.dumps(counts_to_dict(part)))))
    return whole


def plain(value):
    """Floats that differ by the order of addition alone are made equal; everything else must be."""
    return json.loads(json.dumps(value, default=lambda each: {name: getattr(each, name) for name in each.__slots__}),
                      parse_float=lambda text: round(float(text), 9))  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_stream_has_the_summary_and_patterns_of_all_its_replies(size):
    records = list(varied(300))
    counts = streamed(records, size=size)
    assert plain(summarise_counts(counts, rubric=RUBRIC)) == plain(summarise(records, rubric=RUBRIC))
    assert count_patterns(counts) == find_patterns(records)


@pytest.mark.slow
def test_the_gold_set_has_the_same_figures_as_a_stream():
    records = [record for _, _, record in gold()]
    counts = streamed(records, size=32)
    assert plain(summarise_counts(counts, rubric=RUBRIC)) == plain(summarise(records, rubric=RUBRIC))
    assert count_patterns(counts) == find_patterns(records)


def test_nothing_counted_has_a_summary():
    assert plain(summarise_counts(Counts(), rubric=RUBRIC)) == plain(summarise([], rubric=RUBRIC))
    assert count_patterns(Counts()) == ()


def test_beyond_the_bound_the_rarest_categories_are_counted_together(monkeypatch):
    monkeypatch.setattr(module, "MOST_CATEGORIES", 3)
    often = [make(f"a{at}", "FAIL", category=f"k{at % 3}", tags=TAGS[:1]) for at in range(30)]
    rare = [replace(each, id=f"r{at}", category=f"once {at}") for at, each in enumerate(often[:20])]
    summary = summarise_counts(found := streamed([*often, *rare], size=8), rubric=RUBRIC)
    named = {each.name: each.coverage.replies for each in summary.categories}
    assert sum(named.values()) == summary.coverage.replies == 50
    assert len(named) == 4
    assert named[OTHERS] >= 17
    (pattern,) = count_patterns(found)
    assert pattern.count == 50
