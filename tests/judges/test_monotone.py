"""What makes a reply worse never raises its grade; features of a plain direction only move a grade that way."""

from typing import get_args

import pytest
from tests.judges.gold import GOLD, MODES, SAMPLE, grade, graded, values
from tests.tables import over

import touchstone as ts
from touchstone.evidence.alignment import said_in
from touchstone.judges.coverage import ask_coverage, cover
from touchstone.judges.model import Plain, models, plain_models
from touchstone.text.reading import read

INSULTS = (" Only an idiot would ask something this stupid.", " You are a moron.", " What an absolutely dumb question.")
PRICES = (
    " There is also a handling charge of $83.17.",
    " Please note that the fee for this is €412.",
    " It costs £19.95 per month after the first year.",
    " A one-off charge of $1,253.40 applies.",
)
ANSWERED, UNANSWERED = 0.6, 0.4
CUT_STEP = 4
NEVER_RAISE = {
    "accuracy": (
        "values_contradicted",
        "values_unsupported",
        "claims_contradicted",
        "violation_hallucination",
        "absent_words",
        "absent_names",
    ),
    "tone": ("rude", "blame"),
}
NEVER_LOWER = {
    "completeness": ("ask_mean", "ask_least", "points_made", "point_least", "facts_said", "expected_said"),
    "accuracy": ("facts_said", "expected_said", "answer_given", "closest"),
}
HIGHEST = 6
STEPS = 24


def values_along(term):
    """What the term adds as its feature grows."""
    return [term.size(HIGHEST * step / STEPS) for step in range(STEPS + 1)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("directions", "sign"), [(NEVER_RAISE, -1), (NEVER_LOWER, 1)], ids=["falling", "rising"])
def test_features_of_a_plain_direction_never_go_the_other_way(directions, sign, mode):
    for criterion, names in directions.items():
        terms = {term.feature: term for term in models(mode)[criterion].terms}
        for name in terms.keys() & set(names):
            along = [sign * share for share in values_along(terms[name])]
            assert along == sorted(along), (criterion, name)


@over("kind", get_args(Plain))
@over(("directions", "sign"), [(NEVER_RAISE, -1), (NEVER_LOWER, 1)], ids=["falling", "rising"])
def test_features_of_a_plain_direction_keep_it_for_plain_questions(directions, sign, kind):
    for criterion, model in plain_models(kind).items():
        for term in model.terms:
            if term.feature in directions.get(criterion, ()):
                along = [sign * share for share in values_along(term)]
                assert along == sorted(along), (criterion, term.feature)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("criterion", ["accuracy", "completeness", "tone", "actionability"])
def test_a_higher_value_never_gets_a_lower_grade(mode, criterion):
    model = models(mode)[criterion]
    grades = [model.grade(4 * step / 100) for step in range(101)]
    assert grades == sorted(grades)
    assert set(grades) <= set(range(5))


def raised(number, mode, criterion, endings):
    """The endings of a sampled reply that raise the criterion's value."""
    case, before = MODES[mode](SAMPLE[number]), values(graded(number, mode))[criterion]
    after = {ending: values(grade(case, response=case.response + ending))[criterion] for ending in endings}
    return {ending: value for ending, value in after.items() if value > before}


# By default each reply gets one of the endings in turn, in the slow suite every one of them.
EVERY = pytest.mark.parametrize(
    "every", [pytest.param(False, id="sample"), pytest.param(True, id="all", marks=pytest.mark.slow)]
)
SAMPLED = over("number", range(len(SAMPLE)), ids=[case.id for case in SAMPLE])


@EVERY
@over("mode", MODES)
@SAMPLED
def test_an_unsupported_price_never_raises_accuracy(number, mode, every):
    assert raised(number, mode, "accuracy", PRICES if every else PRICES[number % len(PRICES) :][:1]) == {}


@EVERY
@over("mode", MODES)
@SAMPLED
def test_an_insult_never_raises_tone(number, mode, every):
    assert raised(number, mode, "tone", INSULTS if every else INSULTS[number % len(INSULTS) :][:1]) == {}


def without_an_answer(case):
    """The reply less a sentence that alone takes up one of the asks, or None when there is no such sentence."""
    reading = read(case)
    reply = reading.reply
    for ask, covered in zip(reading.asks, cover(reading).asks, strict=True):
        if covered < ANSWERED:
            continue
        for sentence in reply.sentences:
            rest = f"{reply.raw[: sentence.start].rstrip()} {reply.raw[sentence.end :].lstrip()}".strip()
            left = read(ts.Case(input=case.input, response=rest, context=case.context))
            if rest and ask_coverage(ask, left.question, said_in(left.reply.tokens)) < UNANSWERED:
                return rest
    return None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_taking_out_the_answer_to_a_question_never_raises_completeness(mode):
    found = ((MODES[mode](case), without_an_answer(case)) for case in GOLD[::CUT_STEP])
    cut = [(case, rest) for case, rest in found if rest is not None]
    raised = [
        case.id
        for case, rest in cut
        if values(grade(case, response=rest))["completeness"] > values(grade(case))["completeness"]
    ]
    assert len(cut) >= 20
    assert raised == []
