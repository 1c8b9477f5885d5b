"""The pytest plugin gives a test each case of a gold set, and says what is wrong with a reply that does not pass."""

import json
from importlib.metadata import entry_points

import pytest

import touchstone as ts
from touchstone.app.scaffold import EXAMPLES
from touchstone.core.codec import case_from_dict

pytest_plugins = ["pytester"]
PLUGIN = "touchstone.pytest_plugin"
CASES = {row["id"]: case_from_dict(row) for row in EXAMPLES}
TEST = """
import pytest
import touchstone

{marker}
def test_replies(touchstone_case):
    touchstone.assert_passes(touchstone_case)
"""


@pytest.fixture
def project(pytester):
    """A project with a gold set of three cases beside its tests."""
    (pytester.path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in EXAMPLES), encoding="utf-8")
    # Where the package is installed the plugin is there already.
    is_installed = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
    named = "" if is_installed else f"-p {PLUGIN} "
    pytester.makeini(f"[pytest]\naddopts = {named}-p no:cacheprovider\n")
    return pytester


@pytest.mark.slow
def test_a_marked_test_runs_once_for_each_case(project):
    project.makepyfile(TEST.format(marker='@pytest.mark.goldset("gold.jsonl")'))
    outcome = project.runpytest_subprocess()
    outcome.assert_outcomes(passed=1, failed=2)
    outcome.stdout.fnmatch_lines(["*test_replies?wrong-number?*", "*test_replies?missed-question?*"])


@pytest.mark.slow
def test_the_gold_set_can_be_given_by_option(project):
    project.makepyfile(TEST.format(marker=""))
    project.runpytest_subprocess("--goldset", "gold.jsonl").assert_outcomes(passed=1, failed=2)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("", "*touchstone_case needs a gold set*"),
        ('@pytest.mark.goldset("missing.jsonl")', "*missing.jsonl*"),
    ],
)
@pytest.mark.slow
def test_without_a_gold_set_the_remedy_is_named(project, marker, message):
    project.makepyfile(TEST.format(marker=marker))
    outcome = project.runpytest_subprocess()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([message])


def test_a_reply_that_passes_gives_its_result():
    assert ts.assert_passes(CASES["good"]).rubric.outcome == "PASS"


def test_a_reply_that_does_not_pass_says_what_is_wrong_and_quotes_the_evidence():
    with pytest.raises(AssertionError) as failed:
        ts.assert_passes(CASES["wrong-number"])
    told = str(failed.value)
    assert "case wrong-number does not pass: verdict FAIL, rubric FAIL" in told
    assert "+ You have 30 days to return your headphones." in told
    assert "hallucination in '30 days': reply says 30 days, source says 14 days" in told
    assert "context[0]: 14 days" in told


def test_what_cannot_be_scored_does_not_pass():
    with pytest.raises(AssertionError, match="not scored"):
        ts.assert_passes(ts.Case(id="long", input="Hi", response="x" * 100_001))
