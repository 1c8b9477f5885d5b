"""What can be wrong with a gold set: every code with its severity, and a problem as a value."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from touchstone.core.case import Case
from touchstone.core.result import Failure

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class PlacedCase:
    """A case with the line it stands on."""

    line: int
    case: Case

    @property
    def id(self) -> str:
        return self.case.id or ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A row that is no case, and why."""

    line: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem: its code, how grave it is, what it means for an evaluation, and the remedy."""

    code: str
    severity: Severity
    meaning: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the lines and ids of the cases it is about, and those of the other file where there is one."""

    code: str
    severity: Severity
    lines: tuple[int, ...]
    ids: tuple[str, ...]
    message: str
    remedy: str
    against: tuple[int, ...] = ()


# In the order they are shown: what falsifies figures, what may, what is good to know.
KINDS: tuple[Kind, ...] = (
    Kind("unreadable", "error", "the row is no case and cannot be evaluated", "correct the row as it says"),
    Kind("repeated-id", "error", "replies and earlier runs are joined by id", "give each case an id of its own"),
    Kind("no-input", "error", "there is no question a reply could answer", "give the customer's message"),
    Kind("duplicate", "error", "the same case counts twice in every figure", "keep one of them"),
    Kind("leakage", "error", "what was tuned on one file is not tested by the other", "keep it in one file only"),
    Kind("label-range", "error", "a label the rubric does not know", "correct the label, or name its rubric"),
    Kind("conflicting-labels", "error", "the same case is graded differently", "settle which grades hold"),
    Kind(
        "copied-replies",
        "error",
        "every expected reply is the reply itself, so nothing is tested",
        "write the expected replies, or give the bot's replies as 'response'",
    ),
    Kind("same-input", "warning", "one question weighs more than the others", "keep one, or vary the question"),
    Kind("near-duplicate", "warning", "almost the same question weighs more than others", "keep one, or vary more"),
    Kind("near-leakage", "warning", "almost the same question is in both files", "keep it in one file only"),
    Kind("near-conflict", "warning", "almost the same case is graded differently", "make sure the difference is meant"),
    Kind("raters-disagree", "warning", "people grade the case differently", "have the raters settle it"),
    Kind("repeated-rater", "warning", "one person's grades count twice", "keep the later grades"),
    Kind(
        "contradiction",
        "warning",
        "the expected reply seems to contradict its own context",
        "correct one of them; a figure that follows from others may stand",
    ),
    Kind("no-expected", "warning", "completeness and accuracy are judged less surely", "write the ideal reply"),
    Kind("no-category", "warning", "the case is missing from figures by category", "name its category"),
    Kind("thin-category", "warning", "a category's figures rest on too few cases", "add cases, or merge it"),
    Kind("too-small", "warning", "small changes cannot be distinguished from chance", "add cases until there are 100"),
    Kind("too-large", "note", "more than are usually needed", "fine; 'goldset sample' draws fewer"),
    Kind(
        "no-context", "note", "replies are checked against the expected reply instead", "record what the bot was given"
    ),
    Kind("no-response", "note", "there is no reply to judge yet", "give replies with --responses or --bot"),
)
CODES: tuple[str, ...] = tuple(kind.code for kind in KINDS)
_BY_CODE = {kind.code: kind for kind in KINDS}


def problem(
    code: str,
    items: Iterable[PlacedCase | Unread],
    message: str,
    *,
    remedy: str | None = None,
    against: Iterable[PlacedCase] = (),
) -> Problem:
    """A problem of the items, with its kind's severity and, unless a better one is known, its kind's remedy."""
    kind, items = _BY_CODE[code], tuple(items)
    lines = tuple(item.line for item in items)
    ids = tuple(item.id for item in items if isinstance(item, PlacedCase))
    others = tuple(item.line for item in against)
    return Problem(code, kind.severity, lines, ids, message, remedy or kind.remedy, others)
