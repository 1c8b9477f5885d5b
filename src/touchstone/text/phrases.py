"""Text -> how often it uses the phrases of packaged groups; one linear pass for one group or for many."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache

from touchstone.core import resource
from touchstone.text.normalise import normalise

RUN = re.compile(r"\w+")
# Phrases are tried where a word begins like their first one; no packaged group cuts that one shorter than this.
OPENING = 3


def count(raw: str, name: str, *, table: str) -> int:
    """How many phrases of the group stand in the text."""
    return sum(1 for _ in pattern(name, table=table).finditer(folded(raw)))


def counts(raw: str, *names: str, table: str) -> Counter[str]:
    """How many phrases of each group stand in the text; of many groups this is quicker than one by one."""
    found: Counter[str] = Counter()
    said, openings, free = folded(raw), _openings(names, table=table), dict.fromkeys(names, 0)
    for word in RUN.finditer(said):
        for name, phrases in openings.get(word[0][:OPENING], ()):
            if word.start() >= free[name] and (match := phrases.match(said, word.start())):
                free[name] = match.end()
                found[name] += 1
    return found


def folded(raw: str) -> str:
    """The text in one spelling and case, for matching phrases."""
    return normalise(raw).text.casefold()


@cache
def pattern(name: str, *, table: str) -> re.Pattern[str]:
    """The group as one pattern, longest phrase first; `*` ends a word freely, or stands for one word."""
    return _compiled(resource.group(table, name))


@cache
def _openings(names: tuple[str, ...], *, table: str) -> Mapping[str, list[tuple[str, re.Pattern[str]]]]:
    """How phrases open -> the groups that have such phrases, each with a pattern of these alone."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in names:
        for member in resource.group(table, name):
            members[RUN.findall(member)[0][:OPENING], name].append(member)
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = defaultdict(list)
    for (opening, name), alike in members.items():
        found[opening].append((name, _compiled(alike)))
    return dict(found)


def _compiled(members: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(members, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(_phrase, longest_first))})(?!\w)")


def _phrase(member: str) -> str:
    words = [r"\w{1,30}" if word == "*" else re.escape(word).replace(r"\*", r"\w{0,15}") for word in member.split()]
    return r"\s{1,3}".join(words)
