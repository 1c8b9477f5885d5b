"""What every route works with: the parts of the service, the time as its store keeps it, its audit log."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Depends, Request

from touchstone.app.config import Settings
from touchstone.service.auth.principal import Principal
from touchstone.service.limits import Rates
from touchstone.service.meters import Meters
from touchstone.service.options import Options
from touchstone.service.scoring.scorer import Scorer
from touchstone.service.telemetry import Telemetry
from touchstone.service.views import Views
from touchstone.store.runs import Store
from touchstone.store.users import AuditEntry


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one service."""

    settings: Settings
    store: Store
    scorer: Scorer
    options: Options
    rates: Rates
    meters: Meters
    telemetry: Telemetry
    views: Views


async def find_service(request: Request) -> Service:
    """The service a request has come to."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(find_service)]


def note(here: Service, who: Principal, act: str, subject: str, *, detail: str = "") -> None:
    """Note in the audit log what somebody did, and to what: by ids, without a word of a customer."""
    here.store.audit.note(AuditEntry(at=now(), who=who.name, act=act, subject=subject, detail=detail))


def now() -> str:
    """The time: ISO 8601 in UTC, of one length, so that later times sort behind earlier ones."""
    return _written(datetime.now(UTC))


def from_now(seconds: float) -> str:
    """The time so many seconds from now; a negative number lies in the past."""
    return _written(datetime.now(UTC) + timedelta(seconds=seconds))


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
