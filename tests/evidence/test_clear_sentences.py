"""Sentences that are clear without a model: a rule speaks only where it can hardly be wrong."""

import pytest
from tests.evidence.table_verifier import DOUBTFUL, TableVerifier, statements_of

PASSAGES = [
    "Refunds are paid within 14 days of the return. You may call us before the visit unless the line is closed.",
    "The customer pays the courier. Is the bag free?",
]

CLEAR = {
    "a copy": ("Refunds are paid within 14 days of the return.", "supported"),
    "a copy with other articles": ("Yes, the refunds are paid within 14 days of your return.", "supported"),
    "a copy whose value is spelled otherwise": ("Refunds are paid within two weeks of the return.", "supported"),
    "a short question": ("Shall I book it for you?", "no_claim"),
    "a courtesy": ("I'm so sorry, thanks for asking.", "no_claim"),
    "a word or two": ("Safe travels!", "no_claim"),
}
OPEN = {
    "one word exchanged": "Refunds are paid before 14 days of the return.",
    "roles swapped": "The courier pays the customer.",
    "another value": "Refunds are paid within 15 days of the return.",
    "a condition left out": "You may call us before the visit.",
    "what a source only asks": "The bag is free here today.",
    "a courtesy with a figure": "Thanks, you get $5.",
    "a question that tells": "Did you know that refunds are free?",
    "a question with a figure": "Shall we take $30 for it?",
    "something new": "Our drivers carry spare parts.",
}


@pytest.mark.parametrize(("sentence", "status"), CLEAR.values(), ids=CLEAR)
def test_a_clear_sentence_never_reaches_the_model(sentence, status):
    verifier = TableVerifier({}, other=DOUBTFUL)
    (statement,) = statements_of(sentence, PASSAGES, verifier=verifier)
    assert (statement.status, statement.by, statement.chances, statement.probability) == (status, "rule", None, None)
    assert verifier.pairs == []


@pytest.mark.parametrize("sentence", OPEN.values(), ids=OPEN)
def test_any_other_sentence_does(sentence):
    verifier = TableVerifier({}, other=DOUBTFUL)
    (statement,) = statements_of(sentence, PASSAGES, verifier=verifier)
    assert verifier.pairs
    assert statement.chances is not None


def test_a_copied_sentence_names_the_place():
    (statement,) = statements_of("The customer pays the courier.", PASSAGES, verifier=TableVerifier({}, other=DOUBTFUL))
    (evidence,) = statement.evidence
    assert (evidence.source, evidence.text) == ("context[1]", "The customer pays the courier.")
    assert PASSAGES[1][evidence.start : evidence.end] == evidence.text
