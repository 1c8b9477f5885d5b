"""Reading and checked anchors -> what the reply says of what it should: features for accuracy and completeness.

Of a short expected answer it is whether the reply gives it, in any spelling.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Ask, Reading, Sentence, Text, Token
from touchstone.core.result import Anchor
from touchstone.evidence.alignment import Said, best_likeness, coverage, said_in
from touchstone.evidence.equality import end_of, is_range, same
from touchstone.evidence.values import check_values
from touchstone.judges.grounding import NEITHER, is_negated, opening, statements
from touchstone.text.normalise import normalise
from touchstone.text.patterns import folded

PATH = re.compile(
    r"[\w'\"&/]{1,30}(?: [\w'\"&/]{1,30}){0,3}(?: (?:>|->|[→›»]) [\w'\"&/]{1,30}(?: [\w'\"&/]{1,30}){0,3}){1,6}"
)
ARROW = re.compile(r"->|[>→›»]")
ARROWHEADS = ">→›»"
# All that a path is made of: it lies within one such stretch.
STRETCH = re.compile(r"[\w'\"&/ >→›»-]+")
# A page or button named in a sentence: `open My Loans`, `then Change Password`, `press 'Apply'`.
NAMED = re.compile(
    r"\b(?i:open|tap|click|choose|select|press|pick|hit|go to|head to|switch on|turn on|under|then)(?: on| the)? "
    r"['\"]?([A-Z][\w-]{1,20}(?: [A-Z][\w-]{1,20}){0,3})"
)
# A point of the expected reply is made when this much of its content is said.
MADE = 0.6
# Two sentences speak of the same thing when this much of either is said in the other.
SAME_POINT = 0.5
# A sentence with fewer words that count says too little to be turned round.
MIN_CONTENT = 3
NEGATIONS = resource.group("judge_words.txt", "point_negation")
# A name, a figure or a phrase; anything longer makes points instead of giving an answer.
MAX_ANSWER_WORDS = 10
# Two spellings of a name share this much of their letters pairs; shorter words must be equal.
SPELT_ALIKE = 0.7
MIN_LETTERS = 5


class ExpectedFact(NamedTuple):
    """A hard fact of the expected reply (a value, a contact, a menu step) and whether the reply states it."""

    text: str
    said: bool


class Covered(NamedTuple):
    """How much the reply says of what it should: of each ask, of the expected reply, its sentences and hard facts."""

    said: Said
    asks: tuple[float, ...]
    whole: float
    points: tuple[float, ...]
    facts: tuple[ExpectedFact, ...]


def cover(reading: Reading) -> Covered:
    """The reply held against the customer's asks and the expected reply."""
    said = said_in(reading.reply.tokens)
    # All words that will be sought at once: one look at the embeddings is much cheaper than one for each ask and point.
    texts = (reading.question, reading.expected, *reading.contexts)
    best_likeness([token for text in texts if text for token in text.tokens], said)
    asks = tuple(ask_coverage(ask, reading.message_of(ask), said) for ask in reading.asks)
    expected = reading.expected
    if not expected:
        return Covered(said, asks, 1.0, (), ())
    whole = coverage(expected.tokens, said)
    points = tuple(point_coverage(expected, sentence, said) for sentence in expected.sentences)
    return Covered(said, asks, whole, points, tuple(facts_of(expected, reading.reply)))


def coverage_features(reading: Reading, covered: Covered, anchors: Sequence[Anchor]) -> dict[str, float]:
    """Named shares and counts; those of the expected reply only when there is one."""
    asked = covered.asks
    found = {
        "asks": min(4.0, len(asked)),
        "ask_mean": sum(asked) / len(asked) if asked else 1.0,
        "ask_least": min(asked, default=1.0),
        "words": min(2.0, len(reading.reply.tokens) / 100),
    }
    if reading.sources is not None:
        found |= _source_features(reading, anchors, covered.said)
    if reading.expected:
        found |= _expected_features(reading.reply, reading.expected, covered)
        found |= answer_features(reading.reply, reading.expected)
    return found


def _source_features(reading: Reading, anchors: Sequence[Anchor], said: Said) -> dict[str, float]:
    known = said_in([token for source in reading.sources or () for token in source.tokens])
    values = [anchor for anchor in anchors if anchor.kind != "claim"]
    claims = [anchor for anchor in anchors if anchor.kind == "claim"]
    return {
        "grounded": coverage(reading.reply.tokens, known),
        "context_used": coverage([token for context in reading.contexts for token in context.tokens], said),
        "values_contradicted": _capped(sum(a.status == "contradicted" for a in values), 3),
        "values_unsupported": _capped(sum(a.status == "unsupported" for a in values), 4),
        "values_supported": _capped(sum(a.holds for a in values), 6),
        "claims_contradicted": _capped(sum(a.status == "contradicted" for a in claims), 3),
        "claims_unsupported": sum(not a.holds for a in claims) / len(claims) if claims else 0.0,
        "no_context": float(not reading.contexts),
    }


def _expected_features(reply: Text, expected: Text, covered: Covered) -> dict[str, float]:
    points, facts = covered.points, covered.facts
    weights = [_content(expected.tokens[s.first : s.last]) for s in expected.sentences]
    made = sum(weight for point, weight in zip(points, weights, strict=True) if point >= MADE)
    against = check_values(reply, (expected,))
    said = sum(fact.said for fact in facts)
    return {
        "expected_said": covered.whole,
        "expected_terms": _exact(_point(expected.tokens), _point(reply.tokens)),
        "points_made": made / sum(weights) if sum(weights) else 1.0,
        "point_least": min(points, default=1.0),
        "reply_expected": coverage(reply.tokens, said_in(expected.tokens)),
        "facts_said": said / len(facts) if facts else 1.0,
        "facts_missing": _capped(len(facts) - said, 4),
        "values_against_expected": _capped(sum(a.status == "contradicted" for a in against), 3),
        "values_beyond_expected": _capped(sum(a.status == "unsupported" for a in against), 4),
        "polarity_flips": _capped(_contradictions(expected, reply), 2),
        "length_ratio": min(2.0, len(reply.tokens) / max(1, len(expected.tokens))),
    }


def ask_coverage(ask: Ask, question: Text | None, said: Said) -> float:
    """How much of an ask's content is taken up, in its own or similar words."""
    if question is None:
        return 1.0
    tokens = [t for t in question.tokens if ask.start <= t.start < ask.end and t.term in ask.terms]
    return coverage(tokens, said)


def point_coverage(expected: Text, sentence: Sentence, said: Said) -> float:
    """How much of one sentence of the expected reply is said."""
    return coverage(expected.tokens[sentence.first : sentence.last], said)


def facts_of(expected: Text, reply: Text) -> list[ExpectedFact]:
    """The hard facts of the expected reply: typed values, contacts and menu steps."""
    known = {contact.canonical for contact in reply.contacts}
    facts = [
        ExpectedFact(
            expected.raw[value.start : value.end],
            any(same(value, given) or (is_range(given) and end_of(value, given)) for given in reply.values),
        )
        for value in expected.values
    ]
    facts += [ExpectedFact(expected.raw[c.start : c.end], c.canonical in known) for c in expected.contacts]
    said = folded(reply.raw)
    return facts + [ExpectedFact(step, step.casefold() in said) for step in path_steps(expected.raw)]


def path_steps(raw: str) -> list[str]:
    """The steps of the menu paths in a text: Settings > Plan gives both."""
    if not any(head in raw for head in ARROWHEADS):
        return []
    stretches = (part for part in STRETCH.findall(raw) if any(head in part for head in ARROWHEADS))
    paths = (path for part in stretches for path in PATH.findall(part))
    steps = (step.strip(" '\"") for path in paths for step in ARROW.split(path))
    return [step for step in dict.fromkeys(steps) if step]


def count_pages(raw: str) -> int:
    """How many pages, menus and buttons a text leads through, by arrows or in sentences; one alone is no path."""
    steps = path_steps(raw)
    listed = {word for step in steps for word in step.split()}
    named = {name for name in NAMED.findall(normalise(raw).text) if listed.isdisjoint(name.split())}
    found = len(steps) + len(named)
    return found if found > 1 else 0


def _contradictions(expected: Text, reply: Text) -> int:
    """Sentences on the same point of which exactly one is negated."""
    given = _points(reply)
    found = 0
    for wanted in _points(expected):
        if len(wanted.content) < MIN_CONTENT or not given:
            continue
        shares = [(_exact(wanted, point), _exact(point, wanted)) for point in given]
        at = max(range(len(given)), key=lambda at: sum(shares[at]))
        alike = max(shares[at]) >= SAME_POINT and len(given[at].content) >= MIN_CONTENT
        found += alike and wanted.negated != given[at].negated
    return found


class _Point(NamedTuple):
    """A sentence as its terms, those of them that count, and whether it denies something."""

    terms: frozenset[str]
    content: tuple[str, ...]
    negated: bool


def _points(text: Text) -> list[_Point]:
    return [_point(text.tokens[sentence.first : sentence.last]) for sentence in text.sentences]


def _point(tokens: Sequence[Token]) -> _Point:
    denials = [token for token in tokens if token.word in NEGATIONS or token.word.endswith("n't")]
    content = tuple([token.term for token in tokens if not token.is_stop])
    return _Point(frozenset([token.term for token in tokens]), content, bool(denials))


def _exact(wanted: _Point, given: _Point) -> float:
    sought = wanted.content
    return sum(map(given.terms.__contains__, sought)) / len(sought) if sought else 1.0


def _content(tokens: Sequence[Token]) -> int:
    return sum(not token.is_stop for token in tokens)


def _capped(number: int, top: int) -> float:
    return float(min(number, top))


def answer_features(reply: Text, expected: Text) -> dict[str, float]:
    """How much of a short answer the reply gives, and whether yes has become no."""
    return {
        "answer_given": answer_given(reply, expected) if len(expected.tokens) <= MAX_ANSWER_WORDS else NEITHER,
        "answer_denied": float(_opening_negated(reply) != _opening_negated(expected)),
        "opens_otherwise": abs(opening(reply.tokens) - opening(expected.tokens)) / 2,
    }


def answer_given(reply: Text, expected: Text) -> float:
    """The share of a short answer's words that the reply has; 1 when it has them in a row or states the same value."""
    if expected.values and all(any(same(value, given) for given in reply.values) for value in expected.values):
        return 1.0
    wanted = _answer(expected)
    if not wanted:
        return NEITHER
    words = {token.word for token in reply.tokens}
    return sum(t.term in reply.positions or _is_spelt_alike(t.word, words) for t in wanted) / len(wanted)


def _answer(expected: Text) -> list[Token]:
    """The answer's content words; what is in brackets explains the answer and is no part of it."""
    outside, depth = [], 0
    places = {token.start: token for token in expected.tokens}
    for at, character in enumerate(expected.raw):
        depth += (character in "([") - (character in ")]")
        if depth <= 0 and at in places:
            outside.append(places[at])
    kept = outside or list(expected.tokens)
    return [token for token in kept if not token.is_stop] or kept


def _is_spelt_alike(word: str, others: set[str]) -> bool:
    """Whether a word of some length shares most of its pairs of letters with another (Dice)."""
    if len(word) < MIN_LETTERS:
        return False
    letters = set(pairwise(word))
    near = (set(pairwise(other)) for other in others if abs(len(other) - len(word)) <= 2)
    return any(2 * len(letters & pairs) / (len(letters) + len(pairs)) >= SPELT_ALIKE for pairs in near)


def _opening_negated(text: Text) -> bool:
    """Whether the first statement, which carries the answer, denies."""
    said = statements(text)
    return bool(said) and is_negated(text.tokens[said[0].first : said[0].last])
