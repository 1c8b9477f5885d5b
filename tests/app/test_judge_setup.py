"""A model that was found -> settings and a section of touchstone.yaml; all else in the file stays to the letter."""

import pytest
import yaml

from touchstone.app.config import load_settings
from touchstone.app.config_model import PriceSettings, config_text
from touchstone.app.judge_setup import choose, section_text, write_section
from touchstone.clients.llm.discovery import Offer
from touchstone.core.errors import ConfigError

NEAR = "http://127.0.0.1:11434/v1"
CHANGES = {"kind": "llm", "model": "qwen2.5:7b", "base_url": NEAR, "key_variable": None, "panel": None}
NEW = f"judge:\n  kind: llm\n  model: qwen2.5:7b\n  base_url: {NEAR}\n"
OFFER = Offer("Ollama", NEAR, "qwen2.5:7b")


@pytest.fixture
def file(tmp_path, monkeypatch):
    """touchstone.yaml in the working directory, with this text."""
    monkeypatch.chdir(tmp_path)

    def file(text):
        (tmp_path / "touchstone.yaml").write_bytes(text.encode())
        return tmp_path / "touchstone.yaml"

    return file


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", NEW),
        ("# mine\n", f"# mine\n\n{NEW}"),
        ("redact: true", f"redact: true\n\n{NEW}"),
        ("redact: true  # yes\n\n# end\n", f"redact: true  # yes\n\n# end\n\n{NEW}"),
        ("judge:\n", NEW),
        ("judge:", NEW),
        (
            "judge:   # who grades\n  # kind: offline\nredact: true\n",
            f"judge:   # who grades\n  kind: llm\n  model: qwen2.5:7b\n  base_url: {NEAR}\n  # kind: offline\n"
            "redact: true\n",
        ),
        (
            "judge:\n    # ours\n    kind: offline  # for now\n    timeout: 90   # slow\nredact: true\n",
            f"judge:\n    # ours\n    kind: llm  # for now\n    model: qwen2.5:7b\n    base_url: {NEAR}\n"
            "    timeout: 90   # slow\nredact: true\n",
        ),
        (
            'judge:\n  model: "old"  # which\n  base_url: https://llm.example/v1\n  key_variable: TOUCHSTONE_X\n'
            "  scope: criterion\n",
            f"judge:\n  kind: llm\n  model: qwen2.5:7b  # which\n  base_url: {NEAR}\n  scope: criterion\n",
        ),
        (
            "judge:\n  kind: panel\n  panel:\n    - offline\n    - model: a\n      prices: {input: 1, output: 2}\n"
            "  # after\n  votes: 3\n\n\ncolumns: {reply: response}\n",
            f"judge:\n  kind: llm\n  model: qwen2.5:7b\n  base_url: {NEAR}\n  # after\n  votes: 3\n\n\n"
            "columns: {reply: response}\n",
        ),
        (
            "judge:\r\n  kind: offline\r\nredact: true\r\n",
            f"judge:\r\n  kind: llm\r\n  model: qwen2.5:7b\r\n  base_url: {NEAR}\r\nredact: true\r\n",
        ),
        (
            "judge:\n  kind:\n  model:   # none\n",
            f"judge:\n  kind: llm\n  base_url: {NEAR}\n  model: qwen2.5:7b   # none\n",
        ),
        ("---\nredact: true\n", f"---\nredact: true\n\n{NEW}"),
        ("policy:\n  company: Ümlaut & Søn\n", f"policy:\n  company: Ümlaut & Søn\n\n{NEW}"),
    ],
)
def test_the_section_is_changed_and_nothing_else(file, before, after):
    path = file(before)
    assert write_section(None, CHANGES).name == "touchstone.yaml"
    assert path.read_bytes().decode() == after
    assert [each.name for each in path.parent.iterdir()] == ["touchstone.yaml"]
    judge = load_settings().judge
    assert (judge.kind, judge.model, judge.base_url, judge.key_variable) == ("llm", "qwen2.5:7b", NEAR, None)


def test_a_file_that_is_not_there_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_section(None, CHANGES)
    assert (tmp_path / "touchstone.yaml").read_text() == NEW


def test_the_file_that_init_writes_keeps_every_comment(file):
    path = file(config_text())
    write_section(None, CHANGES)
    kept = [line for line in path.read_text().splitlines() if line not in NEW.splitlines()[1:]]
    assert kept == config_text().splitlines()


def test_written_twice_it_is_the_same(file):
    path = file("redact: true\n")
    write_section(None, CHANGES | {"prices": {"input": 0.1, "output": 0.5}, "timeout": 90})
    once = path.read_text()
    assert once.endswith("  prices: {input: 0.1, output: 0.5}\n  timeout: 90\n")
    write_section(None, CHANGES | {"prices": {"input": 0.1, "output": 0.5}, "timeout": 90})
    assert path.read_text() == once


def test_a_section_within_the_section_keeps_what_is_not_given_anew(file):
    path = file("judge:\n  budget:\n    tokens: 100  # most\n  seed: 3\n")
    write_section(None, CHANGES | {"budget": {"money": 2.5}, "prices": {"input": 1.0, "output": 2.0}})
    section = yaml.safe_load(path.read_text())["judge"]
    assert section["budget"] == {"tokens": 100, "money": 2.5}
    assert (section["prices"], section["seed"]) == ({"input": 1.0, "output": 2.0}, 3)


@pytest.mark.parametrize(
    "text",
    [
        "judge: {kind: offline}\n",
        "judge: null\n",
        "judge: ~\n",
        "{redact: true}\n",
        "redact: true\njudge:\n  model: |\n    old\n",
        "judge: &ours\n  kind: offline\ncolumns: {}\nrun: *ours\n",
        "redact: true\n...\n",
    ],
)
def test_what_cannot_be_changed_line_by_line_is_left_alone_and_told_with_what_to_paste(file, text):
    path = file(text)
    with pytest.raises(ConfigError) as raised:
        write_section(None, CHANGES)
    message = str(raised.value)
    assert message.startswith(
        "the section judge of touchstone.yaml cannot be changed line by line: write it yourself: "
    )
    pasted = yaml.safe_load(message.split("write it yourself: ")[1])
    assert {key: pasted["judge"][key] for key in ("kind", "model", "base_url")} == {
        "kind": "llm",
        "model": "qwen2.5:7b",
        "base_url": NEAR,
    }
    assert "\n" not in message
    assert path.read_bytes().decode() == text


def test_what_the_settings_could_not_read_is_not_written(file):
    path = file("redact: true\n")
    with pytest.raises(ConfigError, match=r"nothing was written, .* touchstone\.yaml:7: 'judge\.votes' is 99"):
        write_section(None, CHANGES | {"votes": 99})
    assert path.read_text() == "redact: true\n"
    assert [each.name for each in path.parent.iterdir()] == ["touchstone.yaml"]


def test_the_section_is_shown_as_it_will_be(file):
    file("judge:\n  kind: offline\n  timeout: 90\n  key_variable: TOUCHSTONE_X\n")
    shown = section_text(None, CHANGES)
    assert shown == f"judge:\n  kind: llm\n  timeout: 90\n  model: qwen2.5:7b\n  base_url: {NEAR}\n"


def test_the_judge_to_try_is_the_model_and_what_the_file_says_of_any(file):
    file("judge:\n  kind: panel\n  panel: [offline, x]\n  timeout: 90\n  votes: 3\n  cascade: true\n")
    choice = choose(OFFER, config=None, flags={"max_tokens": "400"})
    judge = choice.judge
    assert (judge.kind, judge.model, judge.base_url, judge.key_variable) == ("llm", "qwen2.5:7b", NEAR, None)
    assert (judge.panel, judge.cascade, judge.asks_anew) == ((), False, True)
    assert (judge.timeout, judge.votes, judge.max_tokens) == (90, 3, 400)
    assert choice.changes == {
        **CHANGES,
        "cascade": None,
        "prices": None,
        "max_tokens": 400,
    }


@pytest.mark.parametrize(
    ("model", "base_url", "flags", "prices"),
    [
        ("qwen2.5:7b", NEAR, {}, PriceSettings(input=1, output=2)),
        ("other", NEAR, {}, None),
        ("qwen2.5:7b", "http://127.0.0.1:8000/v1", {}, None),
        ("other", NEAR, {"prices.input": "3", "prices.output": "4"}, PriceSettings(input=3, output=4)),
    ],
)
def test_prices_are_those_of_the_model(file, model, base_url, flags, prices):
    file(f"judge:\n  kind: llm\n  model: {model}\n  base_url: {base_url}\n  prices: {{input: 1, output: 2}}\n")
    choice = choose(OFFER, config=None, flags=flags)
    assert choice.judge.prices == prices
    assert ("prices" in choice.changes and choice.changes["prices"] is None) == (prices is None)


def test_the_key_s_variable_of_another_server_is_not_taken_over(file):
    file("judge:\n  kind: llm\n  model: x\n  base_url: https://llm.example/v1\n  key_variable: TOUCHSTONE_X\n")
    far = Offer("Mistral", "https://api.mistral.ai/v1", "mistral-small-latest", "MISTRAL_API_KEY")
    same = Offer("llm.example", "https://llm.example/v1", "y")
    given = choose(OFFER, config=None, flags={"key_variable": "TOUCHSTONE_Y"})
    for choice, variable in (
        (choose(OFFER, config=None, flags={}), None),
        (choose(far, config=None, flags={}), "MISTRAL_API_KEY"),
        (choose(same, config=None, flags={}), "TOUCHSTONE_X"),
        (given, "TOUCHSTONE_Y"),
    ):
        assert choice.judge.key_variable == variable
        assert choice.changes["key_variable"] == variable


@pytest.mark.parametrize(
    ("text", "flags", "told"),
    [
        ("", {"model": "x"}, "--judge-set model is what setup finds out: name the model with --model and --base-url"),
        ("", {"votes": "0"}, "--votes: 'votes' is 0"),
        ("", {"key_variable": "sk-secret"}, "'key_variable' is no such name, allowed is the name of an environment"),
        (
            "judge:\n  budget: {money: 1}\n  prices: {input: 1, output: 2}\n",
            {},
            "judge.budget.money needs the prices of qwen2.5:7b: give --judge-set prices.input=X and prices.output=Y",
        ),
        ("judge:\n  key_variable: sk-secret\n", {}, "'judge.key_variable' is no such name"),
    ],
)
def test_what_cannot_be_tried_is_said_and_no_key_with_it(file, text, flags, told):
    file(text)
    with pytest.raises(ConfigError) as raised:
        choose(OFFER, config=None, flags=flags)
    assert told in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "TOUCHSTONE_MINE"])
def test_a_provider_s_variable_may_stand_in_the_file(file, name):
    file(f"judge:\n  key_variable: {name}\n")
    assert load_settings().judge.key_variable == name


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "XANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_2", "GITHUB_TOKEN"])
def test_no_other_variable_may(file, name):
    file(f"judge:\n  key_variable: {name}\n")
    with pytest.raises(
        ConfigError, match="starts with TOUCHSTONE_, or a provider's: OPENAI_API_KEY, ANTHROPIC_API_KEY"
    ):
        load_settings()
