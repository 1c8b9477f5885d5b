"""What the user names as the bot -> a bot, and cases -> its drafts, in the order of the cases, several at a time.

A draft that fails is a `Failure` in its place and the rest goes on. A bot that is away (see `faults`) is another
matter: its failures say nothing about the cases. They are held back until the bot answers again, and are then
given out like any other; when there are too many in a row, they are dropped and a `BotError` is raised.
So a run that ends this way holds no failure that its resumption would not make good.
"""

import math
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from typing import Protocol

from touchstone.clients.faults import is_away
from touchstone.core.case import Case, Draft
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure

# Failures in a row that end the drafting: few before the first answer, as nothing is lost yet; more after it, so
# that a server may be restarted meanwhile.
MOST_AT_START, MOST_IN_A_ROW = 5, 20
# Drafts begun or waiting for each one that may run at a time: enough to work on while the first of them is slow.
_LOOK_AHEAD = 4
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")

Drafted = tuple[Case, int, Draft | Failure]


class BotError(InputError):
    """The bot is away; what was drafted before is fine, and the rest can be drafted later."""


class Bot(Protocol):
    """Whatever drafts replies; `draft` is called from several threads, `stop` gives up the drafts under way."""

    @property
    def name(self) -> str: ...

    def draft(self, case: Case, *, draft: int) -> Draft | Failure: ...

    def stop(self) -> None: ...


def open_bot(
    spec: str, *, timeout: float = 30, retries: int = 2, headers: Mapping[str, str] | None = None
) -> AbstractContextManager[Bot]:
    """The bot that `spec` names, until the context ends; what cannot work is an error before anything is drafted.

    An address is asked over HTTP, all else is a command line. `timeout` holds for one attempt as a whole. `retries` and
    `headers` are for an address only: a command is run once for each draft. `${NAME}` in a header stands for an
    environment variable.
    """
    if not (math.isfinite(timeout) and timeout > 0):
        raise ConfigError(f"the bot's timeout is {timeout:g}, allowed is a number of seconds above 0")
    if retries < 0:
        raise ConfigError(f"the bot's retries are {retries}, allowed is a whole number of at least 0")
    scheme = found[1].lower() if (found := _SCHEME.match(spec)) else None
    if scheme in ("http", "https"):
        from touchstone.clients.http import Backoff
        from touchstone.clients.http_bot import open_http

        return open_http(spec.strip(), timeout=timeout, backoff=Backoff(retries), headers=headers or {})
    if scheme is not None:
        raise ConfigError(f"the bot's address starts with '{scheme}://', allowed are http:// and https://")
    if headers:
        raise ConfigError("headers are for a bot behind an address: a command finds secrets in its environment")
    from touchstone.clients.command import open_command

    return open_command(spec, timeout=timeout)


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
    pending: deque[tuple[Case, int, Future[Draft | Failure]]] = deque()
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
        if not is_done:
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
            if isinstance(found, Failure) and found.error == "Stopped":
                raise BotError(found.message)
            if isinstance(found, Failure) and is_away(found):
                if len(held) == most:
                    problem = f"drafting was stopped, as {name} failed {most} times in a row: {found.message}"
                    raise BotError(f"{problem}; what was drafted before is kept: run it again when the bot is back")
                continue
            most = MOST_IN_A_ROW
            yield from held
            held.clear()
    yield from held
