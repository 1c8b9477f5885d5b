"""touchstone.yaml and flags become settings; what cannot be used is named with its place and remedy."""

import pytest

from touchstone.app.config import load_settings
from touchstone.core.errors import ConfigError
from touchstone.core.plan import Plan


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_file_the_defaults_hold():
    settings = load_settings()
    assert settings.plan == Plan()
    assert settings.columns == {}


def test_a_file_in_the_working_directory_is_taken(here):
    (here / "touchstone.yaml").write_text("thresholds:\n  relevance_fail: 0.05\ncolumns:\n  reply: response\n")
    settings = load_settings()
    assert settings.plan == Plan(relevance_fail=0.05)
    assert settings.columns == {"reply": "response"}


def test_a_file_that_is_named_is_taken_instead(here):
    (here / "touchstone.yaml").write_text("thresholds: {relevance_fail: 0.05}")
    (here / "strict.yaml").write_text("thresholds: {relevance_fail: 1}")
    assert load_settings("strict.yaml").plan == Plan(relevance_fail=1)


@pytest.mark.parametrize("text", ["", "# nothing\n", "thresholds:\ncolumns:\n", "{}"])
def test_a_file_that_sets_nothing_changes_nothing(here, text):
    (here / "touchstone.yaml").write_text(text)
    assert load_settings().plan == Plan()


def test_flags_override_the_file(here):
    (here / "touchstone.yaml").write_text(
        "thresholds: {relevance_fail: 0.05, proximity: 9}\ncolumns: {a: input, b: response}"
    )
    settings = load_settings(thresholds={"relevance_fail": "0.2"}, columns={"b": "context"})
    assert settings.plan == Plan(relevance_fail=0.2, proximity=9)
    assert settings.columns == {"a": "input", "b": "context"}


BAD_FILES = {
    "an unknown section": ("\ntresholds: {}", ":2: unknown key 'tresholds'; nearest is 'thresholds'"),
    "an unknown threshold": (
        "thresholds:\n  drift_ngram: 2\n  relevence_fail: 0.1",
        ":3: unknown key 'thresholds.relevence_fail'; nearest is 'relevance_fail'",
    ),
    "a key like no other": ("thresholds:\n  xyz: 1", ":2: unknown key 'thresholds.xyz'; known are relevance_fail, "),
    "a number as key": ("thresholds:\n  1: 2", ":2: unknown key 'thresholds.1'; known are"),
    "a number out of range": (
        "thresholds:\n  relevance_fail: 2",
        ":2: 'thresholds.relevance_fail' is 2, allowed is a number from 0 to 1",
    ),
    "text for a number": ("thresholds:\n  relevance_fail: '0.1'", ":2: 'thresholds.relevance_fail' is '0.1', allowed"),
    "not a number": ("thresholds:\n  relevance_fail: .nan", ":2: 'thresholds.relevance_fail' is nan"),
    "a fraction for a count": ("thresholds:\n  proximity: 1.5", "is 1.5, allowed is a whole number of at least 1"),
    "a boolean for a count": ("thresholds:\n  proximity: true", "is True, allowed is a whole number of at least 1"),
    "no value": ("thresholds:\n  relevance_fail:", ":2: 'thresholds.relevance_fail' is None"),
    "a section that is a list": ("columns: [a]", ":1: 'columns' is ['a'], allowed is a mapping"),
    "a column for an unknown field": (
        "columns:\n  reply: respons",
        ":2: 'columns.reply' is 'respons', which is no field of a case; nearest is 'response'",
    ),
    "a column name that is no text": ("columns:\n  2024: response", ":2: 'columns.2024' is not text: put it in quotes"),
    "a repeated key": ("thresholds:\n  proximity: 1\n  proximity: 2", ":3: key 'proximity' repeats line 2"),
    "a repeated section": ("columns: {}\ncolumns: {}", ":2: key 'columns' repeats line 1"),
    "broken YAML": ("thresholds: [", ":1: not valid YAML"),
    "a tab": ("thresholds:\n\tproximity: 1", ":2: not valid YAML"),
    "a Python object": ("!!python/object/apply:os.getcwd []", ":1: not valid YAML: could not determine a constructor"),
    "a date that is none": ("columns: 2020-13-45", "not valid YAML"),
    "a NUL": ("a\x00b", "not valid YAML"),
    "a list": ("- thresholds", ":1: the file is no mapping, allowed are the keys thresholds, columns"),
}


@pytest.mark.parametrize(("text", "message"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_what_cannot_be_used_is_named_with_file_line_and_remedy(here, text, message):
    (here / "touchstone.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value).startswith("touchstone.yaml")
    assert message in str(caught.value)


BAD_FLAGS = [
    ({"thresholds": {"relevence_fail": "1"}}, "--set: unknown key 'thresholds.relevence_fail'; nearest is"),
    ({"thresholds": {"relevance_fail": "low"}}, "--set: 'thresholds.relevance_fail' is 'low', allowed is a number"),
    ({"columns": {"reply": "respons"}}, "--map: 'columns.reply' is 'respons', which is no field"),
]


@pytest.mark.parametrize(("flags", "message"), BAD_FLAGS)
def test_a_flag_that_cannot_be_used_is_named(flags, message):
    with pytest.raises(ConfigError, match=message):
        load_settings(**flags)


def test_a_named_file_that_is_missing_or_no_text_is_an_error(here):
    with pytest.raises(ConfigError, match=r"nowhere\.yaml cannot be read \(No such file or directory\)"):
        load_settings("nowhere.yaml")
    (here / "latin.yaml").write_bytes(b"# caf\xe9")
    with pytest.raises(ConfigError, match=r"latin\.yaml cannot be read \(is not UTF-8\)"):
        load_settings("latin.yaml")
