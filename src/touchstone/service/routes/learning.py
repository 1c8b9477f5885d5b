"""A week's reviews -> cases for a gold set, and a judge calibrated to the team: buttons on the week's page."""

import json
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from touchstone.app.audit import now
from touchstone.app.calibration import calibrate_judge, calibration_file, write_calibration
from touchstone.app.export import promoted_cases
from touchstone.report.weekly import MODES
from touchstone.review.calibration import LEAST_LABELS
from touchstone.review.queue import FINISHED, Queue
from touchstone.service import commands
from touchstone.service.context import Caller, Lead
from touchstone.service.pages.render import go_to

pages = APIRouter(prefix="/queues", include_in_schema=False)
# What the page says of a calibration is read from its file, which this names.
Calibrated = Annotated[str, Query(max_length=100, pattern=r"^[A-Za-z0-9.+-]*$")]


@dataclass(frozen=True, slots=True)
class Learned:
    """What a week's reviews were used for: cases promoted and ready to be, and the calibration that was just made."""

    promoted: int
    ready: int
    calibration: dict[str, Any] | None
    file: str
    least: int = LEAST_LABELS
    modes = MODES


def learned(caller: Caller, queue: Queue, calibrated: str) -> Learned:
    """What the page shows."""
    promoted = {each.result for each in caller.store.marks.promoted(run=queue.run)}
    file = calibration_file(caller.store.place, calibrated)
    is_there = bool(calibrated) and file.is_file()
    return Learned(
        promoted=len(promoted),
        ready=len([result for result in _agreed(caller, queue) if result not in promoted]),
        calibration=json.loads(file.read_text("utf-8")) if is_there else None,
        file=str(file),
    )


@pages.post("/{id}/promote")
def promote(caller: Lead, id: str) -> Response:
    """Mark every reply that people agree on for a gold set."""
    queue = caller.store.queues.get(id)
    for result in _agreed(caller, queue):
        commands.set_promoted(caller, queue.run, result, promoted=True)
    return go_to(f"/queues/{id}#learn-h")


@pages.get("/{id}/goldset.jsonl")
def download_goldset(caller: Lead, id: str) -> Response:
    """The week's promoted cases with people's labels."""
    rows = promoted_cases(caller.store, run=caller.store.queues.get(id).run)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="goldset-{now()[:10]}.jsonl"'}
    return Response(text.encode("utf-8", "replace"), media_type="application/x-ndjson", headers=headers)


@pages.post("/{id}/calibrate")
def calibrate(caller: Lead, id: str) -> Response:
    """Calibrate the judge to every review in the store, and keep the result beside it."""
    caller.store.queues.get(id)
    made = now()
    found = calibrate_judge(caller.store, settings=caller.service.settings, today=made[:10])
    # A second one on the same day has a file of its own.
    version = f"{found.offline.fitted.version}.{made[11:19].replace(':', '')}"
    write_calibration(found, calibration_file(caller.store.place, version))
    caller.note("judge calibrated", version)
    return go_to(f"/queues/{id}?calibrated={quote(version, safe='')}#learn-h")


def _agreed(caller: Caller, queue: Queue) -> list[int]:
    items = caller.store.queues.items(queue.id, limit=None)
    return [item.result for item in items if item.state in FINISHED]
