"""Cases -> drafts in the order of the cases, several at a time; a bot that is away ends it before all is spoilt.

A draft that fails is a `Failure` in its place and the rest goes on. A bot that is away (see `faults`) is another
matter: its failures say nothing about the cases. They are held back until the bot answers again, and are then
given out like any other; when there are too many in a row, they are dropped and a `BotError` is raised.
So a run that ends this way holds no failure that its resumption would not make good.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Protocol, runtime_checkable

from touchstone.clients.bot.faults import STOPPED, is_away
from touchstone.core.case import Case, Draft
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure

# Failures in a row that end the drafting: few before the first answer, as nothing is lost yet; more after it, so
# that a server may be restarted meanwhile.
MOST_AT_START, MOST_IN_A_ROW = 5, 20
# Drafts begun or waiting for each one that may run at a time: enough to work on while the first of them is slow.
_LOOK_AHEAD = 4

Drafted = tuple[Case, int, Draft | Failure]
_Pending = tuple[Case, int, Future[Draft | Failure]]


class BotError(InputError):
    """The bot is away; what was drafted before is fine, and the rest can be drafted later."""


class Bot(Protocol):
    """Whatever drafts replies; `draft` is called from several threads."""

    @property
    def name(self) -> str: ...

    def draft(self, case: Case, *, draft: int) -> Draft | Failure: ...


@runtime_checkable
class Stoppable(Protocol):
    """A bot that can give up the drafts under way."""

    def stop(self) -> None: ...


def draft_all(
    bot: Bot, cases: Iterable[Case], *, repeat: int, concurrency: int, skip: Callable[[str, int], bool]
) -> Iterator[Drafted]:
    """Drafts 1 to `repeat` of each case, in order, without those that `skip(id, draft)` says are there already.

    At most a few times `concurrency` cases are read ahead. Closing the iterator, or an interrupt while it waits,
    stops the bot and ends the threads.
    """
    for name, number in (("repeat", repeat), ("concurrency", concurrency)):
        if number < 1:
            raise ConfigError(f"{name} is {number}, allowed is a whole number of at least 1")
    asked = ((case, draft) for case in cases for draft in range(1, repeat + 1) if not skip(case.id or "", draft))
    return _without_outages(_in_order(bot, asked, concurrency=concurrency), name=bot.name)


def _in_order(bot: Bot, asked: Iterator[tuple[Case, int]], *, concurrency: int) -> Generator[Drafted, None, None]:
    pending: deque[_Pending] = deque()
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="touchstone-draft")
    is_done = False
    try:
        while True:
            while len(pending) < concurrency * _LOOK_AHEAD and (next_one := next(asked, None)):
                case, draft = next_one
                pending.append((case, draft, pool.submit(_drafted, bot, case, draft)))
            if not pending:
                break
            case, draft, future = pending.popleft()
            yield case, draft, future.result()
        is_done = True
    finally:
        if not is_done and isinstance(bot, Stoppable):
            bot.stop()
        pool.shutdown(cancel_futures=True)


def _drafted(bot: Bot, case: Case, draft: int) -> Draft | Failure:
    try:
        return bot.draft(case, draft=draft)
    except Exception as error:  # noqa: BLE001 - a defect must not cost the other drafts; its text may quote the customer
        return Failure("draft", type(error).__name__, "the draft met a defect in Touchstone: please report it")


def _without_outages(drafted: Generator[Drafted, None, None], *, name: str) -> Iterator[Drafted]:
    held: list[Drafted] = []
    most = MOST_AT_START
    with closing(drafted):
        for each in drafted:
            found = each[2]
            held.append(each)
            if isinstance(found, Failure) and found.error == STOPPED:
                raise BotError(found.message)
            if isinstance(found, Failure) and is_away(found):
                if len(held) == most:
                    raise BotError(_outage(found, count=most, name=name))
                continue
            most = MOST_IN_A_ROW
            yield from held
            held.clear()
    yield from held


def _outage(failure: Failure, *, count: int, name: str) -> str:
    kept = "what was drafted before is kept: run it again when the bot is back"
    return f"drafting was stopped, as {name} failed {count} times in a row: {failure.message}; {kept}"
