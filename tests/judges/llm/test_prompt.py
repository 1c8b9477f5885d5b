"""A prompt is data with a version; what it lacks is said before anything is asked."""

import pytest

from touchstone.core.errors import ConfigError
from touchstone.judges.llm.prompt import fill, packaged_prompt, parse_prompt

TEXT = """
name: mine
version: "3"
system: "{{task}} {{examples}} {{form}}"
criteria: "{{criteria}}"
criterion: "{{criteria}}"
violations: "{{kinds}}"
values: "values"
questions: "questions"
examples: "{{examples}}"
user: "{{data}} {{fence}} {{asked}}"
"""


def test_the_packaged_prompt_has_a_name_and_a_version():
    prompt = packaged_prompt()
    assert (prompt.name, prompt.version) == ("judge", "2")


def test_a_prompt_of_one_s_own_is_read():
    assert parse_prompt(TEXT, name="mine.yaml").version == "3"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("{{fence}} ", ""), "mine.yaml: 'user' lacks the gap {{fence}}"),
        (("{{kinds}}", "{{kinds}} {{sorts}}"), "mine.yaml: 'violations' has a gap {{sorts}}, allowed are {{kinds}}"),
        (('version: "3"', "version: 3"), "mine.yaml: 'version' is no text"),
        (('criterion: "{{criteria}}"', ""), "mine.yaml: a prompt has exactly the fields"),
        (('"3"', "[}"), "mine.yaml: the prompt is not YAML"),
    ],
)
def test_a_prompt_that_cannot_be_used_names_the_place(change, told):
    with pytest.raises(ConfigError) as error:
        parse_prompt(TEXT.replace(*change), name="mine.yaml")
    assert str(error.value).startswith(told)


def test_worked_examples_may_be_given_and_have_to_be_texts():
    row = "{customer: 'Why?', reply: 'Because.', grades: {tone: '4 (warm)'}, violations: none}"
    (example,) = parse_prompt(f"{TEXT}\nworked: [{row}]", name="mine.yaml").worked
    assert (example.customer, example.grades, example.violations) == ("Why?", {"tone": "4 (warm)"}, "none")
    for broken in (
        "{}",
        "[1]",
        "[{customer: why}]",
        f"[{row.replace('none', '1')}]",
        f"[{row.replace('Because.', '')}, 1]",
        "[" + row.replace("'Because.'", "[]") + "]",
    ):
        with pytest.raises(
            ConfigError, match="'worked' is a list of mappings with customer, reply, grades, violations"
        ):
            parse_prompt(f"{TEXT}\nworked: {broken}", name="mine.yaml")


def test_what_fills_a_gap_is_not_read_for_gaps():
    assert fill("{{a}} {{b}}", a="{{b}}", b="x") == "{{b}} x"
