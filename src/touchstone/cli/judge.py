"""`touchstone judge`: find a language model, see on a few cases what it is worth, and write it into touchstone.yaml."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from touchstone.app.config import Settings
from touchstone.app.config_model import JudgeSettings
from touchstone.app.judge_setup import choose, section_text, write_section
from touchstone.app.judge_trial import (
    HUNDRED,
    LONGER,
    Trial,
    alone,
    count_requests,
    draw_cases,
    score_cases,
    servers_of,
    try_judge,
)
from touchstone.app.score import ScoredEntry
from touchstone.cli import SOME_ROW_FAILED
from touchstone.cli.options import AsJson, Config, JudgeSet, Text, pairs, takes_settings
from touchstone.cli.screen import print_json
from touchstone.clients.llm.discovery import Offer, find_offers
from touchstone.core.errors import ConfigError
from touchstone.report.figures import count, figure, seconds, words
from touchstone.report.judge import FEW
from touchstone.report.plain import one_line

judge = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Set a language model up as the judge, and check it."
)

_Cases = Annotated[int, typer.Option("--cases", metavar="N", min=1, help="How many labelled cases to have graded.")]
_Goldset = Annotated[
    str, typer.Option("--goldset", metavar="NAME", help="The set that ships to take them from: support, industries.")
]
_FORMS = {
    "schema": "kept to a JSON schema by the server",
    "json": "JSON, but no schema is enforced",
    "text": "no form is enforced: some answers may be unreadable",
    "unknown": "not seen, as the answer was empty or cut off",
}


@judge.command()
@takes_settings("config")
def setup(
    *,
    model: Annotated[Text, typer.Option(metavar="NAME", help="The model, instead of those found.")] = None,
    base_url: Annotated[Text, typer.Option(metavar="URL", help="Its server, instead of those found.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing: take the first that was found, and write the section.")
    ] = False,
    cases: _Cases = 10,
    goldset: _Goldset = "support",
    judge_set: JudgeSet = None,
    config: Config = None,
    settings: Settings,
    as_json: AsJson = False,
) -> None:
    """Find a model on this machine or by a key in the environment, have it grade a few shipped cases, and keep it.

    Exit codes: 0 every case was graded, 2 nothing was found or it could not be asked, 3 some case failed.
    """
    asks = sys.stdin.isatty() and not yes and not as_json
    entries = draw_cases(goldset, cases)
    base_url = base_url or os.environ.get("TOUCHSTONE_LLM_BASE_URL")
    is_agreed = yes or bool(model or base_url)
    model = model or os.environ.get("TOUCHSTONE_LLM_MODEL")
    offers = find_offers(model=model, base_url=base_url, environment=os.environ)
    for number, each in enumerate(offers, start=1):
        typer.echo(_described(number, each), err=True)
    offer = _chosen(offers, asks=asks, is_agreed=is_agreed)
    choice = choose(offer, config=config, flags=pairs(judge_set, flag="--judge-set"))
    trying = alone(settings, judge=choice.judge)
    # A length that somebody chose is kept.
    is_usual = choice.judge.max_tokens == JudgeSettings().max_tokens
    trial = _tried(score_cases(entries, settings=trying), settings=trying, goldset=goldset, may_lengthen=is_usual)
    changes = dict(choice.changes)
    if trial.max_tokens != choice.judge.max_tokens:
        changes["max_tokens"] = trial.max_tokens
    section = section_text(config, changes)
    if not as_json:
        typer.echo(_trial_text(trial))
        typer.echo(f"\n{section}", nl=False)
    written = None
    if trial.failed == trial.cases:
        typer.echo("nothing is written, since no case was graded", err=True)
    elif yes or (asks and typer.confirm(f"write it into {config or 'touchstone.yaml'}?", err=True)):
        written = str(write_section(config, changes))
        typer.echo(f"written to {written}; touchstone judge check repeats this", err=True)
    if as_json:
        named = ("owner", "base_url", "model", "key_variable")
        found = [{name: getattr(each, name) for name in named} for each in offers]
        print_json(_trial_to_dict(trial) | {"found": found, "section": section, "written": written})
    if trial.failed:
        raise typer.Exit(SOME_ROW_FAILED)


@judge.command()
@takes_settings("config", "judge")
def check(*, cases: _Cases = 10, goldset: _Goldset = "support", settings: Settings, as_json: AsJson = False) -> None:
    """Have the judge of touchstone.yaml, or of these flags, grade a few shipped cases, and show what it is worth.

    Models are asked anew, and with a cascade about every case. Exit codes: 0 every case was graded, 2 the judge could
    not be asked, 3 some case failed.
    """
    chosen = settings.judge
    if chosen.kind == "offline":
        raise ConfigError("the offline judge asks no model: name one with --model, or run touchstone judge setup")
    entries = draw_cases(goldset, cases)
    trying = alone(settings, judge=chosen.model_copy(update={"cascade": False, "asks_anew": chosen.replay is None}))
    trial = _tried(score_cases(entries, settings=trying), settings=trying, goldset=goldset)
    if as_json:
        print_json(_trial_to_dict(trial))
    else:
        typer.echo(_trial_text(trial))
    if trial.failed:
        raise typer.Exit(SOME_ROW_FAILED)


def _chosen(offers: Sequence[Offer], *, asks: bool, is_agreed: bool) -> Offer:
    """The offer that a person chooses, or the first. A provider is asked nothing that nobody agreed to."""
    offer = offers[0]
    if asks and (len(offers) > 1 or not (offer.is_near or is_agreed)):
        number = typer.prompt("which one", default=1, type=int, err=True)
        if not 1 <= number <= len(offers):
            raise ConfigError(f"{number} is not in the list: choose from 1 to {len(offers)}")
        offer = offers[number - 1]
    elif not (offer.is_near or is_agreed):
        found = ", ".join(dict.fromkeys(each.key_variable or each.place for each in offers))
        raise ConfigError(f"{found} is set, and nobody agreed to ask there: give --yes, or --model and --base-url")
    if offer.model is None and asks:
        offer = replace(offer, model=typer.prompt(f"the model's name at {offer.owner}", err=True).strip())
    if not offer.model:
        raise ConfigError(f"{offer.owner} has no model to start with: name one with --model")
    return offer


def _described(number: int, offer: Offer) -> str:
    key = f", with the key in {offer.key_variable}" if offer.key_variable else ""
    owner = "" if offer.owner == offer.place else f"{offer.owner} at "
    return one_line(f"{number}. {offer.model or 'a model to be named'}: {owner}{offer.place}{key}")


def _tried(scored: Sequence[ScoredEntry], *, settings: Settings, goldset: str, may_lengthen: bool = False) -> Trial:
    """The trial, after saying what is sent where; with longer answers where the first one is cut off."""
    chosen = settings.judge
    if servers := servers_of(chosen):
        sent = f"{count(count_requests(scored, settings=settings), 'request')} to {' and '.join(servers)}"
        about = f"{count(len(scored), 'case')} of the invented set {goldset}, and no text of your customers"
        typer.echo(f"sending {sent}: {about}", err=True)
    shows = sys.stderr.isatty()
    done = 0

    def on_graded() -> None:
        nonlocal done
        done += 1
        if shows:
            typer.echo(f"\r{done} of {len(scored)} graded", err=True, nl=False)

    try:
        trial = try_judge(scored, settings=settings, may_lengthen=may_lengthen, on_graded=on_graded)
    finally:
        if shows and done:
            typer.echo("", err=True)
    if trial is not None:
        return trial
    typer.echo(f"the answer was cut off at {chosen.max_tokens:,} tokens: trying with max_tokens {LONGER:,}", err=True)
    longer = replace(settings, judge=chosen.model_copy(update={"max_tokens": LONGER}))
    return _tried(scored, settings=longer, goldset=goldset)


def _trial_text(trial: Trial) -> str:
    """The figures for a person."""
    left_open = trial.trust.outcome.left_open
    kappas = ", ".join(f"{words(name)} {figure(kappa, 'unit')}" for name, kappa in trial.kappas.items())
    prices = "give --judge-set prices.input=0.15 --judge-set prices.output=0.60, yours for a million tokens"
    rows = [
        *(("answers", f"{model}: {_FORMS[form]}") for model, form in trial.forms.items()),
        ("same outcome", f"{trial.agreed} of {trial.cases}" + (f", {left_open} left open" if left_open else "")),
        ("kappa", f"{figure(trial.kappa, 'unit')} of all grades ({kappas})"),
        # Records take no time.
        *([] if trial.seconds_each is None else [("time", _time(trial.seconds_each, trial))]),
        ("tokens", f"{trial.tokens.input:,} in and {trial.tokens.output:,} out a reply"),
        ("cost", prices if trial.cost is None else f"{trial.cost:,.4f} {trial.currency} for a hundred replies"),
        *(("failed", f"{each.cases} of {trial.cases}: {each.message}") for each in trial.problems),
    ]
    few = f"{trial.cases} cases are too few to trust: " if trial.cases < FEW else ""
    end = f"{few}measure it with touchstone review agreement, best on cases of yours"
    return "\n".join([one_line(trial.judge), *(f"  {name:14}{one_line(text)}" for name, text in rows), end])


def _time(each: float, trial: Trial) -> str:
    return f"{seconds(each)} a reply, {seconds(HUNDRED * trial.seconds / trial.cases)} for a hundred"


def _trial_to_dict(trial: Trial) -> dict[str, Any]:
    return {
        "judge": trial.judge,
        "forms": dict(trial.forms),
        "cases": trial.cases,
        "failed": trial.failed,
        "same_outcome": trial.agreed,
        "left_open": trial.trust.outcome.left_open,
        "kappa": trial.kappa,
        "kappas": dict(trial.kappas),
        "seconds_a_reply": trial.seconds_each,
        "seconds": trial.seconds,
        "tokens_a_reply": asdict(trial.tokens),
        "cost_of_a_hundred": trial.cost,
        "currency": trial.currency,
        "problems": [asdict(each) for each in trial.problems],
    }
