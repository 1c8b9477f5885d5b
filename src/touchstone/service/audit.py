"""Who did what -> the audit log: by ids, without a word of a customer."""

from touchstone.service.auth.principal import Principal
from touchstone.service.clock import now
from touchstone.service.context import Service
from touchstone.store.guards import AuditEntry


def note(here: Service, who: Principal, act: str, subject: str, *, detail: str = "") -> None:
    """Note what somebody did, and to what."""
    here.store.audit.note(AuditEntry(at=now(), who=who.name, act=act, subject=subject, detail=detail))
