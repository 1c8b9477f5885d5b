"""The ways in which a bot or a model server fails, as `Failure` values, and what each says about the next attempt.

No message quotes what was written back: it may hold a customer's words.
"""

from typing import Literal

from touchstone.core.result import Failure

Stage = Literal["draft", "judge"]
Fault = Literal[
    # Waiting may help.
    "Unreachable",  # no connection, or one that broke off
    "Timeout",
    "RateLimited",  # 429
    "ServerError",  # 5xx
    # Nothing was asked, or the answer is still to come: the same command gets it later.
    "ServerAway",
    "BudgetReached",
    "BatchIncomplete",
    "Stopped",
    # The same for every case: the settings are wrong, or the account is used up.
    "NotStarted",  # the command could not be run
    "AccessRefused",
    "Redirect",  # 3xx, most often to a login page
    "NotFound",
    "NotAServer",
    "QuotaUsedUp",
    # The answer to this case.
    "ExitCode",  # the command ended with another code than 0
    "BadStatus",  # any other status: the bot refuses this case
    "BadRequest",  # any other status: the model's server refuses this request
    "EmptyReply",
    "HtmlReply",
    "NotText",  # bytes that are not text, or a content type that is not
    "TooLong",
    "WrongShape",  # JSON that is broken, or not the object that is asked for
    "ContextTooLong",
    "NotRecorded",
    "NotJson",
]
RETRIED = frozenset({"Unreachable", "Timeout", "RateLimited", "ServerError"})
PASSING = RETRIED | {"ServerAway", "BudgetReached", "BatchIncomplete", "Stopped"}
MISCONFIGURED = frozenset({"NotStarted", "AccessRefused", "Redirect", "NotFound", "NotAServer", "QuotaUsedUp"})
# No further case is worth asking a model about.
ENDING = PASSING - RETRIED | MISCONFIGURED


def fault(stage: Stage, error: Fault, message: str) -> Failure:
    """The failure of one draft or call; `message` says what was seen and what to do."""
    return Failure(stage, error, message)


def is_away(failure: Failure) -> bool:
    """Whether the failure says that a bot is not there, and nothing about the case."""
    return failure.error in RETRIED | MISCONFIGURED


def is_passing(failure: Failure) -> bool:
    """Whether the case may well be graded later, by the same command."""
    return failure.stage == "judge" and failure.error in PASSING | MISCONFIGURED
