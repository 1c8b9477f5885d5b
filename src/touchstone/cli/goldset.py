"""`touchstone goldset`: is a gold set sound, what does it hold, a sample of it, and how large it should be."""

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.exits import GATE_NOT_MET, INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.formats import chosen_format
from touchstone.cli.options import AsJson, Config, Map
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from touchstone.app.config import Settings
    from touchstone.app.goldset import Sampled
    from touchstone.goldset.check import Findings

goldset = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check, describe and sample gold sets, and say how large to make one.",
)

STDOUT = "-"
MOST_NAMED = 20
_WRITTEN = re.compile(r"\s*(\d{1,9}(?:[.,]\d{1,9})?|[.,]\d{1,9})\s*(pp|points?|percent|%)?\s*", re.IGNORECASE)

_Repeated = list[str] | None
_Set = Annotated[
    str, typer.Argument(metavar="GOLDSET", help="A file of cases, or a set that ships: support, industries.")
]
_Format = Annotated[str | None, typer.Option(metavar="NAME", help="What GOLDSET is: jsonl, json, csv, tsv or parquet.")]
_Rubric = Annotated[
    str | None, typer.Option(metavar="FILE_OR_NAME", help="The rubric of the labels: a YAML file or a packaged name.")
]


@goldset.command()
def check(
    name: _Set,
    *,
    against: Annotated[
        str | None, typer.Option(metavar="OTHER", help="Another gold set, which must share no inputs with this one.")
    ] = None,
    near: Annotated[
        str, typer.Option(metavar="SHARE", help="How alike two texts must be to count as near-duplicates.")
    ] = "70%",
    thin: Annotated[int, typer.Option(metavar="N", min=0, help="The fewest cases a category should have.")] = 5,
    skip: Annotated[_Repeated, typer.Option(metavar="CODE", help="Skip this check; repeatable.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    show: Annotated[int, typer.Option(metavar="N", min=0, help="How many examples of each problem to show.")] = 3,
    rubric: _Rubric = None,
    map: Map = None,
    format: _Format = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check a gold set for problems: rows, duplicates, labels, categories, contradictions, leakage, size.

    Exit codes: 0 no errors, 1 errors (with --strict warnings too), 3 rows that cannot be read.
    """
    from touchstone.app.goldset import check_file

    codes = _codes(skip)
    likeness = share(near, flag="--near", example="70%")
    if likeness == 0:
        raise ConfigError("--near 0 would take any two texts for the same: give a share above 0, such as 70%")
    settings = _settings(config, map=map, rubric=rubric)
    with _interruptible():
        findings = check_file(
            name, settings=settings, against=against, near=likeness, thin=thin, skip=codes, format=chosen_format(format)
        )
    if as_json:
        from touchstone.report.goldset import findings_to_dict

        _print_json(findings_to_dict(findings, name=name))
    else:
        from touchstone.report.terminal.goldset import show_findings

        _print(lambda console: show_findings(findings, name=name, examples=show, console=console))
    raise typer.Exit(_code(findings, strict=strict))


@goldset.command()
def stats(
    name: _Set,
    *,
    rubric: _Rubric = None,
    map: Map = None,
    format: _Format = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Describe a gold set: categories, fields, lengths, labels, how raters agree, what it can measure."""
    from touchstone.app.goldset import describe_file

    settings = _settings(config, map=map, rubric=rubric)
    with _interruptible():
        found = describe_file(name, settings=settings, format=chosen_format(format))
    if as_json:
        from touchstone.report.goldset import stats_to_dict

        _print_json(stats_to_dict(found, name=name))
    else:
        from touchstone.report.terminal.goldset import show_stats

        _print(lambda console: show_stats(found, name=name, console=console))
    if found.unread:
        raise typer.Exit(SOME_ROW_FAILED)


@goldset.command()
def sample(
    name: _Set,
    *,
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="How many rows to draw.")],
    by: Annotated[
        _Repeated, typer.Option(metavar="FIELD", help="Stratify by this column; repeatable. Default: category.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draw; the same seed draws the same rows.")] = 0,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write .jsonl, .csv or .tsv; - is stdout, JSONL.")
    ] = STDOUT,
    map: Map = None,
    format: _Format = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the allocation as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr.")] = False,
) -> None:
    """Draw a sample in proportion to the strata, with at least one row of each. Rows are written unchanged."""
    from touchstone.app.goldset import sample_file

    columns = pairs(map, flag="--map", at_last=True)
    fields = tuple(dict.fromkeys(by or ["category"]))
    with _interruptible():
        found = sample_file(
            name, target=output, n=n, by=fields, seed=seed, columns=columns, format=chosen_format(format)
        )
    if not quiet:
        _tell(found, name=name, n=n, seed=seed, output=output, as_json=as_json)
    if found.unread:
        raise typer.Exit(SOME_ROW_FAILED)


@goldset.command()
def size(
    *,
    detect: Annotated[str, typer.Option(metavar="CHANGE", help="The change in pass rate to detect: 5pp, 5% or 0.05.")],
    rate: Annotated[str, typer.Option(metavar="SHARE", help="The pass rate before the change.")] = "75%",
    power: Annotated[str, typer.Option(metavar="SHARE", help="The chance of detecting the change.")] = "80%",
    discordant: Annotated[
        str | None, typer.Option(metavar="SHARE", help="The share of cases that flip between the two versions.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many cases you need to compare two versions on the same cases, or to measure one version's pass rate."""
    from touchstone.goldset.stats import size_needed

    difference = share(detect, flag="--detect", example="5pp")
    if difference == 0:
        raise ConfigError(f"--detect {detect} is no change: give one above 0, such as 5pp")
    flips = None if discordant is None else share(discordant, flag="--discordant", example="20%")
    if flips is not None and flips < difference:
        raise ConfigError(f"--discordant {discordant} is below --detect {detect}: so many cases must flip at least")
    try:
        found = size_needed(
            difference,
            rate=share(rate, flag="--rate", example="75%"),
            power=share(power, flag="--power", example="80%"),
            discordant=flips,
        )
    except ValueError as error:
        raise ConfigError(f"{error}: change --detect, --rate or --power") from error
    if as_json:
        from touchstone.report.goldset import size_to_dict

        _print_json(size_to_dict(found))
        return
    from touchstone.report.terminal.goldset import show_size

    _print(lambda console: show_size(found, console=console))


def share(text: str, *, flag: str, example: str) -> float:
    """A share as people write it, 5pp, 5% or 0.05, from 0 to 1; ConfigError that says how to write it otherwise."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ConfigError(f"{flag} {text} is not a share: write it like {example} or 0.05")
    number, unit = float(match[1].replace(",", ".")), match[2]
    if unit is None and number > 1:
        raise ConfigError(f"{flag} {text} is above 1: write {number:g}% or {number / 100:g}")
    value = number / 100 if unit else number
    if not math.isfinite(value) or value > 1:
        raise ConfigError(f"{flag} {text} is more than all: write a share of at most 100%, like {example}")
    return value


def _code(findings: "Findings", *, strict: bool) -> int:
    errors = [each for each in findings.problems if each.severity == "error" and each.code != "unreadable"]
    if errors or (strict and findings.count("warning")):
        return GATE_NOT_MET
    return SOME_ROW_FAILED if findings.rows > findings.cases else 0


def _tell(found: "Sampled", *, name: str, n: int, seed: int, output: str, as_json: bool) -> None:
    """On stderr: which rows could not be read, how the sample was drawn, and what is odd about it."""
    from touchstone.report.goldset import sample_to_dict
    from touchstone.report.plain import one_line
    from touchstone.report.terminal.goldset import show_sample

    drawn = found.sample
    for row in found.unread[:MOST_NAMED]:
        typer.echo(one_line(f"{name}:{row.line}: {row.failure.message}"), err=True)
    if len(found.unread) > MOST_NAMED:
        typer.echo(f"… and {len(found.unread) - MOST_NAMED:,} more unreadable rows", err=True)
    if as_json:
        _print_json(sample_to_dict(drawn, name=name, seed=seed), to_stderr=True)
        return
    where = "" if output == STDOUT else f", written to {output}"
    typer.echo(one_line(f"{len(drawn.drawn):,} of {drawn.rows:,} rows drawn with seed {seed}{where}"), err=True)
    if n > drawn.rows:
        typer.echo(f"--n {n:,} is more than there are: all rows are drawn", err=True)
    for field, count in drawn.lacking.items():
        typer.echo(one_line(f"rows without {field}: {count:,}, the stratum (none)"), err=True)
    if found.formulas:
        kept = "they are written as they are, so open the file as text or write .jsonl"
        typer.echo(f"cells that start like a formula: {found.formulas:,}; {kept}", err=True)
    _print(lambda console: show_sample(drawn, console=console), to_stderr=True)


def _codes(names: _Repeated) -> tuple[str, ...]:
    from difflib import get_close_matches

    from touchstone.goldset.problems import CODES

    for name in names or ():
        if name not in CODES:
            near = get_close_matches(name, CODES, n=1)
            hint = f"nearest is '{near[0]}'" if near else f"codes are {', '.join(CODES)}"
            raise ConfigError(f"--skip {name} is no problem that is looked for; {hint}")
    return tuple(names or ())


def _settings(config: str | None, *, map: _Repeated, rubric: str | None) -> "Settings":
    from touchstone.app.config import load_settings

    return load_settings(config, columns=pairs(map, flag="--map", at_last=True), rubric=rubric)


@contextmanager
def _interruptible() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was written", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _print_json(value: dict[str, Any], *, to_stderr: bool = False) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2), err=to_stderr)


def _print(show: "Callable[[Console], None]", *, to_stderr: bool = False) -> None:
    from touchstone.cli.screen import print_page

    print_page(show, to_stderr=to_stderr)
