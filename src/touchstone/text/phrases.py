"""Text -> how often it uses the phrases of a packaged group; one linear pass for each group."""

import re
from functools import cache

from touchstone.core import resource
from touchstone.text.normalise import normalise


def count(raw: str, name: str, *, table: str) -> int:
    """How many phrases of the group stand in the text."""
    return sum(1 for _ in pattern(name, table=table).finditer(folded(raw)))


def folded(raw: str) -> str:
    """The text in one spelling and case, for matching phrases."""
    return normalise(raw).text.casefold()


@cache
def pattern(name: str, *, table: str) -> re.Pattern[str]:
    """The group as one pattern, longest phrase first; `*` ends a word freely, or stands for one word."""
    members = sorted(resource.group(table, name), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(_phrase, members))})(?!\w)")


def _phrase(member: str) -> str:
    words = [r"\w{1,30}" if word == "*" else re.escape(word).replace(r"\*", r"\w{0,15}") for word in member.split()]
    return r"\s{1,3}".join(words)
