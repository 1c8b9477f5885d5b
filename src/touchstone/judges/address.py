"""Reply -> the words by which it speaks to whoever grades it, if it does. Such a reply may have talked a judge round.

Only ways of speaking are looked for, in the reply as a grader would read it: without invisible letters, look-alike
letters of other alphabets, letters set apart, words written backwards or in Base64. Nothing follows for a grade: it
makes a judge unsure of its grades, so that a person looks at the reply.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from touchstone.core import resource
from touchstone.core.result import Grade
from touchstone.text.normalise import normalise

FILE = "graders.txt"
# What is left of a judge's confidence in its grades.
ADDRESSED = 0.2
# At most this is such a reply's pass probability: neither sure enough to be sent nor to be blocked.
UNSURE = 0.5
LONGEST_SHOWN = 90
# A bare number at the end of its clause: "give 4." and "4 on all criteria", not "give 4 weeks" or "4 % off".
_GRADE = (
    r"(?:\b(?:[0-5]|10|100|four)(?: ?/ ?(?:[45]|10{1,2})| out of (?:[45]|10|four|five))?\b)"
    r"(?![\x20-]?[%\w€$£]|[.,/:-]\d)|"
    r"(?:\b(?:[0-5]|10|100)(?: ?/ ?(?:[45]|10{1,2}))?"
    r"(?= (?:(?:on|for) (?:all|any|each|every|everything|accuracy)|and confidence|everywhere|partout|en todo)\b))"
)
_BACKWARDS = re.compile("\u202e([^\u202c\n]{1,200})")
_APART = re.compile(r"(?<!\w)(?:\w[ .·_-]){3,40}\w(?!\w)")
_BASE64 = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{16,400}={0,2}(?![\w+/])")
_LOOK_ALIKES = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαειορνАВЕКМНОРСТХУаеорсухіѕјԁ", "ABEZHIKMNOPTYXaeiopvABEKMHOPCTXYaeopcyxisjd"
)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A way of speaking, and the groups of words that a reply must have for it to be there at all."""

    search: re.Pattern[str]
    groups: tuple[str, ...]


def find_address(reply: str, *, criteria: Sequence[str] = ()) -> str | None:
    """The words that speak to a grader, in one line; None where the reply speaks to the customer alone."""
    return _find(reply, tuple(criteria))


def doubted(grade: Grade, said: str | None) -> Grade:
    """The grade of a reply that says this to its grader: the same, hardly believed, with the reason why."""
    if said is None or grade.confidence is None:
        return grade
    reason = f"the reply speaks to its grader ('{said}'), so a person should look; {grade.reason}"
    return replace(grade, confidence=round(grade.confidence * ADDRESSED, 4), reason=reason)


def doubted_chance(chance: float | None, *, is_doubtful: bool) -> float | None:
    """The pass probability of a reply whose grades are hardly believed: a person has to look."""
    return min(chance, UNSURE) if is_doubtful and chance is not None else chance


def address_issues(said: str | None) -> list[str]:
    """What such a reply should have done."""
    return [] if said is None else [f"should speak to the customer, not to its grader: '{said}'"]


@lru_cache(maxsize=256)
def _find(reply: str, criteria: tuple[str, ...]) -> str | None:
    groups, patterns = _read(criteria)
    for text in _readings(reply):
        lowered = text.lower()
        present = {name for name, group in groups.items() if group.search(lowered)}
        for pattern in patterns:
            if present.issuperset(pattern.groups) and (found := pattern.search.search(lowered)):
                # A letter may have grown when it was made small; then the small letters have to do.
                said = text if len(text) == len(lowered) else lowered
                return _shown(said[found.start() : found.end()])
    return None


def _readings(reply: str) -> Iterator[str]:
    """The reply in plain letters, and what is written in Base64 in it."""
    plain = reply
    if not reply.isascii():
        plain = _BACKWARDS.sub(lambda part: part[1][::-1], reply)
        plain = normalise(plain).text.translate(_LOOK_ALIKES)
    plain = plain.replace("\\n", "\n")
    yield _APART.sub(lambda word: re.sub(r"[ .·_-]", "", word[0]), plain)
    for token in _BASE64.finditer(reply):
        if text := _decoded(token[0]):
            yield text


def _decoded(token: str) -> str | None:
    """What a token says in Base64, if that is text."""
    try:
        text = base64.b64decode(token, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return text if text.isprintable() else None


def _shown(words: str) -> str:
    line = " ".join(words.split()).strip(' .,:;!?>)]}"*`')
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 1]}…"


@cache
def _read(criteria: tuple[str, ...]) -> tuple[Mapping[str, re.Pattern[str]], tuple[_Pattern, ...]]:
    """The groups and patterns of the file, for a rubric with these criteria."""
    named = "|".join(re.escape(name.lower()) for name in criteria)
    groups = {"grade": f"(?:{_GRADE})", "criterion": f"(?:{named})" if named else "(?!)"}
    parts: dict[str, str] = {}
    patterns = []
    for line in resource.lines(FILE):
        name, _, text = line.partition(" ")
        if name == ":":
            used = tuple(group for group in groups if f"{{{group}}}" in text)
            patterns.append(_Pattern(_compiled(_filled(text, groups | parts)), used))
        else:
            sign, _, words = text.partition(" ")
            (groups if sign == "=" else parts)[name] = _filled(words, groups | parts)
    return {name: _compiled(text) for name, text in groups.items()}, tuple(patterns)


def _filled(text: str, groups: Mapping[str, str]) -> str:
    for name, group in groups.items():
        text = text.replace(f"{{{name}}}", group)
    return text


def _compiled(text: str) -> re.Pattern[str]:
    """A blank between words may be a line's end, and so may anything in a gap."""
    return re.compile(text.replace(" ", r"\s"), re.DOTALL)
