"""A text -> clauses: stretches that say one thing each, with their terms, their stances and what they deny."""

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import islice
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Sentence, Text, Token

DATA = "stance.txt"
AXES = (("duty", "waiver"), ("leave", "refusal"), ("cost", "gratis"))
SPLIT = re.compile(
    r"[,;()\n]|\s[-–—]\s|[.!?:](?=\s|$)|\s(?:and|but|while|so|because|since|though|although|otherwise|(?<!same )as)\s"
)
LEAVE_AXIS, COST_AXIS = 1, 2
# What opens a clause that only says when another holds, and what in a sentence takes part of a rule back.
PREMISES = frozenset({"if", "when", "where", "unless", "once", "because", "since", "as", "with", "provided", "should"})
EXCEPTIONS = frozenset({"unless", "except", "only"})
DENIALS = frozenset({"not", "never", "cannot"})
LACKING = frozenset({"without", "no"})
# What ends the part of a clause that takes a stance, unless it opens it.
ENDS = frozenset({"if", "where"})
UNDOING = (["no"], ["nothing"], ["neither"])
# `Not under your policy` sets one thing against another and denies no verb.
CONTRASTING = tuple([word] for word in "under into on in for to at from with by onto".split())
# Negations further in front of a word than this deny something else.
REACH = 4
# So few words are part of a list rather than a statement.
SHORT = 3
# What can be done is turned round by its subject (`no bag can`), not by what is said of the subject (`a lost key can`).
MODALS = frozenset({"can", "may"})
SUBJECTS = frozenset({"no", "nobody", "nothing", "none", "neither", "nor", "not", "never"})
SPEAKERS = frozenset({"i", "we", "you", "they", "he", "she", "it"})
# `That isn't something we cover` denies the verb, however far behind it stands.
PLACEHOLDERS = frozenset({"something", "one", "anything"})
# Longer texts are compared by their first clauses, so that the cost stays linear.
MAX_CLAUSES = 200


class Clause(NamedTuple):
    """A stretch of a text: its own content terms, those of its sentence, and its stances (+1, -1 by axis).

    `governed` is the verb of a duty, `grants` that of a permission; `denied` and `lacks` follow a negation, `sole` an
    `only`.
    """

    start: int
    end: int
    terms: frozenset[str]
    around: frozenset[str]
    stances: tuple[int, ...] = (0,) * len(AXES)
    governed: str = ""
    grants: str = ""
    denied: str = ""
    lacks: str = ""
    without: bool = False
    universal: bool = False
    restricted: bool = False
    conditional: bool = False
    premise: bool = False
    urges: bool = False
    excepted: bool = False
    narrow: bool = False
    payer: str = ""
    exclusive: bool = False
    sole: str = ""
    asks: bool = False


class Setting(NamedTuple):
    """What its sentence says of a clause: its content terms, and whether it has a condition, an exception or a `?`."""

    around: frozenset[str]
    conditional: bool
    excepted: bool
    asks: bool


def clauses(text: Text) -> tuple[Clause, ...]:
    """A text's clauses."""
    return tuple(islice((clause for sentence in text.sentences for clause in clauses_of(text, sentence)), MAX_CLAUSES))


def clauses_of(text: Text, sentence: Sentence) -> tuple[Clause, ...]:
    """A sentence's clauses, cut at punctuation and joints."""
    conditions, cues = _conditions(), _cues()
    cuts = [m.end() for m in SPLIT.finditer(text.raw, sentence.start, sentence.end)]
    asks = text.raw[sentence.start : sentence.end].rstrip(" \"')").endswith("?")
    tokens = text.tokens[sentence.first : sentence.last]
    said = [token.word for token in tokens]
    excepted = not EXCEPTIONS.isdisjoint(said)
    around = _content(tokens)
    at = 0
    conditional = False
    pieces: list[tuple[int, Clause]] = []
    for end in [*cuts, sentence.end]:
        first = at
        while at < len(tokens) and tokens[at].start < end:
            at += 1
        if at > first:
            words = said[first:at]
            conditional = conditional or not conditions.isdisjoint(words)
            setting = Setting(around, conditional=conditional, excepted=excepted, asks=asks)
            state = _unstated if cues.isdisjoint(words) else _stated
            clause = state(tokens[first:at], words, setting)
            if clause.terms or any(clause.stances):
                pieces.append((at - first, clause))
    return tuple(_joined(pieces))


def _joined(pieces: Sequence[tuple[int, Clause]]) -> Iterator[Clause]:
    """A few words that an `and` cut off share the stance of their neighbour: `a ticket and a muzzle`."""
    for at, (size, clause) in enumerate(pieces):
        beside = pieces[at - 1] if at else pieces[1] if len(pieces) > 1 else None
        if size <= SHORT and beside and not any(clause.stances) and not clause.denied and not clause.premise:
            near = beside[1]
            yield clause._replace(stances=(near.stances[0], *clause.stances[1:]), payer=near.payer)
        else:
            yield clause


def _unstated(tokens: Sequence[Token], words: Sequence[str], setting: Setting) -> Clause:
    """A clause that takes no stance and denies nothing."""
    return Clause(
        start=tokens[0].start,
        end=tokens[-1].end,
        terms=setting.around.intersection([token.term for token in tokens]),
        around=setting.around,
        conditional=setting.conditional,
        premise=words[0] in PREMISES,
        urges=_urges(words),
        excepted=setting.excepted,
        asks=setting.asks,
    )


def _stated(tokens: Sequence[Token], words: Sequence[str], setting: Setting) -> Clause:
    """The clause with its stances and what it denies."""
    stances = [0] * len(AXES)
    used: set[int] = set()
    governed = grants = ""
    starts = _phrases()
    reached = 0
    for at in [at for at, word in enumerate(words) if word in starts or word in ENDS]:
        if at < reached:
            continue
        if at and words[at] in ENDS:
            break
        size, axis, sign = _phrase(words, at)
        if size and _is_aside(tokens, at, size, axis, used):
            used.update(range(at, at + size))
        elif size:
            turned = (
                -sign
                if _is_negated(words, at, used, axis=axis, sign=sign) or _is_undone(words, at + size, axis)
                else sign
            )
            stances[axis] = stances[axis] or turned
            used.update(range(at, at + size))
            if axis == 0 and turned > 0:
                governed = governed or _verb(tokens, at + size)
            if words[at] == "may" and turned > 0:
                grants = _verb(tokens, at + size)
        reached = at + max(size, 1)
    denied = lacks = ""
    denials = [at for at, word in enumerate(words) if word in DENIALS or word.endswith("n't")]
    for at in denials:
        if at not in used and words[at + 1 : at + 2] not in CONTRASTING:
            denied = denied or _verb(tokens, at + 1)
    for at in [at for at, word in enumerate(words) if word in LACKING]:
        if at not in used:
            lacks = lacks or _verb(tokens, at + 1)
    told = [token.term for at, token in enumerate(tokens) if at not in used] if used else [t.term for t in tokens]
    return Clause(
        start=tokens[0].start,
        end=tokens[-1].end,
        terms=setting.around.intersection(told),
        around=setting.around,
        stances=tuple(stances),
        governed=governed,
        grants=grants,
        denied=denied,
        lacks=lacks,
        without=bool(lacks) and "without" in words,
        universal=_is_universal(words, granted=stances[LEAVE_AXIS] > 0),
        restricted=not resource.group("fabrication.txt", "restriction").isdisjoint(words),
        conditional=setting.conditional,
        premise=words[0] in PREMISES,
        urges=_urges(words),
        excepted=setting.excepted,
        narrow="only" in words or bool(denials),
        payer=_payer(words),
        exclusive="only" in words,
        sole=_sole(tokens, words, used),
        asks=setting.asks,
    )


def _urges(words: Sequence[str]) -> bool:
    return words[0] == "please" or "yourself" in words


def _payer(words: Sequence[str]) -> str:
    """Which side pays, where the clause says so: `we` or `you`."""
    paying = resource.group(DATA, "paying")
    if paying.isdisjoint(words):
        return ""
    for at, word in enumerate(words):
        if word in paying:
            for party in reversed(words[max(0, at - 3) : at]):
                if _negates(party):
                    return ""
                if side := next((s for s in ("we", "you") if party in resource.group(DATA, f"{s}_party")), ""):
                    return side
    return ""


def _content(tokens: Sequence[Token]) -> frozenset[str]:
    idle = _idle_words()
    told = [token for token in tokens if not token.is_stop and token.word not in idle]
    return frozenset([token.term for token in told if not token.word[0].isdigit()])


def _verb(tokens: Sequence[Token], at: int) -> str:
    """The verb that a modal governs, past adverbs and `be`."""
    for token in tokens[at : at + 3]:
        if not token.is_stop and token.word not in ("also", "still", "then", "only"):
            return token.term
    return ""


def _sole(tokens: Sequence[Token], words: Sequence[str], used: Set[int]) -> str:
    """What alone the clause holds for."""
    first = words.index("only") + 1 if "only" in words else len(words)
    told = (token for at, token in enumerate(tokens[first:], first) if at not in used and not token.is_stop)
    return next((token.term for token in told), "")


def _phrase(words: Sequence[str], at: int) -> tuple[int, int, int]:
    """Length, axis and sign of the longest stance phrase that begins here; length 0 when none does."""
    for phrase, axis, sign in _phrases().get(words[at], ()):
        if len(phrase) == 1 or tuple(words[at : at + len(phrase)]) == phrase:
            return len(phrase), axis, sign
    return 0, 0, 0


def _is_aside(tokens: Sequence[Token], at: int, size: int, axis: int, used: Set[int]) -> bool:
    """`I can't tell you` says what the speaker knows, `the time to pay` what a thing is for: neither takes a stance."""
    if axis == LEAVE_AXIS:
        following = next((token.word for token in tokens[at + size : at + size + 2] if not token.is_stop), "")
        return following in resource.group(DATA, "knowing")
    named = at > 1 and tokens[at - 1].word == "to" and not used & {at - 1, at - 2} and not tokens[at - 2].is_stop
    return axis == COST_AXIS and named


def _is_negated(words: Sequence[str], at: int, used: Set[int], *, axis: int, sign: int) -> bool:
    """A negation shortly before, unless it denies a word of its own (`not reporting`)."""
    if words[at] in MODALS:
        return _is_denied_subject(words, at, used)
    for back in range(at - 1, max(-1, at - 1 - REACH), -1):
        if back not in used and _negates(words[back]):
            if words[back] in resource.group(DATA, "ending") and axis == LEAVE_AXIS and sign < 0:
                continue
            if words[back] == "without" and axis != COST_AXIS and back + 1 != at:
                return False
            return back + 1 == at or words[back] == "without" or not words[back + 1].endswith("ing")
    places = (place for place in range(at) if words[place] in PLACEHOLDERS and place not in used)
    return axis == LEAVE_AXIS and any(_negates(word) for place in places for word in words[max(0, place - 1) : place])


def _is_denied_subject(words: Sequence[str], at: int, used: Set[int]) -> bool:
    """`No bag can` and `nothing we can do`, but not `with nothing to show we can` nor `those not satisfied can`."""
    reach = 2 if words[at - 1] in SPEAKERS else REACH
    for back in range(at - 1, max(-1, at - 1 - reach), -1):
        if words[back] in SUBJECTS and back not in used:
            return words[back] != "not" or words[back + 1] in _universal()
    return False


def _is_undone(words: Sequence[str], end: int, axis: int) -> bool:
    """A negation right behind the phrase takes it back: `need no muzzle`, `permitted neither to`, `pay nothing`."""
    return (axis != LEAVE_AXIS and words[end : end + 1] in UNDOING) or words[end : end + 1] == ["neither"]


def _negates(word: str) -> bool:
    return word in _negations() or word == "non" or word.endswith("n't")


def _is_universal(words: Sequence[str], *, granted: bool) -> bool:
    """`any` behind a negation means none; where nobody acts and nothing is allowed, it names what may be there."""
    found = _universal().intersection(words)
    if found != {"any"}:
        return bool(found)
    before = words[: words.index("any")]
    return not any(_negates(word) for word in before) and (granted or not before or not SPEAKERS.isdisjoint(words))


def _universal() -> frozenset[str]:
    return resource.group("fabrication.txt", "universal")


@cache
def _idle_words() -> frozenset[str]:
    return resource.words("filler.txt") | resource.group(DATA, "person")


@cache
def _conditions() -> frozenset[str]:
    return resource.group("modality.txt", "condition") - {"so", "as"}


@cache
def _cues() -> frozenset[str]:
    """The words without which a clause takes no stance and denies nothing."""
    denials = {word for word in resource.words("stopwords.txt") if word.endswith("n't")}
    limits = _universal() | resource.group("fabrication.txt", "restriction")
    return frozenset(_phrases()) | denials | limits | _negations()


@cache
def _negations() -> frozenset[str]:
    return resource.group("modality.txt", "negation") | resource.group(DATA, "ending")


@cache
def _phrases() -> dict[str, tuple[tuple[tuple[str, ...], int, int], ...]]:
    """The stance phrases by their first word, longest first."""
    table: dict[str, list[tuple[tuple[str, ...], int, int]]] = {}
    for axis, names in enumerate(AXES):
        for sign, name in zip((1, -1), names, strict=True):
            for phrase in sorted(resource.group(DATA, name)):
                words = tuple(phrase.split())
                table.setdefault(words[0], []).append((words, axis, sign))
    return {word: tuple(sorted(found, key=lambda f: (-len(f[0]), f))) for word, found in table.items()}
