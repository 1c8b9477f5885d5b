"""`touchstone serve`: the API and the pages, until Ctrl-C."""

from dataclasses import replace
from typing import Annotated

import typer

from touchstone.app.config import Settings
from touchstone.app.runs import open_store_of
from touchstone.app.verifier import find_verifier
from touchstone.cli.options import takes_settings
from touchstone.service.options import Options, check_options
from touchstone.service.server import serve as run_service


@takes_settings("store", "rubric", "verifier", "redact", "trusted_proxy", "config")
def serve(
    *,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen; beyond this machine needs --auth.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")] = 8321,
    auth: Annotated[bool, typer.Option("--auth", help="Require a sign-in or a token.")] = False,
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Number of scoring processes.")] = 2,
    rate: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.1, help="Cases per second from one caller; 100 with --auth, else unlimited."),
    ] = None,
    settings: Settings,
) -> None:
    """Serve the API and the pages for people, on this machine or for a team."""
    options = Options(host=host, port=port, has_auth=auth, workers=workers, rate=rate)
    check_options(options)
    # Found to be missing here, not by each of the processes that score.
    find_verifier(settings.verifier)
    with open_store_of(settings, creates=True) as opened:
        run_service(
            settings,
            opened,
            options=replace(options, trusted_proxies=settings.trusted_proxies),
            on_start=lambda address: typer.echo(f"Touchstone is at {address} (Ctrl-C ends it)", err=True),
        )
