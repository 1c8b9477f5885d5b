"""Reviews in the store -> the judges calibrated to the team, in a file of its own; what ships stays as it is.

The offline judge's models are moved always; what is fitted for a language model only where its answers on the reviewed
replies were kept: no model is asked.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from touchstone.app.config import Settings
from touchstone.app.judging import ModelJudge, open_judge
from touchstone.app.review import reviewed_items
from touchstone.app.rubrics import rubric_of
from touchstone.app.score import score_case
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError, ReviewError
from touchstone.core.result import Failure
from touchstone.evidence.check import anchors_of, check
from touchstone.judges.choice import mode_of
from touchstone.judges.features import features, see
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.checklist import checklist_features
from touchstone.judges.llm.fits import MODEL_JUDGE, chance_inputs, fit_to_dict, packaged_fit
from touchstone.judges.llm.grading import judge_name
from touchstone.judges.model import models_to_dict, packaged_models
from touchstone.review.calibration import (
    LEAST_LABELS,
    Calibration,
    Labelled,
    ModelCalibration,
    ModelLabelled,
    calibrate,
    calibrate_model,
)
from touchstone.review.review import current, settle
from touchstone.safety.detectors import inspect
from touchstone.store.private import make_directory
from touchstone.store.runs import Store
from touchstone.text.frame import body_of
from touchstone.text.reading import read


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The offline judge, and the language model where its answers were kept."""

    offline: Calibration
    replies: int
    model: ModelCalibration | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A reply with what people say of it; `passes` is None while they differ or leave it open."""

    case: Case
    grades: Mapping[str, float]
    passes: bool | None


def calibrate_judge(store: Store, *, settings: Settings, today: str) -> Calibrated:
    """The judges in use, moved towards every label in the store; ReviewError when there are too few."""
    found = list(reviewed_replies(store))
    if len(found) < LEAST_LABELS:
        raise ReviewError(f"{len(found)} replies have been reviewed, at least {LEAST_LABELS} are needed: review more")
    # Always from what ships: a calibration of a calibration would count the same labels twice.
    shipped = packaged_models()
    labelled = [_labelled(each, settings=settings) for each in found]
    offline = calibrate(labelled, fitted=shipped, version=f"{shipped.version}+{today}.{len(found)}")
    return Calibrated(offline, len(found), _calibrate_model(found, settings=settings))


def _calibrate_model(found: Sequence[Reviewed], *, settings: Settings) -> ModelCalibration | None:
    """The model's fit moved towards the labels, by its answers that were kept."""
    chosen = settings.judge
    if chosen.kind != "llm" or not Path(chosen.replay or chosen.record).is_dir():
        return None
    kept = replace(settings, judge=chosen.model_copy(update={"replay": chosen.replay or chosen.record}), model_fit=None)
    with open_judge(kept) as judge:
        if judge is None:
            return None
        labelled = [each for reviewed in found if (each := _model_labelled(reviewed, judge, settings=kept))]
        return calibrate_model(labelled, fit=packaged_fit(), judge=judge_name(judge.models[0].name))


def _model_labelled(reviewed: Reviewed, judge: ModelJudge, *, settings: Settings) -> ModelLabelled | None:
    """What the model said of the reply; None where an answer was not kept, or people do not agree."""
    requests = judge.requests(reviewed.case, score_case(reviewed.case, settings=settings, line=0))
    answers = [judge.models[0].ask(request) for request in requests]
    # What the model calls unsafe has a chance of its own.
    if reviewed.passes is None or not requests or any(isinstance(answer, Failure) for answer in answers):
        return None
    grading = judge.graded(judge.models[0], reviewed.case, requests, answers).grading
    inputs = chance_inputs(settings.rubric, grading.grades, grading.suspicions)
    if inputs is None or grading.violations:
        return None
    chances = [answer.yes for answer in answers if isinstance(answer, Answer)]
    asked = [(request.item, yes) for request, yes in zip(requests, chances, strict=True) if request.item]
    features = checklist_features([(item, yes) for item, yes in asked if yes is not None]) if asked else None
    return ModelLabelled(reviewed.case.id or "", inputs, reviewed.passes, features, reviewed.grades)


def reviewed_replies(store: Store) -> Iterator[Reviewed]:
    """Every reply with people's grades, once; of several queues that hold it the newest counts."""
    seen: set[tuple[str, int]] = set()
    for queue in store.queues.list():
        rubric = rubric_of(store, queue.run)
        for each in reviewed_items(store, queue.id):
            place = (queue.run, each.item.result)
            settled = settle(current(each.reviews), each.ruling, rubric=rubric)
            case = None if settled is None or place in seen else store.replies.at(*place).case
            if settled is None or case is None or not case.response:
                continue
            seen.add(place)
            grades = {name: float(grade) for name, grade in settled.grades.items() if grade is not None}
            agreed = settled.passed if settled.passed in (0.0, 1.0) else None
            yield Reviewed(case, grades, None if agreed is None else bool(agreed))


def calibration_file(store: str, version: str) -> Path:
    """Where a calibration is kept unless another file is named: beside the store."""
    return (Path(".touchstone") if "://" in store else Path(store).parent) / f"judge-{version}.json"


def write_calibration(calibrated: Calibrated, path: Path) -> None:
    """The models as JSON, with what was measured; a file that is there is not overwritten."""
    calibration, model = calibrated.offline, calibrated.model
    content = models_to_dict(calibration.fitted) | {
        "method": "shipped models moved towards the team's labels: ridge, directions kept",
        "replies": calibrated.replies,
        "gains": [
            {
                "way": gain.mode,
                "criterion": gain.criterion,
                "labels": gain.n,
                "kappa_before": gain.kappa_before,
                "kappa_after": gain.kappa_after,
                "error_before": gain.error_before,
                "error_after": gain.error_after,
                "taken": gain.taken,
            }
            for gain in calibration.gains
        ],
    }
    if model is not None:
        content[MODEL_JUDGE] = fit_to_dict(model.fit)
        content["model_gains"] = [asdict(gain) | {"taken": gain.taken} for gain in model.gains]
    try:
        make_directory(path.parent)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except FileExistsError:
        raise ConfigError(f"{path} exists, and an earlier version is kept: name another file with -o") from None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise ConfigError(f"{path} cannot be written ({problem}): name another file with -o") from error


def _labelled(reviewed: Reviewed, *, settings: Settings) -> Labelled:
    case = reviewed.case
    reading = read(case)
    body = body_of(reading)
    anchors = anchors_of(body, check(reading, plan=settings.plan))
    findings = inspect(body, anchors, policy=settings.policy)
    found = features(see(reading, body, anchors), findings)
    return Labelled(case.id or "", mode_of(reading), found, reviewed.grades)
