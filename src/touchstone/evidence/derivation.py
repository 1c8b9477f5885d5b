"""A value no source states -> the arithmetic that gives it from values that the sources state, if there is any."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from touchstone.core.reading import Measure, Text, Value
from touchstone.evidence.arithmetic import CENT, formula_of, size_in
from touchstone.evidence.equality import is_range, same, same_dimension
from touchstone.evidence.places import binding, sentence_at
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
# Words that speak of a rest or a difference: enough for two figures that stand side by side.
HINTS = frozenset(
    "outstanding overcharged undercharged quicker faster slower longer shorter whole used away leaves gross net owe "
    "owed with between higher lower now".split()
)
# Words that tell when something ends or comes about.
UNTIL = frozenset("until till by before deadline due expires expire ends end latest renews arrive arrives last".split())
TOTALLING = frozenset("total totals totalling altogether sum adds adding".split())
SIGNS = re.compile(r"[=×+−÷]|\d ?[*/x] ?\d")


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a value follows: the formula as a line, and the source values used."""

    formula: str
    used: tuple[tuple[Text, Value], ...]


Stated = tuple[Text, Value]


class Deriver:
    """Looks for derivations from one case's sources; how much it looks at is bounded, whatever the texts hold.

    `stated` are, for each value of the reply, the places that state it: what the reply names it may reckon with.
    """

    def __init__(self, reply: Text, sources: Sequence[Text], stated: Sequence[Sequence[Stated]]) -> None:
        self._reply = reply
        self._tries = MAX_TRIES
        values = islice(((source, value) for source in sources for value in source.values), MAX_VALUES)
        self._values = [(source, value) for source, value in values if not is_range(value)]
        self._named = [
            (own, places[0][0], places[0][1])
            for own, places in zip(reply.values, stated, strict=False)
            if places and not is_range(own)
        ][:MAX_NAMED]
        self._lists = [(source, path, count) for source in sources for path, count in source.lists][:MAX_VALUES]

    def derive(self, value: Value) -> Derivation | None:
        """The first derivation found; single values only.

        Figures that stand side by side in a source may be reckoned with. Others only where the reply does: it says so,
        or names them.
        """
        if is_range(value) or not self._tries:
            return None
        self._tries -= 1
        says_so = reckons(self._reply, value)
        return (
            self._listed(value)
            or (self._total(value) if says_so else None)
            or self._of_named(value, says_so=says_so)
            or self._of_neighbours(value, says_so=says_so)
            or self._of_dates(value)
            or self._times(value, says_so=says_so)
            or self._priced(value)
            or self._itemised(value)
            or self._chained(value, says_so=says_so)
        )

    def _listed(self, value: Value) -> Derivation | None:
        """The number of entries of a list that the reply speaks of: `your 3 orders`."""
        count = _count(value, least=1)
        around = binding(self._reply, value).near | terms_of(self._reply.raw[value.start : value.end])
        if count is None or value.kind not in ("number", "quantity"):
            return None
        for _, path, size in self._lists:
            key = path.rpartition(".")[2]
            if size == count and terms_of(INDEXES.sub("", key)) & around:
                return Derivation(f"{key} has {size} entries", ())
        return None

    def miscounted(self, value: Value) -> Derivation | None:
        """What the figures that the reply lists add up to, where it gives another total."""
        target = value.readings[0]
        sentence = sentence_at(self._reply, value.start)
        if is_range(value) or not self._tries or sentence is None or not isinstance(target, Measure):
            return None
        words = {
            token.word for token in self._reply.tokens[sentence.first : sentence.last] if token.start < value.start
        }
        near = [id(own) for own in _beside(value, self._reply)]
        listed = [(s, v) for own, s, v in self._named if id(own) in near and own.end <= value.start]
        measures = [v.readings[0] for _, v in listed]
        if TOTALLING.isdisjoint(words) or len(listed) < 2:
            return None
        sizes = [m.low for m in measures if isinstance(m, Measure) and m.dimension and same_dimension(m, target)]
        if len(sizes) != len(listed) or max(sizes) >= target.low:
            return None
        return Derivation(f"{' + '.join(v.canonical for _, v in listed)} = {sum(sizes, Decimal(0)):f}", tuple(listed))

    def _total(self, value: Value) -> Derivation | None:
        """The sum of what the reply lists before it, or of one field over a list of records."""
        target = value.readings[0]
        if not isinstance(target, Measure) or not target.dimension:
            return None
        before = [(own, source, stated) for own, source, stated in self._named if own.end <= value.start]
        runs = [[(source, stated) for _, source, stated in before[-size:]] for size in range(2, len(before) + 1)]
        fields: dict[tuple[str, str], list[Stated]] = {}
        for source, stated in self._values:
            fact = source.fact_at(stated.start)
            if fact and fact.is_cell:
                fields.setdefault(
                    (source.name, INDEXES.sub("[]", fact.path) if "[" in fact.path else fact.key), []
                ).append((source, stated))
        columns = [field for field in fields.values() if len(field) > 1]
        for run in (*runs, *columns, *self._neighbours(target)):
            sizes = [size for _, stated in run if (size := size_in(stated, target)) is not None]
            if len(sizes) != len(run):
                continue
            shown = [stated.canonical for _, stated in run]
            if abs(sum(sizes, Decimal(0)) - target.low) < CENT:
                return Derivation(f"{' + '.join(shown)} = {value.canonical}", tuple(run))
            if abs(2 * sizes[0] - sum(sizes, Decimal(0)) - target.low) < CENT:
                return Derivation(f"{' - '.join(shown)} = {value.canonical}", tuple(run))
        return None

    def _neighbours(self, target: Measure) -> Iterator[list[Stated]]:
        """Three or more values one after the other in one sentence or record."""
        groups: dict[tuple[str, object], list[Stated]] = {}
        for source, stated in self._values:
            if size_in(stated, target) is not None:
                fact = source.fact_at(stated.start)
                group = "record" if fact and fact.is_cell else sentence_at(source, stated.start)
                groups.setdefault((source.name, group), []).append((source, stated))
        for members in groups.values():
            for first in range(min(len(members), MAX_NAMED)):
                for last in range(first + 3, min(len(members), first + MAX_NAMED) + 1):
                    yield members[first:last]

    def _of_named(self, value: Value, *, says_so: bool) -> Derivation | None:
        """From two values that the reply itself states: anywhere where it reckons, else in its sentence."""
        beside = {id(own) for own in _beside(value, self._reply)}
        lately = {id(own) for own in _beside(value, self._reply, sentences=2)}
        for at, (own, source, first) in enumerate(self._named):
            for other, second_source, second in self._named[at + 1 :]:
                reach = lately if "percent" in (own.kind, other.kind) else beside
                near = id(own) in reach and id(other) in reach
                if (
                    own is not value
                    and other is not value
                    and (near or says_so)
                    and (found := formula_of(value, first, second))
                ):
                    return Derivation(found, ((source, first), (second_source, second)))
        return None

    def _of_neighbours(self, value: Value, *, says_so: bool) -> Derivation | None:
        hints = _speaks_of(self._reply, value, HINTS)
        beside = _beside(value, self._reply)
        for (source, first), (other, second) in self._pairs():
            close = _is_close(first, second) and (hints or "percent" in (first.kind, second.kind, value.kind))
            if source is not other or not (says_so or close or any(_is_one_of(b, (first, second)) for b in beside)):
                continue
            if found := formula_of(value, first, second):
                return Derivation(found, ((source, first), (source, second)))
        return None

    def _of_dates(self, value: Value) -> Derivation | None:
        """A day or time so long before or after another, wherever the two are stated; the reply says until when."""
        named = any(each.kind in ("date", "time", "duration") for each in _beside(value, self._reply))
        if value.kind not in ("date", "time") or not (named or _speaks_of(self._reply, value, UNTIL)):
            return None
        days = [each for each in self._values if each[1].kind == value.kind]
        spans = [each for each in self._values if each[1].kind == "duration"]
        if len(days) * len(spans) > MAX_DATED:
            return None
        for day in days:
            for span in spans:
                if found := formula_of(value, day[1], span[1]):
                    return Derivation(found, (day, span))
        return None

    def _times(self, value: Value, *, says_so: bool) -> Derivation | None:
        beside = _beside(value, self._reply)
        for source, first in self._values:
            if not _could_be_times(value, first):
                continue
            named = says_so or any(_is_one_of(b, (first,)) for b in beside)
            # A rate times a count is a sum; that it is again so much a month, the reply has to show.
            elsewhere = () if _is_same_rate(value, first) else self._values
            counts = _counts([*beside, *(v for s, v in elsewhere if named or (s is source and _is_close(first, v)))])
            if found := _times_count(value, first, counts):
                return Derivation(found, ((source, first),))
        return None

    def _priced(self, value: Value) -> Derivation | None:
        """So many of one thing and so many of another, each at its price: `two adults and three children`."""
        target = value.readings[0]
        if not isinstance(target, Measure) or value.kind != "money":
            return None
        used: list[Stated] = []
        total, shown = Decimal(0), []
        for own in _beside(value, self._reply):
            count, noun = _count(own, least=1), own.readings[0]
            if count is None or not isinstance(noun, Measure) or not noun.dimension.startswith("count:"):
                continue
            price = next((each for each in self._values if each[1].kind == "money" and _is_of(each, noun)), None)
            if price is not None and isinstance(price[1].readings[0], Measure):
                used.append(price)
                total += count * price[1].readings[0].low
                shown.append(f"{count} x {price[1].canonical}")
        return (
            Derivation(f"{' + '.join(shown)} = {value.canonical}", tuple(used))
            if used and total == target.low
            else None
        )

    def _itemised(self, value: Value) -> Derivation | None:
        """Counts and prices that the reply names in turn: `two adults at £14 and three children at £7.50`."""
        target = value.readings[0]
        if not isinstance(target, Measure) or value.kind != "money":
            return None
        stated = {id(own): (source, v) for own, source, v in self._named}
        total, shown, used, count = Decimal(0), [], [], None
        for own in _beside(value, self._reply, sentences=2):
            if own.start > value.start:
                break
            if own.kind != "money":
                count = _count(own, least=1, most=MANY)
                continue
            price = own.readings[0]
            if id(own) in stated and isinstance(price, Measure):
                total += (count or 1) * price.low
                shown.append(f"{count or 1} x {own.canonical}")
                used.append(stated[id(own)])
            count = None
        is_sum = bool(used) and abs(total - target.low) < CENT
        return Derivation(f"{' + '.join(shown)} = {value.canonical}", tuple(used)) if is_sum else None

    def _chained(self, value: Value, *, says_so: bool) -> Derivation | None:
        """A named value some named times, and another added or taken off: `3 nights at £80 and £20 for cleaning`."""
        target = value.readings[0]
        if not isinstance(target, Measure) or not target.dimension:
            return None
        near = [id(own) for own in _beside(value, self._reply, sentences=2)]
        named = [(s, v, v.readings[0]) for own, s, v in self._named if says_so or id(own) in near]
        sums = [(s, v, m) for s, v, m in named if isinstance(m, Measure) and m.dimension and same_dimension(m, target)]
        counts = {c for own in self._reply.values if (says_so or id(own) in near) and (c := _count(own)) is not None}
        for source, first, measure in sums:
            for count in sorted(counts):
                for other_source, second, more in sums:
                    for sign, shown in ((1, "+"), (-1, "-")):
                        if second is first:
                            continue
                        used = ((source, first), (other_source, second))
                        if abs(measure.low * count + sign * more.low - target.low) < CENT:
                            formula = f"{count} x {first.canonical} {shown} {second.canonical} = {value.canonical}"
                            return Derivation(formula, used)
                        if abs((measure.low + sign * more.low) * count - target.low) < CENT:
                            formula = f"{count} x ({first.canonical} {shown} {second.canonical}) = {value.canonical}"
                            return Derivation(formula, used)
        return None

    def _pairs(self) -> Iterator[tuple[Stated, Stated]]:
        for at, first in enumerate(self._values):
            for second in islice(self._values, at + 1, at + 1 + NEAR_VALUES):
                if second[1].start - first[1].end <= NEAR_CHARS:
                    yield first, second


def _speaks_of(reply: Text, value: Value, words: frozenset[str]) -> bool:
    sentence = sentence_at(reply, value.start)
    said = [token.word for token in reply.tokens[sentence.first : sentence.last]] if sentence else []
    return not words.isdisjoint(said)


def reckons(reply: Text, value: Value) -> bool:
    """Whether the value's sentence speaks of a sum, a rest, a share or a difference."""
    sentence = sentence_at(reply, value.start)
    if sentence is None:
        return False
    return _speaks_of(reply, value, RECKONING) or SIGNS.search(reply.raw, sentence.start, sentence.end) is not None


def _is_close(one: Value, other: Value) -> bool:
    return max(one.start, other.start) - min(one.end, other.end) <= CLOSE_CHARS


def _is_one_of(value: Value, others: Sequence[Value]) -> bool:
    return any(value.kind == other.kind and same(value, other) for other in others)


def _beside(value: Value, reply: Text, *, sentences: int = 1) -> list[Value]:
    """The other values near this one, in its sentence and as many before it as makes `sentences`."""
    at = bisect_right(reply.sentences, value.start, key=lambda s: s.start) - 1
    if at < 0:
        return []
    start, end = reply.sentences[max(0, at + 1 - sentences)].start, reply.sentences[at].end
    at = bisect_left(reply.values, value.start, key=lambda v: v.start)
    near = reply.values[max(0, at - 3 * sentences) : at + 4]
    return [v for v in near if v is not value and start <= v.start < end]


def _is_of(price: Stated, counted: Measure) -> bool:
    """Whether a price is that of the thing counted."""
    return counted.dimension.removeprefix("count:") in binding(*price).near


def _counts(values: Iterable[Value]) -> dict[int, list[Value]]:
    """The small whole numbers that are spoken of, and where."""
    counts: dict[int, list[Value]] = {}
    for value in values:
        if (count := _count(value)) is not None:
            counts.setdefault(count, []).append(value)
    return counts


def _count(value: Value, *, least: int = 2, most: int = MAX_COUNT) -> int | None:
    measure = value.readings[0]
    if not isinstance(measure, Measure) or value.kind not in ("number", "quantity", "duration") or is_range(value):
        return None
    written = value.canonical.split()[0].split("/")[0]
    return int(written) if written.isdecimal() and least <= int(written) <= most else None


def _is_same_rate(value: Value, first: Value) -> bool:
    target, measure = value.readings[0], first.readings[0]
    both = isinstance(target, Measure) and isinstance(measure, Measure)
    return both and bool(measure.qualifier) and measure.qualifier == target.qualifier  # type: ignore[union-attr]


def _could_be_times(value: Value, first: Value) -> bool:
    """Whether a value could be some times another: of the same sort, and neither a bare number."""
    target, measure = value.readings[0], first.readings[0]
    if not (isinstance(target, Measure) and isinstance(measure, Measure)) or is_range(first) or not measure.low:
        return False
    return same_dimension(target, measure) and "" not in (measure.dimension, target.dimension)


def _times_count(value: Value, first: Value, counts: Mapping[int, list[Value]]) -> str | None:
    target, measure = value.readings[0], first.readings[0]
    assert isinstance(target, Measure)
    assert isinstance(measure, Measure)
    others = {count for count, values in counts.items() if any(v.canonical != first.canonical for v in values)}
    for count in sorted(others | ({12} if measure.qualifier == "month" else set())):
        if abs(measure.low * count - target.low) < CENT:
            return f"{count} x {first.canonical} = {value.canonical}"
        if abs(measure.low / count - target.low) <= CENT and target.low:
            return f"{first.canonical} / {count} = {value.canonical}"
    return None
