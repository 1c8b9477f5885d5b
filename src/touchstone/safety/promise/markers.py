"""A sentence of the reply -> the words that commit somebody: will, have done, am doing, can offer, is approved."""

from collections.abc import Iterator
from typing import NamedTuple

from touchstone.core.reading import Sentence, Text, Token
from touchstone.safety.phrasebook import book, find

ADVERBS = frozenset(
    "also now personally gladly happily definitely certainly then just simply automatically already immediately still "
    "always all even absolutely surely first today both each soon shortly fully actually only gone ahead of course "
    "therefore hereby instead naturally ever".split()
)
NEGATIVES = frozenset("not never".split())
# "Nobody here will ask", "not a single one will": the subject denies.
NOBODY = frozenset("nobody nothing none no not neither".split())
SPEAKER = frozenset("i we i've we've i'll we'll i'm we're i'd we'd".split())
CUSTOMER = frozenset("you you'll you're you've".split())
PAST_GRANTS = frozenset(
    "added applied credited refunded waived approved extended upgraded issued removed reversed cancelled canceled "
    "authorised authorized granted reimbursed compensated".split()
)
STATES = frozenset(
    "approved waived refunded credited granted reversed reimbursed authorised authorized released sorted "
    "struck cancelled canceled dropped wiped removed lifted scrapped".split()
)
BE = frozenset("is are been being it's that's you're".split())
DETERMINERS = frozenset("the a his her their your my last certified signed valid".split())
# "I have no date": having, not having done.
OWNING = frozenset("to no a an the any your some".split())
# What a company would do for the customer "should it happen".
WOULD = frozenset("refund pay carry cover replace credit reimburse compensate bear repair rebuild".split())
# Present tense for what is fixed: "it ships on Friday".
SCHEDULED = frozenset("ships arrives gets lands launches comes reaches starts goes returns".split())
# "That's on us": whose fault it is.
FAULT = frozenset("that that's this it it's".split())
SUBJECT_WORDS = 8
# "We have decided to credit": the act comes after.
RESOLVED = frozenset("decided agreed arranged committed opted managed".split())
# Every word a form can begin with; most words of a reply are none.
COMMITTING = (
    frozenset(
        "will shall won't going have has am are can i've we've i'm we're i'd we'd happy glad pleased delighted "
        "consider there's can't cannot never you're expect is it's that's be being been".split()
    )
    | PAST_GRANTS
    | STATES
    | SCHEDULED
)


class Marker(NamedTuple):
    """Where the committing words begin, their verb, whether they look ahead, and whether they say what will not be."""

    first: int
    verb: int
    is_future: bool
    is_negated: bool


def find_markers(reply: Text, sentence: Sentence) -> Iterator[Marker]:
    """The sentence's markers in order; none begins before the verb of the one before it."""
    tokens = reply.tokens
    free = sentence.first
    for at in range(sentence.first, sentence.last):
        word = tokens[at].word
        committing = at >= free and (word in COMMITTING or word.endswith("'ll"))
        form = _form(reply, at, sentence) if committing else None
        if form is None:
            continue
        verb = at + {"state": 0, "past": 0, "scheduled": 0, "expect": 0, "going": 2}.get(form, 1)
        negated = tokens[at].word == "won't" or _nobody(tokens, at, sentence)
        while verb < sentence.last and tokens[verb].word in ADVERBS | NEGATIVES:
            negated |= tokens[verb].word in NEGATIVES
            verb += 1
        if verb + 2 < sentence.last and tokens[verb].word in RESOLVED and tokens[verb + 1].word == "to":
            verb += 2
        if verb < sentence.last and not (negated and form in ("have", "past", "state", "settled")):
            free = verb + 1
            yield Marker(at, verb, form not in ("have", "past", "state", "settled"), negated)


def has_break(reply: Text, at: int, marks: str) -> bool:
    """Whether one of the marks, a dash or a full stop stands between a token and the one before it."""
    if at == 0:
        return False
    gap = reply.raw[reply.tokens[at - 1].end : reply.tokens[at].start]
    if gap in (" ", ":"):  # 8:40
        return False
    return any(mark in gap for mark in marks) or " - " in gap or ". " in gap


def is_modal(text: Text, at: int) -> bool:
    """Whether "may" is the verb, not the month."""
    token = text.tokens[at]
    return text.raw[token.start : token.end] != "May"


def _form(reply: Text, at: int, sentence: Sentence) -> str | None:
    """How a token commits, if it does."""
    tokens = reply.tokens
    word = tokens[at].word
    before = tokens[at - 1].word if at > sentence.first else ""
    after = tokens[at + 1].word if at + 1 < sentence.last else ""
    if word in ("will", "shall", "won't") or word.endswith("'ll"):
        return None if word == "will" and before in DETERMINERS else "will"  # "the will" is a testament
    if after == "to" and word in ("going", "happy", "glad", "pleased", "delighted"):
        return "going"
    if word == "you're" and after in ("getting", "receiving"):
        return "doing"
    if word == "expect" and at == sentence.first:
        return "expect"
    return _agent_form(tokens, at, sentence, before, after) or _thing_form(tokens, at, sentence, after)


def _agent_form(tokens: tuple[Token, ...], at: int, sentence: Sentence, before: str, after: str) -> str | None:
    """What the agent or the company has done, is doing or can do."""
    word = tokens[at].word
    if (word in ("i've", "we've") or (word in ("have", "has") and before in ("i", "we"))) and after not in OWNING:
        return "have"
    if (word in ("i'm", "we're") or (word in ("am", "are") and before in SPEAKER)) and _acts(tokens, at, sentence):
        return "doing"
    if (word == "can" and before in SPEAKER) or (word in ("i'd", "we'd") and after in WOULD):
        return "offer"
    if word in PAST_GRANTS and (before in SPEAKER or before in ("just", "already", "also")):
        return "past"
    return None


def _thing_form(tokens: tuple[Token, ...], at: int, sentence: Sentence, after: str) -> str | None:
    """What is settled, waiting, scheduled or said to be impossible."""
    word = tokens[at].word
    if word in STATES and _is_stated(tokens, at, sentence):
        return "state"
    if word == "consider" and after in ("it", "that", "this", "your", "the"):
        return "state"
    if word in ("is", "are", "it's", "that's", "you're") and _is_settled(tokens, at, sentence):
        return "settled"
    if word in SCHEDULED and _has_time(tokens, at, sentence):
        return "scheduled"
    if word == "there's" and {"waiting", "your"} & {token.word for token in tokens[at : min(at + 8, sentence.last)]}:
        return "have"
    if word in ("can't", "cannot", "never") and find(book("promises.txt", "impossible"), tokens, at, sentence.last):
        return "will"
    return None


def _acts(tokens: tuple[Token, ...], at: int, sentence: Sentence) -> bool:
    """ "We're picking up the bill", "I'm good for it"; not "I'm going to", which is a form of its own."""
    for token in tokens[at + 1 : min(at + 4, sentence.last)]:
        if token.word.endswith("ing"):
            return token.word != "going"
        if token.word not in ADVERBS:
            return token.word in ("good", "committed")
    return False


def _is_stated(tokens: tuple[Token, ...], at: int, sentence: Sentence) -> bool:
    """ "Your claim is hereby approved", "has now been waived"; not "can be refunded"."""
    while at > sentence.first and tokens[at - 1].word in ADVERBS:
        at -= 1
    before = tokens[at - 1].word if at > sentence.first else ""
    return before in BE or before.endswith("'s")


def _is_settled(tokens: tuple[Token, ...], at: int, sentence: Sentence) -> bool:
    """ "The next two are on us", "that charge is history", "it's as good as approved"."""
    if tokens[at].word != "are" and {token.word for token in tokens[max(sentence.first, at - 1) : at + 1]} & FAULT:
        return False
    before = tokens[max(sentence.first, at - SUBJECT_WORDS) : at]
    while at + 1 < sentence.last and tokens[at + 1].word in ADVERBS:
        at += 1
    if at + 1 < sentence.last and tokens[at + 1].word in ("free", "on"):
        return any(token.word == "next" for token in (*before, *tokens[at + 1 : min(at + 5, sentence.last)]))
    hits = find(book("promises.txt", "settled", exact=True), tokens, at + 1, min(at + 5, sentence.last))
    return bool(hits) and hits[0].first == at + 1


def _has_time(tokens: tuple[Token, ...], at: int, sentence: Sentence) -> bool:
    before = tokens[at - 1].word if at > sentence.first else ""
    return before not in ("which", "that", "who", "if", "when") and bool(
        find(book("promises.txt", "time"), tokens, at, min(at + 10, sentence.last))
    )


def _nobody(tokens: tuple[Token, ...], at: int, sentence: Sentence) -> bool:
    return any(token.word in NOBODY for token in tokens[max(sentence.first, at - 6) : at])
