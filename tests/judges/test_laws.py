"""Laws of the offline decision over labelled replies: courtesy, wrong figures, pasted passages, spelling, rewording.

A sample runs by default, every reply of the four sets in the slow suite. The replies were fitted on: these are laws,
not figures of quality. Where a law is kept in nearly all cases, the exceptions are counted and may not become more.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from scripts.labelled import SETS
from scripts.wrong_figures import wrong_figures
from tests.judges.gold import grades
from tests.tables import rows

import touchstone as ts
from touchstone.core.codec import case_from_dict

STEP = 23
NAMES = ("support", "industries", "everyday", "matched")
FRAMES = {
    "letter": ("Hi Sarah,\n\nThank you for your message. ", "\n\nBest wishes,\nTom"),
    "line": ("Hi Sarah, thank you for your message. ", " Best wishes, Tom"),
    "team": (
        "Hello there! Thanks so much for getting in touch with us. ",
        "\n\nPlease let me know if there is anything else I can help with.\n\nKind regards,\nMaria\nCustomer Care",
    ),
    "short": ("Dear customer, ", "\n\nHave a lovely day!"),
    "small letters": ("hi sarah,\n\n", "\n\nbest wishes,\ntom"),
}
SPELLINGS = {
    "curly quotes": lambda text: text.replace("'", "’"),
    "dashes": lambda text: text.replace(" - ", " – "),
    "space behind": lambda text: f"{text} \n\n",
    "space in front": lambda text: f"\n {text}",
}
RANK = ("block", "review", "send")
# Of all wrong figures: the least share that is marked, and how many may raise a grade.
MARKED = 0.9
RAISED = 5
# Of all replies in all frames: how many may lose a grade.
LOWERED = 5


def labelled():
    for name in NAMES:
        for line in Path(SETS[name]).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            case = case_from_dict({key: row[key] for key in ("id", "input", "context", "response") if key in row})
            yield row["labels"][0], case


ALL = list(labelled())
EVERY = pytest.mark.parametrize(
    "step", [pytest.param(STEP, id="sample"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)


@cache
def scored(number):
    """The result of a labelled case as it is, worked out once."""
    return ts.score(ALL[number][1])


def lowered(before, after):
    """The criteria that lost a grade."""
    old, new = grades(before.rubric), grades(after.rubric)
    return [name for name, grade in old.items() if grade is not None and (new[name] is None or new[name] < grade)]


@EVERY
@pytest.mark.parametrize("frame", FRAMES)
def test_a_courteous_frame_lowers_no_grade_and_holds_nothing_back(frame, step):
    opening, closing = FRAMES[frame]
    losses = []
    for number in range(0, len(ALL), step):
        _, case = ALL[number]
        plain, framed = scored(number), ts.score(replace(case, response=f"{opening}{case.response}{closing}"))
        assert plain.decision != "send" or framed.decision == "send", case.id
        losses += [case.id] if lowered(plain, framed) else []
    assert len(losses) <= (LOWERED if step == 1 else 0), losses


@EVERY
def test_a_wrong_figure_is_marked_never_sent_and_raises_nothing(step):
    wrong = marked = 0
    raised = []
    for number in range(0, len(ALL), step):
        label, case = ALL[number]
        if label["accuracy"] < 3 or label["violations"]:
            continue
        sound = scored(number)
        for each in wrong_figures(case):
            result = ts.score(each.case)
            assert result.decision != "send", (case.id, each.case.response[each.start : each.end])
            found = (*result.rubric.violations, *result.rubric.suspicions)
            wrong += 1
            marked += any(finding.start < each.end and each.start < finding.end for finding in found)
            raised += [case.id] if lowered(result, sound) else []
    assert marked >= MARKED * wrong
    assert len(raised) <= (RAISED if step == 1 else 0), raised


STAFF_NOTES = [
    "Agents: check the order status first. If the customer has not been identified, ask for the order number and the "
    "postcode. Offer a refund only where the parcel is lost.",
    "Returns policy (internal): staff may accept returns after 30 days when the customer is a member. Never advise "
    "customers to repair the item themselves.",
    "For all callers who were charged twice: representatives raise ticket type BILL-2 and tell the customer that the "
    "second charge is refunded within 5 working days.",
]


@pytest.mark.parametrize("frame", [("", ""), FRAMES["letter"]], ids=["bare", "framed"])
@pytest.mark.parametrize("note", STAFF_NOTES)
def test_a_pasted_passage_for_staff_does_not_pass(note, frame):
    opening, closing = frame
    for question in ("Where is my refund?", "I was charged twice. When do I get my money back?"):
        result = ts.score(ts.Case(input=question, context=[note], response=f"{opening}{note}{closing}"))
        assert (result.rubric.outcome, result.decision) != ("PASS", "send")
        assert result.rubric.outcome == "FAIL"


@EVERY
def test_a_pasted_passage_is_not_sent(step):
    sent = []
    for _, case in ALL[::step]:
        if case.context:
            passage = case.context[0].text
            result = ts.score(replace(case, response=passage))
            sent += [case.id] if result.decision == "send" and len(passage.split()) >= 15 else []
    assert sent == []


def test_a_passage_is_no_copy_where_the_expected_reply_says_the_same():
    page = "Lockers open at six in the morning, and you can rent one for a day at the desk by the gate. It costs £4."
    case = ts.Case(input="Can I rent a locker?", context=[page], response=page, expected_output=page)
    assert grades(ts.score(case).rubric)["completeness"] == 4
    other = replace(case, expected_output="Yes, ask at the desk by the gate. A locker is £4 for the day, from 6am.")
    assert ts.score(other).decision == "review"


@EVERY
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spelling_that_says_nothing_changes_no_decision(spelling, step):
    changed = []
    for number in range(0, len(ALL), step):
        _, case = ALL[number]
        text = SPELLINGS[spelling](case.response)
        if text != case.response and scored(number).decision != ts.score(replace(case, response=text)).decision:
            changed.append(case.id)
    assert changed == []


@pytest.mark.parametrize(
    "reply", ["", "   ", "Hi Sarah,", "Hello!\n\nBest wishes,\nTom", "👍", "Thank you for your message."]
)
def test_nothing_said_passes_nothing(reply):
    result = ts.score(ts.Case(input="When is my refund due?", context=["Refunds take 5 days."], response=reply))
    assert result.rubric.outcome == "FAIL"
    assert result.decision != "send"


@pytest.mark.parametrize(
    "reply",
    [
        "Die Rückerstattung dauert fünf Tage nach Eingang der Ware in unserem Lager.",
        "El reembolso tarda cinco días desde que recibimos el artículo en el almacén.",
        "返金は商品が倉庫に到着してから五日以内に行われます。よろしくお願いいたします。",
    ],
)
def test_a_reply_in_another_language_is_left_to_people(reply):
    result = ts.score(ts.Case(input="When is my refund due?", context=["Refunds take 5 days."], response=reply))
    assert result.decision != "send"
    assert result.rubric.outcome != "PASS"


@pytest.mark.slow
def test_fresh_replies_come_out_as_when_last_counted():
    """Sixty good replies of trades not used before and thirty with one fault, written without sight of the code."""
    decisions = {True: [], False: []}
    for row in rows("fresh"):
        case = case_from_dict({key: row[key] for key in ("id", "input", "context", "response")})
        result = ts.score(case)
        decisions[not row.get("fault")].append(result.decision)
    assert (len(decisions[True]), len(decisions[False])) == (60, 30)
    assert decisions[True].count("send") >= 32
    assert decisions[True].count("block") == 0
    assert decisions[False].count("send") <= 5
