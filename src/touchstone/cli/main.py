"""The `touchstone` command: arguments in, exit code out. A command's module is loaded when the command is called."""

import io
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Never

import typer
from typer.core import TyperCommand, TyperGroup

from touchstone.cli import COULD_NOT_START
from touchstone.core.errors import TouchstoneError

# Each command with its module and its help, so that `touchstone --help` loads none of them.
COMMANDS = {
    "init": ("settings", "Write a commented touchstone.yaml and a cases.jsonl with three examples."),
    "score": ("score", "Score replies. Writes one JSON line for each row, in order; a row that fails keeps its place."),
    "eval": ("eval", "Evaluate a bot on a gold set: score its replies, check them against targets, write the report."),
    "compare": ("runs", "Compare two runs on the cases both have: what changed, and whether it could be chance."),
    "report": ("runs", "Write a run's report again, in any format. Default: report.html in the run's directory."),
    "serve": ("serve", "Serve the API and the pages for people, on this machine or for a team."),
    "runs": ("runs", "List, show, label and delete runs."),
    "goldset": ("goldset", "Check, describe and sample gold sets, and say how large to make one."),
    "judge": ("judge", "Set a language model up as the judge, and check it."),
    "review": ("review", "Sample production replies, follow reviews, report the week."),
    "rubric": ("settings", "Show, check or compare rubrics."),
    "plan": ("settings", "Show the settings that decide on a reply."),
    "store": ("admin", "Back up or restore the store, or erase customers' text."),
    "user": ("admin", "Manage the people who use touchstone serve --auth."),
    "verifier": ("settings", "Check a verifier before you use it."),
}
# What the base install leaves out, and the extra that brings it.
EXTRAS = {
    **dict.fromkeys(("sqlalchemy", "alembic", "filelock", "httpx", "jinja2", "markupsafe"), "runs"),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn", "httptools", "argon2", "python_multipart"), "serve"),
    "prometheus_client": "serve",
}


class LazyGroup(TyperGroup):
    """Lists its commands by their help alone; the module of the one that is called is loaded."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands.update({name: TyperCommand(name, help=help) for name, (_, help) in COMMANDS.items()})

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        name, command, rest = super().resolve_command(context, arguments)
        return name, load(name) if name else command, rest


def load(name: str) -> Any:
    """The command of this name, with the module it is in."""
    found = getattr(import_module(f"touchstone.cli.{COMMANDS[name][0]}"), name)
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name)(found)
    return typer.main.get_command(alone)


# Rich help costs a third of a second to import; Rich tracebacks show local variables, and with them customers' text.
app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 fine, 1 gate not met, 2 could not start, 3 some row failed.",
)


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
    """Run the command; every error a user can fix is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(args=arguments, prog_name="touchstone")
    except TouchstoneError as error:
        _end(f"touchstone: {error}")
    except Exception as error:  # noqa: BLE001 - the message of a defect may quote a customer; where it is does not
        missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if missing in EXTRAS:
            _end(f"touchstone: this command needs {missing}: pip install 'touchstone-eval[{EXTRAS[missing]}]'")
        frames = "".join(traceback.format_tb(error.__traceback__))
        _end(f"{frames}touchstone: a defect, {type(error).__name__}: please report it with the lines above")


def _end(message: str) -> Never:
    from touchstone.report.plain import plain

    typer.echo(plain(message), err=True)
    sys.exit(COULD_NOT_START)
