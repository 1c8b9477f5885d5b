"""Records -> Patterns: what goes wrong, how often, where more than elsewhere, and who could cure it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.runs.record import Owner, Record
from touchstone.stats.distributions import benjamini_hochberg, fisher_greater

MAX_EXAMPLES = 3
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


@dataclass(slots=True)
class TagCounts:
    """One tag over failed replies: in which categories, of how many cases there, whose it is, and the first cases."""

    replies: Counter[str | None] = field(default_factory=Counter)
    cases: Counter[str | None] = field(default_factory=Counter)
    owners: Counter[Owner] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, record: Record, *, name: str) -> None:
        """Count a reply that has the tag, as the only one of its case."""
        self.replies[record.category] += 1
        self.cases[record.category] += 1
        self.owners.update(tag.owner for tag in record.tags if tag.name == name)
        if len(self.examples) < MAX_EXAMPLES and record.id not in self.examples:
            self.examples[record.id] = next(tag.detail for tag in record.tags if tag.name == name)


@dataclass(frozen=True, slots=True)
class Population:
    """How many replies and how many cases were scored of each category; None has no category."""

    replies: Counter[str | None]
    cases: Counter[str | None]


def find_patterns(records: Sequence[Record]) -> tuple[Pattern, ...]:
    """The patterns of a run, the most frequent first."""
    failed = [record for record in records if record.fails]
    tagged: dict[str, TagCounts] = defaultdict(TagCounts)
    members: dict[str, set[tuple[str | None, str]]] = defaultdict(set)
    for record in failed:
        for name in dict.fromkeys(tag.name for tag in record.tags):
            tagged[name].add(record, name=name)
            members[name].add((record.category, record.id))
    for name, counts in tagged.items():
        counts.cases = Counter(category for category, _ in members[name])
    scored = [record for record in records if not record.failed]
    people = Population(
        Counter(record.category for record in scored),
        Counter(category for category, _ in {(record.category, record.id) for record in scored}),
    )
    return patterns_of(tagged, people, failed=len(failed))


def patterns_of(tagged: Mapping[str, TagCounts], people: Population, *, failed: int) -> tuple[Pattern, ...]:
    """The patterns from what was counted, the most frequent first; `failed` is how many replies failed."""
    found = _concentrations(tagged, people)
    patterns = [_pattern(name, counts, failed, tuple(found[name])) for name, counts in tagged.items()]
    return tuple(sorted(patterns, key=lambda pattern: (-pattern.count, pattern.name)))


def _pattern(name: str, counts: TagCounts, failed: int, found: tuple[Concentration, ...]) -> Pattern:
    owners, count = counts.owners.most_common(), counts.replies.total()
    return Pattern(
        name=name,
        count=count,
        share=count / failed,
        owner=owners[0][0],
        owners=tuple(owners),
        concentrations=found,
        examples=tuple(counts.examples.items()),
    )


def _concentrations(tagged: Mapping[str, TagCounts], people: Population) -> dict[str, list[Concentration]]:
    """For each tag the categories in which it is more frequent than elsewhere, the surest first.

    Every pair of tag and category counts as a comparison, also those that show nothing.
    """
    tested = [(name, *test) for name, counts in tagged.items() for test in _tests(counts, people)]
    qs = benjamini_hochberg([p for _, _, p in tested])
    found: dict[str, list[Concentration]] = {name: [] for name in tagged}
    for (name, category, p), q in zip(tested, qs, strict=True):
        count = tagged[name].replies[category]
        elsewhere = tagged[name].replies.total() - count
        here = people.replies[category]
        rest = people.replies.total() - here
        lift = (count / here) / (elsewhere / rest) if elsewhere else None
        if count >= MIN_COUNT and (lift is None or lift > 1):
            found[name].append(Concentration(category, count, here, lift, p, q, q <= SIGNIFICANT))
    return {name: sorted(group, key=lambda c: (c.q, c.p, -c.count, c.category)) for name, group in found.items()}


def _tests(counts: TagCounts, people: Population) -> Iterator[tuple[str, float]]:
    """Each category with the one-sided exact p-value of the tag over its cases."""
    everywhere, population = counts.cases.total(), people.cases.total()
    if len(people.cases) < 2:
        return
    for category in sorted(category for category in people.cases if category is not None):
        a, size = counts.cases[category], people.cases[category]
        c = everywhere - a
        yield category, fisher_greater(a, size - a, c, population - size - c)
