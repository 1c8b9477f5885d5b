"""Batches -> parts in this process, one after the other: the engine that the others must agree with."""

from collections.abc import Generator, Iterable, Sequence

from touchstone.core.errors import TouchstoneError
from touchstone.engines.engine import Event, Item, OnEvent, Part, Work, ignore


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
