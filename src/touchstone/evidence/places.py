"""Where a value appears in its text: its sentence, and the terms around it."""

import re
from bisect import bisect_right
from typing import NamedTuple

from touchstone.core.reading import START, Sentence, Span, Text, Token, Value
from touchstone.text.structure import terms_of
from touchstone.text.tokens import term

RELATIVE = re.compile(r"(?:which|who|whose|where|that)\b", re.IGNORECASE)
CLAUSE_END = re.compile(r"[,;(]\s|\s[-–—]\s|\s(?:and|but|while|or|because|so|if|unless|whereas|plus)\s")
# Terms further than this from a value say little about what it measures.
REACH = 9
LONGEST_CLAUSE = 200
LONGEST_BEFORE = 40
# Words that are not beside the value must be so large a share of those that part two things.
LEAST_NAMED = 1 / 3
JOINED = re.compile(r"\s{0,3}(?:,|,? and|or)\s{1,3}")
JOINT = re.compile(r",\s{1,3}(?:and\s)?|\sand\s")
POINTING = frozenset("it they this that these those he she".split())
UNTIL = re.compile(r"\b(?:until|till|til)\s{1,2}$", re.IGNORECASE)
OPENING = frozenset(map(term, "open opens opening start starts".split()))
CLOSING = frozenset(map(term, "close end".split()))


class Binding(NamedTuple):
    """What a value is a value of: the terms next to it, and all that tell what it belongs to.

    `near` holds its clause or cell and its key, header or label; `around` also the rest of the sentence, the names of
    its record and the headings above; `before` the sentence before, which `it` and `that` speak of; `head` is the first
    term of its clause, what the clause is about.
    """

    near: frozenset[str]
    around: frozenset[str]
    before: frozenset[str] = frozenset()
    head: str | None = None


def binding(text: Text, value: Value | Span) -> Binding:
    """What a value is a value of. What is around a field or cell belongs to other values."""
    fact = text.fact_at(value.start)
    if fact is not None and fact.is_cell:
        near = attribute(text, value, within=(fact.start, fact.end)) | fact.label
        return Binding(near, near | fact.thing)
    within = (fact.start, fact.end) if fact else None
    near = attribute(text, value, within=within)
    label, thing = (fact.label, fact.thing) if fact else (frozenset(), frozenset())
    near = _respective(text, value) or near
    if _ends_at(text, value):
        near = near - OPENING | CLOSING
    around = near | attribute(text, value, whole_sentence=True, within=within) | label | thing
    return Binding(near or label, around, _before(text, value), _head(text, value, near))


def _respective(text: Text, value: Value | Span) -> frozenset[str]:
    """`Adults and children pay £12 and £6 respectively`: the terms of the thing at the value's place."""
    sentence = text.sentence_at(value.start)
    if sentence is None or "respectively" not in text.raw[sentence.start : sentence.end]:
        return frozenset()
    values = [each for each in text.values if sentence.start <= each.start < sentence.end]
    run: list[Value] = []
    for each in values:
        if run and not JOINED.fullmatch(text.raw, run[-1].end, each.start):
            if value.start in [other.start for other in run]:
                break
            run = []
        run.append(each)
    places = [each.start for each in run]
    things = JOINT.split(text.raw[sentence.start : places[0]])[-len(run) :] if run else []
    if value.start not in places or len(run) < 2 or len(things) != len(run):
        return frozenset()
    return terms_of(things[places.index(value.start)])


def _ends_at(text: Text, value: Value | Span) -> bool:
    """`open until 6 pm` tells when it closes."""
    return UNTIL.search(text.raw, max(0, value.start - 12), value.start) is not None


def _head(text: Text, value: Value | Span, near: frozenset[str]) -> str | None:
    sentence = text.sentence_at(value.start)
    if sentence is None:
        return None
    start, _ = _clause(text, sentence, value)
    first, _ = text.token_range(start, value.start)
    return next((token.term for token in text.tokens[first : first + 2 * REACH] if token.term in near), None)


def _before(text: Text, value: Value | Span) -> frozenset[str]:
    """The content terms of the sentence before the value's, where the one speaks of the other: a reply goes on."""
    at = bisect_right(text.sentences, value.start, key=START) - 2
    if at < 0 or (text.name != "response" and not _points_back(text, text.sentences[at + 1])):
        return frozenset()
    told = text.tokens[text.sentences[at].first : text.sentences[at].last][-LONGEST_BEFORE:]
    return frozenset([token.term for token in told if not token.is_stop])


def prefers(ours: Binding, one: Binding, other: Binding, *, listed: bool, near_only: bool = False) -> bool:
    """Whether the reply speaks of the one rather than of the other: only terms that part the two count, nearest first.

    `listed`: the two are in one sentence, so that all they share is their surroundings. `near_only`: they are two
    attributes of one thing, and what the reply says further away is about another of them.
    """
    ones, others = one.around - other.around - other.before, other.around - one.around - one.before
    if listed:
        ones, others = one.near - other.near, other.near - one.near
    first = (one.near - other.near - other.before, other.near - one.near - one.before)
    steps = [
        (ours.near, first),
        (ours.near, (ones, others)),
        (ours.around, (ones, others)),
        (ours.before, (ones, others)),
    ]
    if listed and ours.near and ours.near <= other.near:
        return False
    if listed and ours.head and (ours.head in one.near) != (ours.head in other.near):
        return ours.head in one.near
    for said, (for_one, for_other) in steps[: 2 if near_only else None]:
        spoken, against = len(said & for_one), len(said & for_other)
        if spoken != against:
            is_clear = said is ours.near or spoken >= LEAST_NAMED * len(for_one)
            return spoken > against and is_clear and (against == 0 or spoken - against > 1)
    return False


def _points_back(text: Text, sentence: Sentence) -> bool:
    return any(token.word in POINTING for token in text.tokens[sentence.first : sentence.first + 5])


def attribute(
    text: Text, value: Value | Span, *, whole_sentence: bool = False, within: tuple[int, int] | None = None
) -> frozenset[str]:
    """The content terms around a value in its clause, or in its sentence, as far as they lie within a span."""
    sentence = text.sentence_at(value.start)
    if sentence is None:
        return frozenset()
    start, end = (sentence.start, sentence.end) if whole_sentence else _clause(text, sentence, value)
    if within:
        start, end = max(start, within[0]), min(end, within[1])
    first, last = text.token_range(value.start, value.end)
    reach = 3 * REACH if whole_sentence else REACH
    near = text.tokens[max(sentence.first, first - reach) : min(sentence.last, last + reach)]
    told = [token for token in near if not token.is_stop and start <= token.start < end]
    return frozenset([token.term for token in told if not _is_own(token, value)])


def _is_own(token: Token, value: Value | Span) -> bool:
    """Whether a token is the value itself; the period of a price tells what it is the price of (`per month`)."""
    if not value.start <= token.start < value.end:
        return False
    return not isinstance(value, Value) or value.kind != "money" or token.word[0].isdecimal()


def _clause(text: Text, sentence: Sentence, value: Value | Span) -> tuple[int, int]:
    """The part of the sentence between the commas, semicolons and dashes around a value.

    A clause that begins with `which` or `who`, or that has no word of its own (`5 days or 6`), goes on with the one
    before it.
    """
    first, last = max(sentence.start, value.start - LONGEST_CLAUSE), min(sentence.end, value.end + LONGEST_CLAUSE)
    starts = [match.end() for match in CLAUSE_END.finditer(text.raw, first, value.start)]
    after = CLAUSE_END.search(text.raw, value.end, last)
    end = after.start() if after else last
    while starts and (RELATIVE.match(text.raw, starts[-1]) or not _has_words(text, starts[-1], end, value)):
        starts.pop()
    return starts[-1] if starts else first, end


def _has_words(text: Text, start: int, end: int, value: Value | Span) -> bool:
    first, last = text.token_range(start, end)
    return any(not token.is_stop and not _is_own(token, value) for token in text.tokens[first:last])
