"""Who does what in reply and sources -> findings: an act that the sources give to another party.

`The couple hires the linen` and `we hire the linen for you` name one act and two actors. The customer may be the
tenant, the sender or the owner, so `you` contradicts such a name only where the reply names that party beside it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading, Sentence, Text, Token
from touchstone.core.result import Evidence
from touchstone.safety.fabrication.findings import Finding, Known, is_question
from touchstone.text.tokens import term

DATA = "parties.txt"
BREAK = re.compile(r"[,;:()\n]|[.!?](?=\s|$)|\s[-–—]\s")
# How far a verb may stand behind its actor, past modals and adverbs, and how far its object reaches.
VERB_REACH, OBJECT_REACH = 5, 8
MAX_ACTS = 120
# An act of the source is the same when it shares this much of the lesser object.
SAME_ACT = 0.5
# `You will be refunded`: the party suffers the act.
PASSIVE = frozenset({"be", "been", "is", "are", "was", "were", "being"})
# `As the owner you …`: the customer is that party.
AS = frozenset({"as", "you're"})
OURS = frozenset({"we", "us", "our", "ours", "we'll", "we're", "we've", "we'd"})
YOURS = frozenset({"you", "your", "yours", "you'll", "you're", "you've", "you'd"})


class Act(NamedTuple):
    """A party, the verb it does and the terms it does it to; `around` are all the words of the sentence."""

    actor: str
    verb: str
    objects: frozenset[str]
    around: frozenset[str]
    start: int
    end: int


def actors(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each act of the reply that every source gives to somebody else."""
    reply = reading.reply
    ours = [act for s in reply.sentences[:MAX_ACTS] if not is_question(reply, s) for act in _acts(reply, s)][:MAX_ACTS]
    if not ours:
        return
    theirs = [(source, act) for source in known.sources for s in source.sentences for act in _acts(source, s)]
    for act in ours:
        alike = [(source, other) for source, other in theirs[: 4 * MAX_ACTS] if _is_same(act, other)]
        if not alike or not all(_is_other(act, other) for _, other in alike):
            continue
        source, other = max(alike, key=lambda pair: len(act.objects & pair[1].objects))
        if source in known.contexts:
            shown = source.raw[other.start : other.end]
            evidence = Evidence(source.name, other.start, other.end, shown)
            yield Finding(act.start, act.end, 1.0, f"the source says otherwise (who): {shown}", (evidence,))


def _acts(text: Text, sentence: Sentence) -> Iterator[Act]:
    tokens = text.tokens[sentence.first : sentence.last]
    parties = _parties()
    words = [token.word for token in tokens]
    if parties.keys().isdisjoint(words):
        return
    around = frozenset(words)
    if not AS.isdisjoint(words):
        around = frozenset([w for at, w in enumerate(words) if AS.isdisjoint(words[max(0, at - 2) : at])])
    for at, token in enumerate(tokens):
        actor = parties.get(token.word)
        if actor is None:
            continue
        passive = "by" in words[max(0, at - 3) : at]
        found = _suffered(text, tokens, at) if passive else _done(text, tokens, at)
        if found:
            yield Act(actor, *found[:2], around, *found[2:])


def _done(text: Text, tokens: Sequence[Token], at: int) -> tuple[str, frozenset[str], int, int] | None:
    """The verb behind a party, past modals; a negation or a break in between ends the search."""
    far = tokens[min(len(tokens), at + 1 + VERB_REACH + OBJECT_REACH) - 1].end
    cut = BREAK.search(text.raw, tokens[at].end, far)
    stop = cut.start() if cut else far
    for place in range(at + 1, min(len(tokens), at + 1 + VERB_REACH)):
        token = tokens[place]
        if token.start >= stop or _negates(token.word) or token.word in _parties():
            return None
        if token.word in PASSIVE:
            return None
        if token.word in resource.group(DATA, "between"):
            continue
        verb = _verb(token)
        told = [t for t in tokens[place + 1 : place + 1 + OBJECT_REACH] if t.start < stop]
        if not verb or any(_negates(t.word) for t in told):
            return None
        return verb, _content(told), tokens[at].start, (told[-1] if told else token).end
    return None


def _suffered(text: Text, tokens: Sequence[Token], at: int) -> tuple[str, frozenset[str], int, int] | None:
    """The participle in front of `by` and a party, and what stands before it."""
    by = max(place for place in range(max(0, at - 3), at) if tokens[place].word == "by")
    if by == 0 or BREAK.search(text.raw, tokens[by - 1].end, tokens[at].start):
        return None
    near = tokens[max(0, by - 1 - OBJECT_REACH)].start
    low = max((m.end() for m in BREAK.finditer(text.raw, near, tokens[by - 1].start)), default=near)
    told = [t for t in tokens[max(0, by - 1 - OBJECT_REACH) : by - 1] if t.start >= low]
    verb = _verb(tokens[by - 1])
    if not verb or not told or any(_negates(t.word) for t in told):
        return None
    return verb, _content(told), told[0].start, tokens[at].end


def _is_same(act: Act, other: Act) -> bool:
    if act.verb != other.verb or not act.objects:
        return False
    shared = act.objects & other.objects
    return bool(shared) and len(shared) >= SAME_ACT * min(len(act.objects), len(other.objects))


def _is_other(act: Act, other: Act) -> bool:
    """Whether two parties cannot be the same here."""
    one, two = act.actor, other.actor
    if one == two:
        return False
    if {one, two} == {"we", "you"}:
        return True
    if one == "you":
        return two in {_parties().get(word, "") for word in act.around}
    if two == "you":
        return not YOURS.isdisjoint(act.around) and not OURS.isdisjoint(other.around | {"we"})
    if "we" in (one, two):
        return not OURS.isdisjoint(act.around)
    return True


def _negates(word: str) -> bool:
    return word in ("not", "never", "cannot", "no", "nothing", "without", "nor") or word.endswith("n't")


def _verb(token: Token) -> str:
    """The verb's stem; forms that a stem does not join are listed."""
    word = _forms().get(token.word, token.word)
    return "" if token.is_stop or not word[0].isalpha() else term(word)


def _content(tokens: Sequence[Token]) -> frozenset[str]:
    filler = resource.words("filler.txt")
    return frozenset(
        t.term
        for t in tokens
        if not t.is_stop and t.word not in filler and t.word not in _parties() and len(t.word) > 1
    )


@cache
def _forms() -> dict[str, str]:
    pairs = (entry.partition(" ") for entry in resource.group(DATA, "form"))
    return {written: plain for written, _, plain in pairs}


@cache
def _parties() -> dict[str, str]:
    """Each word for a party with the side it stands on, or with its own stem."""
    table = {word: term(word) for word in resource.group(DATA, "third")}
    for side in ("we", "you"):
        table |= dict.fromkeys(resource.group(DATA, side), side)
    return table
