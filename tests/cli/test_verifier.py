"""`--verifier deep`: results with every engine alike, what is shown of them, and how a missing model ends a command."""

import json

import pytest
from tests.clients import tiny_verifier as tiny
from tests.engines.gold import gold_rows

from touchstone.app.config import load_settings
from touchstone.clients.verifier import installed_verifier
from touchstone.core.errors import ConfigError

pytest.importorskip("onnxruntime")

ROWS = 6


@pytest.fixture(autouse=True)
def _installed():
    """Also for the processes that an engine starts: they look for modules where this one does."""
    with tiny.installed():
        yield


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in gold_rows(ROWS)), encoding="utf-8")
    return str(path)


def test_every_line_says_which_verifier_spoke(touchstone, cases):
    ended = touchstone("score", cases, "--verifier", "deep")
    found = [json.loads(line)["verifier"] for line in ended.out.splitlines()]
    assert (ended.code, len(found)) == (0, ROWS)
    assert {(row["name"], row["version"], row["cut"]) for row in found} == {("tiny", "1.0", 0.8)}
    assert all(row["sentences"] for row in found)


def test_the_cut_is_a_setting(touchstone, cases):
    ended = touchstone("score", cases, "--verifier", "deep", "--set", "verifier_cut=0.55")
    assert {json.loads(line)["verifier"]["cut"] for line in ended.out.splitlines()} == {0.55}


def test_none_is_the_default_and_changes_no_byte(touchstone, cases):
    plain = touchstone("score", cases)
    assert '"verifier"' not in plain.out
    assert touchstone("score", cases, "--verifier", "none").out == plain.out


@pytest.mark.slow
def test_processes_give_the_same_bytes(touchstone, cases):
    here = touchstone("score", cases, "--verifier", "deep")
    there = touchstone("score", cases, "--verifier", "deep", "--engine", "processes", "--workers", "2")
    assert (there.code, there.out) == (here.code, here.out)


def test_an_explanation_shows_sentence_status_probability_and_evidence(touchstone):
    ended = touchstone(
        *("score", "--verifier", "deep", "--explain", "--input", "Is it free?"),
        *("--response", "Returns are free within 14 days. The app shows members a cheaper price."),
        *("--context", "Returns are free within 14 days. The customer pays for postage after that."),
    )
    assert "Verifier tiny 1.0, doubt from 0.80 on" in ended.out
    assert "supported: Returns are free within 14 days." in ended.out
    assert "not stated 0.49" in ended.out
    assert "1 of 2 sentences were clear without the model" in ended.out


def test_a_run_s_receipt_names_the_verifier_and_its_report_shows_the_sentences(touchstone, cases, tmp_path):
    ended = touchstone("eval", cases, "--verifier", "deep", "--json")
    assert ended.code == 0
    run = json.loads(ended.out)
    report = next((tmp_path / "touchstone-runs").glob("*/report.html")).read_text("utf-8")
    assert f"tiny 1.0 {installed_verifier().card.hash}" in report
    assert "<h5>Verifier</h5>" in report
    assert run


def test_a_job_goes_on_only_with_the_verifier_it_was_begun_with(touchstone, cases):
    first = ("score", cases, "-o", "out", "--shard-format", "jsonl")
    assert touchstone(*first, "--verifier", "deep").code == 0
    again = touchstone(*first)
    assert again.code == 2
    assert "was begun with another verifier (deep, now None)" in again.err


@pytest.mark.parametrize("extra", [(), ("--engine", "processes"), ("-o", "directory"), ("--dry-run",)], ids=str)
def test_without_the_package_a_command_ends_with_code_2_and_the_remedy(touchstone, cases, extra, monkeypatch):
    installed_verifier.cache_clear()
    monkeypatch.setattr("touchstone.clients.verifier.find_spec", lambda name: None)
    ended = touchstone("score", cases, "--verifier", "deep", *extra)
    assert (ended.code, ended.out) == (2, "")
    assert 'pip install "touchstone-eval[deep]"' in ended.err


@pytest.mark.parametrize("command", [("score", "{cases}"), ("eval", "{cases}"), ("serve", "--port", "0")])
def test_a_broken_model_ends_a_command_with_code_2(touchstone, cases, command, tmp_path):
    package = tiny.copied(tmp_path / "broken")
    (package / "model.onnx").write_bytes(b"cut short")
    with tiny.installed(package.parent):
        ended = touchstone(*(part.format(cases=cases) for part in command), "--verifier", "deep")
    assert ended.code == 2
    assert "is broken: model.onnx is not the file" in ended.err


def test_the_file_may_name_it_and_the_flag_wins(tmp_path):
    config = tmp_path / "touchstone.yaml"
    config.write_text("verifier: deep\nthresholds:\n  verifier_cut: 0.9\n", encoding="utf-8")
    plan = load_settings(str(config)).plan
    assert (plan.verifier, plan.verifier_cut) == ("deep", 0.9)
    assert load_settings(str(config), verifier="none").plan.verifier == "none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("verifier: shallow\n", "touchstone.yaml:1: 'verifier' is 'shallow', allowed is none or deep"),
        ("thresholds:\n  verifier_cut: 2\n", "'thresholds.verifier_cut' is 2, allowed is a number from 0 to 1"),
        ("thresholds:\n  verifier: deep\n", "unknown key 'thresholds.verifier'; nearest is 'verifier_cut'"),
    ],
)
def test_what_the_file_may_not_say_is_named(tmp_path, text, message):
    config = tmp_path / "touchstone.yaml"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_settings(str(config))


def test_a_flag_that_is_not_known_is_named(touchstone, cases):
    ended = touchstone("score", cases, "--verifier", "shallow")
    assert (ended.code, ended.err) == (2, "touchstone: --verifier: 'verifier' is 'shallow', allowed is none or deep\n")
