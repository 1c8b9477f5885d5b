"""Scored replies -> the most telling ones, and Excerpt: all that a job's report needs of them, in a bounded size.

Excerpts of consecutive replies can be merged; the same replies give the same excerpt however they were cut.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any

from touchstone.core.codec import decode, encode
from touchstone.runs.counts import Counts, count, counts_from_dict, counts_to_dict
from touchstone.runs.record import Record

Key = tuple[str, int]
# Rows that are kept of a shard; a report takes the most telling of all shards.
MOST_ROWS = 200
# A longer case and result are not shown in full.
LONGEST_EXAMPLE = 100_000


def severity(record: Record) -> tuple[int, float]:
    """The order of a table that has no room for all: unscored before failed before passed, the lowest total first."""
    order = {None: 0, "FAIL": 1, "PASS": 2}[record.outcome]
    return order, -1.0 if record.total is None else record.total


def badness(record: Record) -> tuple[bool, float, str, int]:
    """The order of failed replies as examples: those with a violation first, then the lowest total."""
    return not record.violations, record.total or 0.0, record.id, record.draft


def choose_examples(
    records: Sequence[Record], *, best: int = 3, worst: int = 6, frequency: Mapping[str, int] | None = None
) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
    """The ids and drafts of the best and of the worst replies, one draft of a case at most.

    The worst show the most frequent patterns first, each by its worst reply; of equally good ones,
    those of another category come first. `frequency` is how often each tag was given, where `records` are not all.
    """
    return _best([record for record in records if record.outcome == "PASS"], best), _worst(
        [record for record in records if record.fails], worst, frequency
    )


def candidates(records: Iterable[Record], *, best: int = 3, worst: int = 6) -> list[Record]:
    """The few records from which `choose_examples` takes what it would take from all, given the tags' frequency.

    Those are the worst reply of each tag, the worst of all and the best.
    """
    given = list(records)
    failed = sorted((record for record in given if record.fails), key=badness)
    of_tag: dict[str, Record] = {}
    for record in failed:
        for tag in record.tags:
            of_tag.setdefault(tag.name, record)
    passed = {(record.id, record.draft): record for record in given if record.outcome == "PASS"}
    chosen = [*of_tag.values(), *failed[:worst], *(passed[key] for key in _best(list(passed.values()), best))]
    return list({id(record): record for record in chosen}.values())


def _best(records: Iterable[Record], most: int) -> tuple[Key, ...]:
    chosen: list[Record] = []
    ranked = sorted(records, key=lambda record: (-(record.total or 0.0), record.id, record.draft))
    while ranked and len(chosen) < most:
        seen = {record.category for record in chosen}
        top = [record for record in ranked if record.total == ranked[0].total]
        chosen.append(next((record for record in top if record.category not in seen), top[0]))
        ranked = [record for record in ranked if record.id != chosen[-1].id]
    return tuple((record.id, record.draft) for record in chosen)


def _worst(records: Iterable[Record], most: int, frequency: Mapping[str, int] | None) -> tuple[Key, ...]:
    chosen: list[Record] = []
    ranked = sorted(records, key=badness)
    often = frequency or Counter(name for record in ranked for name in {tag.name for tag in record.tags})
    waiting = sorted(often, key=lambda name: (-often[name], name))
    while ranked and len(chosen) < most:
        fitting = (record for record in ranked if waiting and waiting[0] in {tag.name for tag in record.tags})
        if (record := next(fitting, None)) is None and waiting:
            waiting.pop(0)
            continue
        chosen.append(record or ranked[0])
        shown = {tag.name for tag in chosen[-1].tags}
        waiting = [name for name in waiting if name not in shown]
        ranked = [record for record in ranked if record.id != chosen[-1].id]
    return tuple((record.id, record.draft) for record in chosen)


@dataclass(frozen=True, slots=True)
class Example:
    """A reply that may be shown in full: its record, and case and result as one JSON text."""

    record: Record
    content: str


@dataclass(slots=True)
class Excerpt:
    """Counts of all replies, the most telling rows, and the replies that examples are chosen from."""

    counts: Counts = field(default_factory=Counts)
    rows: list[Record] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)

    def merge(self, later: "Excerpt", *, most_rows: int = MOST_ROWS) -> None:
        """Add the excerpt of the replies that follow."""
        self.counts.merge(later.counts)
        self.rows = nsmallest(most_rows, [*self.rows, *later.rows], key=severity)
        self.examples = _chosen([*self.examples, *later.examples])


def excerpt(records: Iterable[Record], contents: Mapping[int, str]) -> Excerpt:
    """The excerpt of some replies; `contents` are case and result as JSON, by the place of the record."""
    given = list(records)
    examples = [Example(given[at], text) for at, text in contents.items() if len(text) <= LONGEST_EXAMPLE]
    return Excerpt(count(given), nsmallest(MOST_ROWS, given, key=severity), _chosen(examples))


def excerpt_to_dict(excerpt: Excerpt) -> dict[str, Any]:
    """Excerpt -> a plain dict."""
    return {
        "counts": counts_to_dict(excerpt.counts),
        "rows": [encode(record) for record in excerpt.rows],
        "examples": [[encode(each.record), each.content] for each in excerpt.examples],
    }


def excerpt_from_dict(raw: Mapping[str, Any]) -> Excerpt:
    """What `excerpt_to_dict` wrote -> the same value."""
    return Excerpt(
        counts_from_dict(raw["counts"]),
        [decode(Record, row) for row in raw["rows"]],
        [Example(decode(Record, row), content) for row, content in raw["examples"]],
    )


def _chosen(examples: list[Example]) -> list[Example]:
    """Those that `candidates` takes, in their order."""
    kept = {id(record) for record in candidates(each.record for each in examples)}
    return [each for each in examples if id(each.record) in kept]
