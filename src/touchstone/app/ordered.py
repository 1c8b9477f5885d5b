"""Items and slow work on each -> what comes of them, in their order, several at a time."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
# Work begun or waiting for each that may run at a time: enough to go on with while the first of them is slow.
_LOOK_AHEAD = 3


def in_order(
    items: Iterable[T], work: Callable[[T], R], *, concurrency: int, stop: Callable[[], None]
) -> Generator[R, None, None]:
    """What `work` makes of each item. When the caller leaves early, `stop` is called and the threads end."""
    pending: deque[Future[R]] = deque()
    source = iter(items)
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="touchstone-judge")
    is_done = False
    try:
        while True:
            while len(pending) < concurrency * _LOOK_AHEAD and (item := next(source, _END)) is not _END:
                pending.append(pool.submit(work, item))  # type: ignore[arg-type]
            if not pending:
                break
            yield pending.popleft().result()
        is_done = True
    finally:
        if not is_done:
            stop()
        pool.shutdown(cancel_futures=True)


_END = object()
