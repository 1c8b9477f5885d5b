"""States that the reply gives to something + records -> anchors: `is still pending` against `status: delivered`.

A state is a word of a family whose members exclude each other (data/states.txt). Only states that a source speaks of
become anchors: the rest is left to the claims.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Span, Text
from touchstone.core.result import Anchor, Evidence, Status
from touchstone.evidence.places import Binding, binding, prefers
from touchstone.text.normalise import normalise

FILE = "states.txt"
# Families whose words name means or classes; those of the others are states only behind a form of `be`.
NAMED = frozenset({"method", "cabin"})
# What is done with them makes them a statement: `paid by PayPal`, `booked in economy`.
DONE_WITH = r"\b(?:by|via|with|using|through|in)\s(?:(?:your|the|a|an)\s)?"
# Words of these families that mean something else elsewhere: 5 business days.
COMMON = frozenset({"business", "cash", "economy"})
LINK = (
    r"(?:\b(?:is|are|was|were|been|be|being|has|have|status|state|as|remains?|now|still|currently|already|shows?|marked)(?:n't)?\b|'s|'re)"
    r"[:\s]{1,3}(?:(?:still|now|currently|already|also|successfully|marked|listed|showing|shown|as|all|been|fully|just|both|the|"
    r"a|not|yet|no|longer|never|actually|indeed|safely|in|status|set|to|switched|turned|\w{2,14}ly)\s{1,2}){0,5}"
)
DENIED = re.compile(r"\b(?:not|no longer|never|isn't|aren't|wasn't|weren't|hasn't|haven't)\b|n['’]t\b", re.IGNORECASE)
# What is only thought of, wished or laid down as a rule gives nothing a state.
SUPPOSED = re.compile(
    r"\b(?:if|once|when|whenever|unless|until|till|after|before|as soon as|should|can|could|may|might|will|would|must|"
    r"only|whether|either|to be|any|all|each|every|cannot|can't|won't)\b|(?:can|won)['’]t\b|['’]ll\b",
    re.IGNORECASE,
)
MAX_STATES = 100
MAX_KNOWN = 400
# What a field with such a name holds is a state, whatever its word.
STATUS = re.compile(r"(?:^|[_\W])(?:status|state|stage|outcome|result)s?$|Status$|State$", re.IGNORECASE)
LONGEST = 40
HYPHEN = re.compile(r"[\s-]+")
TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
WORD_JOINTS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]+")
# A state appears within so many characters of the start of its clause.
REACH = 90
CLAUSE = re.compile(r"[.:;!?\n]|,\s|\s[–—-]\s|\bbut\b|\band\b", re.IGNORECASE)


Words = Mapping[str, frozenset[tuple[str, str]]]


class State(NamedTuple):
    """A thing's state as a text gives it: the families it belongs to and its place in each."""

    source: Text
    span: Span
    families: frozenset[tuple[str, str]]
    denied: bool
    word: str
    path: str | None

    @property
    def binding(self) -> Binding:
        return binding(self.source, self.span)


def check_states(reply: Text, sources: Sequence[Text]) -> list[Anchor]:
    """An anchor for each state of the reply that a source confirms or contradicts.

    Records and agents say how things are; the customer asks, and a page speaks of things in general.
    """
    given = [source for source in sources if source.speaker != "customer"]
    words = dict(_words())
    for word, families in _recorded_words(given).items():
        words[word] = words.get(word, frozenset()) | families
    ours = list(islice(_told(reply, words), MAX_STATES))
    if not ours:
        return []
    known = list(islice((state for source in given for state in _stated(source, words)), MAX_KNOWN))
    return [anchor for state in ours if (anchor := _anchor(state, known)) is not None]


def _anchor(state: State, known: Sequence[State]) -> Anchor | None:
    ours = state.binding
    related = [each for each in known if _families(state) & _families(each)]
    agreeing = [each for each in related if _agrees(state, each)]
    opposed = [each for each in related if not _agrees(state, each)]
    if agreeing:
        better = [e for e in opposed if all(prefers(ours, e.binding, a.binding, listed=False) for a in agreeing)]
        if not better:
            agreed = max(agreeing, key=lambda each: len(ours.around & each.binding.around))
            return _make(state, "supported", f"{_where(agreed)} says so", agreed)
        opposed = better
    best = max(opposed, key=lambda each: len(ours.around & each.binding.around), default=None)
    if best is None or (len(opposed) > 1 and not ours.around & best.binding.around):
        return None
    # Of several means of payment on record the reply may speak of yet another.
    if _families(state) <= NAMED and len({each.families for each in opposed}) > 1:
        return None
    return _make(
        state, "contradicted", f"reply says {_shown(state)}, {best.path or 'source'} says {_shown(best)}", best
    )


def _shown(state: State) -> str:
    return f"{'not ' * state.denied}{state.word}"


def _families(state: State) -> frozenset[str]:
    return frozenset([family for family, _ in state.families])


def _agrees(one: State, other: State) -> bool:
    return bool(one.families & other.families) is (one.denied == other.denied)


def _stated(source: Text, words: Words) -> Iterator[State]:
    yield from _recorded(source, words)
    if source.speaker == "agent":
        yield from _told(source, words)


def _told(text: Text, words: Words) -> Iterator[State]:
    """The states that sentences of a text state as facts."""
    normal = normalise(text.raw)
    for match in _phrases(tuple(sorted(words))).finditer(normal.text.casefold()):
        kind = "linked" if match["linked"] else "bare"
        span = normal.span(*match.span(kind))
        sentence = text.sentence_at(span.start)
        fact = text.fact_at(span.start)
        if (
            sentence is None
            or (fact and fact.is_cell)
            or text.raw[sentence.start : sentence.end].rstrip().endswith("?")
        ):
            continue
        clause = CLAUSE.split(text.raw[max(sentence.start, span.start - REACH) : span.start])[-1]
        if SUPPOSED.search(clause):
            continue
        word = match[kind] if match[kind] in words else HYPHEN.sub(" ", match[kind])
        yield State(text, span, words.get(word, frozenset()), DENIED.search(clause) is not None, word, None)


def _recorded(text: Text, words: Words) -> Iterator[State]:
    """The states in fields and cells; a field that is true or false says whether its key holds."""
    for fact in text.facts:
        shown = _plain(text.raw[fact.start : fact.end])
        if shown in TRUTH:
            key = _plain(fact.key)
            if families := words.get(key) or words.get(key.rpartition(" ")[2]):
                yield State(text, Span(fact.start, fact.end), families, not TRUTH[shown], key, fact.path)
        elif families := words.get(shown) or _named_in(shown):
            yield State(text, Span(fact.start, fact.end), families, denied=False, word=shown, path=fact.path)


def _recorded_words(sources: Sequence[Text]) -> Words:
    """What this case's records call states: the values of a field named so, and the keys of what is true or false.

    A value that begins with a known state is one: `held at depot`, `awaiting part`.
    """
    found: dict[str, frozenset[tuple[str, str]]] = {}
    for source in sources:
        for fact in source.facts[:MAX_KNOWN]:
            shown = _plain(source.raw[fact.start : fact.end])
            if shown in TRUTH and fact.is_cell:
                key = _plain(fact.key)
                found[key] = frozenset({(key, "yes")})
            elif fact.is_cell and STATUS.search(fact.key) and 2 < len(shown) <= LONGEST and not shown[0].isdigit():
                family = f"field {_plain(fact.key)}"
                leading = _words().get(shown.partition(" ")[0], frozenset())
                found[shown] = frozenset({(family, shown)}) | leading
    return found


def _named_in(shown: str) -> frozenset[tuple[str, str]]:
    """`credit card (visa)`: what a field names that is known by name."""
    if len(shown) > LONGEST:
        return frozenset()
    words = (name for pair in re.findall(r"[a-z]+(?: [a-z]+)?", shown) for name in (pair, *pair.split()))
    named = (_words().get(name, frozenset()) for name in words if name not in COMMON)
    return next((states for states in named if any(family in NAMED for family, _ in states)), frozenset())


def _plain(text: str) -> str:
    return WORD_JOINTS.sub(" ", text.strip(" .\"'*`")).casefold().strip()


@cache
def _words() -> Words:
    """Every packaged word with the families it belongs to and its state in each."""
    table: dict[str, set[tuple[str, str]]] = {}
    for line in resource.lines(FILE):
        family, _, states = line.partition(":")
        for words in states.split("|"):
            members = [word.strip() for word in words.split(",")]
            for word in members:
                table.setdefault(word, set()).add((family.strip(), members[0]))
    return {word: frozenset(states) for word, states in table.items()}


@lru_cache(maxsize=64)
def _phrases(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    linked = "|".join(re.escape(word).replace(r"\ ", r"[\s-]") for word in longest_first)
    known = [word for word in longest_first if any(family in NAMED for family, _ in _words().get(word, ()))]
    named = (word for word in known if word not in COMMON)
    bare = "|".join(re.escape(word) for word in named)
    return re.compile(rf"{LINK}(?P<linked>{linked})\b|{DONE_WITH}(?P<bare>{bare})\b")


def _make(state: State, status: Status, reason: str, found: State) -> Anchor:
    text = state.source.raw[state.span.start : state.span.end]
    place = Evidence(
        found.source.name, *found.span, found.source.raw[found.span.start : found.span.end], path=found.path
    )
    return Anchor("claim", text, *state.span, text.casefold(), status, reason, (place,))


def _where(state: State) -> str:
    return f"{state.source.name} {state.path}" if state.path else state.source.name
