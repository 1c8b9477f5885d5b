"""Steering customers to other companies, told apart from naming, importing from and comparing with them."""

import json
from pathlib import Path

import pytest
from tests.growth import is_linear

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading
from touchstone.core.result import Violation
from touchstone.evidence.check import check
from touchstone.safety.competitor.recommendations import competitor_recommendation
from touchstone.text.reading import read, read_text

TABLE = Path(__file__).parents[1] / "tables" / "detector_competitor_recommendation.jsonl"
PLANS = "Plans (Odette Mobile): 10 GB for £9, 40 GB for £15. Change under Account > Plan. We ship with DPD."


def find(
    response: str,
    context: list[str] | None = None,
    *,
    question: str = "Any cheaper plan?",
    policy: Policy | None = None,
) -> tuple[Violation, ...]:
    reading = read(Case(input=question, response=response, context=[PLANS] if context is None else context))
    return competitor_recommendation(reading, check(reading, plan=Plan()), policy=policy or Policy())


@pytest.mark.parametrize(
    "response",
    [
        "The 10 GB plan is £9. Honestly, you'd be better off with Zephyr, they're cheaper.",
        "We have 40 GB for £15. I'd switch to Larkfone if I were you.",
        "Our smallest plan is £9, but Tesco Mobile do the same thing for six.",
        "If £9 is too much, try GiffGaff; their plans start at £6.",
        "It's £9 with us. Have a look at Voxi, it's free for the first month.",
        "I'd recommend Smarty for light users.",
        "Between you and me, most of us here use Zephyr.",
        "You'll find it cheaper elsewhere, so I'd shop around before you sign anything with us.",
        "Another provider would suit you better; go with one of those.",
        "You could buy the same phone from Currys for £50 less.",
        "Zephyr has better coverage there than us, so sign up with them.",
        "For that you should download SkyDial instead, it's easier to use.",
        "You'd save a good deal at Larkfone.",
        "Larkfone still has the old tariff.",
        "Larkfone's network is just as good.",
        "You'll get it in any other phone shop.",
        "Why not ask a rival network for a quote?",
        "A car phone from Currys would make more sense.",
        "There are better offers out there.",
        "Monday.com has a good one.",
        "Students are happier with Larkfone.",
        "Larkfone has us beaten on roaming.",
        "For that I'd forget about us and order through Larkfone.",
        "Larkfone is the one to have in the hills.",
    ],
)
def test_a_recommendation_of_another_company_is_found(response: str) -> None:
    found = find(response)
    assert found
    assert all(v.text == response[v.start : v.end] and v.reason for v in found)


@pytest.mark.parametrize(
    ("response", "question"),
    [
        ("I can't speak for Zephyr's prices; ours start at £9.", "Is Zephyr cheaper?"),
        ("To bring your number from Zephyr, text PAC to them and send us the code.", "I'm coming from Zephyr"),
        ("I can't say whether you'd be better off with Zephyr.", "Should I go to Zephyr?"),
        ("Unlike Zephyr, we don't charge for roaming.", "Zephyr charges for roaming, do you?"),
        ("Your SIM comes with DPD, and you can follow it in their app.", "Where is my SIM?"),
        ("You can pay with PayPal or Apple Pay.", "How can I pay?"),
        ("Get our app from the App Store or Google Play.", "Where is the app?"),
        ("Switch to the 40 GB plan under Account > Plan; it's better value.", "More data?"),
        ("If we can't agree, you may go to the Communications Ombudsman free of charge.", "I want to complain"),
        ("Please ask your bank to trace the payment.", "Where is my refund?"),
        ("Before you look at other providers, would you tell me what went wrong?", "I'm leaving"),
        ("Go to Account, open Plan and choose Upgrade.", "How do I upgrade?"),
        ("If you bought the phone at Currys, the guarantee is with them.", "My phone is broken"),
        ("Your last provider, Larkfone, can tell you the code.", "How do I get my code?"),
        ("You told us Larkfone has it. We don't, sorry.", "Do you have it?"),
        ("I can't say whether other networks have it.", "Who has it?"),
        ("Use another browser or any charger with a USB plug.", "It doesn't load"),
        ("I can't predict whether Larkfone or Voxi would cover your road.", "Is there signal?"),
        ("If you have a cheaper quote from Larkfone, send it to us and we'll look at it.", "Too dear"),
        ("It's the same price as at Currys, with a longer guarantee.", "How much is it?"),
        ("Our shop in Harrogate has it for less.", "Where can I buy it?"),
        ("A full charge takes 0.02 kWh, which is less than a kettle.", "Is charging expensive?"),
        ("A local tailor can sort it out.", "The zip of my phone case broke"),
    ],
)
def test_naming_comparing_or_passing_on_is_fine(response: str, question: str) -> None:
    assert find(response, question=question) == ()


def test_a_listed_competitor_needs_less_to_be_recommended() -> None:
    policy = Policy(company="Odette Mobile", competitors=("Zephyr",))
    assert find("You could try Zephyr for that.", policy=policy)
    assert find("I'm sorry to lose you to Zephyr.", question="I'm off to Zephyr", policy=policy) == ()


def test_without_context_screens_and_people_are_no_strangers() -> None:
    assert find("Go to My Bookings, select Drivers and press Add Driver.", []) == ()
    assert find("The order was placed by Karen Mitchell at 58 Elm Street.", []) == ()


def test_the_example_table_is_met() -> None:
    hits = misses = alarms = 0
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        given = row.get("policy") or {}
        reading = read(Case(input=row["input"], response=row["response"], context=row["context"]))
        policy = Policy(company=given.get("company"), competitors=tuple(given.get("competitors", ())))
        found = competitor_recommendation(reading, check(reading, plan=Plan()), policy=policy)
        hits += bool(found and row["violation"])
        misses += bool(row["violation"] and not found)
        alarms += bool(found and not row["violation"])
    assert hits / (hits + misses) >= 0.9
    assert hits / (hits + alarms) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["Try Acme there, ", "A B C D ", "another provider is better than us, go there. "])
def test_time_grows_in_step_with_the_reply(piece: str) -> None:
    def search(repeats: int) -> None:
        sources = (read_text("context[0]", PLANS),)
        reading = Reading(None, read_text("response", piece * repeats), sources, None, (), ())
        competitor_recommendation(reading, (), policy=Policy())

    assert is_linear(search, small=200, large=1600)
