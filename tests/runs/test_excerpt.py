"""An excerpt is of bounded size and the same however the replies were cut."""

import json

import pytest
from tests.runs.test_counts import varied

from touchstone.runs.counts import named
from touchstone.runs.excerpt import (
    LONGEST_EXAMPLE,
    MOST_ROWS,
    Excerpt,
    candidates,
    choose_examples,
    excerpt,
    excerpt_from_dict,
    excerpt_to_dict,
    severity,
)

RECORDS = list(varied(700))


def taken(records, *, size):
    whole = Excerpt()
    for first in range(0, len(records), size):
        part = records[first : first + size]
        made = excerpt(part, {at: f"text {each.id}" for at, each in enumerate(part)})
        whole.merge(excerpt_from_dict(json.loads(json.dumps(excerpt_to_dict(made)))))
    return whole


@pytest.mark.parametrize("size", [1, 32, 700])
def test_the_most_telling_rows_are_kept_in_order(size):
    rows = taken(RECORDS, size=size).rows
    assert len(rows) == MOST_ROWS
    assert rows == sorted(RECORDS, key=severity)[:MOST_ROWS]


@pytest.mark.parametrize("size", [1, 32, 700])
def test_examples_are_those_that_all_replies_would_give(size):
    found = taken(RECORDS, size=size)
    assert len(found.examples) < 20
    often = named(found.counts.results, "tag/")
    assert choose_examples([each.record for each in found.examples], frequency=often) == choose_examples(RECORDS)
    assert all(each.content == f"text {each.record.id}" for each in found.examples)


def test_a_reply_that_is_too_long_is_no_example():
    record = next(each for each in RECORDS if each.outcome == "FAIL")
    assert excerpt([record], {0: "x" * (LONGEST_EXAMPLE + 1)}).examples == []


def test_candidates_of_nothing_are_none():
    assert candidates([]) == []
