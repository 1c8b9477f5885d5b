"""The flags that say who grades, once for every command that grades."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.app.config import JudgeFlags

_Text = str | None
_Repeated = list[str] | None

JudgeSet = Annotated[
    _Repeated, typer.Option(metavar="KEY=VALUE", help="Any other key of the section judge; repeatable.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """Who grades, as the flags say it; `--help` lists them in this order."""

    judge: Annotated[_Text, typer.Option(metavar="KIND", help="Who grades: offline, llm (a model) or panel.")] = None
    model: Annotated[_Text, typer.Option(metavar="NAME", help="The model that grades; implies --judge llm.")] = None
    base_url: Annotated[_Text, typer.Option(metavar="URL", help="Its server, such as http://localhost:8080/v1.")] = None
    panel: Annotated[
        _Text,
        typer.Option(
            metavar="JUDGES",
            help="Several judges, such as offline,gpt-4o-mini,qwen@http://localhost:8080/v1; implies --judge panel.",
        ),
    ] = None
    votes: Annotated[_Text, typer.Option(metavar="N", help="Ask a model so often and take the middle.")] = None
    cascade: Annotated[
        bool,
        typer.Option("--cascade", help="Ask a model only where the offline judge is unsure."),
    ] = False
    budget: Annotated[
        _Repeated, typer.Option(metavar="KEY=VALUE", help="Spend at most tokens=N or money=X; repeatable.")
    ] = None
    judge_set: JudgeSet = None
    record: Annotated[
        _Text, typer.Option(metavar="DIRECTORY", help="Keep a model's answers here, and take them from here.")
    ] = None
    replay: Annotated[
        _Text, typer.Option(metavar="DIRECTORY", help="Take a model's answers from here alone: no server.")
    ] = None
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Ask a model again, also where its answer is kept."),
    ] = False

    def flags(self) -> "JudgeFlags":
        """The same by the keys of the section `judge`."""
        from touchstone.app.config import JudgeFlags

        if self.panel and self.model:
            raise ConfigError("--model names one judge and --panel several: put the model into --panel")
        named = {
            "kind": self.judge or ("panel" if self.panel else "llm" if self.model else None),
            "model": self.model,
            "base_url": self.base_url,
            "panel": self.panel,
            "votes": self.votes,
            "record": self.record,
            "cascade": "true" if self.cascade else None,
        }
        section = pairs(self.judge_set, flag="--judge-set")
        section |= {key: value for key, value in named.items() if value is not None}
        section |= {f"budget.{key}": value for key, value in pairs(self.budget, flag="--budget").items()}
        return JudgeFlags(section, replay=self.replay, asks_anew=self.no_cache)


def takes_judge(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these flags in place of its parameter `judge`: Typer has no parameters of several flags."""
    flags = inspect.signature(JudgeOptions).parameters
    signature = inspect.signature(command)

    @wraps(command)
    def run(**given: Any) -> None:
        judge = JudgeOptions(**{name: given.pop(name) for name in flags})
        command(**given, judge=judge)

    own = signature.parameters.values()
    read = [flag for each in own for flag in (flags.values() if each.name == "judge" else [each])]
    run.__signature__ = signature.replace(parameters=read)  # type: ignore[attr-defined]
    return run
