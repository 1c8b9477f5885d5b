"""A file of production replies -> a production run in the store, scored by the service's own processes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from touchstone.app.evaluation import evaluate_goldset
from touchstone.app.replies import Assignment
from touchstone.core.case import Case
from touchstone.core.errors import InputError
from touchstone.core.result import Result
from touchstone.report.plain import one_line
from touchstone.runs.run import Run
from touchstone.service.auth.guard import Lead
from touchstone.service.context import Here, note
from touchstone.service.pages.render import go_to

router = APIRouter(include_in_schema=False)
ENDINGS = (".jsonl", ".json", ".csv")
_LONGEST_NAME = 120


@router.post("/queues/upload")
async def upload(
    here: Here, who: Lead, *, file: UploadFile, label: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    """Score and keep the replies; the form that draws a queue from them is on the page this leads back to."""
    name = one_line(PurePath(file.filename or "").name)[-_LONGEST_NAME:]
    ending = PurePath(name).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"'{name}' is no {', '.join(ENDINGS)} file: choose another, or use touchstone review sample")
    content = await file.read()
    loop = asyncio.get_running_loop()

    def score(case: Case) -> Result:
        return asyncio.run_coroutine_threadsafe(here.scorer.result(case), loop).result()

    def evaluate() -> Run:
        with TemporaryDirectory(prefix="touchstone-") as directory:
            path = Path(directory) / f"replies{ending}"
            path.write_bytes(content)
            assignment = Assignment(goldset=str(path), name=name, labels=_labels(label), kind="production")
            try:
                return evaluate_goldset(
                    assignment,
                    settings=here.settings,
                    store=here.store,
                    on_start=lambda run, done: None,
                    on_step=lambda step: None,
                    score=score,
                )
            except InputError as error:
                # It goes by its own name, not by that of the copy here.
                raise InputError(str(error).replace(str(path), f"the file {name}")) from None

    run = await run_in_threadpool(evaluate)
    await run_in_threadpool(note, here, who, "replies stored", run.id)
    return go_to(f"/queues?run={run.id}#new-h")


def _labels(text: str) -> Mapping[str, str]:
    """`version=4.2, channel=chat` as labels; a word alone is a version."""
    labels = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, sign, value = part.partition("=")
        labels[name.strip() if sign else "version"] = value.strip() if sign else part
    return {name: value for name, value in labels.items() if name and value}
