"""Records -> Patterns: what goes wrong, how often, where more than elsewhere, and who could cure it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from touchstone.runs.counts import Counts, count, named
from touchstone.runs.omissions import Owner
from touchstone.runs.record import Record
from touchstone.stats.distributions import benjamini_hochberg, fisher_greater

# One reply is an incident, not a pattern of a category.
MIN_COUNT = 2
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Concentration:
    """A category in which a pattern is more frequent than in the others, by an exact test.

    `lift` is the rate in the category over the rate elsewhere (None when it occurs nowhere else);
    `q` is the p-value corrected for the number of comparisons, and `significant` whether it is at most 5 %.
    Several drafts of a case are counted each, and tested as one: the case has the tag if a draft has it.
    """

    category: str
    count: int
    replies: int
    lift: float | None
    p: float
    q: float
    significant: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    """One tag over all failed replies: count, share of the failed, owner, categories and example ids."""

    name: str
    count: int
    share: float
    owner: Owner
    owners: tuple[tuple[Owner, int], ...]
    concentrations: tuple[Concentration, ...]
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Cases:
    """How many cases of each category were scored, and how many of them have each tag."""

    scored: Counter[str | None]
    tagged: Mapping[str, Counter[str | None]]


def find_patterns(records: Sequence[Record]) -> tuple[Pattern, ...]:
    """The patterns of a run, the most frequent first."""
    members: dict[str, set[tuple[str | None, str]]] = defaultdict(set)
    for record in records:
        for tag in record.tags if record.fails else ():
            members[tag.name].add((record.category, record.id))
    scored = {(record.category, record.id) for record in records if not record.failed}
    tagged = {name: Counter(category for category, _ in cases) for name, cases in members.items()}
    return _patterns(count(records), _Cases(Counter(category for category, _ in scored), tagged))


def count_patterns(counts: Counts) -> tuple[Pattern, ...]:
    """The patterns of counted replies, each taken for a case of its own."""
    scored = counts.by_category(lambda table: table["replies"] - table["failed"])
    return _patterns(counts, _Cases(scored, {name: _by_category(counts, name) for name in counts.examples}))


def _patterns(counts: Counts, cases: _Cases) -> tuple[Pattern, ...]:
    found = _concentrations(counts, cases)
    frequency = named(counts.results, "tag/")
    patterns = []
    for name, examples in counts.examples.items():
        owners = Counter(named(counts.replies, f"owner/{name}/")).most_common()
        patterns.append(
            Pattern(
                name=name,
                count=frequency[name],
                share=frequency[name] / counts.results["fails"],
                owner=cast(Owner, owners[0][0]),
                owners=tuple((cast(Owner, owner), number) for owner, number in owners),
                concentrations=tuple(found[name]),
                examples=tuple(examples.items()),
            )
        )
    return tuple(sorted(patterns, key=lambda pattern: (-pattern.count, pattern.name)))


def _by_category(counts: Counts, tag: str) -> Counter[str | None]:
    return counts.by_category(lambda table: table[f"tag/{tag}"])


def _concentrations(counts: Counts, cases: _Cases) -> dict[str, list[Concentration]]:
    """For each tag the categories in which it is more frequent than elsewhere, the surest first.

    Every pair of tag and category counts as a comparison, also those that show nothing.
    """
    tested = [(name, *test) for name in counts.examples for test in _tests(cases.tagged[name], cases.scored)]
    qs = benjamini_hochberg([p for _, _, p in tested])
    scored = counts.by_category(lambda table: table["replies"] - table["failed"])
    replies = {name: _by_category(counts, name) for name in counts.examples}
    found: dict[str, list[Concentration]] = {name: [] for name in counts.examples}
    for (name, category, p), q in zip(tested, qs, strict=True):
        number, here = replies[name][category], scored[category]
        elsewhere, rest = replies[name].total() - number, scored.total() - here
        lift = (number / here) / (elsewhere / rest) if elsewhere else None
        if number >= MIN_COUNT and (lift is None or lift > 1):
            found[name].append(Concentration(category, number, here, lift, p, q, q <= SIGNIFICANT))
    return {name: sorted(group, key=lambda c: (c.q, c.p, -c.count, c.category)) for name, group in found.items()}


def _tests(tagged: Counter[str | None], scored: Counter[str | None]) -> Iterator[tuple[str, float]]:
    """Each category with the one-sided exact p-value of the tag over its cases."""
    everywhere, population = tagged.total(), scored.total()
    if len(scored) < 2:
        return
    for category in sorted(category for category in scored if category is not None):
        a, size = tagged[category], scored[category]
        c = everywhere - a
        yield category, fisher_greater(a, size - a, c, population - size - c)
