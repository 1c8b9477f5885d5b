"""Text -> persons' names: runs of capitalised words, read by lists of names, titles and the role before them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from touchstone.core import resource
from touchstone.safety.personal_data.patterns import alternation, is_common
from touchstone.text.dates import MONTHS, WEEKDAYS

ENDINGS = tuple(sorted(resource.group("personal_cues.txt", "surname_ending")))
PARTICLES = resource.group("personal_cues.txt", "surname_particle")
TITLES = resource.group("personal_cues.txt", "title")
UNITS = resource.group("street_words.txt", "unit")
ORGANISATIONS = resource.group("personal_cues.txt", "organisation")
# Capitalised words on one line, with initials and the particles between them.
CAPITAL = r"[^\W\d_a-zß-öø-ÿ](?:[^\W\d_]{0,40}(?:['-][^\W\d_]{1,40}){0,3})"
RUN = re.compile(
    rf"(?<![\w@'/.-]){CAPITAL}(?:(?:(?<=\b\w)\.|(?<=\b[DM][rs])\.|(?<=\bMrs)\.|(?<=\bProf)\.)? "
    rf"(?:(?:{'|'.join(sorted(PARTICLES))}) ){{0,3}}{CAPITAL}){{0,7}}(?![@\w])"
)
WORD = re.compile(r"[^\W\d_]{1,40}(?:['-][^\W\d_]{1,40}){0,4}")
OPENS = re.compile(r"(?:^|[.!?:;\n]|[-*•>])\W{0,3}$")
# `the tenant, Ms …`, `a lady called …`, `placed by …`, `in the name of …`: what follows says who somebody is.
ROLE = re.compile(
    rf"\b(?:{alternation('role')})(?:,| is| was|:|,? named|,? called|'s name is)?[ \"(]{{1,2}}$"
    rf"|\b(?:{alternation('said_to_hold')}):? \"?$|\bnames?(?: is|:|\?)? $"
)
MIN_ENDED = 6
LOOK_BACK = 32
MAX_WORDS = 5


class Name(NamedTuple):
    """A person's name and its place; `partial` where only a first name or only a surname stands."""

    start: int
    end: int
    key: str
    partial: bool


def find_names(text: str) -> Iterator[Name]:
    """All names in order."""
    for run in RUN.finditer(text):
        if is_common(run[0].casefold()):
            continue
        words = [_Word(text, *match.span()) for match in WORD.finditer(text, *run.span())]
        at = 0
        while at < len(words):
            size = _size(text, words, at)
            named = [word for word in words[at : at + size] if word.low not in TITLES]
            if named:
                long = [word for word in named if len(word.low) > 1]
                partial = len(named) < 2 or not long
                yield Name(named[0].start, named[-1].end, " ".join(word.low for word in named), partial)
            at += size or 1


def is_given_name(word: str) -> bool:
    """Whether a word is a person's first name, and hardly anything else."""
    return word in resource.words("given_names.txt") and word not in resource.words("name_lookalikes.txt")


class _Word:
    """One word of a run, without a possessive 's."""

    __slots__ = ("end", "is_name_like", "low", "start")

    def __init__(self, text: str, start: int, end: int) -> None:
        if text.endswith(("'s", "'S"), start, end):
            end -= 2
        self.start, self.end, self.low = start, end, text[start:end].casefold()
        self.is_name_like = text[start].isupper() or self.low in PARTICLES


def _size(text: str, words: list[_Word], at: int) -> int:
    """How many words from here make one name; 0 when none starts here."""
    first = words[at].low
    if not words[at].is_name_like or (first in PARTICLES and at):
        return 0
    if first in TITLES and at + 1 < len(words) and len(first) > 1:
        lead = words[at + 1].low
        return 1 + _extent(words, at + 1) if len(lead) == 1 or not is_common(lead) or _is_listed(lead) else 0
    if first in MONTHS or first in WEEKDAYS or first in TITLES:
        return 0
    size = _extent(words, at)
    if _is_organisation(text, words, at, at + size):
        return 0
    return size if _is_name(text, words, at, size) else 0


def _extent(words: list[_Word], at: int) -> int:
    """The words from here that can belong to one name: it ends before an ordinary word or after a possessive."""
    end = at + 1
    while end < min(len(words), at + MAX_WORDS) and words[end].start - words[end - 1].end <= 2:
        low = words[end].low
        if low in UNITS or (len(low) > 1 and is_common(low) and not _is_listed(low)) or not words[end].is_name_like:
            break
        end += 1
    while end > at + 1 and words[end - 1].low in PARTICLES:
        end -= 1
    return end - at


def _is_organisation(text: str, words: list[_Word], at: int, end: int) -> bool:
    """A company, place or thing that bears a person's name: Victoria Park, Arnold Clark Motors."""
    following = words[end].low if end < len(words) else ""
    inner = {word.low for word in words[at + 1 : end]}
    sure = end - at == 2 and not following and is_given_name(words[at].low) and _is_surname(words[at + 1].low)
    return (
        following in ORGANISATIONS
        or (bool(inner & ORGANISATIONS) and not sure)
        or text[words[end - 1].end :][:2] == " &"
    )


def _is_name(text: str, words: list[_Word], at: int, size: int) -> bool:
    first = words[at].low
    rest = [word.low for word in words[at + 1 : at + size] if len(word.low) > 1 and word.low not in PARTICLES]
    common = is_common(first)
    if is_given_name(first) and not common:
        return True
    if any(map(_is_surname, rest)) and not (common and not _is_listed(first)):
        return not (common and _opens(text, words[at]))
    if common:
        return not all(map(is_common, rest)) and announced(text, words[at].start)
    known = first in resource.words("surnames.txt") or _is_ended(first)
    if known and (rest or not _opens(text, words[at])) and first not in resource.words("name_lookalikes.txt"):
        return True
    return len(first) > 1 and announced(text, words[at].start)


def announced(text: str, start: int) -> bool:
    """Whether what stands before says that this is a person: a role, `named`, `in the name of`."""
    return ROLE.search(text[max(0, start - LOOK_BACK) : start].casefold()) is not None


def _opens(text: str, word: _Word) -> bool:
    return OPENS.search(text, max(0, word.start - 4), word.start) is not None


def _is_listed(low: str) -> bool:
    return low in resource.words("given_names.txt") or low in resource.words("surnames.txt")


def _is_surname(low: str) -> bool:
    return (
        (_is_listed(low) and not is_common(low))
        or _is_ended(low)
        or ("-" in low and any(map(_is_surname, low.split("-"))))
    )


def _is_ended(low: str) -> bool:
    return len(low) >= MIN_ENDED and low.endswith(ENDINGS) and not is_common(low)
