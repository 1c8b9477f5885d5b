"""How personal data is written (data/personal_data.toml) -> compiled formats with their gates and checks, and the cues
around data that say whose it is."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from touchstone.core import resource
from touchstone.safety import expressions
from touchstone.safety.expressions import compiled, content

FILE = "personal_data.toml"
expression = partial(expressions.expression, FILE)
DatumKind = Literal[
    "name", "address", "phone", "email", "card", "iban", "account", "national_id", "birth_date", "ip", "secret", "plate"
]
LOOK_BACK = 60
SPELT = {"oh": "0", "zero": "0", "hundred": "00"} | {
    word: str(at) for at, word in enumerate("one two three four five six seven eight nine".split(), start=1)
}


@dataclass(frozen=True, slots=True)
class PatternGate:
    """What is found sooner than the patterns behind it, and how far around it they may reach.

    `in_words`: they match texts without a figure too.
    """

    regex: re.Pattern[str]
    before: int
    after: int
    in_words: bool = False

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a pattern may match: around what the gate finds, none overlapping another."""
        start = end = -1
        for match in self.regex.finditer(text):
            if end < match.start() - self.before:
                if end > 0:
                    yield start, end
                start = max(0, match.start() - self.before)
            end = min(len(text), match.end() + self.after)
            if start == 0 and end == len(text):
                break
        if end > 0:
            yield start, end


@dataclass(frozen=True, slots=True)
class DataPattern:
    """One format. The last group of the expression, if it has one, is the datum; `whole` marks all that matched.

    `unless` are words just before that make it something else.
    """

    kind: DatumKind
    regex: re.Pattern[str]
    source: str
    gate: PatternGate
    check: "Check | None"
    unless: re.Pattern[str] | None
    partial: bool
    whole: bool

    def holds(self, match: re.Match[str]) -> bool:
        """Whether what matched is such a datum, by its check and the words before it."""
        if self.unless and self.unless.search(match.string, max(0, match.start() - LOOK_BACK), match.start()):
            return False
        return self.check is None or self.check(match, self)


Check = Callable[[re.Match[str], DataPattern], bool]


@cache
def patterns() -> tuple[DataPattern, ...]:
    """The formats, surest first: where two overlap, the earlier keeps its place."""
    gates = {name: _gate(**row) for name, row in content(FILE)["gates"].items()}
    return tuple(
        DataPattern(
            kind=row["kind"],
            regex=compiled(FILE, row["find"]),
            source=row["source"],
            gate=gates[row["gate"]],
            check=CHECKS[row["check"]] if "check" in row else None,
            unless=compiled(FILE, f"{{{row['unless']}}}") if "unless" in row else None,
            partial=row.get("partial", False),
            whole=row.get("whole", False),
        )
        for row in content(FILE)["format"]
    )


def figures(text: str) -> str:
    """All digits of a text read together, those spelt out included: `double four two` is 442."""
    found, repeat = "", 1
    for piece in re.findall(r"\d|[a-z]+", text.casefold()):
        repeat = {"double": 2, "triple": 3}.get(piece, repeat)
        if digit := piece if piece.isdigit() else SPELT.get(piece):
            found, repeat = found + digit * repeat, 1
    return found


def is_common(low: str) -> bool:
    """An English word that a capital alone does not make a name."""
    return low in resource.words("common_words.txt") or low in resource.words("stopwords.txt")


def _gate(*, before: int, after: int, find: str = "", stems: str = "", in_words: bool = False) -> PatternGate:
    spelt = (form for stem in stems.split() for form in (stem, stem.capitalize(), stem.upper()))
    return PatternGate(compiled(FILE, find or "|".join(map(re.escape, spelt))), before, after, in_words)


def _is_card_number(match: re.Match[str], _: DataPattern) -> bool:
    from stdnum import luhn

    number = figures(match[0])
    start = match.start()
    named = expression("card_noun").search(match.string, max(0, start - LOOK_BACK), start) is not None
    if luhn.is_valid(number) and expression("issuer").match(number):
        return named or len(number) >= 15
    return named and len(number) in (15, 16)


def _is_iban(match: re.Match[str], _: DataPattern) -> bool:
    """The general check of ISO 13616; a mistyped one counts where its length is right or the word is before it."""
    from stdnum.iso7064 import mod_97_10

    compact = match[0].replace(" ", "").upper()
    named = "iban" in match.string[max(0, match.start() - 20) : match.start()].casefold()
    return (
        named
        or content(FILE)["iban_lengths"].get(match[0][:2]) == len(compact)
        or mod_97_10.is_valid(compact[4:] + compact[:4])
    )


def _is_valid(match: re.Match[str], pattern: DataPattern) -> bool:
    """Valid by the python-stdnum module `country.name` that is the pattern's source."""
    from stdnum.util import get_cc_module

    found = get_cc_module(*pattern.source.removeprefix("python-stdnum: ").split("."))
    return bool(found and found.is_valid(match[0].replace(" ", "")))


def _is_ipv4(match: re.Match[str], _: DataPattern) -> bool:
    return all(int(part) <= 255 for part in match[0].split("."))


def _is_ipv6(match: re.Match[str], _: DataPattern) -> bool:
    return match[0].count(":") == 7 or ("::" in match[0] and match[0].count(":") >= 3)


def _is_phone(match: re.Match[str], _: DataPattern) -> bool:
    """7 to 15 digits (ITU-T E.164) in a national form, or with a word of calling near."""
    number = re.sub(r"(?:x|ext).*", "", match[0])
    groups = re.findall(r"\d+", number)
    is_date = len(groups) == 3 and 4 in (len(groups[0]), len(groups[2])) and sum(map(len, groups)) <= 8
    if is_date or not 7 <= sum(map(len, groups)) <= 15:
        return False
    text, start = match.string, match.start()
    cued = expression("phone_cue").search(text, max(0, start - LOOK_BACK), start)
    return bool(cued or expression("phone_after").match(text, match.end()) or expression("phone_form").match(match[0]))


def _is_proper(match: re.Match[str], _: DataPattern) -> bool:
    """Whether the words of the last group are no English ones: a street that bears a name."""
    words = re.findall(r"[^\W\d_]+", match[match.lastindex or 0].casefold())
    numbered = resource.group("street_words.txt", "numbered")
    return not any(len(word) < 3 or is_common(word) or word in numbered for word in words)


def _noun_before(match: re.Match[str]) -> str | None:
    """Of which kind of number the nearest noun before speaks, if any."""
    nouns = list(expression("tail_noun").finditer(match.string, max(0, match.start() - LOOK_BACK), match.end()))
    return nouns[-1].lastgroup if nouns else None


CHECKS: Mapping[str, Check] = {
    "four_digits": lambda match, _: sum(char.isdigit() for char in match[match.lastindex or 0]) >= 4,
    "seven_digits": lambda match, _: len(figures(match[0])) >= 7,
    "card_number": _is_card_number,
    "iban": _is_iban,
    "stdnum": _is_valid,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "phone_number": _is_phone,
    "proper_name": _is_proper,
    "named_before": lambda match, pattern: _noun_before(match) == pattern.kind,
    "card_or_unnamed": lambda match, _: _noun_before(match) in ("card", "other", None),
}
