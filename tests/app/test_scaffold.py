"""`touchstone init` writes files that work as they are and are never overwritten by accident."""

import json
from dataclasses import fields

import pytest
import yaml

from touchstone.app.config import load_settings
from touchstone.app.scaffold import NOTES, write_scaffold
from touchstone.core.codec import case_from_dict
from touchstone.core.errors import InputError
from touchstone.core.plan import Plan
from touchstone.runs.evaluate import evaluate


def test_the_settings_it_writes_are_the_defaults(tmp_path):
    config, _ = write_scaffold(tmp_path)
    assert load_settings(str(config)).plan == Plan()


def test_every_setting_is_shown_with_its_default_and_a_note(tmp_path):
    config, _ = write_scaffold(tmp_path)
    shown = config.read_text(encoding="utf-8").split("thresholds:")[1].split("\n\n")[0].replace("\n  # ", "\n  ")
    assert yaml.safe_load(shown) == {field.name: field.default for field in fields(Plan)}
    assert set(NOTES) == {field.name for field in fields(Plan)}


def test_the_three_examples_pass_fail_and_warn(tmp_path):
    _, cases = write_scaffold(tmp_path)
    rows = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    verdicts = {row["id"]: evaluate(case_from_dict(row), plan=Plan()).verdict for row in rows}
    assert verdicts == {"good": "PASS", "wrong-number": "FAIL", "missed-question": "WARN"}


@pytest.mark.parametrize("name", ["touchstone.yaml", "cases.jsonl"])
def test_a_file_that_exists_stops_it_before_anything_is_written(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=f"{name} exists already: move it away, or overwrite it with --force"):
        write_scaffold(tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_force_overwrites(tmp_path):
    (tmp_path / "cases.jsonl").write_text("mine")
    write_scaffold(tmp_path, force=True)
    assert (tmp_path / "cases.jsonl").read_text() != "mine"


def test_a_new_directory_is_made_and_a_file_in_its_place_is_an_error(tmp_path):
    config, _ = write_scaffold(tmp_path / "a" / "b")
    assert config.exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_scaffold(tmp_path / "file")
