"""Names of persons: where they begin and end, and what only looks like one."""

import pytest
from tests.tables import over

from touchstone.safety.personal_data.recognise import announced, find_names, is_given_name

WHOLE = [
    ("We met Jonas Feldkamp's sister", "Jonas Feldkamp"),
    ("Mr J. Feldkamp", "J. Feldkamp"),
    ("Maria de la Cruz", "Maria de la Cruz"),
    ("Ludwig van Beethoven", "Ludwig van Beethoven"),
    ("at Jonas Feldkamp de", "Jonas Feldkamp"),
    ("Jonas Feldkamp Please", "Jonas Feldkamp"),
    ("the tenant Orange Xyzzq", "Orange Xyzzq"),
    ("Qwer Smith-Xyzzq", "Qwer Smith-Xyzzq"),
    ("Jonas X", "Jonas X"),
    ("Prof. Anna Kovacs", "Anna Kovacs"),
]
PARTIAL = [
    ("Mr White", "White"),
    ("Mrs. Feldkamp", "Feldkamp"),
    ("the van Berg", "Berg"),
    ("We met Kovacsevich", "Kovacsevich"),
    ("the tenant, Xyzzq", "Xyzzq"),
    ("Jonas Flat 3", "Jonas"),
    ("Jonas's", "Jonas"),
]
NONE = [
    "Mr Please",
    "Arnold Clark Motors",
    "Victoria Park",
    "Jonas Park Feldkamp",
    "Jonas & Sons",
    "Jonas Feldkamp & Sons",
    "Hope Feldkamp came",
    "Kovacsevich came",
    "Xyzzq came",
    "the tenant Orange Lamp",
    "Smith-Xyzzq",
    "May Feldkamp",
    "Monday Feldkamp",
    "Mr",
    "X Feldkamp",
    "We met Mark",
    "Hello WORLD",
]


@over(("text", "shown", "partial"), [(*row, False) for row in WHOLE] + [(*row, True) for row in PARTIAL])
def test_a_name_ends_where_other_words_begin(text, shown, partial):
    (name,) = find_names(text)
    assert (text[name.start : name.end], name.partial) == (shown, partial)
    assert name.key == shown.casefold().replace(".", "")


@over("text", NONE)
def test_places_companies_months_and_ordinary_words_are_no_names(text):
    assert list(find_names(text)) == []


def test_a_long_run_of_names_is_more_than_one():
    text = "Anna Maria Elisa Sofia Klara Berta"
    assert [text[n.start : n.end] for n in find_names(text)] == ["Anna Maria Elisa Sofia Klara", "Berta"]


def test_first_names_that_are_ordinary_words_are_not_sure():
    assert is_given_name("jonas")
    assert not is_given_name("mark")
    assert not is_given_name("feldkamp")


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("the tenant, ", True),
        ("placed by ", True),
        ("in the name of ", True),
        ("we thank ", False),
        ("tenant. So ", False),
    ],
)
def test_a_role_or_a_verb_announces_a_name(before, said):
    assert announced(f"{before}Xyzzq", len(before)) is said
