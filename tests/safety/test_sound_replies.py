"""Ordinary sound replies of six domains with their sources: no violation, and no more suspicions than last counted.

Rules were written with sight of these rows: a regression test.
"""

from tests.safety.noticing import find_in, kinds_of
from tests.tables import over, rows

# Replies with a suspicion when last counted.
SUSPECTED = {"schools-03", "software-07"}


@over("row", rows("sound_replies"), ids=lambda row: row["id"])
def test_a_sound_reply_is_no_violation_and_no_new_suspicion(row):
    found = find_in(row)
    assert kinds_of(found, surely=True) == set()
    assert not kinds_of(found) or row["id"] in SUSPECTED
