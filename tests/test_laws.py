"""What holds for every metric on every case: shipped cases, and texts written to break things."""

import json
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from tests.tables import over

import touchstone as ts
from touchstone.core.codec import canonical_json, case_from_dict, case_to_dict, result_to_dict

METRICS = ("relevance", "completeness", "hallucination")
SHARES = ("score", "s_cosine", "s_jaccard", "s_claims", "p_drift", "ngram_overlap")
GOLD_STEP = 9


def gold_cases():
    """The shipped cases, in order."""
    for name in ("support", "industries"):
        text = resources.files("touchstone").joinpath(f"data/goldsets/{name}.jsonl").read_text(encoding="utf-8")
        yield from (case_from_dict(json.loads(line)) for line in text.splitlines())


GOLD = list(gold_cases())
SAMPLE = GOLD[::GOLD_STEP]
PROSE = ("The kettle comes with a charger, and our shop sells lamps. " * 2000)[:99_000]
HOSTILE = {
    "nothing": "",
    "space": " \n\t ",
    "digits": "1" * 10_000,
    "parentheses": "(" * 10_000,
    "spaces": " " * 10_000,
    "dots": "." * 10_000,
    "line breaks": "\n" * 10_000,
    "one long word": "a" * 99_000,
    "emoji": "😀👩‍👩‍👧‍👦🏳️‍🌈 30 days " * 200,
    "right to left": "مرحبا بكم، الاسترداد خلال ٣٠ يوما. שלום 30 ימים. " * 60,
    "reversed": "\u202eThe refund takes\u202c 30 days. " * 60,
    "NUL bytes": "The re\x00fund takes 3\x000 days.\x00 " * 60,
    "HTML": "<p>The refund&nbsp;takes <b>30&nbsp;days</b>.</p><script>alert('x')</script>\n" * 60,
    "combining marks": "e" + "\u0301" * 5_000,
    "look-alikes": "Ｔｈｅ ｒｅｆｕｎｄ ｔａｋｅｓ ３０ ｄａｙｓ. It’s “ﬁne” — 2½ hours… " * 40,
    "a long reply": PROSE,
}


def score(case, **changes):
    fields = {name: getattr(case, name) for name in ("id", "input", "response", "context", "expected_output")}
    return ts.score(ts.Case(**fields | {"metadata": case.metadata} | changes))


def written(result):
    return canonical_json(result_to_dict(result))


def hostile_cases():
    """Each text as the reply, and as the question and the context of a plain reply."""
    question, reply, passage = "How long does the refund take?", "The refund takes 30 days.", "A refund takes 14 days."
    for name, text in HOSTILE.items():
        yield pytest.param(ts.Case(input=question, response=text, context=[passage]), id=f"reply of {name}")
        yield pytest.param(ts.Case(input=text, response=reply, context=[text, passage]), id=f"sources of {name}")


sample = over("case", SAMPLE, ids=lambda case: case.id)
every = pytest.mark.parametrize("case", [*(pytest.param(c, id=c.id) for c in SAMPLE), *hostile_cases()])


def assert_scores_are_shares(result):
    """Every metric has a score and parts from 0 to 1, or none and a reason."""
    assert tuple(result.metrics) == METRICS
    for score in result.metrics.values():
        row = {"score": score.score, **score.parts}
        assert all(row[name] is None or 0.0 <= row[name] <= 1.0 for name in SHARES if name in row)
        assert score.reason
        assert score.score is not None or score.flag is None


def assert_spans_are_true(result, case):
    """Every anchor and every piece of evidence is the text that stands where it says."""
    texts = {f"context[{at}]": passage.text for at, passage in enumerate(case.context or ())}
    texts |= {"input": case.question, "expected_output": case.expected_output}
    texts |= {f"input[{at}]": turn.content for at, turn in case.earlier_turns}
    for anchor in result.metrics["hallucination"].anchors:
        assert 0 <= anchor.start < anchor.end <= len(case.response)
        assert case.response[anchor.start : anchor.end] == anchor.text
        for evidence in anchor.evidence:
            assert 0 <= evidence.start < evidence.end <= len(texts[evidence.source])
            assert texts[evidence.source][evidence.start : evidence.end] == evidence.text


@every
def test_scores_are_shares_and_spans_are_true(case):
    result = ts.score(case)
    assert_scores_are_shares(result)
    assert_spans_are_true(result, case)


@sample
def test_a_case_scores_the_same_twice(case):
    assert written(ts.score(case)) == written(ts.score(case))


@pytest.mark.slow
def test_scores_are_shares_and_spans_are_true_on_every_shipped_case():
    for case in GOLD:
        result = ts.score(case)
        assert_scores_are_shares(result)
        assert_spans_are_true(result, case)


# Another process, another order of cases, another order of sets: nothing of what was scored before may show.
AGAIN = """
import json, sys
import touchstone as ts
from touchstone.core.codec import canonical_json, case_from_dict, result_to_dict
rows = [json.loads(line) for line in sys.stdin]
print(json.dumps([canonical_json(result_to_dict(ts.score(case_from_dict(row)))) for row in rows]))
"""


def scored_elsewhere(cases):
    """Results from a fresh process."""
    source = Path(ts.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", AGAIN],
        input="\n".join(json.dumps(case_to_dict(case)) for case in cases),
        env=os.environ | {"PYTHONPATH": str(source), "PYTHONHASHSEED": "7"},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(run.stdout)


def test_a_result_depends_on_its_case_alone():
    assert scored_elsewhere(SAMPLE[::-1])[::-1] == [written(ts.score(case)) for case in SAMPLE]


@pytest.mark.slow
def test_every_shipped_result_depends_on_its_case_alone():
    assert scored_elsewhere(GOLD[::-1])[::-1] == [written(ts.score(case)) for case in GOLD]


def findings(result):
    """Scores and anchors without their places, which a changed text moves."""
    anchors = [(a.kind, a.value, a.status) for a in result.metrics["hallucination"].anchors]
    return {name: (score.score, score.flag) for name, score in result.metrics.items()}, anchors


LOOK_ALIKES = {
    "'": "’",
    '"': "”",
    "-": "\u2011",
    "e": "e\u00ad",
    # Between two figures a hard space groups thousands, which a plain one need not do.
    r"(?<!\d) | (?!\d)": "\u00a0",
}


def disguised(text):
    """The same words in characters that look the same: curly quotes, hard spaces and hyphens, soft hyphens."""
    for plain, other in LOOK_ALIKES.items():
        text = re.sub(plain, other, text)
    return text


def words_and_values(result):
    """What is found without the parser: relevance, completeness and the typed values."""
    scores, anchors = findings(result)
    return scores["relevance"], scores["completeness"], [anchor for anchor in anchors if anchor[0] != "claim"]


@sample
def test_space_around_a_reply_changes_nothing(case):
    assert findings(score(case, response=f" \n{case.response} \n\t ")) == findings(ts.score(case))


@sample
def test_look_alikes_change_no_word_and_no_value(case):
    changed = score(case, response=disguised(case.response))
    assert words_and_values(changed) == words_and_values(ts.score(case))


@sample
def test_an_empty_reply_covers_nothing_and_invents_nothing(case):
    metrics = score(case, response="").metrics
    assert metrics["relevance"].score == 0.0
    assert metrics["completeness"].score == (0.0 if metrics["completeness"].parts["keywords"] else 1.0)
    assert (metrics["hallucination"].score, metrics["hallucination"].anchors) == (0.0, ())


def test_a_reply_over_the_limit_is_a_failed_row_that_says_so():
    result = ts.score(ts.Case(input="Why?", response="x" * 100_001, context=[]))
    assert (result.metrics, result.verdict, result.decision) == (None, None, "review")
    assert "100,001 characters" in result.failures[0].message
