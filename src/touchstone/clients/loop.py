"""Coroutines of any thread -> run on one event loop in a thread of its own, until they end or all are stopped.

Drafts and calls wait for processes and sockets. On a loop, a time limit covers all of a draft and giving one up is
certain; a thread that blocks in a read offers neither.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

from touchstone.clients.faults import Stage, fault
from touchstone.core.result import Failure

T = TypeVar("T")


class Loop:
    """An event loop in a thread. Once stopped, it runs nothing more."""

    def __init__(self, stage: Stage, *, last: Callable[[], Awaitable[None]] | None = None) -> None:
        self._stage = stage
        self._last = last
        self._is_stopped = False
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._live()), name=f"touchstone-{stage}", daemon=True
        )
        self._thread.start()
        self._ready.wait()

    def run(self, work: Coroutine[Any, Any, T]) -> T | Failure:
        """What the coroutine returns; the failure `Stopped` when it was given up."""
        if self._loop.is_closed():
            work.close()
            return self._stopped()
        try:
            return asyncio.run_coroutine_threadsafe(self._unless_stopped(work), self._loop).result()
        except CancelledError:
            return self._stopped()

    def stop(self) -> None:
        """Gives up whatever is under way; comes back at once."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel)

    def close(self) -> None:
        """Stops, does what was asked to be done last, and ends the thread."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ready.set()
        await self._ended.wait()
        self._cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._last is not None:
            await self._last()

    async def _unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        if self._is_stopped:
            work.close()
            raise asyncio.CancelledError
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await task

    def _stopped(self) -> Failure:
        return fault(self._stage, "Stopped", "the run was stopped before there was an answer: run it again to resume")

    def _cancel(self) -> None:
        self._is_stopped = True
        for task in self._tasks:
            task.cancel()


@contextmanager
def open_loop(stage: Stage, *, last: Callable[[], Awaitable[None]] | None = None) -> Iterator[Loop]:
    """A running loop; what is under way at the end is given up, then `last` is run on it."""
    loop = Loop(stage, last=last)
    try:
        yield loop
    finally:
        loop.close()
