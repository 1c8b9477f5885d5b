"""`touchstone score`: a file of cases, or one case given by flags, to results."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.exits import INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.formats import chosen_format
from touchstone.cli.judge_options import JudgeOptions, takes_judge
from touchstone.cli.options import Config, Map, Quiet, Rubric, Set, Verifier
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.app.config import Settings
    from touchstone.cli.screen import Screen
    from touchstone.io.shards import ShardFormat

STDOUT = "-"

_Repeated = list[str] | None


@takes_judge
def score(
    sources: Annotated[
        _Repeated,
        typer.Argument(
            metavar="INPUT",
            hidden=True,  # Typer would call it list[str]; the text below says what it is
        ),
    ] = None,
    *,
    input: Annotated[str | None, typer.Option(metavar="TEXT", help="One case: the customer's message.")] = None,
    response: Annotated[str | None, typer.Option(metavar="TEXT", help="One case: the reply to judge.")] = None,
    context: Annotated[
        _Repeated, typer.Option(metavar="TEXT", help="One case: a passage the reply may rely on; repeatable.")
    ] = None,
    expected: Annotated[str | None, typer.Option(metavar="TEXT", help="One case: the reply that was expected.")] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write .jsonl, .csv, .tsv or .parquet; - is stdout, JSONL. A directory: shards, resumed.",
        ),
    ] = "",
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="What INPUT is: jsonl, json, csv, tsv or parquet.")
    ] = None,
    map: Map = None,
    set: Set = None,
    rubric: Rubric = None,
    verifier: Verifier = None,
    config: Config = None,
    id: Annotated[str | None, typer.Option(metavar="ID", help="Score only the case with this id.")] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Where to work: serial, processes (all cores) or ray.")
    ] = "serial",
    workers: Annotated[int | None, typer.Option(metavar="N", help="How many workers; all cores if not given.")] = None,
    ray_address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The Ray cluster: host:port, ray://… or auto.")
    ] = None,
    keep: Annotated[
        _Repeated, typer.Option(metavar="COLUMN", help="Directory: keep this column beside results; repeatable.")
    ] = None,
    shard_rows: Annotated[int, typer.Option(metavar="N", help="Directory: rows in each shard.")] = 2000,
    shard_format: Annotated[
        str, typer.Option(metavar="NAME", help="Directory: parquet, or jsonl (gzipped).")
    ] = "parquet",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what all would take: a sample is scored, no model is asked, nothing written."
        ),
    ] = False,
    price: Annotated[float, typer.Option(metavar="USD", help="--dry-run: what a core costs for an hour.")] = 0.05,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Take personal data out of what is written; it is scored all the same."),
    ] = False,
    log: Annotated[str | None, typer.Option(metavar="FILE", help="Directory: add events to FILE, as JSON.")] = None,
    judge: JudgeOptions,
    explain: Annotated[bool, typer.Option("--explain", help="Show each reply with its evidence, not JSON.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Say at the end what it all came to.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Give the summary as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Score replies. Writes one JSON line for each row, in order; a row that fails keeps its place.

    INPUT is a file of cases: JSONL, JSON, CSV, TSV or Parquet, text also as .gz or .zst; - is stdin. With -o DIRECTORY
    it may be many: files, globs, directories and URLs; what is written there is kept when the job is run again.

    Or give one case: touchstone score --input TEXT --response TEXT --context TEXT
    """
    from touchstone.app.config import load_settings
    from touchstone.app.jobs.job import Order, is_directory
    from touchstone.app.judge_report import meter_line, report_lines
    from touchstone.app.judging import open_judge
    from touchstone.app.score import score_fields, score_file
    from touchstone.cli.screen import Screen
    from touchstone.engines.engine import engine as choose

    fields = _fields(input=input, response=response, context=context or None, expected_output=expected)
    _check(sources=sources or [], fields=fields, explain=explain, as_json=as_json, redact=redact)
    settings = load_settings(
        config,
        thresholds=pairs(set, flag="--set"),
        columns=pairs(map, flag="--map", at_last=True),
        rubric=rubric,
        judge=judge.flags(),
        verifier=verifier,
        redacts=redact,
    )
    if sources and dry_run and settings.judge.kind != "offline":
        _show_judge_estimate(_only_one(sources), settings=settings, format=format, as_json=as_json)
        return
    if sources and (is_directory(output) or dry_run):
        from touchstone.cli.job import score_job, show_estimate

        _check_job(id=id, explain=explain, sources=sources, settings=settings)
        order = Order(
            inputs=sources,
            output=output,
            format=chosen_format(format),
            shard_format=_shard_format(shard_format),
            shard_rows=shard_rows,
            keep=tuple(keep or ()),
        )
        if dry_run:
            show_estimate(order, settings=settings, engine=engine, workers=workers, price=price, as_json=as_json)
            return
        score_job(
            order,
            settings=settings,
            engine=engine,
            workers=workers,
            address=ray_address,
            log=log,
            shows_summary=summary,
            as_json=as_json,
            is_quiet=quiet,
        )
        return
    target = output or (None if explain else STDOUT)
    shows_progress = sys.stderr.isatty() and not explain and not (target == STDOUT and sys.stdout.isatty())
    chosen = choose(engine, workers=workers, address=ray_address) if engine != "serial" else None
    with open_judge(settings) as grader:
        meter = partial(meter_line, grader) if grader else None
        screen = Screen(explains=explain, shows_progress=shows_progress, is_quiet=quiet, meter=meter)
        with _ending(screen, target):
            with screen:
                if not sources:
                    fields |= {"id": id} if id else {}
                    tally = score_fields(
                        fields, settings=settings, target=target, on_scored=screen, source="command line", judge=grader
                    )
                else:
                    tally = score_file(
                        _only_one(sources),
                        settings=settings,
                        target=target,
                        on_scored=screen,
                        format=chosen_format(format),
                        id=id,
                        engine=chosen,
                        judge=grader,
                    )
            for line in report_lines(grader) if grader else ():
                screen.notice(line)
            if output and output != STDOUT:
                screen.notice(f"{tally.rows:,} results written to {output}")
            if summary or as_json:
                screen.summarise(tally, as_json=as_json, to_stderr=target == STDOUT)
    if tally.failed:
        raise typer.Exit(SOME_ROW_FAILED)


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
        raise ConfigError("--explain shows a reply as it is and --redact writes what may be kept: choose one")


def _check_job(*, id: str | None, explain: bool, sources: Sequence[str], settings: "Settings") -> None:
    if settings.judge.kind != "offline":
        raise ConfigError(f"a directory is graded by the offline judge, not by '{settings.judge.kind}': give -o FILE")
    if id is not None or explain:
        raise ConfigError(
            "--id and --explain show single cases, and a directory takes all: give -o FILE, or leave it out"
        )
    if STDOUT in sources:
        raise ConfigError("stdin cannot be read again when a job goes on: save it as a file, or give -o FILE")


def _show_judge_estimate(source: str, *, settings: "Settings", format: str | None, as_json: bool) -> None:
    """What asking the models about the file would take."""
    from touchstone.app.judge_estimate import estimate_judge, estimate_lines

    found = estimate_judge(source, settings=settings, format=chosen_format(format))
    if as_json:
        typer.echo(json.dumps(asdict(found)))
        return
    for line in estimate_lines(found):
        typer.echo(line)


def _only_one(sources: Sequence[str]) -> str:
    if len(sources) > 1:
        raise ConfigError(f"{len(sources)} inputs need a directory: give -o DIRECTORY, a name without an ending")
    return sources[0]


def _shard_format(name: str) -> "ShardFormat":
    from touchstone.io.shards import SHARD_FORMATS

    for known in SHARD_FORMATS:
        if known == name.lower():
            return known
    raise ConfigError(f"--shard-format {name} is not known: allowed are {', '.join(SHARD_FORMATS)}")


@contextmanager
def _ending(screen: "Screen", target: str | None) -> Iterator[None]:
    """Ends the command in good order when the user stops it or closes the pipe it writes to."""
    try:
        yield
    except KeyboardInterrupt:
        is_file = target not in (None, STDOUT)
        kept = f"{target} was not written" if is_file else "what was shown so far is complete"
        screen.notice(f"interrupted after {screen.rows:,} rows; {kept}")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # What is left in the buffer has no reader either; without this the interpreter complains as it exits.
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise typer.Exit(SOME_ROW_FAILED if screen.failed else 0) from None
