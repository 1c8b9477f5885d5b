"""A value of the reply is supported, derived, contradicted or unsupported, whatever way either side writes it."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import over, rows
from tests.text.renderings import VALUES

from touchstone.evidence.values import check_values
from touchstone.text.reading import read_text

HELD_OUT_FLOOR = 0.90


def overlapping(row):
    """The anchors that overlap the row's phrase, once the reply is checked against the row's source."""
    given_date = row.get("metadata", {}).get("date")
    today = date.fromisoformat(given_date) if given_date else None
    reply = read_text("response", row["reply"], today=today)
    source = read_text("context[0]", row["source"], today=today)
    start = row["reply"].index(row["anchor"])
    end = start + len(row["anchor"])
    return [anchor for anchor in check_values(reply, [source]) if anchor.start < end and start < anchor.end]


@over("row", rows("values"), ids=lambda row: f"{row['id']} {row['anchor']}")
def test_a_phrase_has_the_status_of_the_table(row):
    found = [(anchor.kind, anchor.status) for anchor in overlapping(row)]
    assert found == ([] if row["status"] == "none" else [(row["kind"], row["status"])]), row["why"]


def test_the_statuses_of_the_held_out_table_mostly_agree():
    held = rows("values_held")
    agreeing = [row for row in held if row["status"] in ({a.status for a in overlapping(row)} or {"none"})]
    assert len(agreeing) / len(held) >= HELD_OUT_FLOOR


# Reply and source about the same thing, in other words.
ABOUT = {
    "money": ("The delivery fee is {}.", "Delivery fee: {} for each parcel."),
    "percent": ("The discount is {} on shoes.", "Members get a discount of {} on shoes."),
    "duration": ("The refund takes {} to arrive.", "A refund arrives after {} in most cases."),
    "date": ("Your parcel arrives on {}.", "The parcel will arrive {}."),
    "time": ("The shop opens at {}.", "Our shop opens at {} in summer."),
}


def status(reply, source):
    (anchor,) = check_values(read_text("response", reply), [read_text("context[0]", source)])
    return anchor.status


def some(renderings):
    """Two to four of the ways to write a value."""
    return st.lists(st.sampled_from(sorted(renderings)), min_size=2, max_size=4, unique=True)


@pytest.mark.parametrize("kind", VALUES)
@settings(max_examples=50)
@given(data=st.data())
def test_the_same_value_in_another_form_is_supported(kind, data):
    reply, source = ABOUT[kind]
    first, *others = data.draw(VALUES[kind].flatmap(some))
    for other in others:
        assert status(reply.format(first), source.format(other)) == "supported"


@pytest.mark.parametrize("kind", VALUES)
@settings(max_examples=50)
@given(data=st.data())
def test_another_form_of_a_value_never_changes_its_status(kind, data):
    reply, source = ABOUT[kind]
    ours, theirs = data.draw(VALUES[kind].flatmap(some)), data.draw(VALUES[kind].flatmap(some))
    assert len({status(reply.format(text), source.format(theirs[0])) for text in ours}) == 1
    assert len({status(reply.format(ours[0]), source.format(text)) for text in theirs}) == 1
