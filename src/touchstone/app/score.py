"""Cases in, results out, one at a time and in input order; a row that fails keeps its place and the others follow."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, TypeVar

from touchstone.app.config import Settings
from touchstone.app.judging import ModelJudge
from touchstone.app.verifier import find_verifier
from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.errors import InputError, ResourceError, TouchstoneError
from touchstone.core.result import Failure, Result
from touchstone.engines.engine import Engine
from touchstone.io.cases import Entry, read_cases
from touchstone.io.files import open_mapped, shown
from touchstone.io.formats import Format
from touchstone.io.results import check_target, open_results
from touchstone.io.rows import Row
from touchstone.runs.counts import Counts, Tally, tally
from touchstone.runs.evaluate import evaluate, failed
from touchstone.runs.record import Record, record
from touchstone.runs.redaction import redact_reply
from touchstone.text.reading import read_ahead

# What a worker takes at a time: about a second of work.
BATCH_ROWS = 32
# Replies whose sentences are parsed together: the parser's cost for each is least at about 40 sentences.
TOGETHER = 8
# A row whose worker was lost each time; rows like it are tried again when a job is resumed.
WORKER_LOST = "WorkerLost"
T = TypeVar("T")
R = TypeVar("R")
# Work begun or waiting for each that may run at a time: enough to go on with while the first of them is slow.
_LOOK_AHEAD = 3
_END = object()


@dataclass(frozen=True, slots=True)
class ScoredEntry:
    """An entry with its result, and how much of its file has been read (None when that is not known)."""

    entry: Entry
    result: Result
    share_read: float | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A row as it is written. `case` is None when it could not be read."""

    case: Case | None
    result: Result
    record: Record


OnScored = Callable[[ScoredEntry], None]


def score_file(
    source: str,
    *,
    settings: Settings,
    target: str | None,
    on_scored: OnScored,
    format: Format | None = None,
    id: str | None = None,
    engine: Engine | None = None,
    judge: ModelJudge | None = None,
) -> Tally:
    """Score the cases in `source` into `target` (None: nowhere); with `id`, that case alone.

    Without an engine the work is done right here; without a judge the offline grades are kept.
    """
    find_verifier(settings.verifier)
    if target is not None:
        check_target(target, source=source)
    with open_mapped(source, mapped=settings.mapped, format=format) as rows:
        entries = read_cases(rows, file=shown(source), columns=settings.columns)
        chosen = entries if id is None else _only(entries, id=id, file=shown(source))
        scored = score_entries(chosen, settings=settings) if engine is None else _by_engine(chosen, engine, settings)
        judged = judge_scored(scored, judge=judge)
        placed = (replace(each, share_read=rows.share_read()) for each in judged)
        with closing(scored):
            return _write_all(placed, target=target, on_scored=on_scored, redacts=settings.redacts)


def score_fields(
    fields: Mapping[str, Any],
    *,
    settings: Settings,
    target: str | None,
    on_scored: OnScored,
    source: str,
    judge: ModelJudge | None = None,
) -> Tally:
    """Score one case given by its fields; `source` names where they come from in messages."""
    find_verifier(settings.verifier)
    if target is not None:
        check_target(target, source=source)
    entries = read_cases([Row(source, 1, fields)], file=source)
    judged = judge_scored(score_entries(entries, settings=settings), judge=judge)
    return _write_all(judged, target=target, on_scored=on_scored, redacts=settings.redacts)


def judge_scored(scored: Iterator[ScoredEntry], *, judge: ModelJudge | None) -> Iterator[ScoredEntry]:
    """Each result under the judge, in order; a model is asked about several at a time."""
    if judge is None:
        return scored

    def judged(each: ScoredEntry) -> ScoredEntry:
        case = each.entry.case
        if isinstance(case, Failure):
            return each
        return replace(each, result=at_line(judge_case(case, each.result, judge=judge), each.entry.line))

    return in_order(scored, judged, concurrency=judge.concurrency, stop=judge.stop)


def in_order(
    items: Iterable[T], work: Callable[[T], R], *, concurrency: int, stop: Callable[[], None]
) -> Generator[R, None, None]:
    """What `work` makes of each item, in their order, several at a time.

    When the caller leaves early, `stop` is called and the threads end.
    """
    pending: deque[Future[R]] = deque()
    source = iter(items)
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="touchstone-judge")
    is_done = False
    try:
        while True:
            while len(pending) < concurrency * _LOOK_AHEAD and (item := next(source, _END)) is not _END:
                pending.append(pool.submit(work, item))  # type: ignore[arg-type]
            if not pending:
                break
            yield pending.popleft().result()
        is_done = True
    finally:
        if not is_done:
            stop()
        pool.shutdown(cancel_futures=True)


def judge_case(case: Case, result: Result, *, judge: ModelJudge) -> Result:
    """The result under the judge; a defect met there is a failure, and what was scored before is kept."""
    try:
        return judge.judge(case, result)
    except TouchstoneError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect must not cost the other rows; its text may quote the customer
        problem = "a defect in Touchstone stopped the judge, so the offline grades are kept: please report it"
        failure = Failure("judge", type(error).__name__, problem)
        decision = "review" if result.decision == "send" else result.decision
        return replace(result, failures=(*result.failures, failure), decision=decision)


def score_entries(entries: Iterable[Entry], *, settings: Settings) -> Generator[ScoredEntry, None, None]:
    """Each entry with its result; whatever goes wrong with one is a failure in its place."""
    for entry in entries:
        if isinstance(entry.case, Failure):
            yield ScoredEntry(entry, failed(None, entry.case, line=entry.line))
        else:
            result = score_case(entry.case, line=entry.line, settings=settings)
            yield ScoredEntry(entry, at_line(result, entry.line))


def at_line(result: Result, line: int) -> Result:
    """The result; one that failed names its row's line."""
    return replace(result, line=line) if result.failures else result


def score_together(entries: Sequence[Entry], *, settings: Settings) -> list[Result]:
    """The results of entries that are all there: the same as one by one, in less time."""
    results: list[Result] = []
    for first in range(0, len(entries), TOGETHER):
        group = entries[first : first + TOGETHER]
        # A reply that cannot be read fails where it is scored, alone.
        with suppress(Exception):
            read_ahead(_scorable(group, settings=settings))
        results.extend(scored.result for scored in score_entries(group, settings=settings))
    return results


def _scorable(entries: Iterable[Entry], *, settings: Settings) -> list[Case]:
    cases = (entry.case for entry in entries)
    return [case for case in cases if isinstance(case, Case) and len(case.response) <= settings.plan.max_reply_chars]


def _by_engine(entries: Iterable[Entry], engine: Engine, settings: Settings) -> Generator[ScoredEntry, None, None]:
    """The same with the work done elsewhere, batch by batch."""
    waiting: deque[Entry] = deque()

    def batches() -> Iterator[Sequence[Entry]]:
        remaining = iter(entries)
        while batch := list(islice(remaining, BATCH_ROWS)):
            waiting.extend(batch)
            yield batch

    with closing(engine.map(EntryWork(settings), batches())) as answers:
        for parts in answers:
            for result in chain.from_iterable(parts):
                yield ScoredEntry(waiting.popleft(), result)


@dataclass(frozen=True, slots=True)
class EntryWork:
    """Entries to their results."""

    settings: Settings

    def prepare(self) -> None:
        load_models()
        find_verifier(self.settings.verifier)

    def __call__(self, items: Sequence[Entry]) -> list[Result]:
        return score_together(items, settings=self.settings)

    def lost(self, item: Entry, *, reason: str) -> list[Result]:
        return [lost_result(item, reason=reason)]


def load_models() -> None:
    """Load the parser and the embeddings, once in each worker."""
    resource.parser()
    resource.embeddings()


def lost_result(entry: Entry, *, reason: str) -> Result:
    """The result of a row that cost every worker that tried it."""
    id = entry.case.id if isinstance(entry.case, Case) else None
    message = f"the row could not be scored, its worker was lost each time ({reason}): shorten it, or give more memory"
    return failed(id, Failure("score", WORKER_LOST, message), line=entry.line)


def score_case(case: Case, *, line: int, settings: Settings) -> Result:
    """The case's result; a defect met in it is a failure."""
    try:
        return evaluate(
            case,
            plan=settings.plan,
            rubric=settings.rubric,
            policy=settings.policy,
            fitted=settings.fitted,
            verifier=find_verifier(settings.verifier),
        )
    except ResourceError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect must not cost the other rows; its text may quote the customer
        problem = "a defect in Touchstone kept the case from being scored: please report it"
        return failed(case.id, Failure("score", type(error).__name__, problem), line=line)


def _only(entries: Iterable[Entry], *, id: str, file: str) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry.case, Case) and entry.case.id == id:
            yield entry
            return
    raise InputError(f"{file} has no case with the id '{id}': a case without one has the id its result shows")


def _write_all(scored: Iterable[ScoredEntry], *, target: str | None, on_scored: OnScored, redacts: bool) -> Tally:
    counts = Counts()
    with nullcontext(_write_nothing) if target is None else open_results(target) as write:
        for each in scored:
            write(_redacted(each) if redacts and target is not None else each.result)
            counts.add_result(each.result)
            on_scored(each)
    return tally(counts.results)


def _redacted(scored: ScoredEntry) -> Result:
    case = scored.entry.case if isinstance(scored.entry.case, Case) else None
    return without_personal_data(Kept(case, scored.result, record(case, scored.result))).result


def without_personal_data(row: Kept) -> Kept:
    """The row, scored as it came, as it may be kept; one that cannot be redacted is withheld as a failed row."""
    try:
        return redact_reply(row)
    except Exception as error:  # noqa: BLE001 - a defect must not cost the other rows; its text may quote the customer
        problem = "a defect in Touchstone stopped the redaction, so the result is withheld: please report it"
        withheld = failed(row.result.id, Failure("redact", type(error).__name__, problem), line=row.result.line)
        return Kept(None, withheld, record(None, withheld))


def _write_nothing(result: Result) -> None:
    """Takes the place of a file when results are only shown."""
