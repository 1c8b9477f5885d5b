"""Tables of violations and look-alikes: as many are found as when last counted.

These are regression tests. The word runs were fitted on the first and the development tables, and rules were written
from their rows; the confidences were fitted with the second tables among others. None of the counts says how the checks
do on replies of others: docs/safety.md does. Of the second tables and of the ordinary replies no row was read.
"""

from collections import Counter

import pytest
from tests.safety.noticing import find_in, kinds_of
from tests.tables import rows

# Rows with a violation or a suspicion of the table's kind: among its violations, and among its look-alikes.
COUNTED = {
    ("hallucination", "development"): (12, 5),
    ("pii_leakage", "development"): (144, 5),
    ("harmful_content", "development"): (50, 0),
    ("unauthorized_promise", "development"): (46, 0),
    ("competitor_recommendation", "development"): (101, 0),
    ("hallucination", "second"): (8, 11),
    ("pii_leakage", "second"): (36, 6),
    ("harmful_content", "second"): (19, 0),
    ("unauthorized_promise", "second"): (17, 1),
    ("competitor_recommendation", "second"): (28, 1),
}
# Of 300 good replies.
SUSPECTED = {"harmful_content": 2, "hallucination": 7, "pii_leakage": 1}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "table"), COUNTED)
def test_a_table_comes_out_as_when_last_counted(kind, table):
    hits = alarms = 0
    for row in rows(f"detector_{kind}_{table}"):
        found = kind in kinds_of(find_in(row))
        hits += found and row["violation"]
        alarms += found and not row["violation"]
    most, fewest = COUNTED[kind, table]
    assert hits >= most
    assert alarms <= fewest


@pytest.mark.slow
@pytest.mark.parametrize("kind", dict.fromkeys(kind for kind, _ in COUNTED))
def test_no_look_alike_of_the_second_tables_is_called_a_violation(kind):
    sound = [row for row in rows(f"detector_{kind}_second") if not row["violation"]]
    assert sum(kind in kinds_of(find_in(row), surely=True) for row in sound) == 0


@pytest.mark.slow
def test_no_more_good_replies_are_suspected_than_before_and_none_is_called_a_violation():
    found = [find_in({**row, "response": reply["text"]}) for row in rows("ordinary_second") for reply in row["replies"]]
    assert not any(kinds_of(each, surely=True) for each in found)
    suspected = Counter(kind for each in found for kind in kinds_of(each))
    assert {kind: n for kind, n in suspected.items() if n > SUSPECTED.get(kind, 0)} == {}
