"""Scored replies -> Excerpt: what summary, patterns and report need of them, of a size that does not grow with them.

Excerpts of consecutive replies can be merged; the same replies give the same excerpt however they were cut.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any

from touchstone.runs.counted import Counted, counted_from_dict, counted_to_dict
from touchstone.runs.record import Record, record_from_dict, record_to_dict
from touchstone.runs.telling import candidates, severity

# Rows that are kept of a shard; a report takes the most telling of all shards.
MOST_ROWS = 200
# A longer case and result are not shown in full.
LONGEST_EXAMPLE = 100_000


@dataclass(frozen=True, slots=True)
class Example:
    """A reply that may be shown in full: its record, and case and result as one JSON text."""

    record: Record
    content: str


@dataclass(slots=True)
class Excerpt:
    """Counts of all replies, the most telling rows, and the replies that examples are chosen from."""

    counted: Counted = field(default_factory=Counted)
    rows: list[Record] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)

    def merge(self, later: "Excerpt", *, most_rows: int = MOST_ROWS) -> None:
        """Add the excerpt of the replies that follow."""
        self.counted.merge(later.counted)
        self.rows = nsmallest(most_rows, [*self.rows, *later.rows], key=severity)
        self.examples = _chosen([*self.examples, *later.examples])


def excerpt(records: Iterable[Record], contents: Mapping[int, str]) -> Excerpt:
    """The excerpt of some replies; `contents` are case and result as JSON, by the place of the record."""
    given = list(records)
    counted = Counted()
    for record in given:
        counted.add(record)
    examples = [Example(given[at], text) for at, text in contents.items() if len(text) <= LONGEST_EXAMPLE]
    return Excerpt(counted, nsmallest(MOST_ROWS, given, key=severity), _chosen(examples))


def excerpt_to_dict(excerpt: Excerpt) -> dict[str, Any]:
    """Excerpt -> a plain dict."""
    return {
        "counted": counted_to_dict(excerpt.counted),
        "rows": [record_to_dict(record) for record in excerpt.rows],
        "examples": [[record_to_dict(each.record), each.content] for each in excerpt.examples],
    }


def excerpt_from_dict(raw: Mapping[str, Any]) -> Excerpt:
    """What `excerpt_to_dict` wrote -> the same value."""
    return Excerpt(
        counted_from_dict(raw["counted"]),
        [record_from_dict(row) for row in raw["rows"]],
        [Example(record_from_dict(row), content) for row, content in raw["examples"]],
    )


def _chosen(examples: list[Example]) -> list[Example]:
    """Those that `candidates` takes, in their order."""
    kept = {id(record) for record in candidates(each.record for each in examples)}
    return [each for each in examples if id(each.record) in kept]
