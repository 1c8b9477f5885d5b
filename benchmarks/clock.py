"""Work -> the processor time it takes.

Processor time of this process, not time on the wall: the work is single-threaded and waits for nothing, so on an idle
machine both agree, and on a busy one only this says what the work costs.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from time import process_time_ns


def each(work: Callable[[object], object], items: Iterable[object]) -> list[float]:
    """Milliseconds for every item, one by one."""
    spent = []
    for item in items:
        start = process_time_ns()
        work(item)
        spent.append((process_time_ns() - start) / 1e6)
    return spent


def whole(work: Callable[[], object]) -> float:
    """Milliseconds for all of it."""
    start = process_time_ns()
    work()
    return (process_time_ns() - start) / 1e6


def quantile(sorted_times: Sequence[float], share: float) -> float:
    """The time that `share` of the items stay within (nearest rank)."""
    return sorted_times[min(len(sorted_times) - 1, int(share * len(sorted_times)))]


def typical(rounds: Sequence[Sequence[float]]) -> list[float]:
    """Each item's median over the rounds."""
    return [median(times) for times in zip(*rounds, strict=True)]
