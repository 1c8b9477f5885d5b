"""A case read once: tokens, sentences, typed values, contacts, claims and asks, all with their places in the text."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Literal, NamedTuple, Protocol, TypeVar

from touchstone.core.case import Speaker

ValueKind = Literal["money", "percent", "quantity", "duration", "number", "date", "time"]
AnchorKind = Literal["money", "percent", "quantity", "duration", "number", "date", "time", "claim"]
ContactKind = Literal["link", "email", "phone"]
# The dimension of an amount of money in a record that does not say which.
UNNAMED_CURRENCY = "¤"


class Span(NamedTuple):
    """Half-open character offsets into a string as it was given."""

    start: int
    end: int


class Token(NamedTuple):
    """A word or number: how it reads (case-folded), the term it counts as, and where it stands."""

    word: str
    term: str
    start: int
    end: int
    is_stop: bool


class Sentence(NamedTuple):
    """A sentence's place in the text, in characters and in tokens (both half-open)."""

    start: int
    end: int
    first: int
    last: int


class Day(NamedTuple):
    """A calendar day as far as it was written; an unwritten part is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One way to read a value: a number or a range of numbers in a base unit of one dimension.

    `qualifier` is the period of a rate (per month) or the zone of a time (ET); "" when none was written.
    """

    low: Decimal
    high: Decimal
    dimension: str
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Dates:
    """One way to read a date or a range of dates."""

    first: Day
    last: Day


@dataclass(frozen=True, slots=True)
class Value:
    """A typed value: what kind, where, how it is written canonically, and every way it can be read."""

    kind: ValueKind
    start: int
    end: int
    canonical: str
    readings: tuple[Measure | Dates, ...]


@dataclass(frozen=True, slots=True)
class Contact:
    """A link, e-mail address or phone number; never an anchor, but later checks need it."""

    kind: ContactKind
    start: int
    end: int
    canonical: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A field of a record, a cell of a table or a labelled line: where it is, and what its values are values of.

    `path` is how people find it (`orders[0].items[1].price`); `label` the terms of its key or header, `thing` those of
    what it belongs to: the record's names, the headings above. `key` is the last key as written. `is_cell` says that it
    stands alone: what is written around it belongs to other facts.
    """

    start: int
    end: int
    path: str
    key: str
    label: frozenset[str]
    thing: frozenset[str]
    is_cell: bool
    # The currency that its record names.
    currency: str = ""


class Word(NamedTuple):
    """A word as the parser cut it: in small letters, and where it is in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """Who does what to what: subject and object phrases (head first), the verb, and how it is meant."""

    subject: tuple[Word, ...]
    verb: Word
    lemma: str
    object: tuple[Word, ...]
    preposition: str
    negated: bool
    hedged: bool
    conditional: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A subject-verb-object statement of the reply, with the terms it is checked by."""

    start: int
    end: int
    subject: tuple[str, ...]
    verb: str
    verb_terms: tuple[str, ...]
    object: tuple[str, ...]
    negated: bool
    surface: Mapping[str, str]

    @property
    def canonical(self) -> str:
        """The triple as one line, for people."""
        verb = f"not {self.verb}" if self.negated else self.verb
        return " | ".join((self.shown(self.subject) or "–", verb, self.shown(self.object) or "–"))

    def shown(self, terms: Iterable[str]) -> str:
        """Terms as the reply writes them."""
        return " ".join(self.surface.get(term, term) for term in terms)


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing the customer wants answered or done; `source` names the message that holds it."""

    start: int
    end: int
    text: str
    terms: tuple[str, ...]
    source: str = "input"


class HasPlace(Protocol):
    """What has its place in a text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


P = TypeVar("P", bound=HasPlace)
START = attrgetter("start")


def holding(items: Sequence[P], place: int) -> P | None:
    """Of items in order, the one that holds a character."""
    at = bisect_right(items, place, key=START) - 1
    return items[at] if at >= 0 and place < items[at].end else None


@dataclass(frozen=True, slots=True)
class Text:
    """One string read once. `name` says where it comes from: response, input, input[0], context[2] …

    `speaker` is who said it in a chat; None for what nobody said: a passage, a lookup, the reply.
    """

    name: str
    raw: str
    tokens: tuple[Token, ...]
    sentences: tuple[Sentence, ...]
    values: tuple[Value, ...]
    contacts: tuple[Contact, ...]
    positions: Mapping[str, tuple[int, ...]]
    facts: tuple[Fact, ...] = ()
    # How many entries each list of a record has, by its path.
    lists: tuple[tuple[str, int], ...] = ()
    # What could not be read, for people: `the record breaks off at character 1,204`.
    notes: tuple[str, ...] = ()
    speaker: Speaker | None = None

    @property
    def is_said(self) -> bool:
        """Whether the customer or an agent said it; a tool's output is a source like any passage."""
        return self.speaker in ("customer", "agent")

    def fact_at(self, place: int) -> Fact | None:
        """The field, cell or labelled line that holds a character."""
        return holding(self.facts, place)

    def sentence_at(self, place: int) -> Sentence | None:
        """The sentence that holds a character."""
        return holding(self.sentences, place)

    def token_range(self, start: int, end: int) -> tuple[int, int]:
        """The tokens that begin within a span, as a half-open range."""
        first = bisect_left(self.tokens, start, key=START)
        return first, bisect_left(self.tokens, end, lo=first, key=START)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that count, in order: stop words left out unless nothing would be left."""
        return tuple(t.term for t in self.tokens if not t.is_stop) or tuple(t.term for t in self.tokens)


@dataclass(frozen=True, slots=True)
class Reading:
    """The case as every metric, detector and judge sees it."""

    question: Text | None
    reply: Text
    sources: tuple[Text, ...] | None
    expected: Text | None
    asks: tuple[Ask, ...]
    # What the reply's parse says, and what of it can be checked.
    clauses: tuple[Clause, ...]
    claims: tuple[Claim, ...]
    # What customer and agents said before the customer's message; among the sources, too, where there are any.
    earlier: tuple[Text, ...] = ()

    def message_of(self, ask: Ask) -> Text:
        """The customer's message that holds an ask."""
        said = (*((self.question,) if self.question else ()), *self.earlier)
        texts: dict[str, Text] = {text.name: text for text in said}
        return texts[ask.source]

    @property
    def contexts(self) -> tuple[Text, ...]:
        """The passages given as context and the tools' outputs; neither what was said nor an expected reply."""
        return tuple([s for s in self.sources or () if not s.is_said and s.name != "expected_output"])
