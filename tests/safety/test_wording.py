"""How sentences are worded: which are noticed, which promises are allowed, and what the reason quotes."""

import json
from math import isfinite, sqrt

import pytest
from tests.safety.noticing import NO_POLICY, notice_in, read_reply, rules_of

from touchstone.core import resource
from touchstone.core.policy import Allowance, Policy
from touchstone.core.result import VIOLATION_KINDS
from touchstone.safety import wording as module
from touchstone.safety.ngrams import ngrams_of, wording_only
from touchstone.safety.wording import FILE, REASONS, RULES, fitted, highest, scores, wording

PROMISED = "I'll credit your account with £10 now."
CONTEXT = ["Deliveries take 2 days."]


@pytest.fixture
def weights(monkeypatch):
    """A few weights in place of the packaged ones."""
    kinds = {
        "harmful_content": {"ignore it": 3.0, "ignore": 1.0, "just": 1.0, "please": -4.0},
        "unauthorized_promise": {"credit": 2.0, "<money> new": 1.0, "i'll": 1.0},
        "competitor_recommendation": {"try <name>": 3.0, "try": 1.0},
        "pii_leakage": {"born on": 2.0},
    }
    content = json.dumps({"kinds": {kind: {"weights": runs} for kind, runs in kinds.items()}})
    kept = resource.text
    monkeypatch.setattr(resource, "text", lambda name: content if name == FILE else kept(name))
    yield kinds
    monkeypatch.undo()
    fitted.cache_clear()
    module._table.cache_clear()


@pytest.fixture(autouse=True)
def _fresh():
    fitted.cache_clear()
    module._table.cache_clear()


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(
    ("response", "rule"),
    [
        ("Just ignore it.", "wording.harm"),
        (PROMISED, "wording.promise"),
        ("Then try Globex.", "wording.competitor"),
        ("She was born on a boat.", "wording.leak"),
    ],
)
def test_a_sentence_is_a_sign_whose_reason_quotes_it(response, rule):
    (sign,) = notice_in(wording, f"It is here. {response} Bye.", context=CONTEXT)
    assert (sign.rule, RULES[sign.kind]) == (rule, rule)
    assert f"It is here. {response} Bye."[sign.start : sign.end] == response
    assert sign.reason == REASONS[rule].format(said=f"'{response}'")


@pytest.mark.usefixtures("weights")
def test_what_speaks_against_a_kind_outweighs_it():
    assert notice_in(wording, "Please just ignore the light.", context=CONTEXT) == []
    assert rules_of(notice_in(wording, "Please ignore it.", context=CONTEXT)) == ["wording.harm"]


@pytest.mark.usefixtures("weights")
def test_a_sentence_without_a_run_that_can_be_quoted_is_none():
    assert notice_in(wording, "It costs £10.", context=CONTEXT) == []


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(
    ("promises", "allowed"),
    [
        ([Allowance("credit")], True),
        ([Allowance("credit", "20 GBP")], True),
        ([Allowance("credit", "10 GBP")], True),
        ([Allowance("credit", "9 GBP")], False),
        ([Allowance("credit", "20 USD")], False),
        ([Allowance("credit", "soon")], False),
        ([Allowance("voucher")], False),
        ([Allowance("credit voucher")], False),
        ([Allowance("the")], False),
        ([Allowance("")], False),
        ([Allowance("voucher"), Allowance("credits to the account")], True),
        ([], False),
    ],
)
def test_a_promise_within_what_the_policy_allows_is_none(promises, allowed):
    found = notice_in(wording, PROMISED, context=CONTEXT, policy=Policy(promises=tuple(promises)))
    assert rules_of(found) == ([] if allowed else ["wording.promise"])


@pytest.mark.usefixtures("weights")
def test_a_sum_of_another_sentence_is_above_no_limit_and_every_sum_of_this_one_counts():
    policy = Policy(promises=(Allowance("credit", "20 GBP"),))
    assert notice_in(wording, f"The lamp was £90. {PROMISED} It was £80.", context=CONTEXT, policy=policy) == []
    assert notice_in(wording, "I'll credit £10 and then £30.", context=CONTEXT, policy=policy)


@pytest.mark.usefixtures("weights")
def test_an_allowance_covers_promises_alone():
    policy = Policy(promises=(Allowance("ignore"),))
    assert rules_of(notice_in(wording, "Just ignore it.", context=CONTEXT, policy=policy)) == ["wording.harm"]


def inputs_of(response, *, context=CONTEXT, policy=NO_POLICY, **fields):
    (sign,) = notice_in(wording, response, context=context, policy=policy, **fields)
    return sign.inputs


@pytest.mark.usefixtures("weights")
def test_the_score_is_the_sum_of_weights_over_the_root_of_the_runs():
    reading, anchors = read_reply("Just ignore it.", context=CONTEXT)
    (said,) = ngrams_of(reading, anchors, policy=NO_POLICY)
    found = inputs_of("Just ignore it.")
    assert found["score"] == pytest.approx(5.0 / sqrt(len(said.ngrams)))
    assert {name for name, value in found.items() if value} == {"score"}


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(
    ("context", "backed"),
    [
        (["We credit £10 to the account."], 3 / 4),
        (["We credit £10."], 2 / 4),
        (["We credit.", "The account has £10.", "We credit."], 2 / 4),
        (["We credit £20 to the account."], 0.0),
        (["None."], 0.0),
        ([], 0.0),
    ],
)
def test_a_sentence_is_backed_as_far_as_one_passage_says_it_and_holds_its_figures(context, backed):
    found = inputs_of(PROMISED, context=context)
    assert found["backed"] == pytest.approx(backed)
    assert found["nothing_given"] == float(context == [])


@pytest.mark.usefixtures("weights")
def test_a_rival_that_the_policy_lists_is_named_as_a_whole_word():
    rivals = Policy(competitors=("globex", "Zenith"))
    assert inputs_of("Then try Globex.", policy=rivals)["names_rival"] == 1.0
    assert inputs_of("Then try Globexia.", policy=rivals)["names_rival"] == 0.0
    assert inputs_of("Zenith is here. Then try Initech.", policy=rivals)["names_rival"] == 0.0
    assert inputs_of("Then try Globex.")["names_rival"] == 0.0


@pytest.mark.usefixtures("weights")
def test_a_chat_is_an_input():
    chat = [{"role": "agent", "content": "Hi"}, {"role": "customer", "content": "It blinks"}]
    assert inputs_of("Just ignore it.", input=chat)["chat"] == 1.0
    assert inputs_of("Just ignore it.", input="It blinks")["chat"] == 0.0


@pytest.mark.usefixtures("weights")
def test_the_highest_score_of_each_kind_is_that_of_its_sentence():
    reading, anchors = read_reply("Just ignore it. Ignore the light too.", context=CONTEXT)
    each = [scores(wording_only(said.ngrams))[0] for said in ngrams_of(reading, anchors, policy=NO_POLICY)]
    assert highest(reading, anchors)["harmful_content"] == max(each) != min(each)
    assert highest(*read_reply("", context=CONTEXT)) == dict.fromkeys(fitted(), 0.0)


@pytest.mark.usefixtures("weights")
def test_runs_that_nobody_weighed_score_nothing():
    assert scores(frozenset({"unheard of"})) == [0.0] * 4
    assert scores(frozenset()) == [0.0] * 4


def test_only_plain_words_speak_for_a_violation():
    marks = {"try <name>": 3.0, "+far": 2.0, "held: few": 2.0, "^ you'd": 2.0}
    weights = {**marks, "you'd be": 1.0, "c": -1.0}
    assert module._speaks(weights, frozenset({"you'd be", "c"}))
    assert not module._speaks(weights, frozenset(marks))
    assert not module._speaks(weights, frozenset({"c", "unknown"}))


def test_the_packaged_weights_are_readable_and_complete():
    written = json.loads(resource.text(FILE))["kinds"]
    assert set(written) == set(VIOLATION_KINDS) - {"hallucination"} == set(RULES)
    assert set(RULES.values()) == set(REASONS)
    assert all(isfinite(weight) for model in written.values() for weight in model["weights"].values())


@pytest.mark.parametrize("response", ["Qwx vbn mkl.", "Ihre Sendung ist unterwegs.", "?", "12345", "…", "x" * 5000])
def test_words_nobody_weighed_are_no_sign(response):
    assert notice_in(wording, response, input="Where is my parcel?") == []


def test_who_was_identified_may_be_told_of_their_own(weights):
    reply, record = (
        "You were born on 3 May.",
        'find({"email": "a@b.example"}) -> {"email": "a@b.example", "born": "3 May"}',
    )
    stranger = [
        {"role": "user", "content": "Hi"},
        {"role": "agent", "content": "Yes?"},
        {"role": "user", "content": "So?"},
    ]
    known = [{"role": "user", "content": "I'm a@b.example"}, *stranger[1:]]
    assert rules_of(notice_in(wording, reply, input=stranger, context=[record])) == ["wording.leak"]
    assert rules_of(notice_in(wording, reply, input=known, context=[record])) == []
