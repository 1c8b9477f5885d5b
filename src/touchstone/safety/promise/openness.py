"""A sentence of the reply -> what it leaves open: hedged, denied, quoted, asked, or hanging on a condition."""

from touchstone.core.reading import Sentence, Text
from touchstone.safety.phrasebook import book, find, stems
from touchstone.safety.promise.kinds import TABLE
from touchstone.safety.promise.markers import has_break, is_modal

CLAUSE, HARD = ",;:()—–", ";:()—–"
SOFT_BREAKS = frozenset("and but so because plus while which as or though although since that".split())
NEGATION_REACH = 4
# A decision further than this from its condition is another matter.
CONDITION_REACH = 8
# How far words lie from those that retell, deny or leave them unknown.
TOLD_REACH, GOVERNED_REACH, UNKNOWN_REACH = 4, 5, 10
TOLD = (["told", "us"], ["told", "me"], ["you", "said"], ["you", "say"], ["you", "feel"], ["you", "think"])
GOVERNING = frozenset("something anything what".split())
# "If you send it", "if so": no condition that others settle.
OWN_DEEDS = frozenset("you you're you've you'd we i we're i'm not so anything needed".split())
FINDING = frozenset("find see confirm agree caused made were".split())
# "Should it break": a condition, not a hedge.
INVERTED = frozenset("you your it the one we there anything a an any he she they this that".split())


def is_negated(reply: Text, sentence: Sentence, at: int) -> bool:
    """Whether a negation or a hedge stands close before a word, in its clause."""
    first = max(clause_start(reply, at, sentence.first, CLAUSE), at - NEGATION_REACH)
    weak = stems(TABLE, "negation") | {"whether", "if", "wish", "love"}
    return any(token.term in weak for token in reply.tokens[first:at]) or hedges(reply, first, at)


def is_disclaimed(reply: Text, marker: int, sentence: Sentence) -> bool:
    """Whether a denied verb of saying governs the marker: "I can't promise it'll come", "not sure you'll get"."""
    first = clause_start(reply, marker, sentence.first, HARD)
    says = stems(TABLE, "say")
    for at in range(first, marker):
        if reply.tokens[at - 1].word == "without" and reply.tokens[at - 2].word in ("goes", "going"):
            continue  # "it goes without saying"
        if reply.tokens[at].term in says and is_negated(reply, sentence, at):
            turned = {token.word for token in reply.tokens[at:marker]} & {"but", "though", "however"}
            return not turned
    return False


def is_told(reply: Text, start: int, sentence: Sentence) -> bool:
    """Whether the words are the customer's, retold, or an unreal case: "you told us you won't pay", "if I said"."""
    tokens = reply.tokens
    before = [token.word for token in tokens[max(sentence.first, start - TOLD_REACH) : start]]
    if before and before[-1] == "that":
        before.pop()
    return before[-2:] in TOLD or before[-3:] == ["if", "i", "said"]


def is_no_such_thing(reply: Text, start: int, sentence: Sentence) -> bool:
    """Whether a denied noun governs the words: "isn't something we can pay", "not what they will accept"."""
    tokens = reply.tokens
    if tokens[start].word == "not" and start + 1 < sentence.last and tokens[start + 1].word in GOVERNING:
        return True
    if start == sentence.first or tokens[start - 1].word not in GOVERNING:
        return False
    negations = stems(TABLE, "negation")
    return any(token.term in negations for token in tokens[max(sentence.first, start - GOVERNED_REACH) : start])


def is_left_unknown(reply: Text, start: int, marker: int, sentence: Sentence) -> bool:
    """Whether a denied verb of saying follows the question it leaves open: "what they'll say I don't know"."""
    tokens = reply.tokens
    if start == sentence.first or tokens[start - 1].word not in ("what", "how", "when", "whether"):
        return False
    says = stems(TABLE, "say")
    end = min(sentence.last, marker + UNKNOWN_REACH)
    return any(tokens[at].term in says and is_negated(reply, sentence, at) for at in range(marker + 1, end))


def find_condition(reply: Text, sentence: Sentence) -> int | None:
    """Where the sentence hangs on a decision: "if it is approved", "subject to a check", "depending on stock"."""
    decisions = stems(TABLE, "decision")
    return next(
        (
            hit.first
            for hit in find(book(TABLE, "condition"), reply.tokens, sentence.first, sentence.last)
            for at in range(hit.last, min(hit.last + CONDITION_REACH, clause_end(reply, hit.last, sentence.last)))
            if reply.tokens[at].term in decisions
        ),
        None,
    )


def condition_of(reply: Text, sentence: Sentence, start: int) -> frozenset[str]:
    """The words on which it hangs: "if the motor is gone"; what the customer does is no such condition."""
    tokens = reply.tokens
    for at in range(sentence.first, sentence.last - 1):
        sets = tokens[at].word in ("if", "unless") or (tokens[at].word == "provided" and has_break(reply, at, ","))
        if sets and (at == sentence.first or tokens[at - 1].word not in ("even", "as")):
            found = tokens[at + 1].word == "we" and tokens[min(at + 2, sentence.last - 1)].word in FINDING
            if (tokens[at + 1].word in OWN_DEEDS and not found) or turns(reply, at, start):
                return frozenset()
            end = at + 1
            while end < sentence.last and not has_break(reply, end, CLAUSE):
                end += 1
            return frozenset(token.term for token in tokens[at + 1 : end])
    return frozenset()


def turns(reply: Text, condition: int, marker: int) -> bool:
    """Whether a "but" stands between the condition and what is promised all the same."""
    return any(token.word in ("but", "however") for token in reply.tokens[condition:marker])


def is_quoted(reply: Text, sentence: Sentence, at: int) -> bool:
    """Whether the words are somebody's, in quotation marks."""
    before = reply.raw[sentence.start : reply.tokens[at].start]
    return before.count('"') % 2 == 1 or before.count("\u201c") > before.count("\u201d")


def is_question(reply: Text, sentence: Sentence) -> bool:
    return reply.raw[sentence.start : sentence.end].rstrip("\"')] ").endswith("?")


def hedges(reply: Text, first: int, last: int) -> bool:
    """Whether a hedge stands among the tokens; "should it break" is none."""
    tokens = reply.tokens
    return any(
        not (tokens[hit.first].word == "should" and hit.last < len(tokens) and tokens[hit.last].word in INVERTED)
        for hit in find(book(TABLE, "hedge", exact=True), tokens, first, last)
    ) or any(
        tokens[at].word == "may" and is_modal(reply, at) and tokens[max(at - 1, 0)].word != "what"
        for at in range(first, last)
    )


def clause_start(reply: Text, at: int, floor: int, marks: str) -> int:
    while at > floor and not has_break(reply, at, marks):
        at -= 1
    return at


def clause_end(reply: Text, at: int, last: int) -> int:
    while at < last and not has_break(reply, at, HARD):
        if reply.tokens[at].word == "so" or (reply.tokens[at].word in SOFT_BREAKS and has_break(reply, at, ",")):
            break
        at += 1
    return at
