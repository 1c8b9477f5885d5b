"""Normalised text and its tokens -> sentences: at end marks, line breaks and list items, not at abbreviations."""

import re

from touchstone.core import resource
from touchstone.core.reading import Sentence, Token
from touchstone.text.normalise import Normal

BOUNDARY = re.compile(r"[.!?…]{1,8}[\"')\]]{0,3}(?=\s|$)|\n\s{0,20}|;(?=\s)")
LAST_WORD = re.compile(r"[\w.'’]{1,12}$")
LEAD = re.compile(r"(?:\s|[-*•·>](?=\s)){0,200}")
SURE_END = re.compile(r"[!?\n;]")


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


def _ends(text: str) -> list[int]:
    return [m.end() for m in BOUNDARY.finditer(text) if SURE_END.search(m[0]) or not _inside(text, m)]


def _inside(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or a list number, or a small letter follows it."""
    before = LAST_WORD.search(text, max(0, match.start() - 12), match.start())
    word = before[0].strip("'’").casefold() if before else ""
    if match[0].startswith("."):
        if word in resource.words("abbreviations.txt") or (len(word) == 1 and word.isalpha() and word != "i"):
            return True
        line_start = text.rfind("\n", max(0, match.start() - 40), match.start()) + 1
        if word.isdecimal() and text[line_start : match.start()].strip() == word:
            return True
    following = text[match.end() : match.end() + 40].lstrip()
    return "…" in match[0] and following[:1].islower()


def _begin(normal: Normal, start: int) -> int:
    """The first character that is neither space nor bullet: a currency sign belongs to its sentence."""
    lead = LEAD.match(normal.text, start)
    begin = lead.end() if lead else start
    return normal.span(begin, begin + 1).start
