"""`touchstone init` writes files that work as they are and are never overwritten by accident."""

import json
import re
from dataclasses import fields, replace

import pytest
import yaml

from touchstone.app.config import Settings, load_settings
from touchstone.app.config_model import Thresholds, config_text
from touchstone.app.scaffold import write_scaffold
from touchstone.core.codec import case_from_dict
from touchstone.core.errors import InputError
from touchstone.core.plan import Plan
from touchstone.core.policy import Allowance, Policy
from touchstone.runs.evaluate import evaluate


def test_the_settings_it_writes_are_the_defaults(tmp_path):
    config, _ = write_scaffold(tmp_path)
    assert load_settings(str(config)) == Settings()


def test_every_setting_is_shown_with_its_default_and_a_note(tmp_path):
    config, _ = write_scaffold(tmp_path)
    shown = config.read_text(encoding="utf-8").split("thresholds:")[1].split("\n\n")[0].replace("\n  # ", "\n  ")
    settings = {field.name: field.default for field in fields(Plan)}
    assert yaml.safe_load(shown) == settings
    assert all(Thresholds.model_fields[name].description for name in settings)


def test_the_rubric_targets_and_policy_it_shows_can_be_switched_on_as_they_stand(tmp_path):
    config, _ = write_scaffold(tmp_path)
    # The rest names models, files and proxies that are only examples.
    kept, head = [], ""
    for line in config_text().splitlines():
        head = line.rstrip(":") if re.match(r"\w+:$", line) else head
        shown = r"^  # (?=\w)" if head in ("policy", "targets", "gate") else r"^# (?=(rubric|store|runs|verifier): )"
        kept.append(re.sub(shown, lambda found: "  " if found[0].startswith(" ") else "", line))
    switched_on = "\n".join(kept)
    config.write_text(switched_on, encoding="utf-8")
    settings = load_settings(str(config))
    assert settings == replace(Settings(), policy=settings.policy)
    policy = settings.policy
    assert (policy.company, policy.domains, policy.competitors) == ("Acme", ("acme.example",), ("Globex", "Initech"))
    assert policy.promises == (Allowance("goodwill credit", "20 GBP"), Allowance("free return"))
    assert all(f"\n  {field.name}:" in switched_on for field in fields(Policy))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of the three examples, by id."""
    _, cases = write_scaffold(tmp_path_factory.mktemp("scaffold"))
    rows = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    return {row["id"]: evaluate(case_from_dict(row), plan=Plan()) for row in rows}


def test_the_three_examples_pass_fail_and_warn(results):
    verdicts = {id: result.verdict for id, result in results.items()}
    assert verdicts == {"good": "PASS", "wrong-number": "FAIL", "missed-question": "WARN"}


def test_only_the_good_example_is_sent(results):
    decisions = {id: result.decision for id, result in results.items()}
    assert (decisions["good"], decisions["wrong-number"]) == ("send", "block")
    assert decisions["missed-question"] in ("review", "block")


def test_the_good_example_passes_the_rubric_and_the_wrong_number_is_unsafe(results):
    good, wrong, missed = (results[id].rubric for id in ("good", "wrong-number", "missed-question"))
    assert (good.outcome, good.violations, good.issues) == ("PASS", (), ())
    assert (wrong.outcome, "safety" in wrong.reasons) == ("FAIL", True)
    assert [(violation.kind, violation.text) for violation in wrong.violations] == [("hallucination", "30 days")]
    assert any("How long" in issue for issue in missed.issues)


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
