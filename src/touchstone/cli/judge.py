"""`touchstone judge`: find a language model, see on a few cases what it is worth, and write it into touchstone.yaml."""

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.exits import SOME_ROW_FAILED
from touchstone.cli.judge_options import JudgeOptions, JudgeSet, takes_judge
from touchstone.cli.options import AsJson, Config
from touchstone.cli.pairs import pairs
from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.app.config import Settings
    from touchstone.app.judge_trial import Trial
    from touchstone.app.score import ScoredEntry
    from touchstone.clients.llm.discovery import Offer

judge = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Set a language model up as the judge, and check it."
)

_Cases = Annotated[int, typer.Option("--cases", metavar="N", min=1, help="How many labelled cases to have graded.")]
_Goldset = Annotated[
    str, typer.Option("--goldset", metavar="NAME", help="The set that ships to take them from: support, industries.")
]


@judge.callback()
def _group() -> None:
    """Set a language model up as the judge, and check it."""


@judge.command()
def setup(
    *,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model, instead of those found.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Its server, instead of those found.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing: take the first that was found, and write the section.")
    ] = False,
    cases: _Cases = 10,
    goldset: _Goldset = "support",
    judge_set: JudgeSet = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Find a model on this machine or by a key in the environment, have it grade a few shipped cases, and keep it.

    Exit codes: 0 every case was graded, 2 nothing was found or it could not be asked, 3 some case failed.
    """
    from touchstone.app.config import load_settings
    from touchstone.app.config_shape import JudgeSettings
    from touchstone.app.judge_setup import choose, section_text, write_section
    from touchstone.app.judge_trial import alone, draw_cases, score_cases
    from touchstone.clients.llm.discovery import find_offers

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
    settings = alone(load_settings(config), judge=choice.judge)
    # A length that somebody chose is kept.
    is_usual = choice.judge.max_tokens == JudgeSettings().max_tokens
    trial = _tried(score_cases(entries, settings=settings), settings=settings, goldset=goldset, may_lengthen=is_usual)
    changes = dict(choice.changes)
    if trial.max_tokens != choice.judge.max_tokens:
        changes["max_tokens"] = trial.max_tokens
    section = section_text(config, changes)
    if not as_json:
        typer.echo(_told(trial))
        typer.echo(f"\n{section}", nl=False)
    written = None
    if trial.failed == trial.cases:
        typer.echo("nothing is written, since no case was graded", err=True)
    elif yes or (asks and typer.confirm(f"write it into {config or 'touchstone.yaml'}?", err=True)):
        written = str(write_section(config, changes))
        typer.echo(f"written to {written}; touchstone judge check repeats this", err=True)
    if as_json:
        found = [_offer_to_dict(each) for each in offers]
        shown = _trial_to_dict(trial) | {"found": found, "section": section, "written": written}
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    if trial.failed:
        raise typer.Exit(SOME_ROW_FAILED)


@judge.command()
@takes_judge
def check(
    *,
    cases: _Cases = 10,
    goldset: _Goldset = "support",
    judge: JudgeOptions,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Have the judge of touchstone.yaml, or of these flags, grade a few shipped cases, and show what it is worth.

    Models are asked anew, and with a cascade about every case. Exit codes: 0 every case was graded, 2 the judge could
    not be asked, 3 some case failed.
    """
    from touchstone.app.config import load_settings
    from touchstone.app.judge_trial import alone, draw_cases, score_cases

    configured = load_settings(config, judge=judge.flags())
    chosen = configured.judge
    if chosen.kind == "offline":
        raise ConfigError("the offline judge asks no model: name one with --model, or run touchstone judge setup")
    entries = draw_cases(goldset, cases)
    settings = alone(configured, judge=chosen.model_copy(update={"cascade": False, "asks_anew": chosen.replay is None}))
    trial = _tried(score_cases(entries, settings=settings), settings=settings, goldset=goldset)
    typer.echo(json.dumps(_trial_to_dict(trial), ensure_ascii=False, indent=2) if as_json else _told(trial))
    if trial.failed:
        raise typer.Exit(SOME_ROW_FAILED)


def _chosen(offers: "Sequence[Offer]", *, asks: bool, is_agreed: bool) -> "Offer":
    """The offer that a person chooses, or the first. A provider is asked nothing that nobody agreed to."""
    from dataclasses import replace

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


def _described(number: int, offer: "Offer") -> str:
    from touchstone.report.plain import one_line

    key = f", with the key in {offer.key_variable}" if offer.key_variable else ""
    owner = "" if offer.owner == offer.place else f"{offer.owner} at "
    return one_line(f"{number}. {offer.model or 'a model to be named'}: {owner}{offer.place}{key}")


def _tried(
    scored: "Sequence[ScoredEntry]", *, settings: "Settings", goldset: str, may_lengthen: bool = False
) -> "Trial":
    """The trial, once it is said what is sent where; with longer answers where the first one is cut off."""
    from dataclasses import replace

    from touchstone.app.judge_trial import LONGER, count_requests, places_of, try_judge
    from touchstone.report.figures import count

    chosen = settings.judge
    if places := places_of(chosen):
        sent = f"{count(count_requests(scored, settings=settings), 'request')} to {' and '.join(places)}"
        told = f"{count(len(scored), 'case')} of the invented set {goldset}, and no text of your customers"
        typer.echo(f"sending {sent}: {told}", err=True)
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


_FORMS = {
    "schema": "kept to a JSON schema by the server",
    "json": "JSON, but no schema is enforced",
    "text": "no form is enforced: some answers may be unreadable",
    "unknown": "not seen, as the answer was empty or cut off",
}


def _told(trial: "Trial") -> str:
    """The figures for a person."""
    from touchstone.report.figures import figure, words
    from touchstone.report.plain import one_line
    from touchstone.report.trust.view import FEW

    left_open = trial.trust.outcome.left_open
    kappas = ", ".join(f"{words(name)} {figure(kappa, 'unit')}" for name, kappa in trial.kappas.items())
    prices = "give --judge-set prices.input=0.15 --judge-set prices.output=0.60, yours for a million tokens"
    rows = [
        *(("answers", f"{model}: {_FORMS[form]}") for model, form in trial.forms.items()),
        ("same outcome", f"{trial.agreed} of {trial.cases}" + (f", {left_open} left open" if left_open else "")),
        ("kappa", f"{figure(trial.kappa, 'unit')} of all grades ({kappas})"),
        *([("time", told)] if (told := _time(trial)) else []),
        ("tokens", f"{trial.tokens.input:,} in and {trial.tokens.output:,} out a reply"),
        ("cost", prices if trial.cost is None else f"{trial.cost:,.4f} {trial.currency} for a hundred replies"),
        *(("failed", f"{each.cases} of {trial.cases}: {each.message}") for each in trial.problems),
    ]
    few = f"{trial.cases} cases are too few to trust: " if trial.cases < FEW else ""
    end = f"{few}measure it with touchstone review agreement, best on cases of yours"
    return "\n".join([one_line(trial.judge), *(f"  {name:14}{one_line(text)}" for name, text in rows), end])


def _time(trial: "Trial") -> str:
    """How long a reply took, and a hundred would; nothing for records, which take no time."""
    from touchstone.app.judge_trial import HUNDRED
    from touchstone.report.figures import seconds

    if trial.seconds_each is None:
        return ""
    return f"{seconds(trial.seconds_each)} a reply, {seconds(HUNDRED * trial.seconds / trial.cases)} for a hundred"


def _trial_to_dict(trial: "Trial") -> dict[str, Any]:
    from dataclasses import asdict

    outcome = trial.trust.outcome
    return {
        "judge": trial.judge,
        "forms": dict(trial.forms),
        "cases": trial.cases,
        "failed": trial.failed,
        "same_outcome": trial.agreed,
        "left_open": outcome.left_open,
        "kappa": trial.kappa,
        "kappas": dict(trial.kappas),
        "seconds_a_reply": trial.seconds_each,
        "seconds": trial.seconds,
        "tokens_a_reply": asdict(trial.tokens),
        "cost_of_a_hundred": trial.cost,
        "currency": trial.currency,
        "problems": [asdict(each) for each in trial.problems],
    }


def _offer_to_dict(offer: "Offer") -> dict[str, Any]:
    return {
        "owner": offer.owner,
        "base_url": offer.base_url,
        "model": offer.model,
        "key_variable": offer.key_variable,
    }
