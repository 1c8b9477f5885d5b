"""Sources -> an index of their values: a reply's value finds its equals and contradictions without trying them all."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from touchstone.core.reading import Day, Measure, Text, Value
from touchstone.core.result import Evidence
from touchstone.evidence.equality import comparable, end_of, is_range, same
from touchstone.evidence.places import Binding, binding
from touchstone.text.structure import terms_of
from touchstone.text.tokens import term

# More source values around the same terms, or equal to one value, are not looked at: they would only repeat the first.
MAX_LOOKS = 100
# What is rounded is looked for among so many source values.
MAX_COMPARED = 2000
FIGURES = re.compile(r"\d+")
NAMING = "id ids number zip postcode phone mobile code sku imei iban ref reference four address street dob birth"
IDENTIFYING = frozenset(map(term, NAMING.split()))


class ValuePlace(NamedTuple):
    """A value in a source, and what it is a value of; `path` and `key` name its field or cell."""

    source: Text
    value: Value
    binding: Binding
    path: str | None = None
    key: str = ""
    label: frozenset[str] = frozenset()
    is_cell: bool = False

    @classmethod
    def of(cls, source: Text, value: Value) -> "ValuePlace":
        bound, fact = binding(source, value), source.fact_at(value.start)
        if fact is None:
            return cls(source, value, bound)
        return cls(source, value, bound, fact.path or None, fact.key, fact.label, fact.is_cell)

    @property
    def shape(self) -> str:
        """The kind of field, whatever the numbers in its path; the cells of a table are of one kind."""
        path = self.path or ""
        return f"{self.source.name} table" if " › " in path else FIGURES.sub("#", path)

    @property
    def names(self) -> bool:
        """Whether the field holds what something is called by: an id, a postcode, a phone number."""
        return self.is_cell and not IDENTIFYING.isdisjoint(terms_of(self.key))

    @property
    def shown(self) -> str:
        return self.source.raw[self.value.start : self.value.end]

    @property
    def where(self) -> str:
        return f"{self.source.name} {self.path}" if self.path else self.source.name

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.source.name, self.value.start, self.value.end, self.shown, self.path)


class Index:
    """The values of all sources by what they say and by the terms around them."""

    def __init__(self, sources: Sequence[Text]) -> None:
        self._by_key: dict[Hashable, list[ValuePlace]] = defaultdict(list)
        self._by_term: dict[str, list[ValuePlace]] = defaultdict(list)
        self._by_shape: dict[str, list[ValuePlace]] = defaultdict(list)
        self._places = [ValuePlace.of(source, value) for source in sources for value in source.values]
        for place in self._places:
            for key in set(_all_keys(place.value)):
                self._by_key[key].append(place)
            if place.names:
                continue
            for each in place.binding.around:
                self._by_term[each].append(place)
            if place.is_cell:
                self._by_shape[place.shape].append(place)

    def stating(self, value: Value) -> list[ValuePlace]:
        """The places that state the value, in order; a single value also as one end of a range."""
        places = _first(self._by_key.get(key, ()) for key in dict.fromkeys(_own_keys(value)))
        return [place for place in places if _states(place.value, value)]

    def differing(self, value: Value, terms: frozenset[str]) -> list[ValuePlace]:
        """The places with any of the terms around them whose value could contradict this one."""
        places = _first(self._by_term.get(each, ()) for each in sorted(terms))
        return [place for place in places if _could_contradict(value, place)]

    def siblings(self, place: ValuePlace) -> list[ValuePlace]:
        """The same field of other records, where the place is a field: values of its sort, whatever their unit."""
        places = self._by_shape.get(place.shape, ())[:MAX_LOOKS] if place.is_cell else ()
        return [other for other in places if other.key == place.key and other.value.kind == place.value.kind]

    def comparable(self, value: Value) -> list[ValuePlace]:
        """The places whose value could be this one in round figures."""
        return [place for place in self._places[:MAX_COMPARED] if _could_contradict(value, place)]


def _first(found: Iterable[Sequence[ValuePlace]]) -> Iterable[ValuePlace]:
    """The first places of each list, each place once."""
    return {id(place.value): place for places in found for place in places[:MAX_LOOKS]}.values()


def _could_contradict(value: Value, place: ValuePlace) -> bool:
    if not place.is_cell:
        return comparable(value, place.value)
    return comparable(_first_reading(value), _first_reading(place.value))


def _first_reading(value: Value) -> Value:
    """What a value is before all: the price in a record may be read as a bare number, and contradicts none."""
    return value if len(value.readings) == 1 else replace(value, readings=value.readings[:1])


def _states(stated: Value, value: Value) -> bool:
    return same(value, stated) or (not is_range(value) and is_range(stated) and end_of(value, stated))


def _own_keys(value: Value) -> Iterator[Hashable]:
    """Keys one of which a source value must have to be the same: its figures, or the finest part of its date."""
    for reading in value.readings:
        if isinstance(reading, Measure):
            yield from _figure_keys(reading)
        else:
            yield next(_day_keys(reading.first), "weekday")


def _all_keys(value: Value) -> Iterator[Hashable]:
    """Every key under which a value of a reply could look for this one."""
    for reading in value.readings:
        if isinstance(reading, Measure):
            yield from _figure_keys(reading)
            continue
        for day in (reading.first, reading.last):
            yield from _day_keys(day)
            if day.year and day.month and day.day:
                yield "weekday"


def _figure_keys(reading: Measure) -> Iterator[Hashable]:
    for figure in (reading.low, reading.high):
        yield figure
        if reading.dimension == "%":
            yield "%", round(figure)


def _day_keys(day: Day) -> Iterator[Hashable]:
    """The parts of a day that are known, the finest first."""
    if day.day is not None:
        yield "day", day.day
    if day.month is not None:
        yield "month", day.month
    if day.year is not None:
        yield day.year
    if day.weekday is not None:
        yield "weekday"
