"""The shards of a job -> its summary: their counts added up, in all and by partition; no result is read again."""

from collections.abc import Mapping

from touchstone.app.tally import Counting
from touchstone.core.codec import canonical_json
from touchstone.io.manifest import Manifest
from touchstone.report.partitions import JobSummary, PartitionFigures, Rate
from touchstone.stats.proportions import rare_interval, wilson


def summarise(manifest: Manifest) -> JobSummary:
    """What all shards came to; memory grows with the partitions, not with the rows."""
    everything = Counting()
    countings: dict[str, Counting] = {}
    first: dict[str, int] = {}
    for shard in sorted(manifest.shards.values(), key=lambda shard: (shard.source, shard.number)):
        key = canonical_json(dict(manifest.sources[shard.source].partition))
        everything.merge(shard.counts)
        countings.setdefault(key, Counting()).merge(shard.counts)
        first.setdefault(key, shard.source)
    partitions = (_figures(counting, manifest.sources[first[key]].partition) for key, counting in countings.items())
    unread = {manifest.sources[at].name: message for at, message in manifest.messages.items()}
    return JobSummary(_figures(everything, {}), tuple(partitions), unread)


def _figures(counting: Counting, partition: Mapping[str, str | None]) -> PartitionFigures:
    tally = counting.tally()
    passed, concluded = tally.rubric.outcomes["PASS"], sum(tally.rubric.outcomes.values())
    unsafe, inspected = tally.rubric.unsafe, int(counting.counts.get("graded", 0))
    return PartitionFigures(
        partition=dict(partition),
        tally=tally,
        passed=Rate(passed, concluded, wilson(passed, concluded) if concluded else None),
        unsafe=Rate(unsafe, inspected, rare_interval(unsafe, inspected) if inspected else None),
    )
