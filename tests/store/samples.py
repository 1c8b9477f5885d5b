"""Small runs and scored replies, and strategies for any of them."""

import re

from hypothesis import strategies as st

from touchstone.core.case import Case, Label, Passage, Turn
from touchstone.core.result import Anchor, Evidence, Failure, Finding, Grade, Grading, Result, Score, Waived
from touchstone.runs.record import Record
from touchstone.runs.run import Receipt, Run
from touchstone.runs.tags import Tag
from touchstone.store.results import Scored

RECEIPT = Receipt(
    goldset="gold.jsonl",
    data="d1",
    rubric="supportai",
    rubric_version="1.0",
    rubric_hash="r1",
    plan="p1",
    policy="c1",
    judge="offline",
    code="0.1.0",
    parser="parser 3.8.0",
)


def run_named(id, *, started="2026-01-01T10:00:00+00:00", finished=None, labels=None, receipt=RECEIPT):
    return Run(id=id, started=started, finished=finished, receipt=receipt, labels=labels or {})


def scored(position, *, id=None, draft=1, outcome="PASS", category="returns", text="You can return it."):
    id = id or f"c-{position}"
    grades = (Grade("tone", 3, 3.2, 7.5, 0.9, "warm"), Grade("accuracy", 4, 4.0, 40.0, 0.8, "as the policy says"))
    failing = outcome == "FAIL"
    grading = Grading("supportai", "1.0", "offline", grades, (), (), 80.0, outcome, ("score",) if failing else ())
    result = Result(
        id, "block" if failing else "send", "PASS", (), {"relevance": Score("relevance", 0.5, "so")}, rubric=grading
    )
    tags = (Tag("missed question", "prompt", "the fee"),) if failing else ()
    record = Record(
        id, draft, category, 0.75, result.decision, "PASS", outcome, 80.0, {"tone": 3, "accuracy": 4}, (), tags, False
    )
    case = Case(id=id, input="How?", response=text, context=["Returns are free."], category=category, confidence=0.75)
    return Scored(position=position, case=case, record=record, result=result, seconds=0.25)


def unread(position, *, id=None):
    """A row without a case, as one that is not JSON; with `id`, one whose id was seen before or whose bot failed."""
    result = Result(id, "review", None, (), None, (Failure("read", "InvalidJSON", "not JSON"),), line=position + 1)
    record = Record(
        id or f"line {position + 1}", 1, None, None, "review", None, None, None, {}, (), (), True, "not JSON"
    )
    return Scored(position=position, case=None, record=record, result=result)


# Also NUL, line separators and halves of surrogate pairs; only two halves side by side become one character.
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
texts = st.text(st.characters(exclude_categories=()), max_size=20).filter(lambda text: not _PAIR.search(text))
names = st.text("abcdefgh", min_size=1, max_size=5)
shares = st.floats(0, 1)
spans = st.integers(0, 99)
evidence = st.lists(st.builds(Evidence, texts, spans, spans, texts), max_size=2).map(tuple)
labels = st.builds(
    Label,
    rater=names,
    grades=st.dictionaries(st.sampled_from(["accuracy", "tone"]), st.none() | st.integers(0, 4)),
    violations=st.lists(names, max_size=2).map(tuple),
    reason=texts,
)
cases = st.builds(
    Case,
    id=texts.filter(bool),
    input=texts | st.lists(st.builds(Turn, names, texts), max_size=3),
    response=texts,
    context=st.none() | st.lists(st.builds(Passage, texts, st.none() | names), max_size=3),
    expected_output=st.none() | texts,
    category=st.none() | texts,
    confidence=st.none() | shares,
    labels=st.lists(labels, max_size=2),
    metadata=st.dictionaries(
        names.map("m_{}".format), texts | st.integers() | st.none() | st.lists(shares), max_size=2
    ),
)
anchors = st.builds(
    Anchor,
    kind=st.sampled_from(["money", "claim"]),
    text=texts,
    start=spans,
    end=spans,
    value=texts,
    status=st.sampled_from(["supported", "contradicted"]),
    reason=texts,
    evidence=evidence,
)
kinds = st.sampled_from(["hallucination", "pii_leakage", "harmful_content"])
violations = st.builds(Finding, kinds, texts, spans, spans, texts, evidence)
waived = st.lists(st.builds(Waived, violations, names, names, texts), max_size=2).map(tuple)
gradings = st.builds(
    Grading,
    rubric=names,
    version=names,
    judge=names,
    grades=st.lists(
        st.builds(
            Grade,
            names,
            st.none() | st.integers(0, 4),
            st.none() | shares,
            st.none() | shares,
            st.none() | shares,
            texts,
        ),
        max_size=4,
        unique_by=lambda grade: grade.criterion,
    ).map(tuple),
    violations=st.lists(violations, max_size=2).map(tuple),
    issues=st.lists(texts, max_size=2).map(tuple),
    total=st.none() | st.floats(0, 100),
    outcome=st.sampled_from(["PASS", "FAIL", None]),
    reasons=st.lists(names, max_size=2).map(tuple),
    waived=waived,
)
scores = st.builds(
    Score,
    metric=st.just("relevance"),
    score=st.none() | shares,
    reason=texts,
    parts=st.dictionaries(names.map("p_{}".format), shares | st.lists(texts, max_size=2), max_size=2),
    flag=st.sampled_from(["WARN", "FAIL", None]),
    anchors=st.none() | st.lists(anchors, max_size=2).map(tuple),
)
results = st.builds(
    Result,
    id=st.none() | texts,
    decision=st.sampled_from(["send", "review", "block"]),
    verdict=st.sampled_from(["PASS", "WARN", "FAIL", None]),
    reasons=st.lists(texts, max_size=2).map(tuple),
    metrics=st.none() | st.fixed_dictionaries({"relevance": scores}),
    failures=st.lists(st.builds(Failure, names, names, texts), max_size=2).map(tuple),
    line=st.none() | st.integers(1, 99),
    rubric=st.none() | gradings,
)
records = st.builds(
    Record,
    id=texts,
    draft=st.integers(1, 9),
    category=st.none() | texts,
    confidence=st.none() | shares,
    decision=st.sampled_from(["send", "review", "block"]),
    verdict=st.sampled_from(["PASS", "WARN", "FAIL", None]),
    outcome=st.sampled_from(["PASS", "FAIL", None]),
    total=st.none() | st.floats(0, 100),
    grades=st.dictionaries(texts, st.none() | st.integers(0, 4), max_size=3),
    violations=st.lists(kinds, max_size=3).map(tuple),
    tags=st.lists(
        st.builds(Tag, texts, st.sampled_from(["retrieval", "prompt", "policy", "tone guide"]), texts), max_size=2
    ).map(tuple),
    failed=st.booleans(),
    waived=waived,
    pass_probability=st.none() | shares,
)
replies = st.lists(
    st.builds(
        Scored, position=st.integers(0, 10_000), case=st.none() | cases, record=records, result=results, seconds=shares
    ),
    max_size=4,
    unique_by=(lambda reply: reply.position, lambda reply: (reply.record.id, reply.record.draft)),
)
runs = st.builds(
    Run,
    id=texts.filter(bool),
    started=st.just("2026-01-01T10:00:00+00:00"),
    finished=st.none() | st.just("2026-01-01T10:01:00+00:00"),
    seconds=shares,
    receipt=st.builds(
        Receipt,
        **dict.fromkeys(("goldset", "data", "rubric", "rubric_version", "rubric_hash", "plan", "policy"), texts),
        **dict.fromkeys(("judge", "code", "parser"), names),
        responses=st.none() | names,
        bot=st.none() | texts,
        repeat=st.integers(1, 9),
    ),
    labels=st.dictionaries(texts, texts, max_size=3),
)
