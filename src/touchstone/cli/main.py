"""The `touchstone` command: arguments in, exit code out."""

import io
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from touchstone.cli.eval import eval
from touchstone.cli.exits import COULD_NOT_START
from touchstone.cli.goldset import goldset
from touchstone.cli.init import init
from touchstone.cli.judge import judge
from touchstone.cli.plan import plan
from touchstone.cli.review import review
from touchstone.cli.rubric import rubric
from touchstone.cli.runs import compare, report, runs
from touchstone.cli.score import score
from touchstone.cli.serve import serve
from touchstone.cli.store import store
from touchstone.cli.user import user
from touchstone.cli.verifier import verifier
from touchstone.core.errors import TouchstoneError

# Rich help costs a third of a second to import; Rich tracebacks show local variables, and with them customers' text.
app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Are the replies your AI drafts good enough to send?",
    epilog="Exit codes: 0 fine, 1 gate not met, 2 could not start, 3 some row failed.",
)
app.command()(init)
app.command()(score)
app.command()(eval)
app.command()(compare)
app.command()(report)
app.command()(serve)
app.add_typer(runs, name="runs")
app.add_typer(goldset, name="goldset")
app.add_typer(judge, name="judge")
app.add_typer(review, name="review")
app.add_typer(rubric, name="rubric")
app.add_typer(plan, name="plan")
app.add_typer(store, name="store")
app.add_typer(user, name="user")
app.add_typer(verifier, name="verifier")


def _show_version(asked: bool) -> None:
    if asked:
        from touchstone import __version__

        typer.echo(f"touchstone {__version__}")
        raise typer.Exit


@app.callback()
def touchstone(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Are the replies your AI drafts good enough to send?"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; every error a user can cure is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(args=arguments, prog_name="touchstone")
    except TouchstoneError as error:
        _end(f"touchstone: {error}")
    except Exception as error:  # noqa: BLE001 - the message of a defect may quote a customer; where it is does not
        frames = "".join(traceback.format_tb(error.__traceback__))
        _end(f"{frames}touchstone: a defect, {type(error).__name__}: please report it with the lines above")


def _end(message: str) -> None:
    from touchstone.report.plain import plain

    typer.echo(plain(message), err=True)
    sys.exit(COULD_NOT_START)
