"""Packaged tables are read in one way, and each says where it comes from."""

from importlib import resources

import pytest
from tests.tables import over

from touchstone.core import resource
from touchstone.core.errors import ResourceError

DATA = resources.files("touchstone").joinpath("data")
LISTS = sorted(path.name for path in DATA.iterdir() if path.name.endswith(".txt"))


@over("name", LISTS)
def test_a_packaged_list_opens_with_a_line_on_its_origin(name):
    assert resource.text(name).startswith("# ")
    assert resource.lines(name)


def test_comments_and_empty_lines_are_no_entries():
    assert all(line and "#" not in line for line in resource.lines("stopwords.txt"))


@pytest.mark.parametrize("name", ["stopwords.txt", "filler.txt", "abbreviations.txt", "labels.txt", "opinions.txt"])
def test_a_word_list_is_written_as_words_are_compared(name):
    assert all(word == word.casefold() for word in resource.words(name))


def test_a_group_is_found_by_its_head():
    assert "never" in resource.group("modality.txt", "negation")
    with pytest.raises(ResourceError, match="has no group 'nonsense'"):
        resource.group("modality.txt", "nonsense")


def test_a_member_leads_to_its_head_and_the_head_to_itself():
    table = resource.groups("synonyms.txt")
    assert (table["parcel"], table["package"]) == ("package", "package")


def test_no_word_is_a_synonym_of_two_heads():
    members = [
        member.strip() for line in resource.lines("synonyms.txt") for member in line.partition(":")[2].split(",")
    ]
    assert len(members) == len(set(members))


def test_the_parser_is_loaded_once_and_is_the_pinned_one():
    assert resource.parser() is resource.parser()
    assert resource.parser().meta["version"] == resource.PARSER_VERSION
