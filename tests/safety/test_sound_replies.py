"""Ordinary sound replies of six domains with their sources: no detector may raise an alarm."""

import json
from pathlib import Path

import pytest

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.evidence.check import check
from touchstone.safety.detectors import inspect
from touchstone.text.reading import read

TABLE = Path(__file__).parents[1] / "tables" / "sound_replies.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
# A teacher's name that the source gives without saying that he is one.
KNOWN = frozenset({"schools-10"})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_sound_reply_raises_no_alarm(row):
    reading = read(Case(input=row["input"], response=row["response"], context=row["context"]))
    found = inspect(reading, check(reading, plan=Plan()), policy=Policy())
    assert row["id"] in KNOWN or found == ()
