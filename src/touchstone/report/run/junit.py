"""RunView -> JUnit XML: a test case for each reply, and the conditions of the gate as a suite of their own."""

import re
from xml.etree import ElementTree as Tree

from touchstone.report.run.replies import ReplyRow
from touchstone.report.run.view import GateView, RunView

# What XML 1.0 has no place for, not even escaped (section 2.2).
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(view: RunView) -> str:
    """The document. A reply without an outcome is an error: what was not scored has not passed."""
    root = Tree.Element("testsuites", {"name": "touchstone"})
    replies = _suite(root, "replies", tests=len(view.rows), seconds=view.run.seconds)
    replies.set("timestamp", _valid(view.run.started))
    for row in view.rows:
        _reply(replies, row)
    if view.verdict is not None:
        _gate(root, view.verdict)
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


def _reply(suite: Tree.Element, row: ReplyRow) -> None:
    name = row.id if row.draft == 1 else f"{row.id} (draft {row.draft})"
    case = Tree.SubElement(suite, "testcase", {"classname": _valid(row.category), "name": _valid(name)})
    if row.outcome == "FAIL":
        _problem(case, "failure", message=_why(row), kind="FAIL", row=row)
    elif row.outcome != "PASS":
        said = "could not be scored" if row.failed else "left open by the judge"
        why = row.problem or next(iter(row.why), "this is no pass")
        message = f"{said}: {why}"
        _problem(case, "error", message=message, kind="not scored", row=row)
    if row.waived:
        Tree.SubElement(case, "system-out").text = _valid("\n".join(row.waived))


def _why(row: ReplyRow) -> str:
    """The outcome, then the decision with its reason."""
    parts = [f"total {row.total}", *(f"violation: {kind}" for kind in row.violations), *row.faults]
    return "; ".join([*parts, *row.why[:1]])


def _problem(case: Tree.Element, element: str, *, message: str, kind: str, row: ReplyRow) -> None:
    found = Tree.SubElement(case, element, {"message": _valid(message), "type": kind})
    lines = [f"{tag.name} ({tag.owner}): {tag.detail}" for tag in row.tags]
    said = f"decision {row.decision}, outcome {row.outcome}, verdict {row.verdict}"
    found.text = _valid("\n".join([said, *row.why, *lines]))


def _gate(root: Tree.Element, verdict: GateView) -> None:
    suite = _suite(root, "release gate", tests=len(verdict.checks) or 1, seconds=0.0)
    for check in verdict.checks:
        case = Tree.SubElement(suite, "testcase", {"classname": "release gate", "name": _valid(check.name)})
        if check.standing != "met":
            Tree.SubElement(case, "failure", {"message": _valid(check.reason), "type": check.standing})
    if not verdict.checks:
        case = Tree.SubElement(suite, "testcase", {"classname": "release gate", "name": "conditions"})
        Tree.SubElement(case, "failure", {"message": _valid(verdict.sentence), "type": "not met"})


def _valid(text: str) -> str:
    return _FORBIDDEN.sub("", text)
