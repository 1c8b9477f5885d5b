"""A value no source states -> the arithmetic that gives it from values that the sources state, if there is any."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, islice
from typing import NamedTuple

from touchstone.core.reading import START, Dates, Measure, Text, Token, Value
from touchstone.evidence.arithmetic import PART_WITHIN, SUM_WITHIN, formula_of
from touchstone.evidence.equality import is_range, same, same_dimension
from touchstone.evidence.places import binding
from touchstone.text.structure import terms_of

# Two values further apart than this many values or characters are not "near each other".
NEAR_VALUES = 8
NEAR_CHARS = 600
MAX_COUNT = 31
# A count that the reply itself multiplies may be larger.
MANY = 100_000
# Derivations are looked for among so many source values, for so many values of a reply.
MAX_VALUES = 200
MAX_TRIES = 30
MAX_NAMED = 16
# Days times periods: with more, some pair gives any day.
MAX_DATED = 40
# Side by side: `3 calls of 15 minutes each`, `Cost: £60. Paid: £45.`
CLOSE_CHARS = 60
INDEXES = re.compile(r"\[\d+\]")
# A sentence that works something out says so: without such a word or sign a coincidence of figures derives nothing.
RECKONING = frozenset(
    "total totals totalling altogether together sum sums comes makes equals minus plus times difference half double "
    "twice saves save saving remain remaining remains remainder left balance becomes prorated split combined overall "
    "discount deducted deduct adding adds works cheaper dearer".split()
)
# Words that speak of a rest or a difference: enough for two figures that are side by side.
HINTS = frozenset(
    "outstanding overcharged undercharged quicker faster slower longer shorter whole used away leaves gross net owe "
    "owed with between higher lower now".split()
)
# Words that tell when something ends or comes about.
UNTIL = frozenset("until till by before deadline due expires expire ends end latest renews arrive arrives last".split())
TOTALLING = frozenset("total totals totalling altogether sum adds adding".split())
SIGNS = re.compile(r"[=×+−÷]|\d ?[*/x] ?\d")


class Stated(NamedTuple):
    """A value of a source."""

    source: Text
    value: Value


class Named(NamedTuple):
    """A value of the reply, and where it is stated: the reply may reckon with it."""

    own: Value
    stated: Stated


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a value follows: the formula as a line, and the source values used."""

    formula: str
    used: tuple[Stated, ...]


class Sought(NamedTuple):
    """A value to be derived: whether its sentence reckons, and what the reply says next to it.

    `beside` are the other values of its sentence, `lately` also those of the sentence before.
    """

    value: Value
    target: Measure | Dates
    says_so: bool
    beside: Sequence[Value]
    lately: Sequence[Value]

    @property
    def sum(self) -> Measure | None:
        """What it measures, where it is a measure of something and no bare number."""
        return self.target if isinstance(self.target, Measure) and self.target.dimension else None


class Deriver:
    """Looks for derivations from one case's sources; how much it looks at is bounded, whatever the texts hold.

    `stated` are, for each value of the reply, the places that state it: what the reply names it may reckon with.
    """

    def __init__(self, reply: Text, sources: Sequence[Text], stated: Sequence[Sequence[Stated]]) -> None:
        self._reply = reply
        self._tries = MAX_TRIES
        values = islice((Stated(source, value) for source in sources for value in source.values), MAX_VALUES)
        self._values = [each for each in values if not is_range(each.value)]
        pairs = zip(reply.values, stated, strict=False)
        named = [Named(own, places[0]) for own, places in pairs if places and not is_range(own)]
        self._named = named[:MAX_NAMED]
        self._lists = [entry for source in sources for entry in source.lists][:MAX_VALUES]
        self._totalling = [token.start for token in reply.tokens if token.word in TOTALLING]

    def derive(self, value: Value) -> Derivation | None:
        """The first derivation found; single values only.

        Figures that are side by side in a source may be reckoned with. Others only where the reply does: it says so,
        or names them.
        """
        if is_range(value) or not self._tries:
            return None
        self._tries -= 1
        beside, lately = _beside(value, self._reply), _beside(value, self._reply, sentences=2)
        sought = Sought(value, value.readings[0], reckons(self._reply, value), beside, lately)
        rules = (self._listed, self._total, self._paired, self._times, self._priced, self._itemised, self._chained)
        return next((found for rule in rules if (found := rule(sought))), None)

    def miscounted(self, value: Value) -> Derivation | None:
        """What the figures that the reply lists add up to, where it gives another total."""
        target = value.readings[0]
        if is_range(value) or not self._tries or not isinstance(target, Measure) or not self._totals_before(value):
            return None
        near = [named for named in self._named_in(_beside(value, self._reply)) if named.own.end <= value.start]
        measures = [(named.stated, named.stated.value.readings[0]) for named in near]
        listed = [(s, m) for s, m in measures if isinstance(m, Measure) and m.dimension and same_dimension(m, target)]
        sizes = [measure.low for _, measure in listed]
        if len(near) < 2 or len(listed) != len(near) or max(sizes) >= target.low:
            return None
        used = tuple(stated for stated, _ in listed)
        return Derivation(f"{_joined(used)} = {sum(sizes, Decimal(0)):f}", used)

    def _listed(self, sought: Sought) -> Derivation | None:
        """The number of entries of a list that the reply speaks of: `your 3 orders`."""
        value, count = sought.value, _count(sought.value, least=1)
        if count is None or value.kind not in ("number", "quantity"):
            return None
        around = binding(self._reply, value).near | terms_of(self._reply.raw[value.start : value.end])
        keys = (path.rpartition(".")[2] for path, size in self._lists if size == count)
        key = next((key for key in keys if terms_of(INDEXES.sub("", key)) & around), None)
        return Derivation(f"{key} has {count} entries", ()) if key is not None else None

    def _total(self, sought: Sought) -> Derivation | None:
        """The sum of what the reply lists before it, or of one field over a list of records; or what is left."""
        if not sought.says_so or (target := sought.sum) is None:
            return None
        before = [named.stated for named in self._named if named.own.end <= sought.value.start]
        lately = [before[-size:] for size in range(2, len(before) + 1)]
        for series in (*lately, *self._columns(), *self._successive(target)):
            sizes = [size for _, value in series if (size := _size_in(value, target)) is not None]
            total = sum(sizes, Decimal(0))
            if len(sizes) != len(series):
                continue
            for result, sign in ((total, " + "), (2 * sizes[0] - total, " - ")):
                if abs(result - target.low) <= SUM_WITHIN:
                    return Derivation(f"{_joined(series, sign)} = {sought.value.canonical}", tuple(series))
        return None

    def _columns(self) -> list[list[Stated]]:
        """The values of one field over a list of records, or of one column of a table."""
        fields: dict[Hashable, list[Stated]] = defaultdict(list)
        for each in self._values:
            fact = each.source.fact_at(each.value.start)
            if fact and fact.is_cell:
                field = INDEXES.sub("[]", fact.path) if "[" in fact.path else fact.key
                fields[each.source.name, field].append(each)
        return [field for field in fields.values() if len(field) > 1]

    def _successive(self, target: Measure) -> Iterator[list[Stated]]:
        """Three or more values one after the other in one sentence or record."""
        groups: dict[Hashable, list[Stated]] = defaultdict(list)
        for each in self._values:
            if _size_in(each.value, target) is not None:
                fact = each.source.fact_at(each.value.start)
                group = "record" if fact and fact.is_cell else each.source.sentence_at(each.value.start)
                groups[each.source.name, group].append(each)
        for members in groups.values():
            for first in range(min(len(members), MAX_NAMED)):
                for last in range(first + 3, min(len(members), first + MAX_NAMED) + 1):
                    yield members[first:last]

    def _paired(self, sought: Sought) -> Derivation | None:
        for first, second in chain(self._named_pairs(sought), self._neighbours(sought), self._dated(sought)):
            if found := formula_of(sought.value, first.value, second.value):
                return Derivation(found, (first, second))
        return None

    def _named_pairs(self, sought: Sought) -> Iterator[tuple[Stated, Stated]]:
        """Two values that the reply itself states: anywhere where it reckons, else in its sentence."""
        others = [named for named in self._named if named.own is not sought.value]
        for at, one in enumerate(others):
            for other in others[at + 1 :]:
                near = sought.lately if "percent" in (one.own.kind, other.own.kind) else sought.beside
                if sought.says_so or (_is_among(one.own, near) and _is_among(other.own, near)):
                    yield one.stated, other.stated

    def _neighbours(self, sought: Sought) -> Iterator[tuple[Stated, Stated]]:
        """Two values near each other in a source."""
        hints = _speaks_of(self._reply, sought.value, HINTS)
        for at, one in enumerate(self._values):
            for other in islice(self._values, at + 1, at + 1 + NEAR_VALUES):
                first, second = one.value, other.value
                if one.source is not other.source or second.start - first.end > NEAR_CHARS:
                    continue
                hinted = hints or "percent" in (first.kind, second.kind, sought.value.kind)
                close = hinted and _is_close(first, second)
                if sought.says_so or close or any(_is_one_of(value, (first, second)) for value in sought.beside):
                    yield one, other

    def _dated(self, sought: Sought) -> Iterator[tuple[Stated, Stated]]:
        """A day or time so long before or after another, wherever the two are stated; the reply says until when."""
        kind = sought.value.kind
        named = any(value.kind in ("date", "time", "duration") for value in sought.beside)
        if kind not in ("date", "time") or not (named or _speaks_of(self._reply, sought.value, UNTIL)):
            return
        days = [each for each in self._values if each.value.kind == kind]
        spans = [each for each in self._values if each.value.kind == "duration"]
        if len(days) * len(spans) <= MAX_DATED:
            yield from ((day, span) for day in days for span in spans)

    def _times(self, sought: Sought) -> Derivation | None:
        for each in self._values:
            source, first = each
            target, measure = sought.target, first.readings[0]
            if not (isinstance(target, Measure) and isinstance(measure, Measure)) or not _could_be_times(
                target, measure
            ):
                continue
            named = sought.says_so or any(_is_one_of(value, (first,)) for value in sought.beside)
            # A rate times a count is a sum; that it is again so much a month, the reply has to show.
            is_same_rate = bool(measure.qualifier) and measure.qualifier == target.qualifier
            elsewhere = () if is_same_rate else self._values
            near = (v for s, v in elsewhere if named or (s is source and _is_close(first, v)))
            counted = [value for value in chain(sought.beside, near) if value.canonical != first.canonical]
            counts = {*_counts(counted), *((12,) if measure.qualifier == "month" else ())}
            if found := _times_count(target, measure, counts, first.canonical):
                return Derivation(f"{found} = {sought.value.canonical}", (each,))
        return None

    def _priced(self, sought: Sought) -> Derivation | None:
        """So many of one thing and so many of another, each at its price: `two adults and three children`."""
        prices = [each for each in self._values if each.value.kind == sought.value.kind == "money"]
        terms = []
        for own in sought.beside:
            count, noun = _count(own, least=1), own.readings[0]
            if count is not None and isinstance(noun, Measure) and noun.dimension.startswith("count:"):
                thing = noun.dimension.removeprefix("count:")
                price = next((each for each in prices if thing in binding(*each).near), None)
                terms += [(count, price, price.value)] if price else []
        return _sum_of(terms, sought)

    def _itemised(self, sought: Sought) -> Derivation | None:
        """Counts and prices that the reply names in turn: `two adults at £14 and three children at £7.50`."""
        terms: list[tuple[int, Stated, Value]] = []
        count = None
        for own in sought.lately:
            if own.start > sought.value.start:
                break
            if own.kind != "money":
                count = _count(own, least=1, most=MANY)
                continue
            terms += [(count or 1, named.stated, own) for named in self._named_in([own])]
            count = None
        return _sum_of(terms, sought)

    def _chained(self, sought: Sought) -> Derivation | None:
        """A named value some named times, and another added or taken off: `3 nights at £80 and £20 for cleaning`."""
        if (target := sought.sum) is None:
            return None
        named = self._named if sought.says_so else self._named_in(sought.lately)
        sums = [
            (stated, measure)
            for _, stated in named
            if isinstance(measure := stated.value.readings[0], Measure)
            and measure.dimension
            and same_dimension(measure, target)
        ]
        counts = sorted(set(_counts(self._reply.values if sought.says_so else sought.lately)))
        for one, measure in sums:
            for count in counts:
                for other, more in sums:
                    for sign, shown in ((1, "+"), (-1, "-")):
                        a, b, used = one.value.canonical, other.value.canonical, (one, other)
                        if other.value is one.value:
                            continue
                        if abs(measure.low * count + sign * more.low - target.low) <= SUM_WITHIN:
                            return Derivation(f"{count} x {a} {shown} {b} = {sought.value.canonical}", used)
                        if abs((measure.low + sign * more.low) * count - target.low) <= SUM_WITHIN:
                            return Derivation(f"{count} x ({a} {shown} {b}) = {sought.value.canonical}", used)
        return None

    def _totals_before(self, value: Value) -> bool:
        """Whether the value's sentence speaks of a total before it."""
        sentence = self._reply.sentence_at(value.start)
        at = bisect_left(self._totalling, sentence.start) if sentence else len(self._totalling)
        return at < len(self._totalling) and self._totalling[at] < value.start

    def _named_in(self, values: Sequence[Value]) -> list[Named]:
        return [named for named in self._named if _is_among(named.own, values)]


def reckons(reply: Text, value: Value) -> bool:
    """Whether the value's sentence speaks of a sum, a rest, a share or a difference."""
    sentence = reply.sentence_at(value.start)
    if sentence is None:
        return False
    return _speaks_of(reply, value, RECKONING) or SIGNS.search(reply.raw, sentence.start, sentence.end) is not None


def _speaks_of(reply: Text, value: Value, words: frozenset[str]) -> bool:
    return not words.isdisjoint(token.word for token in _sentence_tokens(reply, value))


def _sentence_tokens(reply: Text, value: Value) -> Sequence[Token]:
    sentence = reply.sentence_at(value.start)
    return reply.tokens[sentence.first : sentence.last] if sentence else ()


def _beside(value: Value, reply: Text, *, sentences: int = 1) -> list[Value]:
    """The other values near this one, in its sentence and as many before it as makes `sentences`."""
    at = bisect_right(reply.sentences, value.start, key=START) - 1
    if at < 0:
        return []
    start, end = reply.sentences[max(0, at + 1 - sentences)].start, reply.sentences[at].end
    at = bisect_left(reply.values, value.start, key=START)
    near = reply.values[max(0, at - 3 * sentences) : at + 4]
    return [other for other in near if other is not value and start <= other.start < end]


def _is_among(value: Value, values: Sequence[Value]) -> bool:
    return any(value is other for other in values)


def _is_close(one: Value, other: Value) -> bool:
    return max(one.start, other.start) - min(one.end, other.end) <= CLOSE_CHARS


def _is_one_of(value: Value, others: Sequence[Value]) -> bool:
    return any(value.kind == other.kind and same(value, other) for other in others)


def _size_in(value: Value, target: Measure) -> Decimal | None:
    """The value in the target's unit, in any of its readings."""
    measures = (reading for reading in value.readings if isinstance(reading, Measure) and reading.dimension)
    return next((measure.low for measure in measures if same_dimension(measure, target)), None)


def _joined(stated: Iterable[Stated], sign: str = " + ") -> str:
    return sign.join(value.canonical for _, value in stated)


def _sum_of(terms: Sequence[tuple[int, Stated, Value]], sought: Sought) -> Derivation | None:
    """So many of each value, where that makes up the sum of money that is sought; each as `shown`."""
    target = sought.target
    measures = [(count, shown.readings[0]) for count, _, shown in terms]
    sizes = [count * measure.low for count, measure in measures if isinstance(measure, Measure)]
    if not terms or sought.value.kind != "money" or not isinstance(target, Measure):
        return None
    if abs(sum(sizes, Decimal(0)) - target.low) > SUM_WITHIN:
        return None
    formula = " + ".join(f"{count} x {shown.canonical}" for count, _, shown in terms)
    return Derivation(f"{formula} = {sought.value.canonical}", tuple(stated for _, stated, _ in terms))


def _counts(values: Iterable[Value]) -> Iterator[int]:
    """The small whole numbers that are spoken of."""
    return (count for value in values if (count := _count(value)) is not None)


def _count(value: Value, *, least: int = 2, most: int = MAX_COUNT) -> int | None:
    if not isinstance(value.readings[0], Measure) or value.kind not in ("number", "quantity", "duration"):
        return None
    written = value.canonical.split()[0].split("/")[0]
    fits = not is_range(value) and written.isdecimal() and least <= int(written) <= most
    return int(written) if fits else None


def _could_be_times(target: Measure, measure: Measure) -> bool:
    """Whether a measure could be some times another: of the same sort, and neither a bare number."""
    return bool(measure.low and measure.dimension and target.dimension) and same_dimension(target, measure)


def _times_count(target: Measure, measure: Measure, counts: Collection[int], shown: str) -> str | None:
    for count in sorted(counts):
        if abs(measure.low * count - target.low) <= SUM_WITHIN:
            return f"{count} x {shown}"
        if abs(measure.low / count - target.low) <= PART_WITHIN and target.low:
            return f"{shown} / {count}"
    return None
