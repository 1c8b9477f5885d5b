"""Packaged phrases -> where a text uses them: as patterns of a text's characters, or as the first of a few words.

A group of a packaged table (`data/tone.txt`: `apology: sorry, apolog*, …`) is one matcher; `*` ends a word freely, or
stands for one word.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from touchstone.core import resource
from touchstone.text.normalise import normalise

WORD = re.compile(r"\w+")
# Phrases are tried where a word begins like their first one; no packaged group cuts that one shorter than this.
OPENING = 3


def folded(raw: str) -> str:
    """The text in one spelling and case, for matching phrases."""
    return normalise(raw).text.casefold()


def count(raw: str, name: str, *, table: str) -> int:
    """How many phrases of the group the text uses."""
    return sum(1 for _ in pattern(name, table=table).finditer(folded(raw)))


def counts(raw: str, *names: str, table: str) -> Counter[str]:
    """How many phrases of each group the text uses; of many groups this is quicker than one by one."""
    found: Counter[str] = Counter()
    said, openings, free = folded(raw), _openings(names, table=table), dict.fromkeys(names, 0)
    for word in WORD.finditer(said):
        for name, phrases in openings.get(word[0][:OPENING], ()):
            if word.start() >= free[name] and (match := phrases.match(said, word.start())):
                free[name] = match.end()
                found[name] += 1
    return found


def leading(words: Sequence[str], name: str, *, table: str) -> int:
    """How many of the first words are a phrase of the group, the longest there is; 0 when none is."""
    longest = _lengths(name, table=table).get(words[0], 0) if words else 0
    phrases = resource.group(table, name)
    return next((size for size in range(min(longest, len(words)), 0, -1) if " ".join(words[:size]) in phrases), 0)


@cache
def pattern(name: str, *, table: str) -> re.Pattern[str]:
    """The group as one pattern."""
    return _whole(resource.group(table, name))


def any_of(phrases: Iterable[str], *, joint: str = r"\s{1,3}") -> str:
    """A regular expression of one of the phrases, the longest first; `joint` is what may part their words."""
    return "|".join(joint.join(map(_word, phrase.split())) for phrase in sorted(phrases, key=lambda p: (-len(p), p)))


def _whole(phrases: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{any_of(phrases)})(?!\w)")


def _word(word: str) -> str:
    return r"\w{1,30}" if word == "*" else re.escape(word).replace(r"\*", r"\w{0,15}")


@cache
def _lengths(name: str, *, table: str) -> Mapping[str, int]:
    """The first words of a group's phrases -> how many words the longest such phrase has."""
    found: dict[str, int] = {}
    for words in map(str.split, resource.group(table, name)):
        found[words[0]] = max(len(words), found.get(words[0], 0))
    return found


@cache
def _openings(names: tuple[str, ...], *, table: str) -> Mapping[str, list[tuple[str, re.Pattern[str]]]]:
    """How phrases open -> the groups that have such phrases, each with a pattern of these alone."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in names:
        for member in resource.group(table, name):
            members[WORD.findall(member)[0][:OPENING], name].append(member)
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = defaultdict(list)
    for (opening, name), alike in members.items():
        found[opening].append((name, _whole(alike)))
    return dict(found)
