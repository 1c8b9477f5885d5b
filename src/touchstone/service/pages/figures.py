"""Runs -> their figures, worked out once for each revision: the pages of a finished run are opened often.

Only figures and names are kept, no text of a customer: what `touchstone store forget` erases is not kept alive here.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from touchstone.app.agreement import judge_standing
from touchstone.app.runs import Opened, compare_runs, open_run
from touchstone.rubric.model import Rubric
from touchstone.rubric.parse import parse_rubric
from touchstone.runs.comparison import Comparison
from touchstone.runs.patterns import Pattern, find_patterns
from touchstone.runs.record import Record
from touchstone.runs.run import Run
from touchstone.runs.summary import ListedReplies, Summary, summarise
from touchstone.stats.interval import Interval
from touchstone.store.runs import Store
from touchstone.trust.measurement import JudgeStanding

_MOST = 512
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Figures:
    """A run, its rubric and what its replies come to; the patterns' examples are ids alone."""

    run: Run
    rubric: Rubric
    summary: Summary
    patterns: tuple[Pattern, ...]


def figures_of(run: Run, *, store: Store) -> Figures:
    """The figures of a run."""
    return _kept(("figures", store.place, run.id), _version(run), lambda: _figures(open_run(run.id, store=store)))


@dataclass(frozen=True, slots=True)
class RunOutline:
    """As much of a run as a line in a list of runs needs."""

    replies: int
    scored: int
    unsafe: int
    pass_rate: float | None
    interval: Interval | None


def outline_of(run: Run, *, store: Store) -> RunOutline:
    """The run in outline: quick, as nothing is drawn again and again for it."""
    return _kept(("outline", store.place, run.id), _version(run), lambda: _outline(store.replies.records(run.id)))


@dataclass(frozen=True, slots=True)
class Choices:
    """What a run's replies can be filtered by: its categories, and its tags with how many replies have each."""

    categories: tuple[str, ...]
    tags: Mapping[str, int]


def choices_of(run: Run, *, store: Store) -> Choices:
    """The filters of a run."""
    key = ("choices", store.place, run.id)
    return _kept(key, _version(run), lambda: Choices(store.replies.categories(run.id), store.replies.tags(run.id)))


def standing_of(found: Figures, *, store: Store) -> JudgeStanding:
    """What is known of the run's judge; the judge may be measured again at any time."""
    run, version = found.run, _version(found.run)
    measured = store.measurements.revision(run.receipt.judge)
    key = ("standing", store.place, run.id)
    return _kept(
        key, version and f"{version} {measured}", lambda: judge_standing(run, rubric=found.rubric, store=store)
    )


def comparison_of(before: Run, after: Run, *, store: Store) -> Comparison:
    """What changed from one run to another, without the cases that changed sides."""
    versions = _version(before), _version(after)
    version = None if None in versions else " ".join(map(str, versions))
    key = ("comparison", store.place, before.id, after.id)
    return _kept(key, version, lambda: replace(_compared(before, after, store=store), flips=()))


def rubric_of(run: Run, *, store: Store) -> Rubric:
    """The rubric a run was graded by."""
    return parse_rubric(store.rubric(run.id), name=f"the rubric of run {run.id}")


def _version(run: Run) -> str | None:
    """None while the run is under way."""
    return f"{run.finished} {run.revision}" if run.finished else None


def _outline(records: Sequence[Record]) -> RunOutline:
    scored = [record.outcome == "PASS" for record in records if record.outcome is not None]
    replies = ListedReplies(has_drafts=len({record.id for record in records}) < len(records), records=list(records))
    return RunOutline(
        replies=len(records),
        scored=len(scored),
        unsafe=sum(bool(record.violations) for record in records),
        pass_rate=sum(scored) / len(scored) if scored else None,
        interval=replies.pass_rate() if scored else None,
    )


def _compared(before: Run, after: Run, *, store: Store) -> Comparison:
    return compare_runs(open_run(before.id, store=store), open_run(after.id, store=store))


def _figures(opened: Opened) -> Figures:
    patterns = (
        replace(each, examples=tuple((id, "") for id, _ in each.examples)) for each in find_patterns(opened.records)
    )
    return Figures(opened.run, opened.rubric, summarise(opened.records, rubric=opened.rubric), tuple(patterns))


_lock = threading.Lock()
_cache: OrderedDict[tuple[str, ...], tuple[str, Any]] = OrderedDict()


def _kept(key: tuple[str, ...], version: str | None, make: Callable[[], T]) -> T:
    """What was made for this key and version; without a version it is still changing and made anew."""
    with _lock:
        found = _cache.get(key)
        if found is not None and found[0] == version:
            _cache.move_to_end(key)
            value: T = found[1]
            return value
    made = make()
    if version is not None:
        with _lock:
            _cache[key] = (version, made)
            while len(_cache) > _MOST:
                _cache.popitem(last=False)
    return made
