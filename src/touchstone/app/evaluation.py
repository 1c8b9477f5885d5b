"""A gold set -> a run in the store: every reply scored once, however often the command is stopped and started."""

import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from touchstone.app.config import Settings
from touchstone.app.config_model import RUNS
from touchstone.app.judging import ModelJudge
from touchstone.app.plan import receipt_of
from touchstone.app.replies import Assignment, Reply, data_hash, read_assignment, replies_of
from touchstone.app.score import at_line, in_order, judge_case, score_case
from touchstone.clients.bots import Bot, open_bot
from touchstone.clients.faults import ENDING, is_passing
from touchstone.core.case import Case
from touchstone.core.errors import InputError
from touchstone.core.result import Result
from touchstone.io.cases import Entry
from touchstone.io.responses import Responses
from touchstone.judges.llm.request import Request
from touchstone.rubric.card import write_rubric
from touchstone.runs.evaluate import failed
from touchstone.runs.record import record
from touchstone.runs.redaction import redact_reply
from touchstone.runs.run import Receipt, Run
from touchstone.store.private import make_directory, take_from_others
from touchstone.store.results import Scored
from touchstone.store.runs import Store

LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Step:
    """One reply scored just now, with how many of how many are done."""

    reply: Reply
    result: Result
    done: int
    total: int


OnStep = Callable[[Step], None]
OnStart = Callable[[Run, int], None]
Score = Callable[[Case], Result]
Fill = Callable[[Sequence[Request]], ModelJudge]


class JudgeStopped(InputError):
    """The model cannot be asked any more: the budget is reached, or the server is away."""


def evaluate_goldset(
    assignment: Assignment,
    *,
    settings: Settings,
    store: Store,
    on_start: OnStart,
    on_step: OnStep,
    judge: ModelJudge | None = None,
    score: Score | None = None,
    fill: Fill | None = None,
) -> Run:
    """Score what the store does not hold yet of the run, and finish it. `on_start` is told what it did hold.

    A service passes `score`, so that its own processes do the work. `fill` is given all that the judge would ask and
    gives the judge that has the answers.
    """
    entries, responses = read_assignment(assignment, settings=settings)
    with _bot(assignment) as bot:
        receipt = _receipt(assignment, entries, settings=settings, responses=responses, bot=bot, judge=judge)
        with _claimed(assignment, receipt, settings=settings, store=store) as run:
            done = store.replies.positions(run.id)
            on_start(run, len(done))
            start = time.monotonic()
            total, replies = replies_of(assignment, entries, responses=responses, bot=bot, is_scored=done.__contains__)
            left = (reply for reply in replies if reply.position not in done)
            scored = _scored(left, score=score or partial(score_case, line=0, settings=settings))
            # Without a model, each result is in the store before the next reply is looked at.
            graded = scored if judge is None else _without_outages(_judged(scored, judge=judge, fill=fill))
            for count, each in enumerate(graded, len(done) + 1):
                store.replies.add(run.id, [each.kept(redacts=settings.redacts)])
                on_step(Step(each.reply, each.result, count, total))
            return store.finish_run(run.id, finished=_now(), seconds=run.seconds + time.monotonic() - start)


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """A reply with its result, and how long that took."""

    reply: Reply
    result: Result
    seconds: float

    def kept(self, *, redacts: bool) -> Scored:
        """As it goes into the store."""
        reply, result = self.reply, self.result
        case = reply.case if isinstance(reply.case, Case) else None
        found = record(case, result, draft=reply.draft)
        entry = Scored(position=reply.position, case=case, result=result, record=found, seconds=self.seconds)
        return redact_reply(entry) if redacts else entry


def _scored(replies: Iterable[Reply], *, score: Score) -> Iterator[_Evaluated]:
    for reply in replies:
        start = time.monotonic()
        result = score(reply.case) if isinstance(reply.case, Case) else failed(reply.id, reply.case)
        yield _Evaluated(reply, at_line(result, reply.line), time.monotonic() - start)


def _judged(scored: Iterator[_Evaluated], *, judge: ModelJudge, fill: Fill | None) -> Generator[_Evaluated, None, None]:
    if fill is not None:
        every = list(scored)
        scored, judge = iter(every), fill(_requests(every, judge=judge))

    def judged(each: _Evaluated) -> _Evaluated:
        start = time.monotonic()
        result = each.result
        if isinstance(each.reply.case, Case):
            result = at_line(judge_case(each.reply.case, result, judge=judge), each.reply.line)
        return _Evaluated(each.reply, result, each.seconds + time.monotonic() - start)

    return in_order(scored, judged, concurrency=judge.concurrency, stop=judge.stop)


def _requests(scored: Iterable[_Evaluated], *, judge: ModelJudge) -> list[Request]:
    found: list[Request] = []
    for each in scored:
        # A defect is a failure of its case, and is met again where that is judged.
        with suppress(Exception):
            if isinstance(each.reply.case, Case):
                found += judge.requests(each.reply.case, each.result)
    return found


def _without_outages(judged: Generator[_Evaluated, None, None]) -> Iterator[_Evaluated]:
    """What a resumed run would make good is not kept: such failures are held back until the model answers again."""
    held: list[_Evaluated] = []
    with closing(judged):
        for each in judged:
            held.append(each)
            passing = [failure for failure in each.result.failures if is_passing(failure)]
            if ended := next((failure for failure in passing if failure.error in ENDING), None):
                raise JudgeStopped(ended.message)
            if not passing:
                yield from held
                held.clear()
    yield from held


def _receipt(
    assignment: Assignment,
    entries: list[Entry],
    *,
    settings: Settings,
    responses: Responses | None,
    bot: Bot | None,
    judge: ModelJudge | None,
) -> Receipt:
    receipt = receipt_of(settings, name=assignment.name or assignment.goldset, data=data_hash(entries))
    return replace(
        receipt,
        judge=judge.name if judge else receipt.judge,
        responses=responses.hash if responses else None,
        # The name leaves out what an address may hold of a secret.
        bot=bot.name if bot else None,
        repeat=assignment.repeat,
    )


@contextmanager
def _claimed(assignment: Assignment, receipt: Receipt, *, settings: Settings, store: Store) -> Iterator[Run]:
    """The unfinished run that this assignment would repeat, unless another process is at it, or a new run.

    A lock beside the run's files marks it as being worked on; it goes with the process, however that ends.
    """
    with ExitStack() as held:
        begun = () if assignment.starts_over else store.unfinished_runs(receipt, labels=assignment.labels)
        for run in begun:
            if run.kind == assignment.kind and _lock(run_directory(run.id, settings=settings), held):
                yield run
                return
        run = Run(id=_new_id(), started=_now(), receipt=receipt, labels=assignment.labels, kind=assignment.kind)
        _lock(run_directory(run.id, settings=settings), held)
        store.create_run(run, rubric=write_rubric(settings.rubric))
        yield run


def run_directory(id: str, *, settings: Settings) -> Path:
    """Where a run's files are."""
    return Path(settings.runs) / id


def _lock(directory: Path, held: ExitStack) -> bool:
    """Whether this process holds the directory now; InputError when nothing can be written there."""
    lock = FileLock(directory / LOCK, blocking=False)
    try:
        make_directory(directory)
        # A directory of runs that is ours by its name closes off the runs that are in it as well.
        take_from_others([directory.parent, directory] if directory.parent.name == RUNS else [directory])
        held.enter_context(lock)
    except Timeout:
        return False
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InputError(f"{directory} cannot be written ({problem}): name another with --runs") from error
    held.callback((directory / LOCK).unlink, missing_ok=True)
    return True


def _bot(assignment: Assignment) -> AbstractContextManager[Bot | None]:
    if assignment.bot is None:
        return nullcontext()
    return open_bot(assignment.bot, timeout=assignment.timeout, retries=assignment.retries, headers=assignment.headers)


def _new_id() -> str:
    """By time, so that runs sort; with a random end, so that two of one second differ."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
