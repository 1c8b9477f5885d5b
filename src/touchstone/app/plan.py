"""Settings -> the plan they make, what its cuts come to on the labelled sets, and the receipt of a run under it."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from touchstone import __version__
from touchstone.app.config import Settings
from touchstone.app.config_model import Thresholds
from touchstone.app.verifier import verifier_name
from touchstone.core import resource
from touchstone.core.codec import content_hash, encode
from touchstone.core.resource import PARSER, PARSER_VERSION
from touchstone.judges import model, tone, wording
from touchstone.judges.model import PASS_FILE
from touchstone.report.plan import PlanView
from touchstone.rubric.card import rubric_to_dict
from touchstone.runs.run import Receipt
from touchstone.safety import signs
from touchstone.safety import wording as sentences

# The judge's own models name the judge.
MODELS = (PASS_FILE, wording.FILE, tone.POLITENESS, signs.FILE, sentences.FILE)
# How cases are graded, and what of the fit did not see the replies that are counted.
WAYS = {"expected": "expected reply given", "open": "sources only"}
# On `abstained` replies the judge left a criterion open; they are reviewed unless a violation blocks.
COUNTS = ("replies", "sent", "sent_right", "blocked", "blocked_right", "abstained")
LEFT_OUT = {"domains_left_out": "domains left out", "sets_left_out": "whole sets left out"}


def plan_hash(settings: Settings) -> str:
    """A name for all that decides beside rubric, policy and judge: settings, fitted models, rules and verifier."""
    verifier = verifier_name(settings.verifier)
    plan = encode(settings.plan) | {"models": models_hash()}
    return content_hash(plan | ({"verifier": verifier} if verifier else {}))


def models_hash() -> str:
    """A name for what is fitted and decides, beside the judge's own models."""
    return content_hash([resource.text(file) for file in MODELS])


def receipt_of(settings: Settings, *, name: str, data: str) -> Receipt:
    """What determines replies that came with their cases and are graded offline."""
    rubric = settings.rubric
    return Receipt(
        goldset=name,
        data=data,
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_hash=content_hash(rubric_to_dict(rubric)),
        plan=plan_hash(settings),
        policy=content_hash(asdict(settings.policy)),
        judge=_offline_judge(settings),
        code=__version__,
        parser=f"{PARSER} {PARSER_VERSION}",
        redacted=settings.redacts,
        verifier=verifier_name(settings.verifier),
    )


# All that grades and findings of the offline judge are computed with.
FITTED = (model.FILE, model.PLAIN_FILE, wording.FILE, model.PASS_FILE, signs.FILE, sentences.FILE)


def _offline_judge(settings: Settings) -> str:
    """The offline judge by all that was fitted: the models, the team's own or those that ship, and what they weigh."""
    fitted = content_hash([resource.text(file) for file in FITTED])
    return f"offline {settings.fitted.version} {fitted}" if settings.fitted is not None else f"offline {fitted}"


def view_plan(settings: Settings) -> PlanView:
    """Everything that `touchstone plan show` says."""
    return PlanView(
        plan=settings.plan,
        notes={name: str(field.description) for name, field in Thresholds.model_fields.items()},
        hash=plan_hash(settings),
        judge=settings.judge.kind,
        is_calibrated=settings.fitted is not None,
        decisions=resource.parsed(PASS_FILE, _decisions),
    )


def _decisions(text: str) -> dict[str, Any]:
    rows = json.loads(text)["decisions"]
    ways = [_way(rows[key], said) for key, said in WAYS.items()]
    return {"send_at": rows["send_at"], "block_at": rows["block_at"], "ways": ways}


def _way(row: Mapping[str, Any], said: str) -> dict[str, Any]:
    sets = [
        {"name": name, "left_out": left_out}
        | {count: figures[count] for count in COUNTS}
        | {"reviewed": figures["replies"] - figures["sent"] - figures["blocked"]}
        for key, left_out in LEFT_OUT.items()
        for name, figures in row[key].items()
    ]
    shares = [
        {"passing": share} | {name: figures[name] for name in ("sent_that_pass", "blocked_that_fail")}
        for share, figures in row["where_so_many_pass"].items()
    ]
    return {"way": said, "sets": sets, "where_so_many_pass": shares}
