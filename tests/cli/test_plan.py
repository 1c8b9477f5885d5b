"""`touchstone plan show`: the plan in force, and what its cuts come to on labelled replies."""

import json

import pytest

from touchstone.core.plan import Plan


def shown(touchstone, *arguments):
    result = touchstone("plan", "show", *arguments)
    assert (result.code, result.err) == (0, "")
    return result.out


def test_every_setting_and_every_labelled_set_is_there_and_fits_100_columns(touchstone, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = shown(touchstone)
    assert max(map(len, text.splitlines())) <= 100
    for name in Plan.__dataclass_fields__:
        assert name in text
    for said in (
        "Expected reply given",
        "Sources only",
        "domains left out",
        "whole sets left out",
        "where 80 % of replies",
    ):
        assert said in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith("  support ")] == ["support"] * 4


def test_the_json_adds_up_and_names_the_same_plan_as_a_run(touchstone):
    content = json.loads(shown(touchstone, "--json"))
    assert content["plan"]["send_at"] == content["decisions"]["send_at"] == Plan().send_at
    assert content["notices"] == []
    for way in content["decisions"]["ways"]:
        assert [each["passing"] for each in way["where_so_many_pass"]] == ["60%", "80%", "90%"]
        for each in way["sets"]:
            assert each["sent"] + each["blocked"] + each["reviewed"] == each["replies"]
            assert each["sent_right"] <= each["sent"]
            assert each["blocked_right"] <= each["blocked"]


@pytest.mark.parametrize(
    ("setting", "notice"),
    [
        ("send_at=0.8", "counted with send_at 0.86 and block_at 0.19"),
        ("violation_at=0.8", "counted with violation_at 0.9 and suspicion_at 0.3"),
        ("decide_by=verdict", "counted with decide_by probability"),
    ],
)
def test_a_plan_of_ones_own_has_another_hash_and_is_told_what_the_figures_were_counted_with(
    touchstone, setting, notice
):
    usual, own = (json.loads(shown(touchstone, "--json", *flags)) for flags in ((), ("--set", setting)))
    assert own["notices"] == [notice]
    assert own["hash"] != usual["hash"]
    assert f"Your plan differs: these figures are {notice}" in " ".join(shown(touchstone, "--set", setting).split())


def test_settings_come_from_the_file_that_is_named(touchstone, tmp_path):
    (tmp_path / "own.yaml").write_text("thresholds: {block_at: 0.05}\njudge: {kind: llm, model: m}\n")
    content = json.loads(shown(touchstone, "--json", "--config", "own.yaml"))
    assert (content["plan"]["block_at"], content["judge"]) == (0.05, "llm")
    assert content["notices"][-1] == "counted with the offline judge"
