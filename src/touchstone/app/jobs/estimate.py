"""A sample of a job's rows -> what all of them will take: rows, core-hours, time, money and room."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from touchstone.app.config import Settings
from touchstone.app.jobs.job import Order, check_columns
from touchstone.app.jobs.work import Placed, ShardWork
from touchstone.core.errors import InputError
from touchstone.io.cases import Entry, read_cases
from touchstone.io.files import Source, find_sources, open_rows
from touchstone.io.shards import assemble

# Enough replies for their mean cost to settle; files are read further to see how long their rows are.
SAMPLE_ROWS = 200
SAMPLE_SOURCES = 5
_READ_ROWS = 2000
# An on-demand core of a large cloud, USD an hour, as docs/cluster.md shows.
CORE_HOUR = 0.05


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a job will take on so many workers; `sampled` replies were scored to tell."""

    sources: int
    input_bytes: int
    rows: int
    sampled: int
    failed: int
    seconds_each: float
    core_hours: float
    hours: float
    workers: int
    cost: float
    output_bytes: int


def estimate(order: Order, *, settings: Settings, workers: int, price: float = CORE_HOUR) -> Estimate:
    """Score a sample here, and reckon from its processor time."""
    sources = find_sources(order.inputs, format=order.format, without=order.output or None)
    check_columns(sources, order, settings=settings)
    chosen = _spread(sources)
    share = max(1, SAMPLE_ROWS // len(chosen))
    rows_per_byte, placed = _read(chosen, order=order, settings=settings, each=share)
    total_bytes = sum(source.size for source in sources)
    rows = round(rows_per_byte * total_bytes)
    work = ShardWork(settings, order.shard_format, order.keep)
    work.prepare()
    start = time.process_time()
    part = work(placed)
    seconds = (time.process_time() - start) / len(placed)
    hours = rows * seconds / 3600
    return Estimate(
        sources=len(sources),
        input_bytes=total_bytes,
        rows=rows,
        sampled=len(placed),
        failed=part.excerpt.counts.results["failed"],
        seconds_each=seconds,
        core_hours=hours,
        hours=hours / workers,
        workers=workers,
        cost=hours * price,
        output_bytes=round(len(assemble([part.content], format=order.shard_format)) / len(placed) * rows),
    )


def _spread(sources: Sequence[Source]) -> list[Source]:
    """A few of the sources, evenly over the list."""
    holding = [source for source in sources if source.size] or list(sources)
    step = max(1, len(holding) // SAMPLE_SOURCES)
    return holding[::step][:SAMPLE_SOURCES]


def _read(sources: Sequence[Source], *, order: Order, settings: Settings, each: int) -> tuple[float, list[Placed]]:
    """Rows for each byte of the sources, and the rows to be scored: the first of each."""
    counted = 0.0
    placed: list[Placed] = []
    for source in sources:
        with open_rows(source.address, format=order.format) as rows:
            entries: Iterator[Entry] = read_cases(rows, file=source.name, columns=settings.columns, may_be_empty=True)
            taken = list(islice(entries, each))
            seen = len(taken) + sum(1 for _ in islice(entries, _READ_ROWS))
            counted += seen / (rows.share_read() or 1.0) if seen else 0
        placed += [Placed(entry, {"source": source.name}) for entry in taken]
    if not placed:
        raise InputError("the inputs have no cases: write one for each row, with at least the field 'response'")
    return counted / max(1, sum(source.size for source in sources)), placed
