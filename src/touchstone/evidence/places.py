"""Where a value stands in its text: its sentence, and the terms around it."""

import re
from bisect import bisect_left, bisect_right
from operator import attrgetter

from touchstone.core import resource
from touchstone.core.reading import Sentence, Text, Value

CLAUSE_END = re.compile(r"[,;(]\s|\s[-–—]\s|\s(?:and|but|while|or)\s")
# Terms further than this from a value say little about what it measures.
REACH = 9
LONGEST_CLAUSE = 200
START = attrgetter("start")


def token_range(text: Text, start: int, end: int) -> tuple[int, int]:
    """The tokens that begin within a span, as a half-open range."""
    first = bisect_left(text.tokens, start, key=START)
    return first, bisect_left(text.tokens, end, lo=first, key=START)


def sentence_at(text: Text, start: int) -> Sentence | None:
    """The sentence that holds a character."""
    at = bisect_right(text.sentences, start, key=START) - 1
    return text.sentences[at] if at >= 0 and start < text.sentences[at].end else None


def in_value(text: Text, start: int) -> bool:
    """Whether a character lies within a typed value."""
    if not text.values or start < text.values[0].start:
        return False
    at = bisect_right(text.values, start, key=START) - 1
    return start < text.values[at].end


def attribute(text: Text, value: Value, *, whole_sentence: bool = False) -> frozenset[str]:
    """The content terms around a value in its clause, or in its sentence: what it is a value of."""
    sentence = sentence_at(text, value.start)
    if sentence is None:
        return frozenset()
    start, end = (sentence.start, sentence.end) if whole_sentence else _clause(text, sentence, value)
    first, last = token_range(text, value.start, value.end)
    filler = resource.words("filler.txt")
    near = text.tokens[max(sentence.first, first - REACH) : min(sentence.last, last + REACH)]
    told = [token for token in near if not token.is_stop and start <= token.start < end and token.word not in filler]
    return frozenset([token.term for token in told if not in_value(text, token.start)])


def _clause(text: Text, sentence: Sentence, value: Value) -> tuple[int, int]:
    """The part of the sentence between the commas, semicolons and dashes around a value."""
    first, last = max(sentence.start, value.start - LONGEST_CLAUSE), min(sentence.end, value.end + LONGEST_CLAUSE)
    before = [match.end() for match in CLAUSE_END.finditer(text.raw, first, value.start)]
    after = CLAUSE_END.search(text.raw, value.end, last)
    return before[-1] if before else first, after.start() if after else last
