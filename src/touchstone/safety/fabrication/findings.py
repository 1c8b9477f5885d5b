"""What the parts of the fabrication detector share: findings with a weight, and what the reply may draw on."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading, Sentence, Text, Value
from touchstone.core.result import Evidence
from touchstone.evidence.equality import same
from touchstone.evidence.places import token_range
from touchstone.safety.fabrication.listing import Segment, named_cases
from touchstone.text.tokens import term

DATA = "fabrication.txt"
# Texts with more values than this are tables; their first values are compared, so that the cost stays linear.
MAX_VALUES = 100


class Place(NamedTuple):
    """A value in a source."""

    source: Text
    value: Value


@dataclass(frozen=True, slots=True)
class Finding:
    """One sign of something made up; a weight of 1 is enough for an alarm, less only beside others."""

    start: int
    end: int
    weight: float
    reason: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What the reply may draw on: the sources, the reply people wrote for the case, the company's own facts.

    `contexts`: the passages that speak for the company; the customer and the expected reply do not.
    `cases`: what these list by name.
    """

    sources: tuple[Text, ...]
    places: tuple[Place, ...]
    terms: frozenset[str]
    has_context: bool
    contexts: tuple[Text, ...]
    cases: tuple[Segment, ...]
    policy: Policy
    found: dict[Value, list[Place]] = field(default_factory=dict, repr=False)

    def homes(self, value: Value) -> list[Place]:
        """Where the same value stands; most parts of the detector ask, so the answer is kept."""
        if value not in self.found:
            self.found[value] = [place for place in self.places if same(value, place.value)]
        return self.found[value]

    def holds(self, word: str) -> bool:
        """Whether a word stands anywhere in what is known."""
        return term(word) in self.terms


def known(reading: Reading, policy: Policy) -> Known:
    """Sources and, for support only, the expected reply."""
    sources = reading.sources or ()
    extra = (reading.expected,) if reading.expected is not None else ()
    texts = (*sources, *extra)
    words = " ".join(_policy_words(policy)).casefold().replace("-", " ").replace(".", " ").split()
    terms = {t for text in texts for t in text.positions} | {term(word) for word in words if word}
    has_context = any(text.name.startswith(("context", "expected")) and text.tokens for text in sources)
    places = tuple(islice((Place(text, value) for text in texts for value in text.values), MAX_VALUES))
    contexts = tuple(text for text in texts if text.name.startswith("context"))
    cases = tuple(case for context in contexts for case in named_cases(context))
    return Known(texts, places, frozenset(terms), has_context, contexts, cases, policy)


def _policy_words(policy: Policy) -> Iterable[str]:
    yield from filter(None, (policy.company, *policy.domains, *policy.contacts))
    for allowance in policy.promises:
        yield allowance.what


def words_between(text: Text, start: int, end: int) -> list[str]:
    """The words of a stretch of text."""
    first, last = token_range(text, start, end)
    return [token.word for token in text.tokens[first:last]]


def content(text: Text, start: int, end: int) -> frozenset[str]:
    """The terms of a stretch of text that name something: no function words, fillers or figures."""
    filler = resource.words("filler.txt")
    first, last = token_range(text, start, end)
    kept = (t for t in text.tokens[first:last] if not (t.is_stop or t.word in filler or t.word[0].isdigit()))
    return frozenset(t.term for t in kept)


def sentences_with(text: Text, terms: Iterable[str]) -> list[Sentence]:
    """The sentences that hold one of the terms."""
    places = sorted([at for term in terms for at in text.positions.get(term, ())])
    nexts = [(sentence, bisect_left(places, sentence.first)) for sentence in text.sentences] if places else []
    return [sentence for sentence, at in nexts if at < len(places) and places[at] < sentence.last]


def is_question(text: Text, sentence: Sentence) -> bool:
    """Whether a sentence asks."""
    return text.raw[sentence.start : sentence.end].rstrip(" \"')").endswith("?")


def group(name: str) -> frozenset[str]:
    """A word group of the detector's table."""
    return resource.group(DATA, name)
