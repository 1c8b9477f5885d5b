"""What every route works with."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from touchstone.app.config import Settings
from touchstone.service.limits import Rates
from touchstone.service.meters import Meters
from touchstone.service.options import Options
from touchstone.service.scoring.scorer import Scorer
from touchstone.service.telemetry import Telemetry
from touchstone.service.views import Views
from touchstone.store.runs import Store


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
