"""The ways in which a draft fails, as `Failure` values.

Two kinds: a bot that is *away* says nothing about the case, and the same draft may succeed when it is back;
a bot that answered badly did so for this case. No message quotes what the bot wrote: it may hold a customer's words.
"""

from typing import Literal, get_args

from touchstone.core.result import Failure

Away = Literal[
    "NotStarted",  # the command could not be run
    "Unreachable",  # no connection, or one that broke off
    "Timeout",
    "RateLimited",  # 429
    "ServerError",  # 5xx
    "AccessRefused",  # 401, 403, 404, 405, 407: the same for every case
    "Redirect",  # 3xx, most often to a login page
]
BadAnswer = Literal[
    "ExitCode",  # the command ended with another code than 0
    "BadStatus",  # any other status: the server refuses this case
    "EmptyReply",
    "HtmlReply",
    "NotText",  # bytes that are not text, or a content type that is not
    "TooLong",
    "WrongShape",  # JSON that is broken, or not the object that is asked for
]
Fault = Literal[Away, BadAnswer, "Stopped"]

STOPPED: Fault = "Stopped"
_AWAY = frozenset(get_args(Away))


def fault(error: Fault, message: str) -> Failure:
    """The failure of one draft; `message` says what was seen and what to do."""
    return Failure("draft", error, message)


def is_away(failure: Failure) -> bool:
    """True when the failure says that the bot is not there, and nothing about the case."""
    return failure.error in _AWAY


def stopped() -> Failure:
    """The failure of a draft that was given up because the run ends."""
    return fault(STOPPED, "the run was stopped before the bot answered: run it again to go on")
