"""`touchstone review agreement`: how far a judge agrees with people, and people with each other."""

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli import judge_options as options
from touchstone.cli.exits import SOME_ROW_FAILED
from touchstone.cli.options import AsJson, Config, Map, Quiet, Rubric, StorePlace
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError, ReviewError, StoreError

if TYPE_CHECKING:
    from touchstone.app.config import Settings
    from touchstone.report.trust.view import TrustView


def agreement(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="GOLDSET_OR_QUEUE",
            help="Cases with labels, a file or a set that ships; or a queue, the newest if left out.",
        ),
    ] = None,
    *,
    results: Annotated[
        str | None, typer.Option(metavar="FILE", help="Results that touchstone score wrote, instead of grading now.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the judge card, .html, or .json.")
    ] = None,
    judge: options.Judge = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    panel: options.Panel = None,
    votes: options.Votes = None,
    cascade: options.Cascade = False,
    budget: options.Budget = None,
    judge_set: options.JudgeSet = None,
    record: options.Record = None,
    replay: options.Replay = None,
    no_cache: options.NoCache = False,
    map: Map = None,
    rubric: Rubric = None,
    config: Config = None,
    store: StorePlace = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Hold a judge against people: agreement beyond chance, its errors, bias, calibration, what to send to people.

    Of a queue, show how far its reviewers agree with each other and with the judge.
    """
    from touchstone.app.agreement import measure_agreement
    from touchstone.app.config import load_settings
    from touchstone.app.goldset import is_goldset
    from touchstone.app.judge_report import meter_line, report_lines
    from touchstone.app.judging import open_judge
    from touchstone.cli.screen import Screen
    from touchstone.report.trust.view import view_trust

    if output is not None and not output.endswith((".html", ".json")):
        raise ConfigError(f"-o {output} does not end in .html or .json: the ending says what to write")
    flags = options.judge_flags(
        judge=judge,
        model=model,
        base_url=base_url,
        panel=panel,
        votes=votes,
        cascade=cascade,
        budget=budget,
        judge_set=judge_set,
        record=record,
        replay=replay,
        no_cache=no_cache,
    )
    settings = load_settings(
        config, columns=pairs(map, flag="--map", at_last=True), rubric=rubric, judge=flags, store=store
    )
    if source is None or not is_goldset(source):
        _show_queue(source, settings=settings, as_json=as_json)
        return
    if results is not None and settings.judge.kind != "offline":
        raise ConfigError("--results are graded already: leave out the judge's flags")
    with open_judge(settings) as grader:
        meter = partial(meter_line, grader) if grader else None
        shows = sys.stderr.isatty() and not quiet
        with Screen(explains=False, shows_progress=shows, is_quiet=quiet, meter=meter) as screen:
            found = measure_agreement(source, settings=settings, judge=grader, results=results, on_scored=screen)
        for line in report_lines(grader) if grader else ():
            screen.notice(line)
    view = view_trust(found.trust, goldset=source, remarks=found.remarks)
    if output is not None:
        _write(view, output)
        screen.notice(f"judge card written to {output}")
    _show(view, as_json=as_json)
    if found.failed:
        raise typer.Exit(SOME_ROW_FAILED)


def _show_queue(queue: str | None, *, settings: "Settings", as_json: bool) -> None:
    from touchstone.app.review import find_queue, now_text, weekly
    from touchstone.app.runs import open_store_of
    from touchstone.report.weekly.view import weekly_view

    try:
        with open_store_of(settings) as opened:
            report = weekly(opened, find_queue(opened, queue).id, now=now_text())
    except (ReviewError, StoreError) as error:
        named = f"'{queue}' is neither a file nor a packaged name of a gold set" if queue else "no gold set is named"
        raise ConfigError(f"{named}, and as a queue: {error}") from error
    if as_json:
        from touchstone.report.weekly.json import agreement_to_dict

        found = {"people": agreement_to_dict(report.people), "judge": agreement_to_dict(report.judge)}
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.weekly.terminal import show_agreements

    views = weekly_view(report).agreement
    print_page(lambda console: show_agreements(views, console=console), to_stderr=False)


def _write(view: "TrustView", target: str) -> None:
    from touchstone.io.results import whole_file
    from touchstone.report.trust.html import render_card

    text = _as_json(view) if target.endswith(".json") else render_card(view)
    with whole_file(target) as stream:
        stream.write(text.encode("utf-8", "replace"))


def _show(view: "TrustView", *, as_json: bool) -> None:
    if as_json:
        typer.echo(_as_json(view), nl=False)
        return
    from touchstone.cli.screen import print_page
    from touchstone.report.trust.terminal import show_trust

    print_page(lambda console: show_trust(view, console=console), to_stderr=False)


def _as_json(view: "TrustView") -> str:
    from touchstone.report.trust.json import trust_to_dict

    return json.dumps(trust_to_dict(view), ensure_ascii=False, indent=1) + "\n"
