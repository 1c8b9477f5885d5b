"""Normalised text and its tokens -> sentences: at end marks, line breaks and list items, not at abbreviations.

A salutation (`Hi Sarah,`) and a sign-off (`Kind regards, Tom`) are sentences of their own, so that what is between
them is read as it would be without.
"""

import re
from collections.abc import Iterator
from functools import cache

from touchstone.core import resource
from touchstone.core.reading import Sentence, Text, Token
from touchstone.text.normalise import Normal
from touchstone.text.patterns import any_of

BOUNDARY = re.compile(r"[.!?…]{1,8}[\"')\]]{0,3}(?=\s|$)|\n\s{0,20}|;(?=\s)")
LAST_WORD = re.compile(r"[\w.'’]{1,12}$")
LEAD = re.compile(r"(?:\s|[-*•·>](?=\s)){0,200}")
SURE_END = re.compile(r"[!?\n;]")
# Marks behind which a salutation or a list number begins something.
OPENING_MARKS = ".!?:;,\n"
LONGEST_NUMBER = 2
# A salutation is a greeting and at most so many words up to its comma, colon or dash.
GREETED = 4


def split(normal: Normal, tokens: tuple[Token, ...]) -> tuple[Sentence, ...]:
    """The sentences that hold at least one token."""
    sentences: list[Sentence] = []
    start = first = 0
    for end in [*_ends(normal.text), len(normal.text)]:
        last = first
        stop = normal.span(end - 1, end).end if end else 0
        while last < len(tokens) and tokens[last].end <= stop:
            last += 1
        if last > first:
            sentences.append(Sentence(_begin(normal, start), stop, first, last))
        if last > first or not sentences:
            start, first = end, last
    return tuple(sentences)


def cut(text: Text, sentence: Sentence, *, most: int) -> Iterator[Sentence]:
    """A sentence as it is, or in pieces of so many words: one that long is no prose, and costs must stay linear."""
    if sentence.last - sentence.first <= most:
        yield sentence
        return
    for first in range(sentence.first, sentence.last, most):
        last = min(first + most, sentence.last)
        yield Sentence(text.tokens[first].start, text.tokens[last - 1].end, first, last)


def _ends(text: str) -> list[int]:
    ends = {m.end() for m in BOUNDARY.finditer(text) if SURE_END.search(m[0]) or not _inside(text, m)}
    ends |= {m.end() for m in _salutation().finditer(text) if _opens(text, m.start())}
    ends |= {m.start() for m in _sign_off().finditer(text)}
    return sorted(ends)


@cache
def _salutation() -> re.Pattern[str]:
    greetings = any_of(resource.group("frame.txt", "greeting"), joint=" ")
    return re.compile(rf"\b(?:{greetings})\b(?: [\w.'’-]{{1,30}}){{0,{GREETED}}} ?[,:–—-](?=\s)", re.IGNORECASE)


@cache
def _sign_off() -> re.Pattern[str]:
    """Formulas of several words before their comma: `best` and `yours` alone appear in sentences."""
    formulas = any_of((each for each in resource.group("frame.txt", "sign_off") if " " in each), joint=" ")
    return re.compile(rf"(?<=\s)(?=(?:{formulas}) ?,)", re.IGNORECASE)


def _opens(text: str, start: int) -> bool:
    """Whether something may begin here: at the start of the text or of a line, or behind a mark."""
    before = text[max(0, start - 40) : start].rstrip(" ")
    return not before or before[-1] in OPENING_MARKS


def _inside(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or a list number, or a small letter follows it."""
    before = LAST_WORD.search(text, max(0, match.start() - 12), match.start())
    word = before[0].strip("'’").casefold() if before else ""
    if match[0].startswith("."):
        if word in resource.words("abbreviations.txt") or (len(word) == 1 and word.isalpha() and word != "i"):
            return True
        if word.isdecimal() and len(word) <= LONGEST_NUMBER and _opens(text, match.start() - len(word)):
            return True
    following = text[match.end() : match.end() + 40].lstrip()
    return "…" in match[0] and following[:1].islower()


def _begin(normal: Normal, start: int) -> int:
    """The first character that is neither space nor bullet: a currency sign belongs to its sentence."""
    lead = LEAD.match(normal.text, start)
    begin = lead.end() if lead else start
    return normal.span(begin, begin + 1).start
