"""What the user names as the bot -> a bot that drafts: an address is asked over HTTP, all else is a command line."""

import math
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager

from touchstone.clients.bot.drafting import Bot, BotError, draft_all
from touchstone.core.case import Draft
from touchstone.core.errors import ConfigError

__all__ = ["Bot", "BotError", "Draft", "draft_all", "open_bot"]

_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
_HTTP = ("http", "https")


def open_bot(
    spec: str, *, timeout: float = 30, retries: int = 2, headers: Mapping[str, str] | None = None
) -> AbstractContextManager[Bot]:
    """The bot that `spec` names, until the context ends; what cannot work is an error before anything is drafted.

    `timeout` holds for one attempt as a whole. `retries` and `headers` are for an address only: a command is run
    once for each draft. `${NAME}` in a header stands for an environment variable.
    """
    if not (math.isfinite(timeout) and timeout > 0):
        raise ConfigError(f"the bot's timeout is {timeout:g}, allowed is a number of seconds above 0")
    if retries < 0:
        raise ConfigError(f"the bot's retries are {retries}, allowed is a whole number of at least 0")
    scheme = found[1].lower() if (found := _SCHEME.match(spec)) else None
    if scheme in _HTTP:
        from touchstone.clients.bot.http import open_http
        from touchstone.clients.bot.retry import Backoff

        return open_http(spec.strip(), timeout=timeout, backoff=Backoff(retries), headers=headers or {})
    if scheme is not None:
        raise ConfigError(f"the bot's address starts with '{scheme}://', allowed are http:// and https://")
    if headers:
        raise ConfigError("headers are for a bot behind an address: a command finds secrets in its environment")
    from touchstone.clients.bot.command import open_command

    return open_command(spec, timeout=timeout)
