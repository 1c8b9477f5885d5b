"""Every benchmark can be run with the code as it is, and the judge's figures are what they say."""

from importlib import import_module

import pytest
from benchmarks.__main__ import BENCHMARKS, ON_REQUEST
from benchmarks.judge import FRAME, decisions, framed, laws, pasted, share
from benchmarks.tables import TABLES
from scripts.labelled import read_row, rows
from tests.tables import over

from touchstone.core.case import Case


@over("name", BENCHMARKS | ON_REQUEST)
def test_every_benchmark_can_be_run(name):
    assert callable(import_module(f"benchmarks.{name}").run)


def test_what_is_decided_on_all_sets_is_what_is_decided_on_each():
    for mode in ("expected", "open"):
        for left_out in ("domains_left_out", "sets_left_out"):
            found = {name: row for name, row in decisions()[mode][left_out].items() if name != "violations"}
            every = found.pop("all")
            for count in ("replies", "reviewed", "abstained"):
                assert every[count] == sum(row[count] for row in found.values())
            assert every["sent_right"]["of"] == sum(row["sent_right"]["of"] for row in found.values())


def test_a_share_of_nothing_is_none_and_of_few_is_uncertain():
    assert share(0, 0)["share"] is None
    few = share(3, 3)
    assert (few["share"], few["high"]) == (1.0, 1.0)
    assert few["low"] < 0.5


def test_a_framed_reply_is_the_reply_between_greeting_and_closing():
    assert framed(Case(input="When?", response="At nine.")).response.split("\n\n") == [FRAME[0], "At nine.", FRAME[1]]


@pytest.mark.slow
def test_the_laws_are_counted_over_the_replies_given():
    few = tuple(read_row(name, row, mode="open") for name, row in rows()[:6])
    found = laws(few)
    assert found["courtesy"]["grade_lowered"]["of"] == len(few)
    assert found["pasted"]["passed"]["of"] == len(list(pasted(few)))
    assert found["wrong_figures"]["noticed"]["n"] >= found["wrong_figures"]["violations"]["n"]


def test_every_table_is_of_a_benchmark():
    assert {result for _, result in TABLES.values()} <= {*BENCHMARKS, *ON_REQUEST}
