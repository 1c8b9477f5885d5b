"""Which sentences of the sources speak to a sentence of a reply."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.evidence.retrieval import MOST_EVIDENCE, MOST_WORDS, Passages, evidence_for, joined
from touchstone.text.reading import read_text

FIBRE = (
    "Cancelling Home Fibre. Inside the minimum term you pay £11 per remaining month. After it, 30 days' notice. "
    "Send the hub back within 28 days. It goes in the prepaid bag. Engineers visit on weekdays. "
    "Our shops open at nine. Call centres close at eight."
)
FAQ = "Can I pay by cheque? No. Can I pay by card? Yes, by any card. Do you ship abroad? Only to Ireland."
CARDS = "Age cards renew by themselves; disability cards must be renewed by the holder. Cards last three years."
CASES = [
    # sentence, passages, what the evidence has to hold
    ("You would pay £55 for five months of the minimum term.", [FIBRE], ["£11 per remaining month"]),
    ("You can settle it by cheque.", [FAQ], ["Can I pay by cheque? No."]),
    ("The prepaid bag is where it goes.", [FIBRE], ["Send the hub back within 28 days. It goes in the prepaid bag."]),
    ("Send the hub back and pay by card.", [FIBRE, FAQ], ["Send the hub back", "Can I pay by card? Yes"]),
    ("The hub has to be sent back.", [FIBRE], ["Cancelling Home Fibre."]),
    ("Your disability card renews by itself.", [CARDS], ["renew by themselves; disability cards must be renewed"]),
]


def find(sentence: str, passages: list[str]) -> str:
    read = Passages.of([read_text(f"context[{at}]", text) for at, text in enumerate(passages)])
    return joined(evidence_for(read_text("response", sentence).tokens, read))


@pytest.mark.parametrize(("sentence", "passages", "wanted"), CASES)
def test_the_evidence_holds_what_speaks_to_the_sentence(sentence: str, passages: list[str], wanted: list[str]) -> None:
    evidence = find(sentence, passages)
    assert all(part in evidence for part in wanted)


def test_places_are_those_of_the_sources_and_in_their_order() -> None:
    sources = [read_text("context[0]", FIBRE), read_text("context[1]", FAQ)]
    found = evidence_for(read_text("response", "Pay by card, send the hub.").tokens, Passages.of(sources))
    raw = {source.name: source.raw for source in sources}
    assert [raw[each.source][each.start : each.end].strip() for each in found] == [each.text for each in found]
    assert [(each.source, each.start) for each in found] == sorted((each.source, each.start) for each in found)


def test_a_sentence_that_stands_in_two_sources_is_read_once() -> None:
    assert find("Cards last three years.", [CARDS, CARDS]).count("Cards last three years.") == 1


@pytest.mark.parametrize("passages", [[], [""], [" \n "]])
def test_without_sentences_there_is_no_evidence(passages: list[str]) -> None:
    assert find("Refunds take a week.", passages) == ""


def test_evidence_is_a_few_sentences() -> None:
    many = " ".join(f"The hub has port {number}." for number in range(40))
    read = Passages.of([read_text("context[0]", many), read_text("context[1]", FAQ)])
    assert len(evidence_for(read_text("response", "The hub has a port.").tokens, read)) <= MOST_EVIDENCE


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=80))
def test_any_text_gives_the_same_bounded_evidence_twice(passages: list[str], sentence: str) -> None:
    first, second = find(sentence, passages), find(sentence, passages)
    assert first == second
    longest = max((len(passage.split()) for passage in passages), default=0)
    assert len(first.split()) <= max(MOST_WORDS, longest)
