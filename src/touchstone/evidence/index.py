"""Sources -> an index of their values: a reply's value finds its equals and rivals without trying them all."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from touchstone.core.reading import Day, Measure, Text, Value
from touchstone.evidence.equality import comparable, end_of, is_range, same
from touchstone.evidence.places import attribute

# More source values around the same terms, or equal to one value, are not looked at: they would only repeat the first.
MAX_LOOKS = 100


class Place(NamedTuple):
    """A value in a source."""

    source: Text
    value: Value


class Index:
    """The values of all sources by what they say and by the terms around them."""

    def __init__(self, sources: Sequence[Text]) -> None:
        self._by_key: dict[Hashable, list[Place]] = defaultdict(list)
        self._by_term: dict[str, list[Place]] = defaultdict(list)
        for source in sources:
            for value in source.values:
                self._add(Place(source, value))

    def _add(self, place: Place) -> None:
        for key in set(_all_keys(place.value)):
            self._by_key[key].append(place)
        for term in attribute(place.source, place.value, whole_sentence=True):
            self._by_term[term].append(place)

    def stating(self, value: Value) -> list[Place]:
        """The places that state the value, in order; a single value also as one end of a range."""
        places: dict[int, Place] = {}
        for key in dict.fromkeys(_own_keys(value)):
            places |= {id(place.value): place for place in self._by_key.get(key, ())[:MAX_LOOKS]}
        return [place for place in places.values() if _states(place.value, value)]

    def rivals(self, value: Value, terms: frozenset[str]) -> list[Place]:
        """The places around which any of the terms stands and whose value could contradict this one."""
        places: dict[int, Place] = {}
        for term in sorted(terms):
            places |= {id(place.value): place for place in self._by_term.get(term, ())[:MAX_LOOKS]}
        return [place for place in places.values() if comparable(value, place.value)]


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
