"""`touchstone score`: a file of cases, or one case given by flags, to results."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.exits import INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.formats import chosen_format
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.cli.screen import Screen

STDOUT = "-"

_Repeated = list[str] | None


def score(
    source: Annotated[
        str | None,
        typer.Argument(metavar="INPUT", help="JSONL, JSON, CSV, TSV or Parquet, text also as .gz; - is stdin."),
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
            "--output", "-o", metavar="FILE", help="Write .jsonl, .csv, .tsv or .parquet; - is stdout, JSONL."
        ),
    ] = "",
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="What INPUT is: jsonl, json, csv, tsv or parquet.")
    ] = None,
    map: Annotated[
        _Repeated, typer.Option(metavar="THEIRS=OURS", help="Take a column for a field; repeatable.")
    ] = None,
    set: Annotated[_Repeated, typer.Option(metavar="KEY=VALUE", help="Change a threshold; repeatable.")] = None,
    rubric: Annotated[
        str | None, typer.Option(metavar="FILE_OR_NAME", help="Grade by this rubric: a YAML file or a packaged name.")
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="Settings, instead of touchstone.yaml here.")
    ] = None,
    id: Annotated[str | None, typer.Option(metavar="ID", help="Score only the case with this id.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show each reply with its evidence, not JSON.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Say at the end what it all came to.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Give the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notices on stderr.")] = False,
) -> None:
    """Score replies. Writes one JSON line for each row, in order; a row that fails keeps its place.

    Give a file, or one case: touchstone score --input TEXT --response TEXT --context TEXT
    """
    from touchstone.app.config import load_settings
    from touchstone.app.score import score_fields, score_file
    from touchstone.cli.screen import Screen

    fields = _fields(input=input, response=response, context=context or None, expected_output=expected)
    _check(source=source, fields=fields, explain=explain, as_json=as_json)
    thresholds, columns = pairs(set, flag="--set"), pairs(map, flag="--map", at_last=True)
    settings = load_settings(config, thresholds=thresholds, columns=columns, rubric=rubric)
    target = output or (None if explain else STDOUT)
    shows_progress = sys.stderr.isatty() and not explain and not (target == STDOUT and sys.stdout.isatty())
    screen = Screen(explains=explain, shows_progress=shows_progress, is_quiet=quiet)
    with _ending(screen, target):
        with screen:
            if source is None:
                fields |= {"id": id} if id else {}
                tally = score_fields(fields, settings=settings, target=target, on_scored=screen, source="command line")
            else:
                chosen = chosen_format(format)
                tally = score_file(source, settings=settings, target=target, on_scored=screen, format=chosen, id=id)
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


def _check(*, source: str | None, fields: Mapping[str, Any], explain: bool, as_json: bool) -> None:
    if source is None and "response" not in fields:
        raise ConfigError("nothing to score: give a file of cases, - for stdin, or one case with --response TEXT")
    if source is not None and fields:
        raise ConfigError(f"give a file or one case, not both: leave out {source} or the case's flags")
    if explain and as_json:
        raise ConfigError("--explain is for people and --json for machines: choose one")


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
