"""Word patterns from data files, and the lines of a text they are found in, in time linear in the line.

A pattern is a row of words: `a|b` either, `a-b` two words running, `@group` any member of a group, `_3` up to three
words between, `word?` optional, `!a|b` unless that word follows, `^` the start of a clause. A comma is the word `,`;
colons, dashes and brackets are the word `;`, which no gap crosses.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from touchstone.core import resource
from touchstone.core.reading import Sentence, Text
from touchstone.text.tokens import WORD

GAP = re.compile(r"_(\d{1,2})")
STRONG_MARK = re.compile(r"[;:()\[\]–—]|\s-\s|\.\.")
CLAUSE_START = r"(?:(?<=^ )|(?<= , )|(?<= ; )|(?<= and )|(?<= then )|(?<= please )|(?<= just )|(?<= or ))"
# Longer "sentences" are no prose; they become several lines, so that no match depends on the size of the text.
MOST_WORDS = 120


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """One compiled row; a line can only hold it if it holds one of the `keys`."""

    family: str
    keys: frozenset[str]
    regex: re.Pattern[str]


Index = Mapping[str, tuple[Pattern, ...]]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence as words, commas and stronger marks; patterns are sought when they are asked for, and once."""

    start: int
    end: int
    words: tuple[str, ...]
    is_question: bool
    index: Index = field(repr=False)
    sought: list["_Sought"] = field(repr=False, default_factory=list)

    def may_have(self, family: str) -> bool:
        """Whether the line holds a word without which none of the family's patterns can stand in it."""
        return family in self._sought.patterns

    def at(self, family: str) -> tuple[int, ...]:
        """Where the family's patterns begin, as positions in `words`."""
        sought = self._sought
        if family not in sought.patterns:
            return ()
        if family not in sought.found:
            sought.found[family] = tuple(
                sought.joined.count(" ", 0, start)
                for pattern in sought.patterns[family]
                for start in _starts(pattern.regex, sought.joined)
            )
        return sought.found[family]

    def has(self, family: str) -> bool:
        return bool(self.at(family))

    @property
    def _sought(self) -> "_Sought":
        if not self.sought:
            self.sought.append(_seek(self.words, self.index))
        return self.sought[0]


@dataclass(frozen=True, slots=True)
class _Sought:
    """A line's words in one string, the patterns that may stand in it by family, and the places of those asked for."""

    joined: str
    patterns: Mapping[str, list[Pattern]]
    found: dict[str, tuple[int, ...]] = field(default_factory=dict)


def _seek(words: tuple[str, ...], index: Index) -> _Sought:
    candidates: dict[str, list[Pattern]] = defaultdict(list)
    for pattern in dict.fromkeys(chain.from_iterable([index[word] for word in words if word in index])):
        candidates[pattern.family].append(pattern)
    return _Sought(f" {' '.join(words)} ", candidates)


def lines(text: Text, *, rules: str, vocabulary: str) -> tuple[Line, ...]:
    """The sentences of a text, ready to be asked for the families of a rule file."""
    index = _index(rules, vocabulary)
    return tuple(_line(text, piece, index) for sentence in text.sentences for piece in _pieces(text, sentence))


def _starts(regex: re.Pattern[str], joined: str) -> Iterator[int]:
    """Where the matches begin: each with the blank that ends the match before it."""
    match = regex.search(joined)
    while match:
        yield match.start()
        match = regex.search(joined, match.end() - 1)


def _pieces(text: Text, sentence: Sentence) -> Iterator[Sentence]:
    if sentence.last - sentence.first <= MOST_WORDS:
        yield sentence
        return
    for first in range(sentence.first, sentence.last, MOST_WORDS):
        last = min(first + MOST_WORDS, sentence.last)
        yield Sentence(text.tokens[first].start, text.tokens[last - 1].end, first, last)


def _line(text: Text, sentence: Sentence, index: Index) -> Line:
    end = text.tokens[sentence.last - 1].end
    asked = "?" in text.raw[end : sentence.end]
    return Line(sentence.start, sentence.end, tuple(_words(text, sentence)), asked, index)


def _words(text: Text, sentence: Sentence) -> Iterator[str]:
    before = None
    for token in text.tokens[sentence.first : sentence.last]:
        if before is not None and token.start - before > 1:
            gap = text.raw[before : token.start]
            if STRONG_MARK.search(gap):
                yield ";"
            elif "," in gap:
                yield ","
        yield token.word
        before = token.end


@cache
def _index(rules: str, vocabulary: str) -> Index:
    """Key word -> the patterns it may begin or belong to."""
    table: dict[str, list[Pattern]] = {}
    for row in resource.lines(rules):
        family, _, elements = row.partition(":")
        pattern = _compiled(family.strip(), elements.split(), vocabulary)
        for key in sorted(pattern.keys):
            table.setdefault(key, []).append(pattern)
    return {key: tuple(patterns) for key, patterns in table.items()}


def _compiled(family: str, elements: list[str], vocabulary: str) -> Pattern:
    source = ""
    keys: frozenset[str] = frozenset()
    for element in elements:
        if element == "^":
            source += CLAUSE_START
        elif gap := GAP.fullmatch(element):
            source += rf"(?:[^;\s]\S* ){{0,{gap[1]}}}?"
        elif element.startswith("!"):
            source += f"(?!{_choice(_members(element[1:], vocabulary))})"
        elif element.endswith("?"):
            source += f"(?:{_choice(_members(element[:-1], vocabulary))})?"
        else:
            members = _members(element, vocabulary)
            source += _choice(members)
            heads = frozenset(member.split()[0] for member in members)
            keys = min(keys or heads, heads, key=_frequency)
    # A blank to begin with, unlike one looked back at, lets the search leap from word to word.
    return Pattern(family, keys, re.compile(f" {source}"))


def _frequency(keys: frozenset[str]) -> tuple[int, int]:
    """How often a line holds one of the keys, roughly: function words count before all others."""
    return len(keys & resource.words("stopwords.txt")), len(keys)


def _choice(members: list[str]) -> str:
    """Any member as a whole word, the longest first."""
    return f"(?:{'|'.join(re.escape(member) for member in sorted(members, key=lambda m: (-len(m), m)))}) "


def _members(element: str, vocabulary: str) -> list[str]:
    found: list[str] = []
    for option in element.split("|"):
        raw = sorted(resource.group(vocabulary, option[1:])) if option.startswith("@") else [option]
        found += [" ".join(WORD.findall(member)) or member for member in raw]
    return found
