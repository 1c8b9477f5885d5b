"""What an engine is, and the one that works in this process.

Batches of items go in, their parts come out, in order, wherever the work is done. An engine knows nothing of cases or
results. What it does with a batch is `Work`, which is sent to each worker once.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from touchstone.core.errors import TouchstoneError

Item = TypeVar("Item")
Part = TypeVar("Part")
Item_contra = TypeVar("Item_contra", contravariant=True)
Part_co = TypeVar("Part_co", covariant=True)


class Work(Protocol[Item_contra, Part_co]):
    """What is done with a batch. It is pickled, so it holds settings and no models."""

    def prepare(self) -> None:
        """Load models, once in each worker, before its first batch."""

    def __call__(self, items: Sequence[Item_contra]) -> Part_co:
        """The part that these items come to."""

    def lost(self, item: Item_contra, *, reason: str) -> Part_co:
        """The part of an item that no worker survives, or that meets a defect in the work itself."""


class Engine(Protocol):
    """Does work on batches. Memory does not grow with their number."""

    @property
    def workers(self) -> int:
        """How many batches are worked on at a time."""

    def map(self, work: Work[Item, Part], batches: Iterable[Sequence[Item]]) -> Generator[tuple[Part, ...], None, None]:
        """For each batch, in order, its parts: one, or one for each item when the batch had to be taken apart.

        Closing the iterator, also by an interruption, ends the workers.
        """


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a worker, for logs and notices; it quotes no item."""

    kind: Literal["worker_lost", "batch_retried", "batch_split", "item_lost"]
    detail: str


OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Takes the place of a listener."""


class Serial:
    """Works here, without workers."""

    workers = 1

    def __init__(self, *, on_event: OnEvent = ignore) -> None:
        self._on_event = on_event

    def map(self, work: Work[Item, Part], batches: Iterable[Sequence[Item]]) -> Generator[tuple[Part, ...], None, None]:
        """The parts of each batch as it is asked for; a defect in the work costs its item alone."""
        for number, items in enumerate(batches):
            if number == 0:
                work.prepare()
            try:
                parts: tuple[Part, ...] = (work(items),)
            except TouchstoneError:
                raise
            except Exception as error:  # noqa: BLE001 - a defect must not cost the other items
                reason = type(error).__name__
                self._on_event(Event("batch_split", f"batch {number}: {reason}"))
                parts = tuple(
                    self._alone(work, item, place=f"batch {number}, item {at}") for at, item in enumerate(items)
                )
            yield parts

    def _alone(self, work: Work[Item, Part], item: Item, *, place: str) -> Part:
        try:
            return work([item])
        except TouchstoneError:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            reason = type(error).__name__
            self._on_event(Event("item_lost", f"{place}: {reason}"))
            return work.lost(item, reason=reason)
