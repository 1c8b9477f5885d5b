"""Typed changes of sentences that are right."""

import random

import pytest
from scripts.fit_verifier.changes import CHANGES, borrow

CASES = [
    ("negation", "Refunds are paid within a week.", "Refunds are not paid within a week."),
    ("negation", "You cannot swap licences.", "You can swap licences."),
    ("negation", "You must show a licence.", "You need not show a licence."),
    ("must_may", "Goggles must be worn.", "Goggles may be worn."),
    ("before_after", "Destroy it after the new card arrives.", "Destroy it before the new card arrives."),
    ("scope", "Up to two dogs may stay.", "At least two dogs may stay."),
    ("exchange", "Credit is paid to buyers, not recipients.", "Credit is paid to recipients, not buyers."),
    ("unit", "Reply within two weeks.", "Reply within two months."),
    ("opposite", "Delivery is free.", "Delivery is charged."),
    ("wrong_party", "The recipient pays.", "The sender pays."),
]


@pytest.mark.parametrize(("kind", "right", "wrong"), CASES)
def test_a_change_makes_a_right_sentence_wrong(kind: str, right: str, wrong: str) -> None:
    assert CHANGES[kind](right, random.Random(1)) == wrong


@pytest.mark.parametrize("kind", CHANGES)
def test_a_sentence_without_room_for_a_change_has_none(kind: str) -> None:
    assert CHANGES[kind]("Hello there", random.Random(1)) is None


@pytest.mark.parametrize("figure", ["7", "45", "2.50", "1,200"])
def test_another_number_is_another(figure: str) -> None:
    sentence = f"It costs £{figure} a month."
    for seed in range(20):
        changed = CHANGES["number"](sentence, random.Random(seed))
        assert changed is not None
        assert changed != sentence
        assert changed.startswith("It costs £")
        assert changed.endswith(" a month.")


BORROWED = [
    ("Gold costs £20 a month.", "Silver is £9, Gold is £20.", "Gold costs £9 a month."),
    ("You pay 5% on the Silver plan.", "The Gold plan has no fee.", "You pay 5% on the Gold plan."),
    ("It takes 3 days.", "It takes 3 days, 9 with customs.", "It takes 9 days."),
]


@pytest.mark.parametrize(("right", "evidence", "wrong"), BORROWED)
def test_a_figure_or_a_name_is_borrowed_from_the_evidence(right: str, evidence: str, wrong: str) -> None:
    assert borrow(right, evidence, random.Random(1)) == wrong


@pytest.mark.parametrize("evidence", ["", "It takes 3 days.", "Gold is £20.", "Half of it, 30%."])
def test_nothing_of_another_kind_is_borrowed(evidence: str) -> None:
    assert borrow("It takes 3 days.", evidence, random.Random(1)) is None
