"""Runs -> their figures, worked out once for each revision: finished runs are opened often.

Only figures and names are kept, no text of a customer: what `touchstone store forget` erases is not kept alive here.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from touchstone.app.agreement import judge_standing
from touchstone.app.runs import Opened, gate_of, open_run, view_comparison, view_run
from touchstone.report.comparison import ComparisonReport
from touchstone.report.run import run_to_dict
from touchstone.rubric.model import Rubric
from touchstone.runs.gate import GateRuling
from touchstone.runs.patterns import Pattern, find_patterns
from touchstone.runs.run import Run
from touchstone.runs.summary import ListedReplies, Summary, summarise
from touchstone.stats.interval import Interval
from touchstone.store.runs import Store
from touchstone.trust.measurement import JudgeStanding

# A comparison of ten thousand replies is a few megabytes, all else is small.
_MOST = 128
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Figures:
    """A run, its rubric and what its replies come to; the patterns' examples are ids alone."""

    run: Run
    rubric: Rubric
    summary: Summary
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class RunOutline:
    """As much of a run as a line in a list of runs needs."""

    replies: int
    scored: int
    unsafe: int
    pass_rate: float | None
    interval: Interval | None


class RunCache:
    """What was worked out of the runs that were asked for last. Of a run under way it is worked out each time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def figures(self, run: Run) -> Figures:
        return self._made("figures", (run,), lambda: _figures(self._open(run)))

    def outline(self, run: Run) -> RunOutline:
        """The run in outline: quick, as nothing is drawn again and again for it."""
        return self._made("outline", (run,), lambda: _outline(run, store=self._store))

    def categories(self, run: Run) -> tuple[str, ...]:
        return self._made("categories", (run,), lambda: self._store.replies.categories(run.id))

    def tags(self, run: Run) -> Mapping[str, int]:
        """The run's tags with how many replies have each."""
        return self._made("tags", (run,), lambda: self._store.replies.tags(run.id))

    def standing(self, found: Figures) -> JudgeStanding:
        """What is known of the run's judge; the judge may be measured again at any time."""
        measured = self._store.measurements.revision(found.run.receipt.judge)
        return self._made(
            "standing",
            (found.run,),
            lambda: judge_standing(found.run, rubric=found.rubric, store=self._store),
            measured=measured,
        )

    def gate(self, found: Figures) -> GateRuling | None:
        """The gate the run was held by, if it was, for its replies as they count now."""
        run = found.run
        return self._made(
            "gate", self._held_by(run), lambda: gate_of(self._open(run), found.summary, store=self._store)
        )

    def report(self, run: Run) -> Mapping[str, Any]:
        """Everything a report of the run shows, as JSON."""
        return self._made(
            "report",
            self._held_by(run),
            lambda: run_to_dict(view_run(self._open(run), store=self._store)),
            measured=self._store.measurements.revision(run.receipt.judge),
        )

    def comparison(self, before: Run, after: Run) -> ComparisonReport:
        """What changed from one run to the other."""
        return self._made("comparison", (before, after), lambda: view_comparison(self._open(before), self._open(after)))

    def forget(self) -> None:
        """Let go of everything, as a run was deleted and another may get its id."""
        with self._lock:
            self._kept.clear()

    def _held_by(self, run: Run) -> tuple[Run, ...]:
        """The run and, if there is one, the baseline that its gate looks at."""
        baseline = self._store.get_run(run.terms.baseline) if run.terms and run.terms.baseline else None
        return (run, baseline) if baseline else (run,)

    def _open(self, run: Run) -> Opened:
        return open_run(run.id, store=self._store)

    def _made(self, kind: str, runs: tuple[Run, ...], make: Callable[[], T], *, measured: object = None) -> T:
        if any(run.finished is None for run in runs):
            return make()
        states = [(run.id, run.finished, run.revision, run.terms, *sorted(run.labels.items())) for run in runs]
        key = (kind, measured, *states)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: T = self._kept[key]
                return found
        made = make()
        with self._lock:
            self._kept[key] = made
            if len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return made


def _outline(run: Run, *, store: Store) -> RunOutline:
    records = store.replies.records(run.id)
    scored = [record.outcome == "PASS" for record in records if record.outcome is not None]
    replies = ListedReplies(has_drafts=len({record.id for record in records}) < len(records), records=list(records))
    return RunOutline(
        replies=len(records),
        scored=len(scored),
        unsafe=sum(bool(record.violations) for record in records),
        pass_rate=sum(scored) / len(scored) if scored else None,
        interval=replies.pass_rate() if scored else None,
    )


def _figures(opened: Opened) -> Figures:
    patterns = (
        replace(each, examples=tuple((id, "") for id, _ in each.examples)) for each in find_patterns(opened.records)
    )
    return Figures(opened.run, opened.rubric, summarise(opened.records, rubric=opened.rubric), tuple(patterns))
