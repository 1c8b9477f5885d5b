"""The flags that say who grades, for every command that grades."""

from typing import TYPE_CHECKING, Annotated

import typer

from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.app.config import JudgeFlags

Judge = Annotated[
    str | None, typer.Option("--judge", metavar="KIND", help="Who grades: offline, llm (a model) or panel.")
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The model that grades; implies --judge llm.")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Its server, such as http://localhost:8080/v1.")
]
Panel = Annotated[
    str | None,
    typer.Option(
        "--panel",
        metavar="JUDGES",
        help="Several judges, such as offline,gpt-4o-mini,qwen@http://localhost:8080/v1; implies --judge panel.",
    ),
]
Votes = Annotated[str | None, typer.Option("--votes", metavar="N", help="Ask a model so often and take the middle.")]
Cascade = Annotated[bool, typer.Option("--cascade", help="Ask a model only where the offline judge is unsure.")]
Budget = Annotated[
    list[str] | None,
    typer.Option("--budget", metavar="KEY=VALUE", help="Spend at most tokens=N or money=X; repeatable."),
]
JudgeSet = Annotated[
    list[str] | None,
    typer.Option("--judge-set", metavar="KEY=VALUE", help="Any other key of the section judge; repeatable."),
]
Record = Annotated[
    str | None,
    typer.Option("--record", metavar="DIRECTORY", help="Keep a model's answers here, and take them from here."),
]
Replay = Annotated[
    str | None, typer.Option("--replay", metavar="DIRECTORY", help="Take a model's answers from here alone: no server.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask a model again, also where its answer is kept.")]


def judge_flags(
    *,
    judge: str | None,
    model: str | None,
    base_url: str | None,
    panel: str | None,
    votes: str | None,
    cascade: bool,
    budget: list[str] | None,
    judge_set: list[str] | None,
    record: str | None,
    replay: str | None,
    no_cache: bool,
) -> "JudgeFlags":
    """The flags by the keys of the section `judge`."""
    from touchstone.app.config import JudgeFlags

    if panel and model:
        raise ConfigError("--model names one judge and --panel several: put the model into --panel")
    kind = judge or ("panel" if panel else "llm" if model else None)
    named = {"kind": kind, "model": model, "base_url": base_url, "panel": panel, "votes": votes, "record": record}
    section = pairs(judge_set, flag="--judge-set") | {key: value for key, value in named.items() if value is not None}
    section |= {f"budget.{key}": value for key, value in pairs(budget, flag="--budget").items()}
    section |= {"cascade": "true"} if cascade else {}
    return JudgeFlags(section, replay=replay, asks_anew=no_cache)
