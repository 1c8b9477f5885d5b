"""RunReport -> JUnit XML: a test case for each reply, and the conditions of the gate as a suite of their own."""

import re
from xml.etree import ElementTree as Tree

from touchstone.report.figures import points, words
from touchstone.report.plain import one_line
from touchstone.report.run import RunReport, category_name, check_standing, faults, outcome_name, waived_lines
from touchstone.runs.record import Record

# What XML 1.0 has no place for, not even escaped (section 2.2).
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST = 300


def render_junit(report: RunReport) -> str:
    """The document. A reply without an outcome is an error: what was not scored has not passed."""
    root = Tree.Element("testsuites", {"name": "touchstone"})
    replies = _suite(root, "replies", tests=len(report.records), seconds=report.run.seconds)
    replies.set("timestamp", _valid(report.run.started))
    for record in report.records:
        _reply(replies, record)
    if report.gate is not None:
        _gate(root, report)
    for suite in root:
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("errors", str(len(suite.findall("testcase/error"))))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    Tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(root, encoding="unicode") + "\n"


def _suite(root: Tree.Element, name: str, *, tests: int, seconds: float) -> Tree.Element:
    return Tree.SubElement(
        root, "testsuite", {"name": name, "tests": str(tests), "skipped": "0", "time": f"{seconds:.3f}"}
    )


def _reply(suite: Tree.Element, record: Record) -> None:
    name = one_line(record.id) if record.draft == 1 else f"{one_line(record.id)} (draft {record.draft})"
    category = _valid(one_line(category_name(record)))
    case = Tree.SubElement(suite, "testcase", {"classname": category, "name": _valid(name)})
    why = [_short(line) for line in record.why]
    if record.outcome == "FAIL":
        violations = (f"violation: {words(kind)}" for kind in record.violations)
        parts = [f"total {points(record.total)}", *violations, *faults(record), *why[:1]]
        _problem(case, "failure", "; ".join(parts), kind="FAIL", record=record, why=why)
    elif record.outcome != "PASS":
        said = "could not be scored" if record.failed else "left open by the judge"
        because = _short(record.problem or "") or next(iter(why), "without an outcome it has not passed")
        _problem(case, "error", f"{said}: {because}", kind="not scored", record=record, why=why)
    if record.waived:
        Tree.SubElement(case, "system-out").text = _valid("\n".join(waived_lines(record)))


def _problem(case: Tree.Element, element: str, message: str, *, kind: str, record: Record, why: list[str]) -> None:
    found = Tree.SubElement(case, element, {"message": _valid(message), "type": kind})
    verdict = record.verdict or "–"
    said = f"decision {record.decision}, outcome {outcome_name(record)}, verdict {verdict}"
    tags = (f"{words(tag.name)} ({tag.owner}): {one_line(tag.detail)}" for tag in record.tags)
    found.text = _valid("\n".join([said, *why, *tags]))


def _gate(root: Tree.Element, report: RunReport) -> None:
    checks = report.gate.checks if report.gate else ()
    conditions = [(words(each.name), check_standing(each), one_line(each.reason)) for each in checks]
    conditions = conditions or [("conditions", "not met", report.gate_sentence)]
    suite = _suite(root, "release gate", tests=len(conditions), seconds=0.0)
    for name, standing, reason in conditions:
        case = Tree.SubElement(suite, "testcase", {"classname": "release gate", "name": _valid(name)})
        if standing != "met":
            Tree.SubElement(case, "failure", {"message": _valid(reason), "type": standing})


def _short(text: str) -> str:
    return one_line(text)[:_LONGEST]


def _valid(text: str) -> str:
    return _FORBIDDEN.sub("", text)
