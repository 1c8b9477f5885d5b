"""What a judge would ask -> records of its answers, by batches at the models' servers: cheaper, and within a day.

A batch only fills the records. What an earlier command submitted is collected first, and is never submitted again while
its batch is open; then the judge goes on with the records alone.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from touchstone.app.config import Settings
from touchstone.app.judging import ModelJudge
from touchstone.clients.faults import PASSING, RETRIED, fault
from touchstone.clients.llm.batch import (
    REMEDY,
    Batch,
    Batches,
    CallFile,
    Returned,
    Submission,
    Submissions,
    files_of,
    unanswered,
)
from touchstone.clients.llm.call import Answered, Call, Usage
from touchstone.clients.llm.meter import Account
from touchstone.clients.llm.model import Model, Records
from touchstone.clients.llm.server import BUDGET_REMEDY, MOST_IN_A_ROW, Server
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure
from touchstone.judges.llm.request import Request
from touchstone.report.figures import count
from touchstone.store.private import make_directory

FOLDER = "batches"
# Seconds between two looks at a batch: some end within a minute, most within hours.
FIRST_WAIT = 5.0
LONGEST_WAIT = 60.0
GROWTH = 1.5
GOES_ON = "the batch continues there, and the same command collects its answers"

T = TypeVar("T")
Tell = Callable[[str], None]


def check_batch(settings: Settings, *, bot: str | None) -> None:
    """ConfigError where a batch could fill no records, or the wrong ones."""
    chosen = settings.judge
    if chosen.kind == "offline":
        raise ConfigError("--batch asks a model, and the offline judge is none: name one with --model NAME or --panel")
    if chosen.replay:
        raise ConfigError("--batch asks a server and --replay asks none: choose one")
    if chosen.asks_anew:
        raise ConfigError("--batch takes answers from the records and --no-cache passes over them: choose one")
    if bot:
        problem = "--batch needs the same replies each time the command is given, and --bot drafts new ones"
        raise ConfigError(f"{problem}: keep the drafts in a file and give it with --responses FILE")


def fill_records(
    requests: Sequence[Request], *, judge: ModelJudge, tell: Tell, sleep: Callable[[float], None] = time.sleep
) -> ModelJudge:
    """The judge with answers from the records alone, after all that could be answered by batch is among them."""
    with _claimed(Path(judge.settings.judge.record) / FOLDER) as directory:
        errands = [_errand(model, requests, judge=judge, directory=directory, tell=tell) for model in judge.models]
        try:
            for errand in errands:
                errand.resume()
                errand.submit()
            _wait([each for errand in errands for each in errand.underway], sleep=sleep)
        except KeyboardInterrupt:
            if any(errand.underway for errand in errands):
                tell(f"interrupted: {GOES_ON}")
            raise
        if lacking := sum(len(errand.lacking) for errand in errands):
            tell(f"{count(lacking, 'call lacks', 'calls lack')} an answer; {REMEDY}")
        by_batch = sum(errand.by_batch for errand in errands)
        if by_batch and judge.meter.currency is not None:
            calls = count(by_batch, "call", "calls")
            tell(f"{calls} by batch, counted at the prices given: many providers charge half of them")
        return replace(judge, models=tuple(errand.filled() for errand in errands))


def _wait(underway: Sequence["_Underway"], *, sleep: Callable[[float], None]) -> None:
    """Until each batch has ended, or cannot be asked about."""
    still = list(underway)
    for at, each in enumerate(still, 1):
        each.name = f"batch {at} of {len(still)}"
    pause = FIRST_WAIT
    while still := [each for each in still if each.errand.poll(each)]:
        sleep(pause)
        pause = min(pause * GROWTH, LONGEST_WAIT)


@contextmanager
def _claimed(directory: Path) -> Iterator[Path]:
    """The directory of submissions, for this process alone: two would submit the same calls."""
    lock = FileLock(directory / ".lock", blocking=False)
    try:
        make_directory(directory)
        lock.acquire()
    except Timeout:
        problem = f"another command is waiting for batches in {directory.parent}"
        raise InputError(f"{problem}: let it end, or name another directory with --record") from None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InputError(f"{directory} cannot be written ({problem}): name another with --record") from error
    try:
        yield directory
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class _Filled:
    """Takes a server's place: answers are among the records or not, and then it is known why."""

    records: Records
    account: Account
    recorded_before: frozenset[str]
    failures: dict[str, Failure]
    rest: Failure

    def ask(self, call: Call) -> Answered | Failure:
        found = self.records.find(call)
        if found is None:
            return self.failures.get(call.key, self.rest)
        if call.key in self.recorded_before:
            self.account.note_recorded(found.usage)
        return found

    def stop(self) -> None:
        """Nothing is under way."""


@dataclass(slots=True)
class _Underway:
    """A batch that is waited for, and how many of its answers were told of."""

    errand: "_Errand"
    submission: Submission
    name: str = ""
    told: int | None = None
    setbacks: int = 0


def _errand(model: Model, requests: Iterable[Request], *, judge: ModelJudge, directory: Path, tell: Tell) -> "_Errand":
    votes = range(1, judge.settings.judge.votes + 1)
    calls = (model.call(request, vote=vote) for request in requests for vote in votes)
    if not isinstance(model.server, Server) or model.records is None:
        raise ConfigError(f"--batch needs a server and records for every model, and {model.name} lacks one")
    # Two cases may ask the same; a batch takes no id twice.
    by_key = {call.key: call for call in calls}
    return _Errand(model, model.server, model.records, calls=by_key, submissions=Submissions(directory), tell=tell)


class _Errand:
    """One model's calls on their way to the records. `missing` are those without an answer so far."""

    def __init__(
        self,
        model: Model,
        server: Server,
        records: Records,
        *,
        calls: dict[str, Call],
        submissions: Submissions,
        tell: Tell,
    ) -> None:
        self.by_batch = 0
        self.underway: list[_Underway] = []
        self._model = model
        self._server = server
        self._records = records
        self._batches = Batches(server)
        self._submissions = submissions
        self._tell = tell
        self._missing = {key: call for key, call in calls.items() if records.find(call) is None}
        self._recorded_before = frozenset(calls.keys() - self._missing.keys())
        self._open: set[str] = set()
        self._failures: dict[str, Failure] = {}
        self._reserved: dict[str, Usage] = {}
        self._rest = unanswered()

    @property
    def lacking(self) -> list[str]:
        """Calls that the same command may well have answered when it is given again."""
        return [key for key in self._missing if key not in self._failures]

    def filled(self) -> Model:
        """The model, answering from the records."""
        filled = _Filled(self._records, self._model.account, self._recorded_before, self._failures, self._rest)
        return replace(self._model, server=filled, records=None)

    def resume(self) -> None:
        """Go on with the batches of earlier commands that hold calls of this one; what has ended is collected."""
        for each in self._submissions.open_at(self._server.place):
            if not any(key in self._missing for key in each.left):
                continue
            known = self._batches.create(each.file, may_exist=True) if each.id is None else self._batches.look(each.id)
            if isinstance(known, Failure) and (each.id or known.error in PASSING):
                self._put_off(known, each)
            elif known is None or isinstance(known, Failure):
                self._give_up(each)
            elif known.has_ended:
                self._collect(replace(each, id=known.id), known)
            else:
                self._go_on(replace(each, id=known.id, status=known.status))

    def submit(self) -> None:
        """New batches of the calls that are in none. One call is asked first, as calls are that go by no batch: a wrong
        name, or an option that the model does not take, shows now and not in a day."""
        fresh = [key for key in self._missing if key not in self._open]
        if fresh:
            self._ask(fresh[0])
        fresh = [key for key in fresh if key in self._missing and key not in self._failures]
        fitting = self._reserve(fresh)
        if len(fitting) < len(fresh):
            room = f"{len(fitting):,} of {count(len(fresh), 'call', 'calls')}"
            self._tell(f"the budget has room for {room}: {BUDGET_REMEDY}")
            reached = fault("judge", "BudgetReached", f"the budget has no room for this call: {BUDGET_REMEDY}")
            self._failures |= {key: reached for key in fresh if key not in self._reserved}
        for file in files_of((key, self._server.body(self._missing[key])) for key in fitting):
            submission = self._submitted(file)
            if submission is None:
                break
            self._tell(f"batch {submission.id} is submitted to {submission.place}: {_calls(submission)}")
            self.underway.append(_Underway(self, submission))

    def poll(self, each: _Underway) -> bool:
        """Whether the batch is still to be waited for; one that has ended is collected."""
        found = self._batches.look(str(each.submission.id))
        if isinstance(found, Failure):
            each.setbacks += 1
            waits = found.error in RETRIED and each.setbacks < MOST_IN_A_ROW
            if not waits:
                self._put_off(found, each.submission)
            return waits
        each.setbacks = 0
        if found is None:
            self._give_up(each.submission)
            return False
        if each.told != found.answered:
            each.told = found.answered
            self._tell(f"{each.name}: {found.answered:,} of {len(each.submission.keys):,} answered")
        if found.has_ended:
            self._collect(each.submission, found)
        return not found.has_ended

    def _go_on(self, submission: Submission) -> None:
        self._submissions.keep(submission)
        self._reserve([key for key in submission.left if key in self._missing])
        self._open.update(submission.left)
        since = f"submitted {submission.submitted}"
        self._tell(f"batch {submission.id} at {submission.place}, {since}, continues: {_calls(submission)}")
        self.underway.append(_Underway(self, submission))

    def _ask(self, key: str) -> None:
        call = self._missing[key]
        found = self._server.ask(call)
        if isinstance(found, Answered):
            self._records.keep(call, found)
            del self._missing[key]
        elif found.error not in PASSING or found.error == "BudgetReached":
            self._failures[key] = found

    def _submitted(self, file: CallFile) -> Submission | None:
        """The batch of a file. None when that may succeed later; what never will is a ConfigError."""
        uploaded = self._checked(self._batches.upload(file.content))
        if uploaded is None:
            return None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        place = self._server.place
        submission = Submission(place=place, file=uploaded, keys=file.keys, left=file.keys, submitted=now)
        # Before there is a batch, so that one whose making is not heard of is looked for and not made again.
        self._submissions.keep(submission)
        batch = self._checked(self._batches.create(uploaded))
        if batch is None:
            return None
        submission = replace(submission, id=batch.id, status=batch.status)
        self._submissions.keep(submission)
        return submission

    def _checked(self, found: T | Failure | None) -> T | None:
        if found is None:
            problem = f"{self._server.place} has no batches"
            raise ConfigError(f"{problem}: leave out --batch, and the model is asked one call after another")
        if not isinstance(found, Failure):
            return found
        if found.error not in PASSING:
            raise ConfigError(found.message)
        self._rest = unanswered(found.message)
        return None

    def _reserve(self, keys: Sequence[str]) -> list[str]:
        """The calls for which the budget has room, now kept for them."""
        for key in keys:
            if (reserved := self._model.account.reserve(self._missing[key])) is not None:
                self._reserved[key] = reserved
        return [key for key in keys if key in self._reserved]

    def _put_off(self, failure: Failure, submission: Submission) -> None:
        """What is open stays open, and is not submitted again."""
        self._open.update(submission.left)
        put_off = unanswered(failure.message, remedy=GOES_ON)
        self._failures |= {key: put_off for key in submission.left if key in self._missing}
        self._tell(put_off.message)

    def _give_up(self, submission: Submission) -> None:
        """A batch, or the file of one, that its server does not know any more."""
        self._tell(f"batch {submission.id or submission.file} is no longer at {submission.place}")
        self._submissions.keep(submission.collected(submission.left, status="gone"))

    def _collect(self, submission: Submission, batch: Batch) -> None:
        wanted = {key: self._missing[key] for key in submission.left if key in self._missing}
        returned = Returned()
        for file in filter(None, (batch.output, batch.errors)):
            content = self._batches.read(file)
            if isinstance(content, Failure):
                self._put_off(content, submission)
                return
            returned.read(content or b"", keys=frozenset(submission.keys), calls=wanted, server=self._server)
        for key, answered in returned.answered.items():
            self._records.keep(wanted[key], answered)
            self._model.account.settle(self._reserved.pop(key, Usage()), answered.usage, call=wanted[key])
            del self._missing[key]
        self.by_batch += len(returned.answered)
        self._failures |= returned.refused
        self._submissions.keep(submission.collected(wanted.keys() | self._recorded_before, status=batch.status))
        self._tell(_ending(batch, returned, wanted=len(wanted)))


def _calls(submission: Submission) -> str:
    return count(len(submission.keys), "call", "calls")


def _ending(batch: Batch, returned: Returned, *, wanted: int) -> str:
    """How a batch ended. Of its server's words only a code that is known is heeded."""
    line = f"batch {batch.id} has ended as {batch.status}: {len(returned.answered):,} of {wanted:,} calls are answered"
    if returned.refused:
        line += f", {len(returned.refused):,} refused"
    if returned.unknown:
        line += f"; {count(returned.unknown, 'line', 'lines')} with an unknown custom_id left out"
    if returned.unreadable:
        line += f"; {count(returned.unreadable, 'line', 'lines')} could not be read"
    if "token_limit" in batch.problem:
        line += "; the account may not have so many tokens waiting: submit less at once with --budget tokens=N"
    elif batch.status == "failed":
        line += "; its page at the provider says why"
    return line
