"""`touchstone review agreement`: how far a judge agrees with people, and people with each other."""

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.exits import SOME_ROW_FAILED
from touchstone.cli.judge_options import JudgeOptions, takes_judge
from touchstone.cli.options import AsJson, Config, Map, Quiet, Rubric, StorePlace
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError, ReviewError, StoreError

if TYPE_CHECKING:
    from rich.console import Console

    from touchstone.app.agreement import Agreements, Voices
    from touchstone.app.config import JudgeFlags, Settings
    from touchstone.report.trust.view import JudgeTableView, TrustView


@takes_judge
def agreement(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GOLDSET_OR_QUEUE...",
            help="Cases with labels, files or sets that ship; or a queue, the newest if left out.",
        ),
    ] = None,
    *,
    results: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Results of a judge that touchstone score wrote, instead of grading now; repeatable."
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Put the offline judge beside the others, in one table.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the judge card, or the table, .html or .json."),
    ] = None,
    judge: JudgeOptions,
    map: Map = None,
    rubric: Rubric = None,
    config: Config = None,
    store: StorePlace = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Hold judges against people: agreement beyond chance, violations, errors, bias, what to send to people.

    Several judges make one table. What a judge that grades now comes to is kept in the store, for reports of its runs.
    Of a queue, show how far its reviewers agree with each other and with the judge.
    """
    from touchstone.app.config import load_settings

    if output is not None and not output.endswith((".html", ".json")):
        raise ConfigError(f"-o {output} does not end in .html or .json: the ending says what to write")
    flags = judge.flags()
    settings = load_settings(
        config, columns=pairs(map, flag="--map", at_last=True), rubric=rubric, judge=flags, store=store
    )
    if (queue := _queue(sources or ())) is not None:
        _show_queue(queue or None, settings=settings, as_json=as_json)
        return
    found = _measure(
        sources or [],
        settings=settings,
        voices=_voices(results or (), flags=flags, settings=settings, compare=compare),
        creates_store=store is not None,
        is_quiet=quiet,
    )
    view = _view(found, goldset=", ".join(dict.fromkeys(sources or ())))
    if output is not None:
        _write(view, output)
        if not quiet:
            typer.echo(f"{'judge card' if found.table is None else 'table of judges'} written to {output}", err=True)
    _show(view, as_json=as_json)
    if any(each.failed for each in found.judges):
        raise typer.Exit(SOME_ROW_FAILED)


def _queue(sources: Sequence[str]) -> str | None:
    """The queue that is named, '' for the newest; None when gold sets are named."""
    from touchstone.app.goldset import is_goldset

    if len(sources) < 2:
        return None if sources and is_goldset(sources[0]) else "".join(sources)
    if missing := next((name for name in sources if not is_goldset(name)), None):
        raise ConfigError(
            f"'{missing}' is neither a file nor a packaged name of a gold set: several have to be gold sets"
        )
    return None


def _voices(results: Sequence[str], *, flags: "JudgeFlags", settings: "Settings", compare: bool) -> "Voices":
    """With results of before, a judge grades now only if a flag names it: touchstone.yaml alone costs nothing."""
    from touchstone.app.agreement import Voices

    grades_now = not results or "kind" in flags.section
    if compare and not results and settings.judge.kind == "offline":
        raise ConfigError("--compare needs another judge: name one with --model or --panel, or give its --results")
    return Voices(tuple(dict.fromkeys(results)), grades_now=grades_now, with_offline=compare)


def _measure(
    goldsets: Sequence[str], *, settings: "Settings", voices: "Voices", creates_store: bool, is_quiet: bool
) -> "Agreements":
    from touchstone.app.agreement import keep_measurements, measure_agreement
    from touchstone.app.judge_report import meter_line, report_lines
    from touchstone.app.judging import open_judge
    from touchstone.app.runs import open_store_of
    from touchstone.cli.screen import Screen

    with open_judge(settings) if voices.grades_now else nullcontext() as grader:
        meter = partial(meter_line, grader) if grader else None
        shows = sys.stderr.isatty() and not is_quiet
        with Screen(explains=False, shows_progress=shows, is_quiet=is_quiet, meter=meter) as screen:
            found = measure_agreement(goldsets, settings=settings, judge=grader, voices=voices, on_scored=screen)
        for line in report_lines(grader) if grader else ():
            screen.notice(line)
    if any(each.measurements for each in found.judges):
        try:
            with open_store_of(settings, creates=creates_store) as opened:
                keep_measurements(found, store=opened)
        except StoreError as error:
            screen.notice(f"the figures are not kept for reports: {error}")
    return found


def _view(found: "Agreements", *, goldset: str) -> "TrustView | JudgeTableView":
    from touchstone.report.trust.view import view_judges, view_trust

    if found.table is None:
        return view_trust(found.judges[0].trust, goldset=goldset, remarks=found.judges[0].remarks)
    remarks = [f"{each.trust.judge}: {remark}" for each in found.judges for remark in each.remarks]
    return view_judges(found.table, goldset=goldset, remarks=remarks)


def _show_queue(queue: str | None, *, settings: "Settings", as_json: bool) -> None:
    from touchstone.app.review import find_queue, now_text, weekly
    from touchstone.app.runs import open_store_of
    from touchstone.report.weekly import weekly_view

    try:
        with open_store_of(settings) as opened:
            report = weekly(opened, find_queue(opened, queue).id, now=now_text())
    except (ReviewError, StoreError) as error:
        named = f"'{queue}' is neither a file nor a packaged name of a gold set" if queue else "no gold set is named"
        raise ConfigError(f"{named}, and as a queue: {error}") from error
    if as_json:
        from touchstone.report.weekly import agreement_to_dict

        found = {"people": agreement_to_dict(report.people), "judge": agreement_to_dict(report.judge)}
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.terminal.review import show_agreements

    views = weekly_view(report).agreement
    print_page(lambda console: show_agreements(views, console=console), to_stderr=False)


def _write(view: "TrustView | JudgeTableView", target: str) -> None:
    from touchstone.io.results import whole_file
    from touchstone.report.trust.html import render_card, render_judges
    from touchstone.report.trust.view import TrustView

    page = render_card(view) if isinstance(view, TrustView) else render_judges(view)
    with whole_file(target) as stream:
        stream.write((_as_json(view) if target.endswith(".json") else page).encode("utf-8", "replace"))


def _show(view: "TrustView | JudgeTableView", *, as_json: bool) -> None:
    if as_json:
        typer.echo(_as_json(view), nl=False)
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.terminal.trust import show_judges, show_trust
    from touchstone.report.trust.view import TrustView

    def show(console: "Console") -> None:
        if isinstance(view, TrustView):
            show_trust(view, console=console)
        else:
            show_judges(view, console=console)

    print_page(show, to_stderr=False)


def _as_json(view: "TrustView | JudgeTableView") -> str:
    from touchstone.report.trust.json import judges_to_dict, trust_to_dict
    from touchstone.report.trust.view import TrustView

    found = trust_to_dict(view) if isinstance(view, TrustView) else judges_to_dict(view)
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
