"""Records -> Patterns: what goes wrong, how often, where more than elsewhere, and who could cure it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from touchstone.runs.record import Owner, Record
from touchstone.stats.tables import benjamini_hochberg, fisher_greater

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


def find_patterns(records: Sequence[Record]) -> tuple[Pattern, ...]:
    """The patterns of a run, the most frequent first."""
    failed = [record for record in records if record.fails]
    tagged: dict[str, list[Record]] = defaultdict(list)
    for record in failed:
        for name in dict.fromkeys(tag.name for tag in record.tags):
            tagged[name].append(record)
    found = _concentrations(records, tagged)
    patterns = [_pattern(name, group, len(failed), tuple(found[name])) for name, group in tagged.items()]
    return tuple(sorted(patterns, key=lambda pattern: (-pattern.count, pattern.name)))


def _pattern(name: str, group: Sequence[Record], failed: int, found: tuple[Concentration, ...]) -> Pattern:
    owners = Counter(tag.owner for record in group for tag in record.tags if tag.name == name).most_common()
    return Pattern(
        name=name,
        count=len(group),
        share=len(group) / failed,
        owner=owners[0][0],
        owners=tuple(owners),
        concentrations=found,
        examples=_examples(name, group),
    )


def _examples(name: str, group: Sequence[Record]) -> tuple[tuple[str, str], ...]:
    """The first cases, each with what was found in it."""
    details: dict[str, str] = {}
    for record in group:
        if len(details) == MAX_EXAMPLES:
            break
        details.setdefault(record.id, next(tag.detail for tag in record.tags if tag.name == name))
    return tuple(details.items())


@dataclass(frozen=True, slots=True)
class _Population:
    """How many replies and how many cases there are of each category, and in all; None has no category."""

    replies: Counter[str | None]
    cases: Counter[str | None]


def _concentrations(records: Sequence[Record], tagged: dict[str, list[Record]]) -> dict[str, list[Concentration]]:
    """For each tag the categories in which it is more frequent than elsewhere, the surest first.

    Every pair of tag and category counts as a comparison, also those that show nothing.
    """
    scored = [record for record in records if not record.failed]
    people = _Population(
        Counter(record.category for record in scored),
        Counter(category for category, _ in {(record.category, record.id) for record in scored}),
    )
    tested = [(name, *test) for name, group in tagged.items() for test in _tests(group, people)]
    qs = benjamini_hochberg([p for _, _, _, p in tested])
    found: dict[str, list[Concentration]] = {name: [] for name in tagged}
    for (name, category, count, p), q in zip(tested, qs, strict=True):
        elsewhere = len(tagged[name]) - count
        here = people.replies[category]
        rest = people.replies.total() - here
        lift = (count / here) / (elsewhere / rest) if elsewhere else None
        if count >= MIN_COUNT and (lift is None or lift > 1):
            found[name].append(Concentration(category, count, here, lift, p, q, q <= SIGNIFICANT))
    return {name: sorted(group, key=lambda c: (c.q, c.p, -c.count, c.category)) for name, group in found.items()}


def _tests(group: Sequence[Record], people: _Population) -> Iterator[tuple[str, int, float]]:
    """Each category with the tag's count of replies in it and the one-sided exact p-value over cases."""
    counts = Counter(record.category for record in group)
    with_tag = Counter(category for category, _ in {(record.category, record.id) for record in group})
    everywhere, population = with_tag.total(), people.cases.total()
    categories = sorted(category for category in people.cases if category is not None)
    if len(people.cases) < 2:
        return
    for category in categories:
        a, size = with_tag[category], people.cases[category]
        c = everywhere - a
        yield category, counts[category], fisher_greater(a, size - a, c, population - size - c)
