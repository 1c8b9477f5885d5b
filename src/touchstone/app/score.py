"""Cases in, results out, one at a time and in input order; a row that fails keeps its place and the rest goes on."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from touchstone.app.config import Settings
from touchstone.app.tally import Counting
from touchstone.core.case import Case
from touchstone.core.errors import InputError, ResourceError
from touchstone.core.result import Failure, Result
from touchstone.io.cases import Entry, read_cases
from touchstone.io.files import Format, open_rows, shown
from touchstone.io.results import check_target, open_results
from touchstone.io.rows import Row
from touchstone.report.summary import Tally
from touchstone.runs.evaluate import evaluate, failed


@dataclass(frozen=True, slots=True)
class Scored:
    """An entry with its result, and how much of its file has been read (None when that is not known)."""

    entry: Entry
    result: Result
    share_read: float | None = None


OnScored = Callable[[Scored], None]


def score_file(
    source: str,
    *,
    settings: Settings,
    target: str | None,
    on_scored: OnScored,
    format: Format | None = None,
    id: str | None = None,
) -> Tally:
    """Score the cases in `source` into `target` (None: nowhere); with `id`, that case alone."""
    if target is not None:
        check_target(target, source=source)
    with open_rows(source, format=format) as rows:
        entries = read_cases(rows, file=shown(source), columns=settings.columns)
        chosen = entries if id is None else _only(entries, id=id, file=shown(source))
        scored = (replace(each, share_read=rows.share_read()) for each in score_entries(chosen, settings=settings))
        return _write_all(scored, target=target, on_scored=on_scored)


def score_fields(
    fields: Mapping[str, Any], *, settings: Settings, target: str | None, on_scored: OnScored, source: str
) -> Tally:
    """Score one case given by its fields; `source` names where they come from in messages."""
    if target is not None:
        check_target(target, source=source)
    entries = read_cases([Row(source, 1, fields)], file=source)
    return _write_all(score_entries(entries, settings=settings), target=target, on_scored=on_scored)


def score_entries(entries: Iterable[Entry], *, settings: Settings) -> Iterator[Scored]:
    """Each entry with its result; whatever goes wrong with one is a failure in its place."""
    for entry in entries:
        if isinstance(entry.case, Failure):
            yield Scored(entry, failed(None, entry.case, line=entry.line))
        else:
            result = score_case(entry.case, line=entry.line, settings=settings)
            yield Scored(entry, replace(result, line=entry.line) if result.failures else result)


def score_case(case: Case, *, line: int, settings: Settings) -> Result:
    """The case's result; a defect met in it is a failure."""
    try:
        return evaluate(
            case, plan=settings.plan, rubric=settings.rubric, policy=settings.policy, fitted=settings.fitted
        )
    except ResourceError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect must not cost the other rows; its text may quote the customer
        problem = "the case met a defect in Touchstone and was not scored: please report it"
        return failed(case.id, Failure("score", type(error).__name__, problem), line=line)


def _only(entries: Iterable[Entry], *, id: str, file: str) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry.case, Case) and entry.case.id == id:
            yield entry
            return
    raise InputError(f"{file} holds no case with the id '{id}': a case without one has the id its result shows")


def _write_all(scored: Iterable[Scored], *, target: str | None, on_scored: OnScored) -> Tally:
    counting = Counting()
    with nullcontext(_write_nothing) if target is None else open_results(target) as write:
        for each in scored:
            write(each.result)
            counting.add(each.result)
            on_scored(each)
    return counting.tally()


def _write_nothing(result: Result) -> None:
    """Takes the place of a file when results are only shown."""
