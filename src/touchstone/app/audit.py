"""The time as the store keeps it, and the audit log: who did what, and to what."""

from datetime import UTC, datetime, timedelta

from touchstone.store.runs import Store
from touchstone.store.users import AuditEntry

# Who is noted for what is done with `touchstone` itself rather than in the service.
COMMAND_LINE = "command line"


def note(store: Store, user: str, act: str, subject: str = "", *, detail: str = "") -> None:
    """Note in the audit log what somebody did: by ids, without a word of a customer."""
    store.audit.note(AuditEntry(at=now(), who=user, act=act, subject=subject, detail=detail))


def now() -> str:
    """The time: ISO 8601 in UTC, of one length, so that later times sort behind earlier ones."""
    return from_now(0.0)


def from_now(seconds: float) -> str:
    """The time so many seconds from now; a negative number lies in the past."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
