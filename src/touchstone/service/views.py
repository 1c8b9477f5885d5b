"""Runs and comparisons as they are shown, made once for each revision of a finished run."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from touchstone.app.runs import open_run, view_comparison, view_run
from touchstone.report.comparison import ComparisonReport
from touchstone.report.run import RunReport
from touchstone.runs.run import Run
from touchstone.store.runs import Store

# A view of ten thousand replies is a few megabytes.
_MOST_KEPT = 16


class Views:
    """The last views that were asked for. Those of a run under way are made anew each time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, run: Run) -> RunReport:
        """Everything a report of the run shows."""
        baseline = self._store.get_run(run.terms.baseline) if run.terms and run.terms.baseline else None
        measured = self._store.measurements.revision(run.receipt.judge)
        key = ("run", measured, *_state(run), *(_state(baseline) if baseline else ())) if run.finished else None
        found: RunReport = self._made(key, lambda: view_run(open_run(run.id, store=self._store), store=self._store))
        return found

    def comparison(self, before: Run, after: Run) -> ComparisonReport:
        """What changed from one run to the other."""
        key = ("comparison", *_state(before), *_state(after)) if before.finished and after.finished else None

        def make() -> ComparisonReport:
            return view_comparison(open_run(before.id, store=self._store), open_run(after.id, store=self._store))

        found: ComparisonReport = self._made(key, make)
        return found

    def forget(self) -> None:
        """Let go of all of them, as a run was deleted and another may get its id."""
        with self._lock:
            self._kept.clear()

    def _made(self, key: Any, make: Callable[[], Any]) -> Any:
        if key is None:
            return make()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return made


def _state(run: Run) -> tuple[Any, ...]:
    return (run.id, run.finished, run.revision, run.terms, *sorted(run.labels.items()))
