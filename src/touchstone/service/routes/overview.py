"""The newest runs -> the overview: pass rate over time, safety, categories, and what should alarm somebody."""

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from touchstone.core.errors import TouchstoneError
from touchstone.report.figures import change, count
from touchstone.report.plain import one_line
from touchstone.review.weekly import Share, effect_of
from touchstone.runs.run import Kind, Run
from touchstone.runs.summary import CategoryFigures
from touchstone.service.context import Caller, Viewer
from touchstone.service.figures import Figures, RunCache
from touchstone.service.routes.runs import run_name

pages = APIRouter(include_in_schema=False)
_RUNS = 20
_NAMES: dict[Kind, str] = {"goldset": "Gold set", "production": "Production"}


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that got worse, and the page that shows it."""

    text: str
    href: str


@pages.get("/overview")
def overview(caller: Viewer) -> Response:
    """Where things stand."""
    boards = [board for kind in _NAMES if (board := _board(kind, caller)) is not None]
    return caller.show("overview.html", boards=boards)


def _board(kind: Kind, caller: Caller) -> dict[str, object] | None:
    """What is shown of one kind of run; None when there is no finished one."""
    cache = caller.service.cache
    finished = [run for run in caller.store.list_runs(kind=kind, limit=_RUNS) if run.finished]
    if not finished:
        return None
    # Runs of another gold set or rubric are about something else: a line that joins them shows no trend.
    runs = [run for run in finished if kind == "production" or _subject(run) == _subject(finished[0])]
    latest = cache.figures(runs[0])
    before = cache.figures(runs[1]) if len(runs) > 1 else None
    band = latest.rubric.targets.pass_rate
    return {
        "kind": kind,
        "title": _NAMES[kind],
        "latest": latest,
        "name": run_name(latest.run),
        "rate": latest.summary.measure("pass_rate"),
        "safety": latest.summary.measure("safety_failures"),
        "band": None if band is None else f"{band[0]:g} to {band[1]:g} %",
        "target": None if band is None else (band[0] / 100, band[1] / 100),
        "lines": [(run, run_name(run), cache.outline(run)) for run in runs],
        "alarms": tuple(_alarms(kind, before, latest, cache=cache)),
    }


def _subject(run: Run) -> tuple[str, str]:
    return run.receipt.goldset, run.receipt.rubric_hash


def _alarms(kind: Kind, before: Figures | None, latest: Figures, *, cache: RunCache) -> Iterator[Alarm]:
    """What the newest run is clearly worse in than the one before it, and targets it clearly misses."""
    here = f"/runs/{latest.run.id}"
    safety, rate = latest.summary.measure("safety_failures"), latest.summary.measure("pass_rate")
    if safety and safety.value and safety.met is False:
        unsafe = round(safety.value * safety.n)
        yield Alarm(f"{count(unsafe, 'reply has', 'replies have')} a safety violation", f"{here}?tab=replies")
    if rate and rate.interval and rate.target and rate.target.low is not None and rate.interval.high < rate.target.low:
        yield Alarm(f"The pass rate is below its target of {rate.target.text}, and chance does not explain it", here)
    if before is not None:
        yield from (_paired if kind == "goldset" else _unpaired)(before, latest, cache=cache)


def _paired(before: Figures, after: Figures, *, cache: RunCache) -> Iterator[Alarm]:
    """Runs of one gold set have the same cases: their comparison says what is clearly worse."""
    if before.run.receipt.goldset != after.run.receipt.goldset:
        return
    try:
        found = cache.comparison(before.run, after.run)
    except TouchstoneError:
        # Runs of two rubrics: nothing can be said, and nothing is amiss.
        return
    href = f"/compare?before={before.run.id}&after={after.run.id}"
    lines = {group.id: group.lines for group in found.groups}
    for line in (*lines["headline"][:2], *lines.get("categories", ())):
        if line.standing == "worse":
            name = {"pass rate": "The pass rate", "safety failures": "Safety"}.get(line.name, f"Category {line.name}")
            yield Alarm(f"{name} is worse than in the run before: {line.difference} ({line.chance})", href)
    if worse := [f"{line.name} {line.difference}" for line in lines.get("grades", ()) if line.standing == "worse"]:
        yield Alarm(f"Grades are worse than in the run before: {', '.join(worse)}", href)


def _unpaired(before: Figures, after: Figures, *, cache: RunCache) -> Iterator[Alarm]:
    """Replies of two weeks are other replies: the difference of two shares, of all and of each category."""
    old = {each.name: each for each in before.summary.categories}
    rows = [("The judge's pass rate", _share(before), _share(after))]
    rows += [
        (f"The pass rate in {one_line(each.name)}", _part(before, old[each.name]), _part(after, each))
        for each in after.summary.categories
        if each.name in old
    ]
    for name, first, second in rows:
        effect = effect_of(first, second)
        if effect is not None and effect.interval.high < 0:
            difference = change(effect.change, "share")
            yield Alarm(f"{name} fell by {difference[1:]} since the run before", f"/runs/{after.run.id}")


def _share(found: Figures) -> Share:
    passed = sum(category.passed for category in found.summary.categories)
    measure = found.summary.measure("pass_rate")
    if measure is None or measure.value is None:
        return Share(found.run.id, 0, 0)
    return Share(found.run.id, passed or round(measure.value * measure.n), measure.n)


def _part(found: Figures, category: CategoryFigures) -> Share:
    return Share(found.run.id, category.passed, category.coverage.scored)
