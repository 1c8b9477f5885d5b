"""Waivers in what `touchstone runs`, `report` and `compare` say, in every format."""

import json
from xml.etree import ElementTree

import pytest
from tests.store.review_samples import RUBRIC_TEXT
from tests.store.samples import run_named
from tests.store.waiver_samples import LEAK, PROMISE, reply_with, waiver

from touchstone.store.runs import open_store

WHY = "the price list says so"
SAID = f"waived by lea because {WHY}"


@pytest.fixture
def waive(touchstone):
    """Two runs, r1 without and r2 with a reply that has two violations; then a way to waive them."""
    with open_store(".touchstone/touchstone.db") as store:
        for day, id, found in ((1, "r1", ()), (2, "r2", (LEAK, PROMISE))):
            moment = f"2026-01-0{day}T10:00:00+00:00"
            store.create_run(run_named(id, started=moment, finished=moment), rubric=RUBRIC_TEXT)
            store.replies.add(id, [reply_with(0, *found), reply_with(1)])

    def waive(*violations, withdrawn=False):
        with open_store(".touchstone/touchstone.db") as store:
            for violation in violations:
                id = f"{violation.start}-{withdrawn}"
                store.marks.waive(waiver(violation, id=id, run="r2", reason=WHY, withdrawn=withdrawn))

    return waive


def reports(touchstone):
    formats = ("terminal", "html", "md", "junit", "json", "jsonl")
    return {format: touchstone("report", "r2", "--format", format, "-o", "-").out for format in formats}


def figures(touchstone):
    """What each command says, as numbers."""
    shown = reports(touchstone)
    suite = ElementTree.fromstring(shown["junit"])
    summary = json.loads(shown["json"])
    reply = json.loads(shown["jsonl"].splitlines()[0])
    return {
        "runs list": [line["pass_rate"] for line in json.loads(touchstone("runs", "list", "--json").out)],
        "junit": suite.attrib["failures"],
        "measures": {each["name"]: each["value"] for each in summary["summary"]["measures"]}["pass_rate"],
        "violations": summary["summary"]["violations"],
        "patterns": [each["name"] for each in summary["patterns"]],
        "jsonl": [reply["decision"], reply["rubric"]["outcome"], len(reply["rubric"]["violations"])],
        "md": "unbacked promise" in shown["md"],
        "html": "unbacked promise" in shown["html"],
        "compare": len(json.loads(touchstone("compare", "r1", "r2", "--json").out)["flips"]),
    }


def test_every_report_follows_and_says_who_waived_what_and_why(touchstone, waive):
    before = figures(touchstone)
    assert (before["jsonl"], before["compare"], before["md"]) == (["block", "FAIL", 2], 1, True)
    assert not any(SAID in " ".join(text.split()) for text in reports(touchstone).values())
    waive(LEAK, PROMISE)
    assert figures(touchstone) == {
        "runs list": [1.0, 1.0],
        "junit": "0",
        "measures": 1.0,
        "violations": {},
        "patterns": [],
        "jsonl": ["review", "PASS", 0],
        "md": False,
        "html": False,
        "compare": 0,
    }
    shown = reports(touchstone)
    waived = json.loads(shown.pop("jsonl").splitlines()[0])["rubric"]["waived"]
    assert [(each["violation"]["kind"], each["by"], each["reason"]) for each in waived] == [
        ("pii_leakage", "lea", WHY),
        ("unauthorized_promise", "lea", WHY),
    ]
    for format, text in shown.items():
        assert SAID in " ".join(text.split()), format
    assert "2 violations" in shown["md"]
    waive(LEAK, PROMISE, withdrawn=True)
    assert figures(touchstone) == before
