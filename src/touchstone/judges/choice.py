"""Reading -> the models that grade it, by what it can be held against and whether it is a support matter at all; and
what no model knows: cases unlike all that were fitted on, copied passages, other languages.

Support replies are graded by models fitted on support replies. Where a customer tells of no matter of their own, models
fitted on other texts that people rated weigh more whether the reply keeps to its sources.
"""

import re
from collections.abc import Mapping, Sequence

from touchstone.core import resource
from touchstone.core.reading import Reading, Text, Value
from touchstone.judges.coverage import MAX_ANSWER_WORDS, path_steps
from touchstone.judges.grounding import passages_of, statements
from touchstone.judges.model import (
    NO_SOURCES,
    SOURCES_ONLY,
    Fitted,
    GradeModel,
    Mode,
    Plain,
    models,
    pass_model,
    plain_models,
)
from touchstone.text.asks import asks_outright

# Who tells of a matter uses more words than this, and asks for something or speaks of themselves.
FEW_WORDS = 12
# Passages of no more words are an entry that answers one question; longer ones have to be searched for the answer.
ENTRY_WORDS = 60
# A company's passages have two signs of business at least, and one for every so many words. So have those of 98 in 100
# labelled cases, and few texts of other kinds.
FEWEST_SIGNS = 2
WORDS_A_SIGN = 30
OWN, BUSINESS = resource.group("judge_words.txt", "own"), resource.group("judge_words.txt", "business")
# `"status": "delivered",`, `name({…}) ->`: text for machines.
STRUCTURE = re.compile(r"[{}\[\]]|\"\w+\":|->")
NOTES: Mapping[str, str] = {
    "turns": "the chat has {given:.0f} earlier messages, cases it was fitted on have at most {most:.0f}",
    "context_words": "the passages have {given:,.0f} words, cases it was fitted on have at most {most:,.0f}",
    "structure": "the passages are lookups rather than prose, and it learnt to grade by prose",
    "question_words": "the message has {given:.0f} words, cases it was fitted on have at most {most:.0f}",
    "reply_words": "the reply has {given:.0f} words, cases it was fitted on have at most {most:.0f}",
}
# N-grams of this length are shared only by copies.
COPY_NGRAM = 5
MIN_COPY_WORDS = 12
COPIED = 0.8
CUSTOMER = re.compile(r"\b(?:you|your|yours|yourself|you'(?:re|ll|ve|d)|we'll|i'll|i've|i'm|let me)\b", re.IGNORECASE)
STAFF = re.compile(
    r"\b(?:the|a|any|every|all|each) (?:customer|client|caller|guest|patient|member|passenger|tenant|user)s?\b"
    r"|\b(?:customers|callers|agents?|staff|advisers|advisors|representatives)\b",
    re.IGNORECASE,
)
# English prose has at least this share of function words; less means another language or no prose.
MIN_FUNCTION_WORDS = 0.15
MIN_WORDS = 8


def choose_models(mode: Mode, kind: Plain | None, *, fitted: Fitted | None = None) -> Mapping[str, GradeModel]:
    """criterion -> model. A team that has calibrated the judge on its own cases has models for all of them."""
    if fitted is not None:
        return fitted.modes[mode]
    return {**models(mode), **(plain_models(kind) if kind else {})}


def mode_of(reading: Reading) -> Mode:
    """What the reply can be held against: an expected reply, sources, or nothing but the question."""
    if reading.expected:
        return "expected"
    return NO_SOURCES if reading.sources is None else SOURCES_ONLY


def plain_kind(reading: Reading) -> Plain | None:
    """What kind of case it is when it is no support matter; the reply has no say in it, lest it choose its judge."""
    if reading.expected and len(reading.expected.tokens) <= MAX_ANSWER_WORDS:
        return "answer"
    if tells_a_matter(reading):
        return None
    if not reading.sources:
        return None if reading.question else "wording"
    if reading.question is None and not reading.expected:
        return "statement"
    if is_entry(reading):
        return "entry_expected" if reading.expected else "entry_open"
    return "query_expected" if reading.expected else "query_open"


def is_entry(reading: Reading) -> bool:
    """Whether the passages come to an entry that is itself the answer, not a text to look for it in."""
    return 0 < sum(len(passage.tokens) for passage in passages_of(reading)) <= ENTRY_WORDS


def tells_a_matter(reading: Reading) -> bool:
    """Whether the customer, now or earlier, tells a company anything or asks it something at some length."""
    earlier = [source for source in reading.sources or () if source.name.startswith("input[")]
    if not any(_tells(text) for text in (reading.question, *earlier) if text):
        return False
    passages = passages_of(reading)
    return not passages or of_business(passages)


def of_business(passages: Sequence[Text]) -> bool:
    """Whether passages speak for a company: to their reader, of prices, waits, contacts, menus, orders, or of rules.

    Long texts on anything at all hold a few such words and prices; a company's have them throughout.
    """
    signs = sum(map(_signs, passages))
    return signs >= FEWEST_SIGNS and signs * WORDS_A_SIGN >= sum(len(passage.tokens) for passage in passages)


def _signs(passage: Text) -> int:
    kinds = {value.kind for value in passage.values if value.kind == "money" or _is_wait(value)}
    words = BUSINESS.intersection([token.word for token in passage.tokens])
    return len(words) + len(kinds) + bool(passage.contacts) + bool(path_steps(passage.raw))


def _is_wait(value: Value) -> bool:
    return value.kind == "duration" and "year" not in value.canonical


def _tells(text: Text) -> bool:
    if statements(text):
        return True
    if len(text.tokens) <= FEW_WORDS:
        return False
    return any(token.word in OWN for token in text.tokens) or asks_outright(text)


def measure(reading: Reading) -> dict[str, float]:
    """What distinguishes kinds of cases, whatever the reply says."""
    raw = " ".join(text.raw for text in reading.contexts)
    words = sum(len(text.tokens) for text in reading.contexts)
    return {
        "turns": float(len(reading.earlier)),
        "context_words": float(words),
        "structure": len(STRUCTURE.findall(raw)) / max(50, words),
        "question_words": float(len(reading.question.tokens)) if reading.question else 0.0,
        "reply_words": float(len(reading.reply.tokens)),
    }


def unlike(reading: Reading) -> str | None:
    """Why the case is unlike all that the judge knows; None when it is not."""
    most = pass_model().most
    for name, given in measure(reading).items():
        if given > most[name]:
            return NOTES[name].format(given=given, most=most[name])
    return None


def pasted_passage(body: Reading) -> str | None:
    """The name of the passage that most of the body is copied from; what the expected reply says too is no copy."""
    ngrams = _ngrams(body.reply)
    if len(body.reply.tokens) < MIN_COPY_WORDS:
        return None
    if body.expected and len(ngrams & _ngrams(body.expected)) >= COPIED * len(ngrams):
        return None
    shared = {passage.name: ngrams & _ngrams(passage) for passage in body.contexts}
    copied = frozenset[tuple[str, ...]]().union(*shared.values())
    if len(copied) < COPIED * len(ngrams):
        return None
    return max(shared, key=lambda name: len(shared[name]))


def speaks_to_customer(body: Reading) -> bool:
    """Whether the words are meant for a customer, and not for those who answer customers.

    A page for customers may be quoted; staff notes, a record or a rule in the third person is no answer to anybody.
    """
    return CUSTOMER.search(body.reply.raw) is not None and STAFF.search(body.reply.raw) is None


def _ngrams(text: Text) -> frozenset[tuple[str, ...]]:
    words = [token.word for token in text.tokens]
    return frozenset(tuple(words[at : at + COPY_NGRAM]) for at in range(len(words) - COPY_NGRAM + 1))


def reads_as_english(reading: Reading) -> bool:
    """Whether the reply has English function words, or too few words to tell."""
    tokens = reading.reply.tokens
    if len(tokens) < MIN_WORDS:
        return True
    return sum(token.is_stop for token in tokens) / len(tokens) >= MIN_FUNCTION_WORDS
