"""Rows and the fields to stratify by -> a sample with every stratum's share, and at least one of each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from touchstone.core.errors import ConfigError
from touchstone.stats.sampling import stratified_sample

NONE = "(none)"
_BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class Stratum:
    """One stratum: the value of each field, how many rows it has and how many of them were drawn."""

    values: tuple[str, ...]
    rows: int
    drawn: int

    @property
    def name(self) -> str:
        return _BETWEEN.join(self.values)


@dataclass(frozen=True, slots=True)
class StratifiedSample:
    """Which rows were drawn, by position and in order, and from which strata. `lacking` counts rows without a field."""

    fields: tuple[str, ...]
    drawn: tuple[int, ...]
    rows: int
    strata: tuple[Stratum, ...]
    lacking: Mapping[str, int]


def draw(rows: Sequence[Mapping[str, Any]], *, n: int, by: Sequence[str], seed: int) -> StratifiedSample:
    """n rows by largest remainder, the same for the same seed; all of them when there are no more than n."""
    check_fields(rows, by=by)
    strata = [tuple(_value(row.get(name)) for name in by) for row in rows]
    sizes = Counter(strata)
    if n < min(len(sizes), len(rows)):
        raise ConfigError(
            f"--n {n} is fewer than the {len(sizes)} strata by {' and '.join(by)}: "
            f"give at least {len(sizes)}, or stratify by fewer fields"
        )
    drawn = tuple(stratified_sample(strata, n, seed=seed))
    counts = Counter(strata[at] for at in drawn)
    lacking = {name: sum(_value(row.get(name)) == NONE for row in rows) for name in by}
    return StratifiedSample(
        fields=tuple(by),
        drawn=drawn,
        rows=len(rows),
        strata=tuple(Stratum(values, size, counts[values]) for values, size in sorted(sizes.items())),
        lacking={name: count for name, count in lacking.items() if count},
    )


def check_fields(rows: Sequence[Mapping[str, Any]], *, by: Sequence[str]) -> None:
    """ConfigError when no row has a field, with the nearest one that some have."""
    known = list(dict.fromkeys(name for row in rows for name in row))
    for name in by:
        if name in known:
            continue
        near = get_close_matches(name, known, n=1) or get_close_matches(name.lower(), known, n=1)
        hint = f"nearest is '{near[0]}'" if near else f"the fields are {', '.join(known)}"
        raise ConfigError(f"--by {name}: no row has that field; {hint}")


def _value(value: Any) -> str:
    """A field's value as the name of a stratum; one that is not given has a stratum of its own."""
    return NONE if value is None else str(value).strip() or NONE
