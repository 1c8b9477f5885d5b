"""Why a reply is sent, reviewed or blocked: one sentence that never contradicts what is shown beside it."""

from tests.store.waiver_samples import LEAK, judged
from tests.tables import over

from touchstone.core.plan import Plan
from touchstone.core.result import Anchor, Failure, Finding, Result, Score
from touchstone.runs.decision import decide_for_guard, explain_chance, explain_decision, explain_result


def reply(
    *violations, decide_by="probability", chance=..., anchors=(), suspicions=(), tone=None, unchecked=0, **values
):
    """A result decided by this plan."""
    from dataclasses import replace

    result = judged(*violations, **values)
    grading = replace(result.rubric, suspicions=tuple(suspicions))
    if tone is not None:
        lowered = [replace(each, grade=tone) if each.criterion == "tone" else each for each in grading.grades]
        grading = replace(grading, grades=tuple(lowered))
    if chance is not ...:
        grading = replace(grading, pass_probability=chance)
    parts = {"unchecked": unchecked} if unchecked else {}
    metrics = {"hallucination": Score("hallucination", 0.1, "", parts, anchors=tuple(anchors))}
    decision = decide_for_guard(result.verdict, grading, metrics, plan=Plan(decide_by=decide_by))
    return replace(result, rubric=grading, metrics=metrics, decision=decision)


DOUBT = Finding("pii_leakage", "Ann", 0, 3, "may be a name", rule="pii.name", confidence=0.41)
WRONG = Anchor("duration", "30 days", 0, 7, "30 day", "unsupported", "no source states it")
DENIED = Anchor("claim", "it is free", 0, 10, "it is free", "contradicted", "the source denies this")


@over(
    ("result", "sentence"),
    [
        (reply(), "send: pass probability 0.95, and nothing counts against it"),
        (reply(LEAK), "block: gives a name, which nobody asked for"),
        # All points, and yet blocked: the sentence says by what.
        (reply(chance=0.03), "block: pass probability 0.03"),
        (reply(grade=1), "block: pass probability 0.02, the outcome is FAIL (score)"),
        (reply(chance=0.5), "review: pass probability 0.50, which is not sure enough"),
        (reply(suspicions=[DOUBT]), "review: suspected: may be a name"),
        (reply(anchors=[WRONG]), "review: no source supports 30 days"),
        (reply(anchors=[DENIED]), "review: 'it is free': the source denies this"),
        (reply(unchecked=40), "review: 40 of its values and claims are not checked"),
        (reply(tone=1), "review: tone is 1 of 4: so"),
        (reply(grade=None), "review: accuracy is not graded: so"),
        (reply(grade=2, chance=0.95), "review: the outcome is FAIL (score)"),
        (reply(verdict="FAIL", decide_by="verdict", chance=None), "block: the verdict is FAIL"),
        (Result("c", "review", None, (), None, (Failure("read", "X", "y"),)), "review: it could not be scored"),
    ],
)
def test_the_decision_is_explained_in_one_sentence(result, sentence):
    assert explain_decision(result) == sentence
    assert explain_result(result)[:1] == (() if result.decision == "send" else (sentence,))


def test_all_that_keeps_a_reply_from_being_sent_is_listed_with_rule_and_confidence():
    assert explain_result(reply(LEAK, suspicions=[DOUBT], grade=None)) == (
        "block: gives a name, which nobody asked for",
        "pass probability not known: accuracy, completeness, tone, actionability not graded",
        "violation pii_leakage: gives a name, which nobody asked for",
        "suspected, for a person to look at: pii_leakage (pii.name, confidence 0.41): may be a name",
        *(f"{name} not graded: so" for name in ("accuracy", "completeness", "tone", "actionability")),
    )


def test_a_probability_that_is_not_known_says_why():
    assert explain_chance(reply(chance=0.031)) == "pass probability 0.03"
    assert explain_chance(reply(chance=None)) == "pass probability not known: the judge gave none"
    assert explain_chance(Result("c", "review", None, (), None)) == "pass probability not known: it is not graded"
