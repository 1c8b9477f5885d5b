"""Sources -> an index of their values: a reply's value finds its equals and rivals without trying them all."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from touchstone.core.reading import Day, Measure, Text, Value
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
    path: str | None
    key: str
    label: frozenset[str]
    is_cell: bool

    @classmethod
    def of(cls, source: Text, value: Value) -> "ValuePlace":
        fact = source.fact_at(value.start)
        if fact is None:
            return cls(source, value, binding(source, value), None, "", frozenset(), is_cell=False)
        return cls(source, value, binding(source, value), fact.path or None, fact.key, fact.label, fact.is_cell)

    @property
    def shape(self) -> str:
        """The kind of field, whatever the numbers in its path; the cells of a table are of one kind."""
        path = self.path or ""
        return f"{self.source.name} table" if " › " in path else FIGURES.sub("#", path)

    @property
    def names(self) -> bool:
        """Whether the field holds what something is called by: an id, a postcode, a phone number."""
        return self.is_cell and not IDENTIFYING.isdisjoint(terms_of(self.key))


class Index:
    """The values of all sources by what they say and by the terms around them."""

    def __init__(self, sources: Sequence[Text]) -> None:
        self._by_key: dict[Hashable, list[ValuePlace]] = defaultdict(list)
        self._by_term: dict[str, list[ValuePlace]] = defaultdict(list)
        self._by_shape: dict[str, list[ValuePlace]] = defaultdict(list)
        self._places: list[ValuePlace] = []
        for source in sources:
            for value in source.values:
                self._add(ValuePlace.of(source, value))

    def _add(self, place: ValuePlace) -> None:
        self._places.append(place)
        if place.is_cell and not place.names:
            self._by_shape[place.shape].append(place)
        for key in set(_all_keys(place.value)):
            self._by_key[key].append(place)
        if not place.names:
            for each in place.binding.around:
                self._by_term[each].append(place)

    def stating(self, value: Value) -> list[ValuePlace]:
        """The places that state the value, in order; a single value also as one end of a range."""
        places: dict[int, ValuePlace] = {}
        for key in dict.fromkeys(_own_keys(value)):
            places |= {id(place.value): place for place in self._by_key.get(key, ())[:MAX_LOOKS]}
        return [place for place in places.values() if _states(place.value, value)]

    def rivals(self, value: Value, terms: frozenset[str]) -> list[ValuePlace]:
        """The places around which any of the terms stands and whose value could contradict this one."""
        places: dict[int, ValuePlace] = {}
        for each in sorted(terms):
            places |= {id(place.value): place for place in self._by_term.get(each, ())[:MAX_LOOKS]}
        return [place for place in places.values() if _could_contradict(value, place)]

    def siblings(self, place: ValuePlace) -> list[ValuePlace]:
        """The same field of other records, where the place is a field: values of its sort, whatever their unit."""
        places = self._by_shape.get(place.shape, ())[:MAX_LOOKS] if place.is_cell else ()
        return [other for other in places if other.key == place.key and other.value.kind == place.value.kind]

    def comparable(self, value: Value) -> list[ValuePlace]:
        """The places whose value could be this one in round figures."""
        return [place for place in self._places[:MAX_COMPARED] if _could_contradict(value, place)]


def _could_contradict(value: Value, place: ValuePlace) -> bool:
    if not place.is_cell:
        return comparable(value, place.value)
    return comparable(_first_reading(value), _first_reading(place.value))


def _first_reading(value: Value) -> Value:
    """What a value is before all: the price in a record may be read as a bare number, and is no rival of one."""
    return value if len(value.readings) == 1 else replace(value, readings=value.readings[:1])


def _states(stated: Value, value: Value) -> bool:
    return same(value, stated) or (not is_range(value) and is_range(stated) and end_of(value, stated))


def _own_keys(value: Value) -> Iterator[Hashable]:
    """Keys one of which a source value must have to be the same: its figures, or the finest part of its date."""
    for reading in value.readings:
        if isinstance(reading, Measure):
            yield from _figure_keys(reading)
        else:
            yield _finest(reading.first)


def _all_keys(value: Value) -> Iterator[Hashable]:
    """Every key under which a value of a reply could look for this one."""
    for reading in value.readings:
        if isinstance(reading, Measure):
            yield from _figure_keys(reading)
            continue
        for day in (reading.first, reading.last):
            yield from _day_keys(day)


def _figure_keys(reading: Measure) -> Iterator[Hashable]:
    for figure in (reading.low, reading.high):
        yield figure
        if reading.dimension == "%":
            yield "%", round(figure)


def _finest(day: Day) -> Hashable:
    if day.day is not None:
        return "day", day.day
    if day.month is not None:
        return "month", day.month
    return day.year if day.year is not None else "weekday"


def _day_keys(day: Day) -> Iterator[Hashable]:
    if day.day is not None:
        yield "day", day.day
    if day.month is not None:
        yield "month", day.month
    if day.year is not None:
        yield day.year
    if day.weekday is not None or (day.year and day.month and day.day):
        yield "weekday"
