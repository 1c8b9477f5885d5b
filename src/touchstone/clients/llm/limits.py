"""A server's headers -> how long it wants to be left alone."""

import re
from collections.abc import Mapping
from datetime import datetime

from touchstone.clients.bot.retry import asked_wait

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, None: 1.0}
_KINDS = ("requests", "tokens")


def wait_after_refusal(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """The seconds that a refused call is asked to wait; None when the server does not say."""
    if (milliseconds := headers.get("retry-after-ms", "")).replace(".", "", 1).isdigit():
        return float(milliseconds) / 1000
    asked = asked_wait(headers.get("retry-after"), now=now)
    return duration(headers.get("retry-after")) if asked is None else asked or wait_before_next(headers)


def wait_before_next(headers: Mapping[str, str]) -> float | None:
    """The seconds until the server has room again, if it says that none is left."""
    waits = [
        duration(headers.get(f"x-ratelimit-reset-{kind}"))
        for kind in _KINDS
        if headers.get(f"x-ratelimit-remaining-{kind}", "").strip() == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def duration(text: str | None) -> float | None:
    """`6m0s`, `1.5s`, `250ms` or `20` in seconds; None for anything else."""
    given = (text or "").strip().lower()
    parts = list(_PART.finditer(given))
    if not parts or "".join(part[0] for part in parts) != given or len(given) > 40:
        return None
    return sum(float(part[1]) * _SECONDS[part[2]] for part in parts)
