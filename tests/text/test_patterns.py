"""Phrases of packaged groups, counted for one group or for many, and found at the start of words."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

from touchstone.core import resource
from touchstone.text.patterns import count, counts, leading

TABLE = "tone.txt"
GROUPS = tuple(line.partition(":")[0] for line in resource.lines(TABLE))
PHRASES = sorted(member.replace("*", "ing") for name in GROUPS for member in resource.group(TABLE, name))


@over("name", GROUPS)
def test_every_phrase_of_a_group_is_counted_among_many(name: str) -> None:
    for member in resource.group(TABLE, name):
        said = f"Well, {member.replace(' * ', ' this ').replace('*', '')}."
        assert counts(said, *GROUPS, table=TABLE)[name] == count(said, name, table=TABLE) >= 1


@given(st.lists(st.sampled_from([*PHRASES, "x", "a_b", "Déjà", "'", "-", "\n", ". ", ", "]), max_size=30))
def test_many_groups_are_counted_as_one_by_one(parts: list[str]) -> None:
    for said in (" ".join(parts), "".join(parts)):
        found = counts(said, *GROUPS, table=TABLE)
        assert {name: found[name] for name in GROUPS} == {name: count(said, name, table=TABLE) for name in GROUPS}


def test_the_longest_phrase_that_words_begin_with_is_found() -> None:
    assert leading(["kind", "regards", "tom"], "sign_off", table="frame.txt") == 2
    assert leading(["best"], "sign_off", table="frame.txt") == 1
    assert leading(["tom", "best"], "sign_off", table="frame.txt") == 0
    assert leading([], "sign_off", table="frame.txt") == 0
