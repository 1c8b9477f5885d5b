"""The home page: how good this week's replies were as people corrected it, what they found, and what is left to do.

Before there is a week, what to begin with.
"""

import os

from fastapi import APIRouter
from starlette.responses import Response

from touchstone.app.audit import now
from touchstone.app.review import weekly
from touchstone.app.weeks import Week, recent_weeks
from touchstone.clients.llm.discovery import PLACES, find_keys, find_servers
from touchstone.review.found import ReviewerFinding
from touchstone.service.blind import veil_of
from touchstone.service.context import Caller, Lead, Viewer
from touchstone.service.routes.runs import run_name

pages = APIRouter(include_in_schema=False)
# Patterns without an action that the page names; the report has them all.
_PATTERNS = 4


@pages.get("/")
def home(caller: Viewer) -> Response:
    """This week, or the first steps where there is none yet."""
    weeks = recent_weeks(caller.store)
    if not weeks:
        runs = caller.store.list_runs(limit=1)
        return caller.show("first_steps.html", has_runs=bool(runs))
    week = weeks[0]
    report = weekly(caller.store, week.queue.id, now=now())
    band = caller.service.cache.figures(week.run).rubric.targets.pass_rate
    mine = caller.store.queues.progress_of(week.queue.id, caller.name) if caller.user.may("reviewer") else None
    return caller.show(
        "home.html",
        week=week,
        weeks=weeks,
        report=report,
        run_name=run_name(week.run),
        target=None if band is None else (band[0] / 100, band[1] / 100),
        mine=mine if week.queue.closed is None else None,
        notes=_notes(caller, week, report.found),
        actions=[line for pattern in report.patterns for line in pattern.actions],
        patterns=[pattern for pattern in report.patterns if pattern.count and not pattern.actions][:_PATTERNS],
        confirmed=len({place for line in report.found if line.kind == "violation" for place in line.positions}),
    )


@pages.get("/connect")
def connect(caller: Lead) -> Response:
    """Where a model would be looked for, and what it is for."""
    return caller.show("connect.html", places=PLACES, has_looked=False)


@pages.post("/connect")
def look_for_models(caller: Lead) -> Response:
    """The models that servers on this machine list, and the providers whose key is set; no setting changes."""
    found = {"servers": find_servers(), "providers": find_keys(os.environ)}
    return caller.show("connect.html", places=PLACES, has_looked=True, **found)


def _notes(
    caller: Caller, week: Week, found: tuple[ReviewerFinding, ...]
) -> dict[tuple[str, str], list[tuple[int, str, str]]]:
    """What people wrote of each fault, less what is about a reply that the caller has still to grade."""
    waiting = veil_of(caller, week.run.id).positions
    items = caller.store.queues.items(week.queue.id, limit=None) if waiting else ()
    results = {item.position: item.result for item in items}
    return {
        (line.kind, line.name): [
            (note.position, note.by, note.text) for note in line.notes if results.get(note.position) not in waiting
        ]
        for line in found
    }
