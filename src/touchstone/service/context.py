"""What every route works with: the parts of the service, who calls it, and the audit log."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from fastapi import Depends, Request
from starlette.responses import Response

from touchstone.app import audit
from touchstone.app.config import Settings
from touchstone.service.figures import RunCache
from touchstone.service.limits import Rates
from touchstone.service.options import Options
from touchstone.service.pages.render import show
from touchstone.service.scoring.scorer import Scorer
from touchstone.service.telemetry import Meters, Telemetry
from touchstone.store.runs import Store

Role = Literal["viewer", "reviewer", "lead"]
# Each may do what those before it may.
ROLES: tuple[Role, ...] = get_args(Role)


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
    cache: RunCache


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may use the service. `csrf` is what their browser has to send along when it changes something."""

    name: str
    role: Role
    via: Literal["local", "session", "token"]
    csrf: str = ""

    @property
    def key(self) -> str:
        """What their requests are counted under."""
        return f"{self.via} {self.name}"

    def may(self, role: Role) -> bool:
        """Whether they may do what is for `role`."""
        return ROLES.index(self.role) >= ROLES.index(role)


LOCAL = Principal("local", "lead", "local")


@dataclass(frozen=True, slots=True)
class Caller:
    """A request that somebody may make: to which service, and who they are."""

    request: Request
    service: Service
    user: Principal

    @property
    def store(self) -> Store:
        return self.service.store

    @property
    def name(self) -> str:
        return self.user.name

    def note(self, act: str, subject: str, *, detail: str = "") -> None:
        """Note in the audit log what they did, and to what: by ids, without a word of a customer."""
        audit.note(self.store, self.name, act, subject, detail=detail)

    def show(self, template: str, **values: Any) -> Response:
        """A page for them."""
        return show(self.request, template, user=self.user, **values)


async def find_service(request: Request) -> Service:
    """The service a request has come to."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(find_service)]
