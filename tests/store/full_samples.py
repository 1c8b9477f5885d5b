"""Replies with every kind of content, each of whose texts is its own."""

from dataclasses import replace

from tests.store.waiver_samples import LEAK, OTHER_LEAK, PROMISE, judged

from touchstone.core.case import Case, Label, Passage, Turn
from touchstone.core.result import (
    Anchor,
    Chances,
    Dismissed,
    Evidence,
    Failure,
    Score,
    Statement,
    Verification,
    Waived,
)
from touchstone.runs.record import record
from touchstone.store.results import Scored

SHARED = "Our shops are open from nine to five, Monday to Saturday."


def full_of_text(position, *, says, fails=False, is_waived=False):
    """A reply that `says(place)` makes each text of, and its texts.

    With `fails`, one that could not be scored whole; with `is_waived`, one with a waiver among its grades.
    """
    texts = {}

    def own(place):
        return texts.setdefault(place, says(place))

    def quoted(place):
        return (Evidence("context[0]", 0, 12, own(place), own(f"path of {place}")),)

    def finding(place, kind):
        return replace(kind, text=own(place), reason=own(f"why {place}"), evidence=quoted(f"against {place}"))

    case = Case(
        id=f"c-{position}",
        input=[Turn("customer", own("turn")), Turn("agent", own("answer")), Turn("customer", own("question"))],
        response=own("reply"),
        context=[Passage(own("passage"), "p-1"), SHARED],
        expected_output=own("expected"),
        category="returns",
        labels=[Label("ann", {"tone": 1}, (), own("label"))],
        metadata={"customer": own("customer"), "thread": [own("thread")], "form": {"field": own("field")}},
    )
    failures = (Failure("score", "ValueError", own("failure")),) if fails else ()
    result = judged(*(finding(each.kind, each) for each in (LEAK, PROMISE)), id=case.id, failures=failures)
    grading = replace(
        result.rubric,
        judge="llm:some-model",
        grades=tuple(replace(each, reason=own(f"grade {each.criterion}")) for each in result.rubric.grades),
        issues=(own("issue"), own("second issue")),
        suspicions=(finding("suspicion", OTHER_LEAK),),
        dismissed=(Dismissed(finding("dismissed", PROMISE), own("why dismissed"), own("quote")),),
        waived=(Waived(finding("waived", OTHER_LEAK), "lea", "2026", own("why waived")),) if is_waived else (),
    )
    anchor = Anchor(
        "claim", own("anchor"), 0, 9, own("value"), "unsupported", own("why anchor"), quoted("anchor proof")
    )
    parts = {"s_claims": 0.5, "keywords": [own("keyword")], "said": own("part"), "deep": {"list": [own("deep")]}}
    chances = Chances(0.1, 0.8, 0.1, 0.0)
    sentence = Statement(
        own("sentence"), 0, 9, "contradicted", "model", own("why sentence"), chances, quoted("sentence proof")
    )
    result = replace(
        result,
        reasons=("hallucination 0.67 > 0.50", own("verdict")),
        metrics={"hallucination": Score("hallucination", 0.5, own("metric"), parts=parts, anchors=(anchor,))},
        rubric=grading,
        verifier=Verification("small", "1", "h", (sentence,)),
    )
    return Scored(position=position, case=case, record=record(case, result), result=result), tuple(texts.values())
