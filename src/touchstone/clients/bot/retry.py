"""How long to wait before a request is tried again: exponential backoff with full jitter, or what the server asks."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# A server that asks for more is not waited for: the draft fails, and the run can be resumed later.
LONGEST_ASKED = 60.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """The wait before attempt n + 1 is drawn evenly from 0 to first * 2^(n-1) seconds, at most `longest`.

    Drawing from the whole range spreads requests that failed together more evenly than a fixed wait does.
    """

    retries: int = 2
    first: float = 0.5
    longest: float = 30.0

    def wait(self, attempt: int, *, chance: float) -> float:
        """The seconds to wait after the failed `attempt`, counted from 1; `chance` is drawn from 0 to 1."""
        doublings = min(attempt - 1, 30)
        return chance * min(self.longest, self.first * 2.0**doublings)


def asked_wait(header: str | None, *, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or as a date; None when it says neither."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, math.ceil(seconds.total_seconds()))
