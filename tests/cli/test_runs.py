"""`touchstone runs`, `report` and `compare` as a user meets them."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from touchstone.app.scaffold import EXAMPLES
from touchstone.core import resource

GOOD, WRONG, _ = EXAMPLES


@pytest.fixture
def two_runs(touchstone):
    """A run of two good replies, and one in which the second went wrong."""
    before = [{**GOOD, "id": "a"}, {**GOOD, "id": "b"}]
    after = [before[0], {**before[1], "response": WRONG["response"]}]
    for version, rows in (("v1", before), ("v2", after)):
        Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert touchstone("eval", "gold.jsonl", "-q", "--label", f"prompt={version}").code == 0
    return [line["id"] for line in json.loads(touchstone("runs", "list", "--json").out)]


def test_runs_are_listed_the_newest_first(touchstone, two_runs):
    shown = touchstone("runs", "list").out
    assert shown.index("prompt=v2") < shown.index("prompt=v1")
    (line,) = json.loads(touchstone("runs", "list", "--label", "prompt=v1", "--json").out)
    assert (line["pass_rate"], line["replies"], line["state"]) == (1.0, 2, "finished")


def test_a_run_is_shown_by_id_beginning_path_and_word(touchstone, two_runs):
    names = ("latest", two_runs[0], f"touchstone-runs/{two_runs[0]}", f"touchstone-runs/{two_runs[0]}/report.html")
    shown = {touchstone("runs", "show", name).out for name in names}
    assert len(shown) == 1
    assert "prompt=v2" in shown.pop()
    assert "prompt=v1" in touchstone("runs", "show", "previous").out


def test_labels_are_set_and_replaced(touchstone, two_runs):
    done = touchstone("runs", "label", "latest", "prompt=v3", "model=small")
    assert "model=small" in done.out
    assert touchstone("runs", "list", "--label", "prompt=v3", "--json").out != "[]\n"
    assert json.loads(touchstone("runs", "list", "--label", "prompt=v2", "--json").out) == []


def test_a_run_is_deleted_after_a_yes_and_its_files_stay(touchstone, two_runs):
    assert touchstone("runs", "delete", two_runs[0], "--yes").code == 0
    assert [line["id"] for line in json.loads(touchstone("runs", "list", "--json").out)] == two_runs[1:]
    assert Path("touchstone-runs", two_runs[0], "report.html").exists()


@pytest.mark.parametrize(
    ("format", "name"), [("html", "report.html"), ("md", "summary.md"), ("jsonl", "results.jsonl")]
)
def test_a_report_is_written_again_as_eval_wrote_it(touchstone, two_runs, format, name):
    done = touchstone("report", "latest", "--format", format, "-o", "-")
    assert done.out == Path("touchstone-runs", two_runs[0], name).read_text(encoding="utf-8")


@pytest.fixture
def gated_run(touchstone, two_runs):
    """A run held against terms that the settings do not have, and against the run before it."""
    terms = ["--least-scored", "0.4", "--target", "pass_rate=10", "--baseline", "previous"]
    assert touchstone("eval", "gold.jsonl", "-q", "--gate", *terms).code == 1
    return json.loads(touchstone("runs", "list", "--json").out)[0]["id"]


@pytest.mark.parametrize(
    ("format", "name"),
    [("html", "report.html"), ("md", "summary.md"), ("junit", "junit.xml"), ("json", "summary.json")],
)
def test_the_report_of_a_gated_run_keeps_its_gate(touchstone, gated_run, format, name):
    done = touchstone("report", "latest", "--format", format, "-o", "-")
    assert done.out == Path("touchstone-runs", gated_run, name).read_text(encoding="utf-8")
    assert touchstone("report", "previous", "--format", format, "-o", "-").out != done.out


def test_junit_of_a_gated_run_has_the_conditions_it_was_held_against(touchstone, gated_run):
    root = ElementTree.fromstring(touchstone("report", "latest", "--format", "junit").out)
    names = [case.attrib["name"] for case in root.findall("testsuite[@name='release gate']/testcase")]
    assert names == ["scored", "pass rate", "average accuracy", "safety failures", "average confidence", "baseline"]
    scored = json.loads(touchstone("runs", "show", "--json").out)["gate"]["checks"][0]
    assert "at least 40 % must" in scored["reason"]


def test_a_gate_whose_baseline_was_deleted_stays_shut_and_says_so(touchstone, two_runs, gated_run):
    assert touchstone("runs", "delete", two_runs[1], "--yes").code == 0
    shown = touchstone("runs", "show").out
    assert "Release gate: closed" in shown
    assert f"{two_runs[1]} is no longer in the store" in " ".join(shown.split())


def test_a_baseline_of_another_rubric_is_refused_before_anything_is_scored(touchstone, two_runs):
    rubric = resource.text("rubrics/supportai.yaml").replace("name: supportai", "name: other", 1)
    Path("other.yaml").write_text(rubric, encoding="utf-8")
    done = touchstone("eval", "gold.jsonl", "-q", "--gate", "--rubric", "other.yaml", "--baseline", "latest")
    assert done.code == 2
    assert "compare runs of one rubric" in done.err
    assert len(json.loads(touchstone("runs", "list", "--json").out)) == 2


def test_the_html_report_goes_into_the_run_s_directory_by_default(touchstone, two_runs):
    path = Path("touchstone-runs", two_runs[0], "report.html")
    path.unlink()
    assert touchstone("report").code == 0
    assert path.exists()


def test_junit_counts_what_failed(touchstone, two_runs):
    root = ElementTree.fromstring(touchstone("report", "latest", "--format", "junit").out)
    assert int(root.attrib["failures"]) == 1


def test_two_runs_are_compared_on_the_same_cases(touchstone, two_runs):
    comparison = json.loads(touchstone("compare", "previous", "latest", "--json").out)
    assert (comparison["pairs"], comparison["pass_rate"]["difference"]) == (2, -0.5)
    (flip,) = comparison["flips"]
    assert (flip["id"], flip["direction"]) == ("b", "regressed")
    assert "regressed" in touchstone("compare", "previous").out
    assert "<html" in touchstone("compare", "previous", "--format", "html").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs", "show"], "touchstone eval"),
        (["compare", "a", "b"], "touchstone eval"),
    ],
)
def test_without_a_store_the_remedy_is_named(touchstone, arguments, message):
    done = touchstone(*arguments)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs", "show", "nosuch"], "has no run 'nosuch'"),
        (["report", "latest", "--format", "pdf"], "--format pdf is not known: allowed are"),
        (["compare", "previous", "--format", "junit"], "--format junit is not known: allowed are"),
        (["runs", "label", "latest", "prompt"], "not of the form left=right"),
    ],
)
def test_what_is_not_there_is_named(touchstone, two_runs, arguments, message):
    done = touchstone(*arguments)
    assert done.code == 2
    assert message in done.err
