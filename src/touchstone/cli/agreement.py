"""`touchstone review agreement`: how far a judge agrees with people, and people with each other."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Annotated

import typer
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from touchstone.app.agreement import Agreements, JudgeChoice, keep_measurements, measure_agreement
from touchstone.app.config import JudgeFlags, Settings
from touchstone.app.goldset import is_goldset
from touchstone.app.judge_cost import meter_line, report_lines
from touchstone.app.judging import open_judge
from touchstone.app.review import find_queue, now_text, weekly
from touchstone.app.runs import open_store_of
from touchstone.app.score import ScoredEntry
from touchstone.cli import SOME_ROW_FAILED
from touchstone.cli.options import AsJson, Quiet, Repeated, Store, Text, takes_settings
from touchstone.cli.screen import Screen, print_json, print_page
from touchstone.core.errors import ConfigError, ReviewError, StoreError
from touchstone.io.locations import whole_file
from touchstone.report.html import render_card, render_judges
from touchstone.report.judge import JudgesReport, TrustReport, judges_to_dict, trust_to_dict
from touchstone.report.terminal.judge import show_judges, show_trust
from touchstone.report.terminal.review import show_agreements
from touchstone.report.weekly import agreement_to_dict, agreements


@takes_settings("map", "rubric", "store", "config", "judge")
def agreement(
    sources: Annotated[
        Repeated,
        typer.Argument(
            metavar="GOLDSET_OR_QUEUE...",
            help="Cases with labels, files or sets that ship; or a queue, the newest if left out.",
        ),
    ] = None,
    *,
    results: Annotated[
        Repeated,
        typer.Option(
            metavar="FILE", help="Results of a judge that touchstone score wrote, instead of grading now; repeatable."
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Put the offline judge beside the others, in one table.")
    ] = False,
    output: Annotated[
        Text,
        typer.Option("--output", "-o", metavar="FILE", help="Write the judge card, or the table, .html or .json."),
    ] = None,
    settings: Settings,
    judge_flags: JudgeFlags,
    store: Store = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare judges with people: agreement beyond chance, violations, errors, bias, what to send to people.

    Several judges make one table. The figures of a judge that grades now are kept in the store, for reports of its
    runs. Of a queue, show how far its reviewers agree with each other and with the judge.
    """
    if output is not None and not output.endswith((".html", ".json")):
        raise ConfigError(f"-o {output} does not end in .html or .json: the ending says what to write")
    if (queue := _queue(sources or ())) is not None:
        _show_queue(queue or None, settings=settings, as_json=as_json)
        return
    found = _measure(
        sources or [],
        settings=settings,
        choice=_choice(results or (), flags=judge_flags, settings=settings, compare=compare),
        creates_store=store is not None,
        is_quiet=quiet,
    )
    _report(found, goldset=", ".join(dict.fromkeys(sources or ())), output=output, as_json=as_json, is_quiet=quiet)
    if any(each.failed for each in found.judges):
        raise typer.Exit(SOME_ROW_FAILED)


def _queue(sources: Sequence[str]) -> str | None:
    """The queue that is named, '' for the newest; None when gold sets are named."""
    if len(sources) < 2:
        return None if sources and is_goldset(sources[0]) else "".join(sources)
    if missing := next((name for name in sources if not is_goldset(name)), None):
        raise ConfigError(
            f"'{missing}' is neither a file nor a packaged name of a gold set: several must all be gold sets"
        )
    return None


def _choice(results: Sequence[str], *, flags: JudgeFlags, settings: Settings, compare: bool) -> JudgeChoice:
    """With results of before, a judge grades now only if a flag names it: touchstone.yaml alone costs nothing."""
    grades_now = not results or "kind" in flags.section
    if compare and not results and settings.judge.kind == "offline":
        raise ConfigError("--compare needs another judge: name one with --model or --panel, or give its --results")
    return JudgeChoice(tuple(dict.fromkeys(results)), grades_now=grades_now, with_offline=compare)


def _measure(
    goldsets: Sequence[str], *, settings: Settings, choice: JudgeChoice, creates_store: bool, is_quiet: bool
) -> Agreements:
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[done]}"), TimeRemainingColumn())
    with (
        open_judge(settings) if choice.grades_now else nullcontext() as judge,
        Screen(*columns, is_quiet=is_quiet) as screen,
    ):

        def show(scored: ScoredEntry) -> None:
            screen.done += 1
            if scored.result.failures:
                screen.name_failed(f"{scored.entry.file}:{scored.entry.line}", *scored.result.failures)
            spent = f", {meter_line(judge)}" if judge else ""
            screen.advance(None, total=None, text=f"{screen.done:,} rows{spent}")

        found = measure_agreement(goldsets, settings=settings, judge=judge, choice=choice, on_scored=show)
        for line in report_lines(judge):
            screen.notice(line)
    if any(each.measurements for each in found.judges):
        try:
            with open_store_of(settings, creates=creates_store) as opened:
                keep_measurements(found, store=opened)
        except StoreError as error:
            screen.notice(f"the figures are not kept for reports: {error}")
    return found


def _report(found: Agreements, *, goldset: str, output: str | None, as_json: bool, is_quiet: bool) -> None:
    """One judge as a card, several as a table: printed, and written where a file is named."""
    if found.table is None:
        (only,) = found.judges
        card = TrustReport(only.trust, goldset, notes=only.remarks)
        what, content = "judge card", trust_to_dict(card)
        render, show = partial(render_card, card), partial(print_page, show_trust, card)
    else:
        remarks = [f"{each.trust.judge}: {remark}" for each in found.judges for remark in each.remarks]
        table = JudgesReport(found.table, goldset, remarks=remarks)
        what, content = "table of judges", judges_to_dict(table)
        render, show = partial(render_judges, table), partial(print_page, show_judges, table)
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    if output is not None:
        with whole_file(output) as stream:
            stream.write((text if output.endswith(".json") else render()).encode("utf-8", "replace"))
        if not is_quiet:
            typer.echo(f"{what} written to {output}", err=True)
    if as_json:
        typer.echo(text, nl=False)
    else:
        show()


def _show_queue(queue: str | None, *, settings: Settings, as_json: bool) -> None:
    try:
        with open_store_of(settings) as opened:
            report = weekly(opened, find_queue(opened, queue).id, now=now_text())
    except (ReviewError, StoreError) as error:
        named = f"'{queue}' is neither a file nor a packaged name of a gold set" if queue else "no gold set is named"
        raise ConfigError(f"{named}, and as a queue: {error}") from error
    if as_json:
        print_json({"people": agreement_to_dict(report.people), "judge": agreement_to_dict(report.judge)})
    else:
        print_page(show_agreements, agreements(report))
