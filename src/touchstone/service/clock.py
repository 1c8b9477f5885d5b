"""The time as the store keeps it: ISO 8601 in UTC, of one length, so that later times sort behind earlier ones."""

from datetime import UTC, datetime, timedelta


def now() -> str:
    return _written(datetime.now(UTC))


def from_now(seconds: float) -> str:
    """The time so many seconds from now; a negative number lies in the past."""
    return _written(datetime.now(UTC) + timedelta(seconds=seconds))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
