"""Reading, anchors and what the reply covers -> the facts that speak for and against each grade, and the issues.

Every line names something that appears in this reply or is missing from it. Facts explain a grade; they do not make it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from touchstone.core.reading import Ask, Reading, Text
from touchstone.core.result import Anchor, Finding
from touchstone.judges.coverage import Covered, path_steps
from touchstone.judges.features import Seen
from touchstone.judges.tone import TABLE, count_acts, count_steps, mood
from touchstone.safety.signs import shortened
from touchstone.text.patterns import folded, pattern

# An ask is taken up from the first of these on, and below the second no word of it comes up: between them an answer may
# use words of its own. A point covered less than the third is missing.
TAKEN_UP = 0.6
PASSED_OVER = 0.1
MENTIONED = 0.45
# Two upset words, or one and shouting: a single `still` or `again` is no upset customer.
UPSET = 0.5
MAX_NAMED = 3
# `how much is it` can be answered without any of its words.
MIN_CONTENT = 2
LOW = 2
MAX_ISSUES = 6
FOR, AGAINST = "for", "against"
NOTHING = "nothing in particular speaks for or against it"
VIOLATION_ISSUES = {
    "hallucination": "should keep to the sources",
    "pii_leakage": "should not read out personal data",
    "harmful_content": "should act on the problem instead of advising this",
    "unauthorized_promise": "should not promise this",
    "competitor_recommendation": "should not send the customer elsewhere",
}


class GradeFact(NamedTuple):
    """Something true of this reply, and whether it speaks for or against the grade."""

    side: str
    text: str


def explain_grade(criterion: str, grade: int, seen: Seen) -> str:
    """What speaks against the grade and what for it; a low grade is explained by what is against it first."""
    facts = list(_facts(criterion, seen))
    if grade <= LOW and not any(fact.side == AGAINST for fact in facts):
        facts += _lacking(seen)
    sides = (AGAINST, FOR) if grade <= LOW else (FOR, AGAINST)
    told = {side: "; ".join(fact.text for fact in facts if fact.side == side) for side in sides}
    return ". ".join(f"{side}: {text}" for side, text in told.items() if text) or NOTHING


def _lacking(seen: Seen) -> Iterator[GradeFact]:
    """What speaks against any low grade, where nothing of its own does: little of the expected reply is said."""
    if seen.body.expected and seen.covered.whole < MENTIONED:
        yield GradeFact(AGAINST, f"says {seen.covered.whole:.0%} of what the expected reply says")


def _facts(criterion: str, seen: Seen) -> Iterator[GradeFact]:
    match criterion:
        case "accuracy":
            return _accuracy(seen.body, seen.covered, seen.anchors)
        case "completeness":
            return _completeness(seen.body, seen.covered)
        case "tone":
            return _tone(seen.reading)
        case "actionability":
            return _actionability(seen.body.reply)
        case _:
            return iter(())


def _accuracy(body: Reading, covered: Covered, anchors: Sequence[Anchor]) -> Iterator[GradeFact]:
    if body.sources is None:
        yield GradeFact(AGAINST, "there is no source to check it by")
    values = [anchor for anchor in anchors if anchor.kind != "claim"]
    for anchor in [a for a in anchors if a.status == "contradicted"][:MAX_NAMED]:
        yield GradeFact(AGAINST, anchor.reason)
    for anchor in [a for a in values if a.status == "unsupported"][:MAX_NAMED]:
        yield GradeFact(AGAINST, f"no source states {anchor.text}")
    if held := [anchor.text for anchor in values if anchor.status == "supported"]:
        yield GradeFact(FOR, f"{_listed(held)} {'stands' if len(held) == 1 else 'stand'} in the sources")
    if body.expected:
        missing = [fact.text for fact in covered.facts if not fact.said]
        if missing:
            yield GradeFact(AGAINST, f"does not give {_listed(missing)}")


def _completeness(body: Reading, covered: Covered) -> Iterator[GradeFact]:
    left = unanswered(body, covered)
    for ask in left[:MAX_NAMED]:
        yield GradeFact(AGAINST, f"takes up no word of {_quote(ask.text)}")
    taken = [ask.text for ask, said in zip(body.asks, covered.asks, strict=True) if said >= TAKEN_UP]
    if taken:
        yield GradeFact(FOR, f"takes up {', '.join(map(_quote, taken[:MAX_NAMED]))}")
    for point in _missing_points(body, covered)[:MAX_NAMED]:
        yield GradeFact(AGAINST, f"leaves out {_quote(point)}")


def _tone(reading: Reading) -> Iterator[GradeFact]:
    reply = reading.reply
    for group, told in (("rude", "is rude"), ("blame", "blames the customer"), ("brushoff", "brushes them off")):
        if said := phrases_in(reply, group):
            yield GradeFact(AGAINST, f"{told} ({_listed(said)})")
    kind = [phrase for group in ("apology", "empathy", "thanks", "warmth") for phrase in phrases_in(reply, group)]
    if kind:
        yield GradeFact(FOR, f"says {_listed(kind)}")
    elif reading.question and mood(reading.question) >= UPSET:
        upset = phrases_in(reading.question, "upset")
        written = f" ({_listed(upset)})" if upset else ""
        yield GradeFact(AGAINST, f"no word of regret to an upset customer{written}")
    else:
        yield GradeFact(AGAINST, "no kind word")


def _actionability(reply: Text) -> Iterator[GradeFact]:
    steps, acts, path = count_steps(reply), count_acts(reply), path_steps(reply.raw)
    if path:
        yield GradeFact(FOR, f"names where to go: {' > '.join(path[:4])}")
    elif steps:
        yield GradeFact(FOR, f"{steps} {'instruction' if steps == 1 else 'instructions'} to follow")
    if reply.contacts:
        yield GradeFact(FOR, f"names {_listed([reply.raw[c.start : c.end] for c in reply.contacts])}")
    if acts:
        yield GradeFact(FOR, "says what the company does")
    if not (steps or acts or path or reply.contacts):
        yield GradeFact(AGAINST, "names no step, no contact and nothing that the company does")
    if vague := phrases_in(reply, "vague"):
        yield GradeFact(AGAINST, f"vague ({_listed(vague)})")


def find_issues(body: Reading, covered: Covered, anchors: Sequence[Anchor], violations: Sequence[Finding]) -> list[str]:
    """What the reply should have done, most serious first."""
    issues = [violation_issue(violation) for violation in violations]
    told = " ".join(issues)
    contradicted = [a.reason for a in anchors if a.status == "contradicted" and a.reason not in told]
    issues += [f"should say what the source says: {reason}" for reason in contradicted]
    issues += [f"may leave open: {_quote(ask.text)}" for ask in unanswered(body, covered)]
    missing = [fact.text for fact in covered.facts if not fact.said]
    issues += [f"should state: {_quote(fact)}" for fact in dict.fromkeys(missing)]
    issues += [f"should make the point: {_quote(point)}" for point in _missing_points(body, covered)]
    return list(dict.fromkeys(issues))[:MAX_ISSUES]


def violation_issue(violation: Finding) -> str:
    """What a reply with this violation should have done instead."""
    return f"{VIOLATION_ISSUES[violation.kind]}: {violation.reason}"


def unanswered(body: Reading, covered: Covered) -> list[Ask]:
    """The asks of which no word comes up in the reply."""
    pairs = zip(body.asks, covered.asks, strict=True)
    return [ask for ask, said in pairs if said < PASSED_OVER and len(ask.terms) >= MIN_CONTENT]


def phrases_in(text: Text, group: str) -> list[str]:
    """The phrases of a group that appear in a text, each once."""
    return list(dict.fromkeys(match[0] for match in pattern(group, table=TABLE).finditer(folded(text.raw))))


def _missing_points(body: Reading, covered: Covered) -> list[str]:
    expected = body.expected
    if not expected:
        return []
    pairs = zip(expected.sentences, covered.points, strict=True)
    return [expected.raw[sentence.start : sentence.end] for sentence, said in pairs if said < MENTIONED]


def _listed(texts: Sequence[str]) -> str:
    shown = list(dict.fromkeys(texts))
    more = f" and {len(shown) - MAX_NAMED} more" if len(shown) > MAX_NAMED else ""
    return ", ".join(_quote(text) for text in shown[:MAX_NAMED]) + more


def _quote(text: str) -> str:
    return f"'{shortened(text)}'"
