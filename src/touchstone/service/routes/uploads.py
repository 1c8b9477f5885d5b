"""A file of production replies from a browser -> a preview, columns mapped by hand, and once confirmed a scored run."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Path, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from touchstone.app.evaluation import Step, evaluate_goldset
from touchstone.app.preview import MAPPED_FIELDS, Preview, map_columns, preview_file
from touchstone.app.replies import Assignment
from touchstone.core.case import Case
from touchstone.core.errors import InputError
from touchstone.core.result import Result
from touchstone.report.plain import one_line
from touchstone.runs.run import Run
from touchstone.service.context import Caller, Lead
from touchstone.service.pages.render import go_to, wants_part
from touchstone.service.problems import Refusal, refusal_of
from touchstone.service.routes.production import scored_by
from touchstone.service.uploads import Upload

pages = APIRouter(prefix="/queues/upload", include_in_schema=False)
UploadId = Annotated[str, Path(max_length=64)]
_ENDINGS = (".jsonl", ".json", ".csv")
_LONGEST_NAME = 120
_LONGEST_LABEL = 200


@pages.post("")
async def upload(caller: Lead, *, file: UploadFile) -> Response:
    """Keep the file for an hour; nothing of it is scored or stored before it is confirmed on the page this leads to."""
    name = one_line(PurePath(file.filename or "").name)[-_LONGEST_NAME:]
    if PurePath(name).suffix.lower() not in _ENDINGS:
        raise InputError(f"'{name}' is no {', '.join(_ENDINGS)} file: choose another, or use touchstone review sample")
    content = await file.read()
    return go_to((await run_in_threadpool(_receive, caller, name, content)).address)


@pages.get("/{id}")
def show_upload(caller: Lead, id: UploadId) -> Response:
    """What would be read of the file; how far it is once it is being scored; then on to the week."""
    found = caller.service.uploads.get(id, by=caller.name)
    if found.is_scoring:
        return caller.show("upload_progress.html", upload=found)
    target = f"/queues?run={found.run}#new-h" if found.run else found.address
    if wants_part(caller.request, "progress"):
        # The page that watched the scoring has nothing more to watch.
        return Response(headers={"HX-Redirect": target})
    if found.run:
        return go_to(target)
    return caller.show("upload.html", upload=found, preview=_preview(caller, found), fields=MAPPED_FIELDS)


@pages.post("/{id}")
async def map_upload(caller: Lead, id: UploadId) -> Response:
    """Read the file with other columns."""
    found = caller.service.uploads.get(id, by=caller.name)
    await _take_form(caller, found)
    return go_to(found.address)


@pages.post("/{id}/score")
async def score_upload(caller: Lead, id: UploadId) -> Response:
    """Score and store the replies, once, while the page shows how far it is."""
    found = caller.service.uploads.get(id, by=caller.name)
    if not found.is_scoring and found.run is None:
        await _take_form(caller, found)
        if not found.problem:
            found.done = 0
            found.scoring = asyncio.create_task(run_in_threadpool(_score, caller, found))
    return go_to(found.address)


@pages.post("/{id}/cancel")
def cancel_upload(caller: Lead, id: UploadId) -> Response:
    """Remove the file."""
    found = caller.service.uploads.get(id, by=caller.name)
    if found.is_scoring:
        raise Refusal(409, "conflict", "the file is being scored: wait until it is done")
    caller.service.uploads.forget(found)
    return go_to("/queues#new-h")


def _receive(caller: Caller, name: str, content: bytes) -> Upload:
    made = caller.service.uploads.add(name, content, by=caller.name)
    try:
        _preview(caller, made)
    except InputError:
        caller.service.uploads.forget(made)
        raise
    return made


def _preview(caller: Caller, found: Upload) -> Preview:
    try:
        return preview_file(found.path, name=found.name, settings=caller.service.settings, mapped=found.mapped)
    except InputError as error:
        raise _renamed(error, found) from None


async def _take_form(caller: Caller, found: Upload) -> None:
    """The label, and the columns as they were chosen; what cannot be meant is said on the page."""
    form = {name: value for name, value in (await caller.request.form()).items() if isinstance(value, str)}
    chosen = {field: form[f"field.{field}"] for field in MAPPED_FIELDS if f"field.{field}" in form}
    preview = await run_in_threadpool(_preview, caller, found)
    found.total = preview.rows
    found.label = form.get("label", "")[:_LONGEST_LABEL]
    found.problem = ""
    try:
        found.mapped = map_columns(chosen, names=preview.columns, settings=caller.service.settings)
    except InputError as error:
        found.problem = str(error)


def _score(caller: Caller, found: Upload) -> None:
    """In a thread: what goes wrong is said on the file's page, from where it can be tried again."""
    try:
        run = _evaluate(caller, found)
    except Exception as error:  # noqa: BLE001 - nobody waits for this thread; a defect goes to the log
        found.problem = str(refusal_of(error).detail)
        return
    caller.note("replies stored", run.id)
    found.run = run.id
    caller.service.uploads.remove_file(found)


def _evaluate(caller: Caller, found: Upload) -> Run:
    here = caller.service
    score_all = scored_by(here)

    def score(case: Case) -> Result:
        if here.uploads.is_closing:
            raise InputError("the service was stopped: send the file again, and the rest of it is scored")
        return score_all([case])[0].result

    def on_start(_: Run, done: int) -> None:
        found.done = done

    def on_step(step: Step) -> None:
        found.done, found.total = step.done, step.total

    labels = _labels(found.label)
    try:
        return evaluate_goldset(
            Assignment(goldset=str(found.path), name=found.name, labels=labels, kind="production"),
            settings=replace(here.settings, columns={**here.settings.columns, **found.mapped}),
            store=caller.store,
            on_start=on_start,
            on_step=on_step,
            score=score,
        )
    except InputError as error:
        raise _renamed(error, found) from None


def _renamed(error: InputError, found: Upload) -> InputError:
    """It goes by its own name, not by that of the copy here."""
    return InputError(str(error).replace(str(found.path), f"the file {found.name}"))


def _labels(text: str) -> Mapping[str, str]:
    """`version=4.2, channel=chat` as labels; a word alone is a version."""
    labels = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, sign, value = part.partition("=")
        labels[name.strip() if sign else "version"] = value.strip() if sign else part
    return {name: value for name, value in labels.items() if name and value}
