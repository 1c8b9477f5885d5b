"""The reply -> its commitments: what the company says it will do, give or bring about, neither hedged nor left open."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from touchstone.core.reading import Sentence, Span, Text, Token, Value
from touchstone.evidence.places import in_value
from touchstone.safety.phrasebook import Hit, book, find, sentences, stems
from touchstone.safety.promise.kinds import GETTING, GIFTS, TABLE, find_kinds
from touchstone.safety.promise.markers import ADVERBS, BE, CUSTOMER, SPEAKER, Marker, find_markers, has_break
from touchstone.safety.promise.openness import (
    CLAUSE,
    HARD,
    SOFT_BREAKS,
    clause_end,
    clause_start,
    condition_of,
    find_condition,
    hedges,
    is_disclaimed,
    is_left_unknown,
    is_negated,
    is_no_such_thing,
    is_question,
    is_quoted,
    is_told,
    turns,
)
from touchstone.text.tokens import term

# A currency sign stands before the first token of its value.
SIGN = 2
# A subject longer than this, or a guarantee further from its negation, belongs to something else.
SUBJECT_REACH = 8
COURTESY_REACH = 5
NEWS_REACH = 4
CLAUSE_REACH = 12
PRONOUNS = frozenset("i we you it she he they".split())
PERSONAL = SPEAKER | CUSTOMER | frozenset("your us our me my it it's that's this yours".split())
PARTIES = SPEAKER | CUSTOMER | frozenset("your us our me my yours".split())
GIVE_WORD = frozenset("guarantee promise assure commit swear vow pledge".split())
# "a guarantee", "our price promise": things the company has, not words it gives.
OWNED = frozenset("a the our this your back price satisfaction my month year under of delivery service no".split())
# Between the committing word and its verb: "they will definitely".
SURELY = frozenset("definitely certainly surely absolutely undoubtedly".split())
# "Consider the room sorted".
DONE = frozenset("done sorted settled fixed booked yours approved granted waived refunded cancelled gone".split())
# Whom the agent lays something before: "I'll put it to her today".
DECIDERS = frozenset("her him them".split())
ASKING = frozenset("what how when whether which who why where".split())
# What a negation before it refuses.
GIVEN = frozenset({"refund", "credit", "sum", "replacement", "upgrade", "cover"})
DEADLINE_CUES = frozenset("within in under inside than next exactly most just only".split())
PAST_TIMES = frozenset("from since of for until till after was were last ago every each per".split())


class Commitment(NamedTuple):
    """The tokens of one commitment, whose act it is, what it is about, what it names, and how firmly it is given."""

    first: int
    last: int
    subject: str
    kinds: frozenset[str]
    amounts: tuple[Value, ...]
    deadlines: tuple[Value, ...]
    times: tuple[Hit, ...]
    is_future: bool
    is_negated: bool
    is_guaranteed: bool
    is_courteous: bool
    is_offered: bool
    is_yours: bool
    is_personal: bool
    is_ruling: bool
    condition: frozenset[str]
    verb: str

    def span(self, reply: Text) -> Span:
        """Where it stands in the reply."""
        return Span(reply.tokens[self.first].start, reply.tokens[self.last - 1].end)


def find_commitments(reply: Text) -> tuple[Commitment, ...]:
    """The reply's commitments in order."""
    return tuple(found for sentence in sentences(reply) for found in _in_sentence(reply, sentence))


def _in_sentence(reply: Text, sentence: Sentence) -> Iterator[Commitment]:
    markers = list(find_markers(reply, sentence))
    cues = list(_cues(reply, sentence))
    if not (cues or markers) or is_question(reply, sentence):
        return
    left_open = find_condition(reply, sentence)
    given = [
        cue for cue in cues if not is_negated(reply, sentence, cue.first) and not is_quoted(reply, sentence, cue.first)
    ]
    found = False
    for at, marker in enumerate(markers):
        start = _subject_start(reply, marker.first, sentence.first if at == 0 else markers[at - 1].verb)
        end = _unit_end(reply, marker, markers[at + 1] if at + 1 < len(markers) else None, sentence)
        if left_open is not None and not turns(reply, left_open, marker.first):
            continue
        if is_disclaimed(reply, marker.first, sentence) or is_quoted(reply, sentence, marker.first):
            continue
        if is_told(reply, start, sentence) or is_no_such_thing(reply, start, sentence):
            continue
        if is_left_unknown(reply, start, marker.first, sentence):
            continue
        if _is_tentative(reply, marker, start, end, sworn=bool(given)):
            continue
        found = True
        sure = any(token.word in SURELY for token in reply.tokens[marker.first : marker.verb])
        condition = condition_of(reply, sentence, start)
        yield _commitment(reply, marker, start, end, guaranteed=bool(given) or sure, condition=condition)
    if left_open is not None:
        return
    governed = any(marker.first > cue.first for cue in given for marker in markers)
    if given and not (found or governed) and not hedges(reply, sentence.first, sentence.last):
        yield from _word_given(reply, sentence, given[0])


def _word_given(reply: Text, sentence: Sentence, cue: Hit) -> Iterator[Commitment]:
    """A guarantee without a verb of its own: "Friday delivery, guaranteed". A rule for all homes is a policy."""
    if any(token.word in PERSONAL for token in reply.tokens[sentence.first : sentence.last]):
        start = clause_start(reply, cue.first, sentence.first, HARD)
        marker = Marker(cue.first, min(cue.last, sentence.last - 1), is_future=True, is_negated=False)
        end = clause_end(reply, cue.last, sentence.last)
        yield _commitment(reply, marker, start, end, guaranteed=True, condition=frozenset())


def _commitment(
    reply: Text, marker: Marker, start: int, end: int, *, guaranteed: bool, condition: frozenset[str]
) -> Commitment:
    tokens = reply.tokens
    low, high = tokens[start].start, tokens[end - 1].end
    begin = bisect_left(reply.values, low - SIGN, key=lambda value: value.start)
    stop = bisect_left(reply.values, high, lo=begin, key=lambda value: value.start)
    values = reply.values[begin:stop]
    after = tokens[marker.first].start
    times = (
        hit
        for hit in find(book(TABLE, "time", "now"), tokens, marker.first, end)
        if tokens[max(hit.first - 1, 0)].word not in PAST_TIMES and not in_value(reply, tokens[hit.first].start)
    )
    kinds = find_kinds(reply, marker, start, end, values)
    return Commitment(
        start,
        end,
        subject_of(tokens, start, marker.first),
        kinds,
        tuple(value for value in values if _is_amount(reply, value)),
        tuple(value for value in values if value.start > after and _is_deadline(reply, value)),
        tuple(times),
        marker.is_future,
        marker.is_negated,
        guaranteed,
        any(token.word == "once" for token in tokens[marker.verb : end])
        or _brings_news(tokens, marker.verb, end)
        or bool(find(book(TABLE, "courtesy"), tokens, marker.first, min(marker.verb + COURTESY_REACH, end))),
        tokens[marker.first].word == "can",
        any(token.word in ("your", "you") for token in tokens[start:end]),
        any(token.word in PARTIES or token.word.endswith("'ll") for token in tokens[start:end]),
        "approval" in kinds and any(token.term in stems(TABLE, "matter") for token in tokens[start:end]),
        condition,
        tokens[marker.verb].term,
    )


def _brings_news(tokens: tuple[Token, ...], verb: int, end: int) -> bool:
    """ "You'll have our decision", "you'll be told the result": that there will be word, not which."""
    return tokens[verb].term in GETTING and any(
        token.term in stems(TABLE, "news") for token in tokens[verb + 1 : min(verb + NEWS_REACH, end)]
    )


def _is_tentative(reply: Text, marker: Marker, start: int, end: int, *, sworn: bool) -> bool:
    """Whether the words try, ask, pass on, need something of the customer, hedge, or stand in a condition."""
    tokens = reply.tokens
    if (
        _is_condition(tokens, start, end)
        or _announces(reply, marker, start, end)
        or _refuses(reply, marker, start, end)
    ):
        return True
    expects = tokens[marker.first].word == "expect"
    if hedges(reply, marker.first + 1 if expects else start, end):
        return True
    lets = any(hit.first == marker.verb for hit in find(book(TABLE, "exception"), tokens, marker.verb, end))
    if expects or (lets and not any(token.word == "if" for token in tokens[max(0, start - CLAUSE_REACH) : start])):
        return False  # "expect the full amount on Friday", "we'll let you leave early"
    if tokens[marker.verb].word == "consider":
        return not {token.word for token in tokens[marker.verb : end]} & DONE
    if _is_assuring(tokens, marker.verb, end):
        return any(token.term in stems(TABLE, "try") for token in tokens[marker.verb + 2 : end])
    subject = subject_of(tokens, start, marker.first)
    predicate = _predicate(tokens, marker.verb, len(tokens))
    gives = any(hit.head in GIFTS for hit in find(book(TABLE, *GIFTS, "none"), tokens, marker.first, end))
    if predicate == "able" or (subject == "agent" and not gives and _passes_on(tokens, marker.verb, end)):
        return True
    if subject == "agent" and marker.is_negated and not find_kinds(reply, marker, start, end, ()):
        return True  # "I won't invent a date" takes nothing upon itself
    if subject == "customer" and marker.is_negated and tokens[marker.verb].word in ("have", "need"):
        # "You won't have to delete anything" spares a step; sparing a payment is a gift.
        return not any(hit.head in GIFTS for hit in find(book(TABLE, *GIFTS, "none"), tokens, marker.first, end))
    if subject == "customer" and not sworn and marker.is_negated and not find_kinds(reply, marker, start, end, ()):
        return not find(book(TABLE, "time", "word"), tokens, marker.first, end)
    tries = stems(TABLE, "try")
    if subject == "customer":
        # "You will be notified of the outcome" says that there will be word.
        return tokens[marker.verb].term in stems(TABLE, "need") or (term(predicate) in tries and not gives)
    granted = find(book(TABLE, "approval", "none"), tokens, marker.verb, min(marker.verb + 5, end))
    if subject == "thing" and any(hit.head == "approval" and hit.first > marker.verb for hit in granted):
        return False  # "they will find in your favour"
    return not marker.is_negated and (tokens[marker.verb].term in tries or term(predicate) in tries)


def _is_condition(tokens: tuple[Token, ...], start: int, end: int) -> bool:
    """Whether the words are themselves what something hangs on: "once it is approved", "even where it is granted"."""
    conditions = stems(TABLE, "condition")
    if tokens[start].word in conditions or (start and tokens[start - 1].word in conditions):
        return True
    return tokens[start].word in ("even", "only") and start + 1 < end and tokens[start + 1].word == "where"


def _announces(reply: Text, marker: Marker, start: int, end: int) -> bool:
    """ "Here's how we'll tackle it", "they'll say when it is due", "what I can do is show you": nothing is settled."""
    tokens = reply.tokens
    after = [token.word for token in tokens[marker.verb + 1 : min(marker.verb + 3, end)]]
    if tokens[marker.verb].word in ("say", "tell", "see", "hear") and after[:1] and after[0] in ASKING:
        return True
    if not start or tokens[start - 1].word not in ("what", "how"):
        return False
    if tokens[marker.verb].word == "do" and after[:1] == ["is"]:
        return len(after) > 1 and term(after[1]) in stems(TABLE, "try")
    return all(word in ("it", "this", "that") for word in after) and marker.verb + 3 > end


def _refuses(reply: Text, marker: Marker, start: int, end: int) -> bool:
    """ "The fee won't be coming back", "I won't pretend": a gift or a word is denied; "won't lose it" keeps it."""
    tokens = reply.tokens
    if not marker.is_negated:
        return False
    if tokens[marker.verb].term in stems(TABLE, "say"):
        return True
    denied = {token.word for token in tokens[marker.first : marker.verb]} & {"won't", "not", "never"}
    if not denied or any(token.term in stems(TABLE, "loss", "due") for token in tokens[marker.verb : end]):
        return False
    kinds = find_kinds(reply, marker, start, end, ())
    return bool(kinds) and kinds <= GIVEN


def _predicate(tokens: tuple[Token, ...], verb: int, end: int) -> str:
    """What stands after `be`, adverbs aside; a dash when the verb is another."""
    if tokens[verb].word not in ("be", "been", "being"):
        return "-"
    return next((token.word for token in tokens[verb + 1 : min(verb + 4, end)] if token.word not in ADVERBS), "-")


def _passes_on(tokens: tuple[Token, ...], verb: int, end: int) -> bool:
    """ "I'm sending this to our claims team": whoever it goes to decides."""
    desks, ways = stems(TABLE, "desk", "file"), frozenset({"to", "on"})
    if tokens[verb].term in stems(TABLE, "hand"):
        if any(tokens[at].word == "to" and tokens[at + 1].word in DECIDERS for at in range(verb, end - 1)):
            return True
        desks, ways = desks | stems(TABLE, "decider"), ways | {"with", "before", "of"}
    return any(
        tokens[at].word in ways and any(token.term in desks for token in tokens[at + 1 : min(at + 5, end)])
        for at in range(verb, end)
    )


def _is_assuring(tokens: tuple[Token, ...], verb: int, end: int) -> bool:
    """Whether what follows is promised too: "I'll make sure …", "we'll see to it that …"."""
    following = tokens[verb + 1].word if verb + 1 < end else ""
    return (
        tokens[verb].word in ("ensure", "guarantee", "promise")
        or (tokens[verb].word in ("make", "making", "made") and following in ("sure", "certain"))
        or (tokens[verb].word == "see" and following in ("to", "that"))
    )


def subject_of(tokens: tuple[Token, ...], start: int, marker: int) -> str:
    """Whose act it is: the agent's, the customer's or a thing's."""
    words = {token.word for token in tokens[max(start, marker - 1) : marker + 1]}
    if words & SPEAKER:
        return "agent"
    return "customer" if words & CUSTOMER else "thing"


def _cues(reply: Text, sentence: Sentence) -> Iterator[Hit]:
    """Where the reply gives its word."""
    tokens = reply.tokens
    yield from find(book(TABLE, "word"), tokens, sentence.first, sentence.last)
    for at in range(sentence.first, sentence.last):
        word = tokens[at].word
        if word in GIVE_WORD:
            before = [token.word for token in tokens[max(sentence.first, at - 3) : at]]
            if before and before[-1] not in OWNED and not SPEAKER.isdisjoint(before):
                yield Hit("word", at, at + 1)
        elif word == "guaranteed" and _is_said_guaranteed(reply, sentence, at):
            yield Hit("word", at, at + 1)


def _is_said_guaranteed(reply: Text, sentence: Sentence, at: int) -> bool:
    """Predicative or parenthetical "guaranteed"; "the guaranteed minimum" and "guaranteed for a year" are terms."""
    before = reply.tokens[at - 1].word if at > sentence.first else ""
    after = reply.tokens[at + 1].word if at + 1 < sentence.last else ""
    if after == "for":
        return False
    return (
        not before
        or before in BE
        or before in ("be", "absolutely", "fully")
        or before.endswith(("'re", "'s"))
        or has_break(reply, at, CLAUSE + "-")
        or at + 1 == sentence.last
        or after in ("to", "by", "before", "within", "on")
    )


def _is_amount(reply: Text, value: Value) -> bool:
    """Money, shares and counts; "the 14th" and "day 14" are times."""
    if value.kind not in ("money", "percent", "number"):
        return False
    ordinal = reply.raw[value.end : value.end + 2] in ("st", "nd", "rd", "th")
    return not (value.kind == "number" and (ordinal or reply.raw[: value.start].casefold().endswith("day ")))


def _is_deadline(reply: Text, value: Value) -> bool:
    before = reply.raw[max(0, value.start - 24) : value.start].casefold().split()
    if value.kind == "duration":
        return bool(DEADLINE_CUES & set(before[-2:]))
    return value.kind in ("date", "time") and not PAST_TIMES & set(before[-1:])


def _subject_start(reply: Text, marker: int, floor: int) -> int:
    if "'" in reply.tokens[marker].word and reply.tokens[marker].word != "won't":
        return marker
    if marker > floor and reply.tokens[marker - 1].word in PRONOUNS:
        return marker - 1
    at = marker
    while at > floor and marker - at < SUBJECT_REACH:
        if has_break(reply, at, CLAUSE) or reply.tokens[at - 1].word in SOFT_BREAKS:
            break
        at -= 1
    return at


def _unit_end(reply: Text, marker: Marker, following: Marker | None, sentence: Sentence) -> int:
    end = clause_end(reply, marker.verb + 1, sentence.last)
    if following is None or following.first >= end:
        return end
    return max(marker.verb + 1, _subject_start(reply, following.first, marker.verb + 1))
