"""What an engine is: batches of items in, their parts out, in order, wherever the work is done.

An engine knows nothing of cases or results. What it does with a batch is `Work`, which is sent to each worker once.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

Item = TypeVar("Item")
Part = TypeVar("Part")
Item_contra = TypeVar("Item_contra", contravariant=True)
Part_co = TypeVar("Part_co", covariant=True)

EngineName = Literal["serial", "processes", "ray"]


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
