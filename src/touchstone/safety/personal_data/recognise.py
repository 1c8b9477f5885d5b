"""Text -> personal data: names, postal addresses, contacts, cards, accounts, identity numbers, birth dates, IPs."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache

from touchstone.safety.personal_data.addresses import find_addresses
from touchstone.safety.personal_data.datum import Datum
from touchstone.safety.personal_data.lexicon import pieces
from touchstone.safety.personal_data.names import find_names
from touchstone.safety.personal_data.numbers import find_numbers

MAX_NEAR = 20


@lru_cache(maxsize=512)
def recognise(text: str) -> tuple[Datum, ...]:
    """All personal data in order, none overlapping another; help-centre passages recur, so recent texts are kept."""
    numbers = find_numbers(text)
    parts = pieces(text)
    addresses = apart(find_addresses(text, parts), [datum for datum in numbers if datum.kind != "phone"])
    numbers = apart(numbers, addresses)
    names = apart(find_names(text, parts), [*numbers, *addresses])
    return tuple(sorted([*numbers, *addresses, *names], key=lambda datum: datum.start))


def preceding(text: str, datum: Datum, *, within: int) -> Iterator[Datum]:
    """The data that end before this one, at most so many characters before, the nearest first."""
    data = recognise(text)
    at = bisect_left(data, datum.start, key=lambda other: other.start)
    for other in reversed(data[max(0, at - MAX_NEAR) : at]):
        if datum.start - other.end > within:
            return
        if other.end <= datum.start:
            yield other


def apart(found: Iterable[Datum], taken: Iterable[Datum]) -> list[Datum]:
    """Those of the found that overlap nothing taken; what is taken does not overlap itself."""
    spans = sorted((other.start, other.end) for other in taken)
    kept = []
    for datum in found:
        at = bisect_left(spans, (datum.end, 0))
        if at == 0 or spans[at - 1][1] <= datum.start:
            kept.append(datum)
    return kept
