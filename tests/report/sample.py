"""A run to report on: records made by rule, one case with anchors and a violation, and text that means harm."""

from dataclasses import replace

from touchstone.core.case import Case
from touchstone.core.result import Anchor, Evidence, Failure, Finding, Grade, Grading, Result, Score
from touchstone.report.run import RunReport
from touchstone.rubric.parse import packaged
from touchstone.runs.gate import Check, GateRuling, hold_gate
from touchstone.runs.patterns import find_patterns
from touchstone.runs.record import Record
from touchstone.runs.run import Receipt, Run
from touchstone.runs.summary import summarise
from touchstone.runs.tags import Tag
from touchstone.trust.measurement import JudgeStanding

RUBRIC = packaged("supportai")
CATEGORIES = ("billing", "delivery", "returns_refunds", "security")
HOSTILE = (
    '<script>window.hacked = 1</script></script><img src=x onerror="window.hacked = 1">'
    "\u202egnp.exe\u2066\x1b[31m\x00\x07 {{ 7 * 7 }} [link](javascript:alert(1)) @everyone #1 https://evil.example | "
    "`x` </style>"
)
RECEIPT = Receipt(
    goldset="support.jsonl", data="9f2c1e7ab0d14c55", rubric="supportai", rubric_version="1.0",
    rubric_hash="4be0aa19c3d2f871", plan="0d51c6e7f2a94b3e", policy="77aa01b2c3d4e5f6", judge="offline", code="0.1.0",
    parser="en_core_web_sm 3.8.0",
)  # fmt: skip
RUN = Run(
    id="run-7", started="2025-03-04T14:12:09+00:00", finished="2025-03-04T14:12:17+00:00", seconds=8.4,
    labels={"prompt": "v7"}, receipt=RECEIPT,
)  # fmt: skip
UNKNOWN = JudgeStanding("offline", "none")
MISSED = Tag("missed question", "prompt", "'and the fee?' is not taken up")
INVENTED = Tag("invented number", "retrieval", "'$50': no source states $50")


def record(number, **changes):
    """The nth record: every third fails, every ninth with a violation."""
    fails, unsafe = number % 3 == 0, number % 9 == 0
    grades = dict.fromkeys(("accuracy", "completeness", "tone", "actionability"), 1 if fails else 4)
    made = Record(
        id=f"c-{number:04}", draft=1, category=CATEGORIES[number % 4], confidence=(number % 10) / 10,
        decision="block" if fails else "send", verdict="FAIL" if fails else "PASS",
        outcome="FAIL" if fails else "PASS", total=22.5 + number % 7 if fails else 86.25 + number % 7,
        grades={**grades, "safety": 0 if unsafe else 4}, violations=("hallucination",) if unsafe else (),
        tags=(MISSED, *((INVENTED,) if unsafe else ())) if fails else (), failed=False,
    )  # fmt: skip
    return replace(made, **changes)


def unscored(number):
    """A record of a reply that could not be scored."""
    return record(
        number,
        decision="review",
        verdict=None,
        outcome=None,
        total=None,
        grades={},
        violations=(),
        tags=(),
        failed=True,
        problem="the bot <b>gave</b> no reply",
    )


def records(count):
    return [record(number) for number in range(1, count + 1)]


def scored_case(id="c-0009", *, response="You get $50 back within 14 days.", category="billing", question="When?"):
    """A case and result with a supported, a contradicted anchor and a violation, all with evidence."""
    case = Case(
        id=id, input=question, response=response, category=category, expected_output=f"It takes 14 days. {question}",
        context=["Refunds of $40 take 14 days."],
    )  # fmt: skip
    end = len(response)
    anchors = (
        Anchor("money", response[8:11], 8, 11, "50 USD", "contradicted", "reply says $50, source says $40",
               (Evidence("context[0]", 11, 14, "$40"),)),
        Anchor("duration", response[24:31], 24, 31, "14 day", "supported", "context states 14 days",
               (Evidence("context[0]", 20, 27, "14 days"),)),
    )  # fmt: skip
    violation = Finding("hallucination", response[8:11], 8, 11, f"no source states it {question}", anchors[0].evidence)
    grading = Grading(
        "supportai", "1.0", "offline",
        (
            Grade("accuracy", 1, 1.2, 10.0, 0.8, f"wrong amount {question}"),
            Grade("tone", None, None, None, None, "open"),
        ),
        (violation, replace(violation, start=0, end=end, text=response)), (f"should state $40 {question}",),
        25.5, "FAIL", ("safety", "score"),
    )  # fmt: skip
    score = Score("hallucination", 0.5, "1 of 2 anchors", flag="WARN", anchors=anchors)
    return case, Result(id, "block", "WARN", ("why",), {"hallucination": score}, rubric=grading)


def failed_case(id="c-0003"):
    return Case(id=id, response=""), Result(id, "review", None, (), None, failures=(Failure("bot", "Timeout", "late"),))


def view_of(found, *, run=RUN, gate="held", judge=UNKNOWN, best=(), worst=None):
    """The view of records, with the gate held unless another is given."""
    summary = summarise(found, rubric=RUBRIC)
    held = hold_gate(summary, least_scored=0.95) if gate == "held" else gate
    shown = [scored_case()] if worst is None else worst
    return RunReport(run, summary, find_patterns(found), judge, records=found, gate=held, best=best, worst=shown)


def hostile_view(text=HOSTILE):
    """A view in which every text that can come from outside is `text`."""
    tag = Tag("missed question", "prompt", text)
    found = [record(n, id=f"{text}{n}", category=text, tags=(tag,) if n % 3 == 0 else ()) for n in range(1, 13)]
    run = replace(RUN, id=text, labels={text: text}, receipt=replace(RECEIPT, goldset=text, bot=text))
    case = scored_case(f"{text}3", response=f"You get $50 back within 14 days. {text}", category=text, question=text)
    gate = GateRuling((Check(text, met=False, reason=text), Check("scored", met=True, reason=text)))
    return view_of(found, run=run, gate=gate, worst=[case], best=[case])
