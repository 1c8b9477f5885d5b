"""The flags that several commands take, each declared once, and what they make: settings, mappings, choices."""

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar

import typer

from touchstone.app.config import JudgeFlags, Settings, load_settings
from touchstone.core.errors import ConfigError
from touchstone.io.formats import FORMATS, Format

STDOUT = "-"
T = TypeVar("T", bound=str)
Text = str | None
Repeated = list[str] | None

Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE; - is stdout.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SummaryAsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notices on stderr.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Labels = Annotated[Repeated, typer.Option(metavar="KEY=VALUE", help="Label the run, such as prompt=v7; repeatable.")]
Goldset = Annotated[
    str, typer.Argument(metavar="GOLDSET", help="A file of cases, or a set that ships: support, industries.")
]
FormatName = Annotated[Text, typer.Option(metavar="NAME", help="The input's format: jsonl, json, csv, tsv or parquet.")]
JudgeSet = Annotated[
    Repeated, typer.Option(metavar="KEY=VALUE", help="Any other key of the section judge; repeatable.")
]
Config = Annotated[Text, typer.Option(metavar="FILE", help="Read settings from FILE instead of touchstone.yaml.")]
Rubric = Annotated[
    Text, typer.Option(metavar="FILE_OR_NAME", help="Grade by this rubric: a YAML file or a packaged name.")
]
Redact = Annotated[
    bool, typer.Option("--redact", help="Remove personal data from what is stored; replies are scored unchanged.")
]
Store = Annotated[Text, typer.Option(metavar="FILE_OR_URL", help="Where runs, reviews and people are kept.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFlags:
    """The flags that override touchstone.yaml; a command names those it takes."""

    map: Annotated[
        Repeated, typer.Option(metavar="THEIRS=OURS", help="Read column THEIRS as our field OURS; repeatable.")
    ] = None
    set: Annotated[Repeated, typer.Option(metavar="KEY=VALUE", help="Change a threshold; repeatable.")] = None
    rubric: Rubric = None
    verifier: Annotated[
        Text, typer.Option(metavar="DIRECTORY", help="Check each sentence against its sources with a model of yours.")
    ] = None
    target: Annotated[
        Repeated, typer.Option(metavar="KEY=VALUE", help="Change a target, such as pass_rate=75; repeatable.")
    ] = None
    least_scored: Annotated[
        Text, typer.Option(metavar="SHARE", help="The share of replies that must be scored for the gate to open.")
    ] = None
    store: Store = None
    runs: Annotated[Text, typer.Option(metavar="DIRECTORY", help="Where the files of runs are written.")] = None
    redact: Redact = False
    trusted_proxy: Annotated[
        Repeated,
        typer.Option(metavar="CIDR", help="A proxy whose X-Forwarded headers are trusted, besides this machine's own."),
    ] = None
    config: Config = None

    def settings(self, judge: JudgeFlags | None) -> Settings:
        """touchstone.yaml, overridden by these flags."""
        return load_settings(
            self.config,
            thresholds=pairs(self.set, flag="--set"),
            columns=pairs(self.map, flag="--map", at_last=True),
            rubric=self.rubric,
            targets=pairs(self.target, flag="--target"),
            store=self.store,
            runs=self.runs,
            least_scored=self.least_scored,
            judge=judge,
            verifier=self.verifier,
            redacts=self.redact,
            trusted_proxies=self.trusted_proxy,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """The flags that say who grades; `--help` lists them in this order."""

    judge: Annotated[Text, typer.Option(metavar="KIND", help="Who grades: offline, llm (a model) or panel.")] = None
    model: Annotated[Text, typer.Option(metavar="NAME", help="The model that grades; implies --judge llm.")] = None
    base_url: Annotated[Text, typer.Option(metavar="URL", help="Its server, such as http://localhost:8080/v1.")] = None
    panel: Annotated[
        Text,
        typer.Option(
            metavar="JUDGES",
            help="Several judges, such as offline,gpt-4o-mini,qwen@http://localhost:8080/v1; implies --judge panel.",
        ),
    ] = None
    votes: Annotated[Text, typer.Option(metavar="N", help="Ask a model N times and take the median.")] = None
    cascade: Annotated[bool, typer.Option("--cascade", help="Ask a model only where the offline judge is unsure.")] = (
        False
    )
    budget: Annotated[
        Repeated, typer.Option(metavar="KEY=VALUE", help="Spend at most tokens=N or money=X; repeatable.")
    ] = None
    judge_set: JudgeSet = None
    record: Annotated[
        Text, typer.Option(metavar="DIRECTORY", help="Keep a model's answers here, and reuse those kept before.")
    ] = None
    replay: Annotated[
        Text, typer.Option(metavar="DIRECTORY", help="Use only the answers kept here; no server is asked.")
    ] = None
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Ask a model again, even where its answer was kept.")] = (
        False
    )

    def flags(self) -> JudgeFlags:
        """The same by the keys of the section `judge`."""
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


def takes_settings(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The command with these flags in place of its parameter `settings`, which is given what they make.

    `judge` stands for all flags of JudgeOptions. A flag that is a parameter of the command as well is given to it, too;
    so is `judge_flags`.
    """
    shared, judging = (inspect.signature(each).parameters for each in (SettingsFlags, JudgeOptions))
    flags = {flag for name in names for flag in (judging if name == "judge" else [name])}

    def replaced(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        own = signature.parameters

        @wraps(command)
        def run(**given: Any) -> None:
            judge = JudgeOptions(**{name: given[name] for name in judging}).flags() if "judge" in names else None
            settings = SettingsFlags(**{name: given[name] for name in flags & shared.keys()}).settings(judge)
            made = {"settings": settings, "judge_flags": judge}
            command(**{name: value for name, value in (given | made).items() if name in own})

        listed = {**{name: shared[name] for name in names if name != "judge"}, **(judging if "judge" in names else {})}
        added = [flag for name, flag in listed.items() if name not in own]
        kept = (each for each in own.values() if each.name != "judge_flags")
        read = [flag for each in kept for flag in (added if each.name == "settings" else [each])]
        run.__signature__ = signature.replace(parameters=read)  # type: ignore[attr-defined]
        return run

    return replaced


def pairs(flags: Iterable[str] | None, *, flag: str, at_last: bool = False) -> dict[str, str]:
    """`left=right` flags as a mapping; the first `=` splits them, or the last where the left side may hold one."""
    found: dict[str, str] = {}
    for text in flags or ():
        left, equals, right = (part.strip() for part in (text.rpartition("=") if at_last else text.partition("=")))
        if not (left and equals and right):
            raise ConfigError(f"{flag} {text} is not of the form left=right")
        found[left] = right
    return found


def choice(name: str, known: Collection[T], *, flag: str) -> T:
    """The one of these that the flag names; ConfigError for any other."""
    for each in known:
        if each == name.lower():
            return each
    raise ConfigError(f"{flag} {name} is not known: allowed are {', '.join(known)}")


def input_format(name: str | None) -> Format | None:
    """The format that `--format` names, if it names one."""
    return None if name is None else choice(name, FORMATS, flag="--format")
