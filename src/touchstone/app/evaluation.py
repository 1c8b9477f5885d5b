"""A gold set -> a run in the store: every reply scored once, however often the command is stopped and started."""

import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from touchstone import __version__
from touchstone.app.config import Settings
from touchstone.app.config_model import RUNS
from touchstone.app.goldset import locate
from touchstone.app.judging import ModelJudge
from touchstone.app.plan import plan_hash
from touchstone.app.replies import Reply, data_hash, drafted_replies, given_replies, joined_replies
from touchstone.app.score import in_order, judge_case, score_case
from touchstone.app.verifier import verifier_name
from touchstone.clients.bots import Bot, open_bot
from touchstone.clients.faults import ENDING, is_passing
from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.codec import content_hash
from touchstone.core.errors import InputError
from touchstone.core.resource import PARSER, PARSER_VERSION
from touchstone.core.result import Failure, Result
from touchstone.io.cases import Entry, Replies, read_cases
from touchstone.io.columns import SeenColumns
from touchstone.io.files import open_rows, shown
from touchstone.io.responses import Responses, read_responses
from touchstone.judges import model
from touchstone.judges import wording as worded
from touchstone.judges.llm.request import Request
from touchstone.rubric.card import rubric_to_dict, write_rubric
from touchstone.runs.evaluate import failed
from touchstone.runs.record import record
from touchstone.runs.redaction import redact_reply
from touchstone.runs.run import Kind, Receipt, Run
from touchstone.safety import signs, wording
from touchstone.store.private import make_directory, take_from_others
from touchstone.store.runs import Scored, Store

LOCK = ".lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What is to be evaluated: the gold set, where its replies come from, and how the run is labelled.

    `name` is what the run calls the gold set, where that is not its path.
    """

    goldset: str
    name: str | None = None
    responses: str | None = None
    bot: str | None = None
    repeat: int = 1
    concurrency: int = 4
    timeout: float = 30.0
    retries: int = 2
    headers: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    starts_over: bool = False
    kind: Kind = "goldset"


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
    entries, responses = _read(assignment, settings=settings)
    with _bot(assignment) as bot:
        receipt = _receipt(assignment, entries, settings=settings, responses=responses, bot=bot, judge=judge)
        with _claimed(assignment, receipt, settings=settings, store=store) as run:
            done = store.positions(run.id)
            on_start(run, len(done))
            replies = _replies(assignment, entries, responses=responses, bot=bot, done=done)
            keep = _Keeping(store, run.id, redacts=settings.redacts)
            scorer = score or partial(_score_here, settings=settings)
            seconds = _score_all(replies, done, score=scorer, judge=judge, fill=fill, keep=keep, on_step=on_step)
            return store.finish_run(run.id, finished=_now(), seconds=run.seconds + seconds)


@dataclass(frozen=True, slots=True)
class _Replies:
    """What is to be scored, as it comes, and how much it will be."""

    each: Iterable[Reply]
    total: int


def _replies(
    assignment: Assignment, entries: list[Entry], *, responses: Responses | None, bot: Bot | None, done: set[int]
) -> _Replies:
    if bot is None:
        known = list(given_replies(entries) if responses is None else joined_replies(entries, responses))
        return _Replies(known, len(known))
    drafted = drafted_replies(
        entries, bot, repeat=assignment.repeat, concurrency=assignment.concurrency, is_scored=done.__contains__
    )
    return _Replies(drafted, sum(assignment.repeat if isinstance(entry.case, Case) else 1 for entry in entries))


@dataclass(frozen=True, slots=True)
class _Keeping:
    """Where results go, and whether personal data is taken out of them on the way."""

    store: Store
    run: str
    redacts: bool

    def add(self, reply: Reply, result: Result, *, seconds: float) -> None:
        case = reply.case if isinstance(reply.case, Case) else None
        found = record(case, result, draft=reply.draft)
        entry = Scored(position=reply.position, case=case, result=result, record=found, seconds=seconds)
        self.store.add_results(self.run, [redact_reply(entry) if self.redacts else entry])


def _score_all(
    replies: _Replies,
    done: set[int],
    *,
    score: Score,
    judge: ModelJudge | None,
    fill: Fill | None,
    keep: _Keeping,
    on_step: OnStep,
) -> float:
    """How long it took. Without a model, each result is in the store before the next reply is looked at."""
    start = time.monotonic()
    count = len(done)
    left = (reply for reply in replies.each if reply.position not in done)
    for reply, result, seconds in _all_scored(left, score=score, judge=judge, fill=fill):
        keep.add(reply, result, seconds=seconds)
        count += 1
        on_step(Step(reply, result, count, replies.total))
    return time.monotonic() - start


_Timed = tuple[Reply, Result, float]


def _all_scored(
    replies: Iterator[Reply], *, score: Score, judge: ModelJudge | None, fill: Fill | None
) -> Iterator[_Timed]:
    def timed() -> Iterator[_Timed]:
        for reply in replies:
            began = time.monotonic()
            yield reply, _scored(reply, score=score), time.monotonic() - began

    if judge is None:
        return timed()
    if fill is None:
        return _without_outages(_judged(timed(), judge=judge))
    every = list(timed())
    return _without_outages(_judged(iter(every), judge=fill(_requests(every, judge=judge))))


def _requests(scored: Iterable[_Timed], *, judge: ModelJudge) -> list[Request]:
    found: list[Request] = []
    for reply, result, _ in scored:
        # A defect is a failure of its case, and is met again where that is judged.
        with suppress(Exception):
            if isinstance(reply.case, Case):
                found += judge.requests(reply.case, result)
    return found


def _judged(scored: Iterator[_Timed], *, judge: ModelJudge) -> Generator[_Timed, None, None]:
    def judged(each: _Timed) -> _Timed:
        reply, result, seconds = each
        began = time.monotonic()
        if isinstance(reply.case, Case):
            result = judge_case(reply.case, result, judge=judge)
        return (
            reply,
            replace(result, line=reply.line) if result.failures else result,
            seconds + time.monotonic() - began,
        )

    return in_order(scored, judged, concurrency=judge.concurrency, stop=judge.stop)


def _without_outages(judged: Generator[_Timed, None, None]) -> Iterator[_Timed]:
    """What a resumed run would make good is not kept: such failures are held back until the model answers again."""
    held: list[_Timed] = []
    with closing(judged):
        for each in judged:
            held.append(each)
            passing = [failure for failure in each[1].failures if is_passing(failure)]
            if ended := next((failure for failure in passing if failure.error in ENDING), None):
                raise JudgeStopped(ended.message)
            if not passing:
                yield from held
                held.clear()
    yield from held


def _score_here(case: Case, *, settings: Settings) -> Result:
    return score_case(case, line=0, settings=settings)


def _scored(reply: Reply, *, score: Score) -> Result:
    if isinstance(reply.case, Failure):
        return failed(reply.id, reply.case, line=reply.line)
    result = score(reply.case)
    return replace(result, line=reply.line) if result.failures else result


def _read(assignment: Assignment, *, settings: Settings) -> tuple[list[Entry], Responses | None]:
    """The cases and, from a second file, their replies; InputError when there is nothing to score."""
    source = locate(assignment.goldset)
    file, columns, seen = shown(source), settings.columns, SeenColumns(settings.mapped)
    replies: Replies = "needed" if assignment.bot is None and assignment.responses is None else "dropped"
    with open_rows(source) as rows:
        entries = list(read_cases(seen.watch(rows), file=file, columns=columns, replies=replies))
    if assignment.responses is None:
        seen.check_mapped(file=file)
        if assignment.bot is None:
            _check_replies(assignment, entries, seen=seen, columns=columns, file=file)
        return entries, None
    both = f"{file} and {shown(assignment.responses)}"
    try:
        responses = read_responses(assignment.responses, columns=columns, seen=seen)
    except InputError:
        # Replies that are not found may be in a column whose name is misspelt.
        seen.check_mapped(file=both)
        raise
    seen.check_mapped(file=both)
    return entries, responses


def _check_replies(
    assignment: Assignment, entries: list[Entry], *, seen: SeenColumns, columns: Mapping[str, str], file: str
) -> None:
    """InputError when no row has a reply: a run of nothing would be the latest."""
    if any(isinstance(entry.case, Case) and entry.case.response.strip() for entry in entries):
        return
    if assignment.kind == "goldset":
        remedy = "give them with --responses FILE, or have them drafted with --bot COMMAND_OR_URL"
    else:
        seen.check_reply(file=file, columns=columns)
        remedy = "give each row its reply"
    unread = next((entry for entry in entries if isinstance(entry.case, Failure)), None)
    why = f"; line {unread.line}: {unread.case.message}" if unread and isinstance(unread.case, Failure) else ""
    raise InputError(f"{file} holds no replies in its {len(entries):,} rows: {remedy}{why}")


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


def receipt_of(settings: Settings, *, name: str, data: str) -> Receipt:
    """What determines replies that came with their cases and are graded offline."""
    rubric = settings.rubric
    return Receipt(
        goldset=name,
        data=data,
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_hash=content_hash(rubric_to_dict(rubric)),
        plan=plan_hash(settings),
        policy=content_hash(asdict(settings.policy)),
        judge=_offline_judge(settings),
        code=__version__,
        parser=f"{PARSER} {PARSER_VERSION}",
        redacted=settings.redacts,
        verifier=verifier_name(settings.verifier),
    )


# All that grades and findings of the offline judge are computed with.
FITTED = (model.FILE, model.PLAIN_FILE, worded.FILE, model.PASS_FILE, signs.FILE, wording.FILE)


def _offline_judge(settings: Settings) -> str:
    """The offline judge by all that was fitted: the models, the team's own or those that ship, and what they weigh."""
    fitted = content_hash([resource.text(file) for file in FITTED])
    return f"offline {settings.fitted.version} {fitted}" if settings.fitted is not None else f"offline {fitted}"


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
