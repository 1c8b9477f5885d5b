"""`touchstone score`: a file of cases, or one case given by flags, to results."""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from touchstone.app.config import Settings
from touchstone.app.jobs.job import Order, is_directory
from touchstone.app.judge_cost import estimate_judge, estimate_lines, meter_line, report_lines
from touchstone.app.judging import ModelJudge, open_judge
from touchstone.app.score import ScoredEntry, score_fields, score_file
from touchstone.cli import INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.job import check_job, estimate_job, score_job
from touchstone.cli.options import (
    STDOUT,
    FormatName,
    Quiet,
    Redact,
    Repeated,
    SummaryAsJson,
    Text,
    choice,
    input_format,
    takes_settings,
)
from touchstone.cli.screen import Screen, print_json, print_page
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError
from touchstone.engines.choice import engine as choose
from touchstone.io.shards import SHARD_FORMATS
from touchstone.report.explain import explain as explained
from touchstone.report.terminal.explanation import show_explanation
from touchstone.report.terminal.job import show_tally


@takes_settings("map", "set", "rubric", "verifier", "redact", "config", "judge")
def score(
    sources: Annotated[
        Repeated,
        typer.Argument(
            metavar="INPUT",
            hidden=True,  # Typer would call it list[str]; the text below says what it is
        ),
    ] = None,
    *,
    input: Annotated[Text, typer.Option(metavar="TEXT", help="One case: the customer's message.")] = None,
    response: Annotated[Text, typer.Option(metavar="TEXT", help="One case: the reply to judge.")] = None,
    context: Annotated[
        Repeated, typer.Option(metavar="TEXT", help="One case: a passage the reply may rely on; repeatable.")
    ] = None,
    expected: Annotated[Text, typer.Option(metavar="TEXT", help="One case: the reply that was expected.")] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write .jsonl, .csv, .tsv or .parquet; - is stdout, JSONL. A directory: shards, resumed.",
        ),
    ] = "",
    format: FormatName = None,
    settings: Settings,
    redact: Redact = False,
    id: Annotated[Text, typer.Option(metavar="ID", help="Score only the case with this id.")] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Where to work: serial, processes (all cores) or ray.")
    ] = "serial",
    workers: Annotated[int | None, typer.Option(metavar="N", help="How many workers; all cores if not given.")] = None,
    ray_address: Annotated[
        Text, typer.Option(metavar="ADDRESS", help="The Ray cluster: host:port, ray://… or auto.")
    ] = None,
    keep: Annotated[
        Repeated, typer.Option(metavar="COLUMN", help="Directory: keep this column beside results; repeatable.")
    ] = None,
    shard_rows: Annotated[int, typer.Option(metavar="N", help="Directory: rows in each shard.")] = 2000,
    shard_format: Annotated[
        str, typer.Option(metavar="NAME", help="Directory: parquet, or jsonl (gzipped).")
    ] = "parquet",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Estimate the cost: a sample is scored, no model is asked, nothing written."),
    ] = False,
    price: Annotated[float, typer.Option(metavar="USD", help="--dry-run: the price of a core for an hour.")] = 0.05,
    log: Annotated[Text, typer.Option(metavar="FILE", help="Directory: add events to FILE, as JSON.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show each reply with its evidence, not JSON.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Print a summary at the end.")] = False,
    as_json: SummaryAsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score replies. Writes one JSON line for each row, in order; a row that fails keeps its place.

    INPUT is a file of cases: JSONL, JSON, CSV, TSV or Parquet, text also as .gz or .zst; - is stdin. With -o DIRECTORY
    it may be many: files, globs, directories and URLs; what is written there is kept when the job is run again.

    Or give one case: touchstone score --input TEXT --response TEXT --context TEXT
    """
    fields = _fields(input=input, response=response, context=context or None, expected_output=expected)
    _check(sources=sources or [], fields=fields, explain=explain, as_json=as_json, redact=redact)
    if sources and dry_run and settings.judge.kind != "offline":
        found = estimate_judge(_only_one(sources), settings=settings, format=input_format(format))
        print_json(asdict(found), indent=None) if as_json else typer.echo("\n".join(estimate_lines(found)))
        return
    if sources and (is_directory(output) or dry_run):
        check_job(sources, settings=settings, shows_cases=id is not None or explain)
        order = Order(
            inputs=sources,
            output=output,
            format=input_format(format),
            shard_format=choice(shard_format, SHARD_FORMATS, flag="--shard-format"),
            shard_rows=shard_rows,
            keep=tuple(keep or ()),
        )
        if dry_run:
            estimate_job(order, settings=settings, engine=engine, workers=workers, price=price, as_json=as_json)
            return
        chosen = partial(choose, engine, workers=workers, address=ray_address)
        score_job(
            order,
            settings=settings,
            engine=chosen,
            log=log,
            shows_summary=summary,
            as_json=as_json,
            is_quiet=quiet,
        )
        return
    target = output or (None if explain else STDOUT)
    with open_judge(settings) as judge:
        shows_bar = sys.stderr.isatty() and not explain and not (target == STDOUT and sys.stdout.isatty())
        columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[done]}"), TimeRemainingColumn())
        screen = Screen(*columns, is_quiet=quiet, shows_bar=shows_bar)
        follow = partial(_follow, screen, start=time.monotonic(), judge=judge, explains=explain)
        with _ending(screen, target):
            with screen:
                if not sources:
                    given = fields | ({"id": id} if id else {})
                    tally = score_fields(
                        given, settings=settings, target=target, on_scored=follow, source="command line", judge=judge
                    )
                else:
                    tally = score_file(
                        _only_one(sources),
                        settings=settings,
                        target=target,
                        on_scored=follow,
                        format=input_format(format),
                        id=id,
                        engine=None if engine == "serial" else choose(engine, workers=workers, address=ray_address),
                        judge=judge,
                    )
            for line in report_lines(judge):
                screen.notice(line)
            if output and output != STDOUT:
                screen.notice(f"{tally.rows:,} results written to {output}")
            if as_json:
                print_json(asdict(tally), indent=None, to_stderr=target == STDOUT)
            elif summary:
                print_page(show_tally, tally, to_stderr=target == STDOUT)
    if tally.failed:
        raise typer.Exit(SOME_ROW_FAILED)


def _follow(screen: Screen, scored: ScoredEntry, *, start: float, judge: ModelJudge | None, explains: bool) -> None:
    """Show one row: why it failed, its explanation where that is asked for, how far the file has been read."""
    screen.done += 1
    if scored.result.failures:
        screen.name_failed(f"{scored.entry.file}:{scored.entry.line}", *scored.result.failures)
    if explains and isinstance(scored.entry.case, Case):
        print_page(show_explanation, explained(scored.entry.case, scored.result))
    rate = screen.done / max(time.monotonic() - start, 1e-9)
    text = f"{screen.done:,} rows, {rate:,.0f}/s" + (f", {meter_line(judge)}" if judge else "")
    screen.advance(scored.share_read, total=None if scored.share_read is None else 1.0, text=text)


def _fields(**given: Any) -> dict[str, Any]:
    """The fields of a case that flags gave; ConfigError when one of them is no text."""
    fields = {name: value for name, value in given.items() if value is not None}
    try:
        json.dumps(fields, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError("a flag's text is not UTF-8: give the case in a file instead") from None
    return fields


def _check(*, sources: Sequence[str], fields: Mapping[str, Any], explain: bool, as_json: bool, redact: bool) -> None:
    if not sources and "response" not in fields:
        raise ConfigError("nothing to score: give a file of cases, - for stdin, or one case with --response TEXT")
    if sources and fields:
        raise ConfigError(f"give a file or one case, not both: leave out {sources[0]} or the case's flags")
    if explain and as_json:
        raise ConfigError("--explain is for people and --json for machines: choose one")
    if explain and redact:
        raise ConfigError("--explain shows a reply as it is, --redact removes personal data: choose one")


def _only_one(sources: Sequence[str]) -> str:
    if len(sources) > 1:
        raise ConfigError(f"{len(sources)} inputs need a directory: give -o DIRECTORY, a name without an ending")
    return sources[0]


@contextmanager
def _ending(screen: Screen, target: str | None) -> Iterator[None]:
    """Ends the command in good order when the user stops it or closes the pipe it writes to."""
    try:
        yield
    except KeyboardInterrupt:
        is_file = target not in (None, STDOUT)
        kept = f"{target} was not written" if is_file else "what was shown so far is complete"
        screen.notice(f"interrupted after {screen.done:,} rows; {kept}")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # What is left in the buffer has no reader either; without this the interpreter complains as it exits.
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise typer.Exit(SOME_ROW_FAILED if screen.failed else 0) from None
