"""The shards of a job -> its summary: their counts and excerpts added up, in all and by partition.

No result is read again; memory grows with the partitions and, up to a bound, with the categories.
"""

from collections.abc import Mapping

from touchstone.app.tally import Counting
from touchstone.core.codec import canonical_json
from touchstone.io.locations import Location
from touchstone.io.manifest import Manifest, Shard
from touchstone.io.shards import read_excerpt
from touchstone.report.job import JobSummary, PartitionFigures, Rate
from touchstone.report.run.view import MOST_ROWS
from touchstone.rubric.model import Rubric
from touchstone.runs.counted import patterns_counted, summarise_counted
from touchstone.runs.excerpt import Excerpt
from touchstone.stats.interval import rare_interval, wilson


def read_excerpts(manifest: Manifest, directory: Location) -> Excerpt:
    """What the excerpts beside the shards come to together."""
    whole = Excerpt()
    for shard in _in_order(manifest):
        whole.merge(read_excerpt(directory, shard.name), most_rows=MOST_ROWS)
    return whole


def summarise(manifest: Manifest, telling: Excerpt, *, rubric: Rubric) -> JobSummary:
    """What all shards came to."""
    everything = Counting()
    countings: dict[str, Counting] = {}
    first: dict[str, int] = {}
    for shard in _in_order(manifest):
        key = canonical_json(dict(manifest.sources[shard.source].partition))
        everything.merge(shard.counts)
        countings.setdefault(key, Counting()).merge(shard.counts)
        first.setdefault(key, shard.source)
    partitions = (_figures(counting, manifest.sources[first[key]].partition) for key, counting in countings.items())
    unread = {manifest.sources[at].name: message for at, message in manifest.messages.items()}
    return JobSummary(
        all=_figures(everything, {}),
        partitions=tuple(partitions),
        unread=unread,
        failures=everything.named("failure/"),
        summary=summarise_counted(telling.counted, rubric=rubric),
        patterns=patterns_counted(telling.counted),
    )


def _in_order(manifest: Manifest) -> list[Shard]:
    return sorted(manifest.shards.values(), key=lambda shard: (shard.source, shard.number))


def _figures(counting: Counting, partition: Mapping[str, str | None]) -> PartitionFigures:
    tally = counting.tally()
    passed, concluded = tally.rubric.outcomes["PASS"], sum(tally.rubric.outcomes.values())
    unsafe, inspected = tally.rubric.unsafe, int(counting.counts.get("graded", 0))
    return PartitionFigures(
        partition=dict(partition),
        tally=tally,
        passed=Rate(passed, concluded, wilson(passed, concluded) if concluded else None),
        unsafe=Rate(unsafe, inspected, rare_interval(unsafe, inspected) if inspected else None),
        patterns=counting.named("tag/"),
    )
