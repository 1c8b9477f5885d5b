"""`touchstone goldset`: is a gold set sound, what does it hold, a sample of it, and how large it should be."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Annotated

import typer

from touchstone.app.config import Settings
from touchstone.app.goldset import Sampled, check_file, describe_file, sample_file
from touchstone.cli import GATE_NOT_MET, INTERRUPTED, SOME_ROW_FAILED
from touchstone.cli.options import (
    STDOUT,
    AsJson,
    FormatName,
    Goldset,
    Quiet,
    Repeated,
    Text,
    input_format,
    takes_settings,
)
from touchstone.cli.screen import MOST_NAMED, print_json, print_page
from touchstone.core.errors import ConfigError
from touchstone.goldset.check import Findings
from touchstone.goldset.problems import CODES
from touchstone.goldset.stats import size_needed
from touchstone.report.goldset import findings_to_dict, sample_to_dict, size_to_dict, stats_to_dict
from touchstone.report.plain import one_line
from touchstone.report.terminal.goldset import show_findings, show_sample, show_size, show_stats

goldset = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check, describe and sample gold sets, and say how large to make one.",
)

_WRITTEN = re.compile(r"\s*(\d{1,9}(?:[.,]\d{1,9})?|[.,]\d{1,9})\s*(pp|points?|percent|%)?\s*", re.IGNORECASE)


@goldset.command()
@takes_settings("rubric", "map", "config")
def check(
    name: Goldset,
    *,
    against: Annotated[
        Text, typer.Option(metavar="OTHER", help="Another gold set, which must share no inputs with this one.")
    ] = None,
    near: Annotated[
        str, typer.Option(metavar="SHARE", help="How alike two texts must be to count as near-duplicates.")
    ] = "70%",
    thin: Annotated[int, typer.Option(metavar="N", min=0, help="The fewest cases a category should have.")] = 5,
    skip: Annotated[Repeated, typer.Option(metavar="CODE", help="Skip this check; repeatable.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    show: Annotated[int, typer.Option(metavar="N", min=0, help="How many examples of each problem to show.")] = 3,
    format: FormatName = None,
    settings: Settings,
    as_json: AsJson = False,
) -> None:
    """Check a gold set for problems: rows, duplicates, labels, categories, contradictions, leakage, size.

    Exit codes: 0 no errors, 1 errors (with --strict warnings too), 3 rows that cannot be read.
    """
    codes = _codes(skip or ())
    likeness = share(near, flag="--near", example="70%")
    if likeness == 0:
        raise ConfigError("--near 0 would match any two texts: give a share above 0, such as 70%")
    with _interruptible():
        findings = check_file(
            name, settings=settings, against=against, near=likeness, thin=thin, skip=codes, format=input_format(format)
        )
    if as_json:
        print_json(findings_to_dict(findings, name=name))
    else:
        print_page(show_findings, findings, name=name, examples=show)
    raise typer.Exit(_code(findings, strict=strict))


@goldset.command()
@takes_settings("rubric", "map", "config")
def stats(name: Goldset, *, format: FormatName = None, settings: Settings, as_json: AsJson = False) -> None:
    """Describe a gold set: categories, fields, lengths, labels, how raters agree, what it can measure."""
    with _interruptible():
        found = describe_file(name, settings=settings, format=input_format(format))
    if as_json:
        print_json(stats_to_dict(found, name=name))
    else:
        print_page(show_stats, found, name=name)
    if found.unread:
        raise typer.Exit(SOME_ROW_FAILED)


@goldset.command()
@takes_settings("map")
def sample(
    name: Goldset,
    *,
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="How many rows to draw.")],
    by: Annotated[
        Repeated, typer.Option(metavar="FIELD", help="Stratify by this column; repeatable. Default: category.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draw; the same seed draws the same rows.")] = 0,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write .jsonl, .csv or .tsv; - is stdout, JSONL.")
    ] = STDOUT,
    format: FormatName = None,
    settings: Settings,
    as_json: Annotated[bool, typer.Option("--json", help="Print the allocation as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Draw a sample in proportion to the strata, with at least one row of each. Rows are written unchanged."""
    fields = tuple(dict.fromkeys(by or ["category"]))
    with _interruptible():
        found = sample_file(
            name, target=output, n=n, by=fields, seed=seed, columns=settings.mapped, format=input_format(format)
        )
    if not quiet:
        _report_sample(found, name=name, n=n, seed=seed, output=output, as_json=as_json)
    if found.unread:
        raise typer.Exit(SOME_ROW_FAILED)


@goldset.command()
def size(
    *,
    detect: Annotated[str, typer.Option(metavar="CHANGE", help="The change in pass rate to detect: 5pp, 5% or 0.05.")],
    rate: Annotated[str, typer.Option(metavar="SHARE", help="The pass rate before the change.")] = "75%",
    power: Annotated[str, typer.Option(metavar="SHARE", help="The chance of detecting the change.")] = "80%",
    discordant: Annotated[
        Text, typer.Option(metavar="SHARE", help="The share of cases that flip between the two versions.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many cases you need to compare two versions on the same cases, or to measure one version's pass rate."""
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
        print_json(size_to_dict(found))
    else:
        print_page(show_size, found)


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


def _code(findings: Findings, *, strict: bool) -> int:
    errors = [each for each in findings.problems if each.severity == "error" and each.code != "unreadable"]
    if errors or (strict and findings.count("warning")):
        return GATE_NOT_MET
    return SOME_ROW_FAILED if findings.rows > findings.cases else 0


def _report_sample(found: Sampled, *, name: str, n: int, seed: int, output: str, as_json: bool) -> None:
    """On stderr: which rows could not be read, how the sample was drawn, and what is odd about it."""
    drawn = found.sample
    for row in found.unread[:MOST_NAMED]:
        typer.echo(one_line(f"{name}:{row.line}: {row.failure.message}"), err=True)
    if len(found.unread) > MOST_NAMED:
        typer.echo(f"… and {len(found.unread) - MOST_NAMED:,} more unreadable rows", err=True)
    if as_json:
        print_json(sample_to_dict(drawn, name=name, seed=seed), to_stderr=True)
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
    print_page(show_sample, drawn, to_stderr=True)


def _codes(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in CODES:
            near = get_close_matches(name, CODES, n=1)
            hint = f"nearest is '{near[0]}'" if near else f"codes are {', '.join(CODES)}"
            raise ConfigError(f"--skip {name} is not a known check; {hint}")
    return tuple(names)


@contextmanager
def _interruptible() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing was written", err=True)
        raise typer.Exit(INTERRUPTED) from None
