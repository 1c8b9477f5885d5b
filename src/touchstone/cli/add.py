"""`touchstone review add`: a night's production replies, scored and added to the week's run."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.exits import SOME_ROW_FAILED
from touchstone.cli.options import AsJson, Config, Map, Quiet, Redact, Rubric, StorePlace
from touchstone.cli.pairs import pairs

if TYPE_CHECKING:
    from touchstone.app.production import Added
    from touchstone.core.result import Failure
    from touchstone.io.cases import Entry

_MOST_NAMED = 20


def add(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A file of production replies; - is stdin.")],
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run to add them to, such as 2026-W12; created if new.")
    ],
    *,
    label: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Label the run, such as version=7; repeatable.")
    ] = None,
    map: Map = None,
    rubric: Rubric = None,
    redact: Redact = False,
    store: StorePlace = None,
    config: Config = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score production replies and add them to a run, for example every night, until a queue is drawn from it.

    A reply that is already in the run is not added again, so it is safe to repeat the command.
    """
    from touchstone.app.config import load_settings
    from touchstone.app.production import add_file
    from touchstone.app.review import now_text
    from touchstone.app.runs import open_store_of

    settings = load_settings(
        config, columns=pairs(map, flag="--map", at_last=True), store=store, rubric=rubric, redacts=redact
    )
    notices = _Notices(is_quiet=quiet)
    with open_store_of(settings, creates=True) as opened:
        added = add_file(
            source,
            run,
            settings=settings,
            store=opened,
            labels=pairs(label, flag="--label"),
            now=now_text,
            on_added=notices.added,
            on_unread=notices.unread,
        )
    _show(added, unread=notices.count, as_json=as_json)
    if notices.count or added.failed or added.conflicts:
        raise typer.Exit(SOME_ROW_FAILED)


class _Notices:
    """What is said on stderr meanwhile: rows that are no case, and how far it is."""

    def __init__(self, *, is_quiet: bool) -> None:
        self.count = 0
        self._is_quiet = is_quiet

    def unread(self, entry: "Entry", failure: "Failure") -> None:
        from touchstone.report.plain import one_line

        self.count += 1
        if self.count <= _MOST_NAMED:
            self._say(one_line(f"{entry.file}:{entry.line}: {failure.message}"))

    def added(self, so_far: "Added") -> None:
        self._say(f"{so_far.added + so_far.repeated:,} replies are in run {so_far.run}")

    def _say(self, message: str) -> None:
        if not self._is_quiet:
            typer.echo(message, err=True)


def _show(added: "Added", *, unread: int, as_json: bool) -> None:
    from dataclasses import asdict

    from touchstone.report.plain import one_line

    if as_json:
        typer.echo(json.dumps({**asdict(added), "unread": unread}, ensure_ascii=False))
        return
    rest = ((added.repeated, "there before"), (unread, "no cases"), (added.failed, "not scored"))
    said = [f"{added.added:,} added", *(f"{count:,} {what}" for count, what in rest if count)]
    typer.echo(f"{added.run}: {', '.join(said)}; {added.replies:,} replies in all")
    for id in added.conflicts[:_MOST_NAMED]:
        typer.echo(one_line(f"{id}: the run has another reply of this id; give each its own"), err=True)
