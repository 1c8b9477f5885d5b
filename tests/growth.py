"""How time grows with size, whatever the load of a machine that is busy with something else."""

from collections.abc import Callable
from time import process_time

TRIES = 8
SLACK = 3


def is_linear(work: Callable[[int], object], *, small: int, large: int) -> bool:
    """Whether the larger work takes about as much longer as it is larger, in one of several tries.

    Other processes make one try slow, hardly all of them; work that grows with the square of its size fails each.
    """
    times = large / small
    assert times > 2 * SLACK
    work(small)
    return any(_seconds(work, large) < SLACK * times * _seconds(work, small) for _ in range(TRIES))


def _seconds(work: Callable[[int], object], size: int) -> float:
    start = process_time()
    work(size)
    return process_time() - start
