"""Shares of a grade and what the reply left out -> the line that explains the grade, and what should have been done."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Ask, Reading
from touchstone.core.result import Anchor, Violation
from touchstone.judges.coverage import Covered
from touchstone.judges.manner import TONE_GROUPS
from touchstone.judges.model import Share

# An ask whose content is covered less than this is unanswered; a point less than this is missing.
ANSWERED = 0.4
MENTIONED = 0.45
# Smaller shares of a value move no grade.
WORTH_NAMING = 0.08
# Where nothing moved the grade much, what moved it most is named if it is at least this much.
WORTH_A_LOOK = 0.02
MAX_NAMED = 3
TOP = 4
NOTHING_WRONG = "nothing to object to"
NOTHING_SINGLE = "several small things, none of which stands out"
VIOLATION_ISSUES = {
    "hallucination": "should keep to the sources",
    "pii_leakage": "should not read out personal data",
    "harmful_content": "should act on the problem instead of advising this",
    "unauthorized_promise": "should not promise this",
    "competitor_recommendation": "should not send the customer elsewhere",
}
MAX_ISSUES = 6
OF_TONE = frozenset(
    {*TONE_GROUPS, "politeness", "worded_tone", "unacknowledged", "acknowledged", "opens_kindly", "closes_kindly"}
    | {"vague", "we_act"}
)
LONGEST_QUOTE = 90


class Note(NamedTuple):
    """How a feature is put into words when it lowers or raises a grade."""

    lowers: str
    raises: str


def explain_grade(criterion: str, grade: int, shares: Sequence[Share], reading: Reading, covered: Covered) -> str:
    """The features that moved the grade, strongest first; a low grade is explained by what lowered it."""
    lowering, raising = (_moved(criterion, shares, sign) for sign in (-1, 1))
    told = (lowering or raising)[:MAX_NAMED] if grade <= 2 else (raising + lowering)[:MAX_NAMED]
    if criterion == "completeness" and len(reading.asks) > 1:
        told.insert(0, _asks_answered(reading, covered))
    if not told and grade < TOP:
        told = _moved(criterion, shares, -1, least=WORTH_A_LOOK)[:1]
    return "; ".join(told) or (NOTHING_WRONG if grade == TOP else NOTHING_SINGLE)


def _moved(criterion: str, shares: Sequence[Share], sign: int, *, least: float = WORTH_NAMING) -> list[str]:
    """The features that moved the value one way, in words, strongest first; tone is explained by manner alone."""
    moved = [share for share in shares if share.size * sign >= least]
    moved = [share for share in moved if criterion != "tone" or share.feature in OF_TONE]
    moved.sort(key=lambda share: -abs(share.size))
    return [line for line in dict.fromkeys(map(_note, moved)) if line]


def _note(share: Share) -> str:
    """The share in words, if they are true of the reply: a lack is named only where the feature is low."""
    note = _notes().get(share.feature)
    if note is None:
        return ""
    if share.size > 0:
        return note.raises if share.is_high else ""
    is_fault = not note.raises
    return note.lowers if share.is_high == is_fault else ""


def find_issues(
    reading: Reading, covered: Covered, anchors: Sequence[Anchor], violations: Sequence[Violation]
) -> list[str]:
    """What the reply should have done, most serious first."""
    issues = [violation_issue(violation) for violation in violations]
    told = " ".join(issues)
    contradicted = [a.reason for a in anchors if a.status == "contradicted" and a.reason not in told]
    issues += [f"should say what the source says: {reason}" for reason in contradicted]
    issues += [f"should answer: {_quote(ask.text)}" for ask in unanswered(reading, covered)]
    if reading.expected:
        missing = [fact.text for fact in covered.facts if not fact.said]
        issues += [f"should state: {_quote(fact)}" for fact in dict.fromkeys(missing)]
        for sentence, said in zip(reading.expected.sentences, covered.points, strict=True):
            if said < MENTIONED:
                issues.append(f"should make the point: {_quote(reading.expected.raw[sentence.start : sentence.end])}")
    return list(dict.fromkeys(issues))[:MAX_ISSUES]


def violation_issue(violation: Violation) -> str:
    """What a reply with this violation should have done instead."""
    return f"{VIOLATION_ISSUES[violation.kind]}: {violation.reason}"


def unanswered(reading: Reading, covered: Covered) -> list[Ask]:
    """The asks whose content the reply hardly takes up."""
    return [ask for ask, said in zip(reading.asks, covered.asks, strict=True) if said < ANSWERED]


def _asks_answered(reading: Reading, covered: Covered) -> str:
    left = unanswered(reading, covered)
    told = f"{len(reading.asks) - len(left)} of {len(reading.asks)} questions taken up"
    return f"{told}: {_quote(left[0].text)} is not" if left else told


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return f"'{flat[: LONGEST_QUOTE - 1]}…'" if len(flat) > LONGEST_QUOTE else f"'{flat}'"


@cache
def _notes() -> Mapping[str, Note]:
    rows = (line.split("|") for line in resource.lines("features.txt"))
    return {name.strip(): Note(lowers.strip(), raises.strip()) for name, lowers, raises in rows}
