"""Reviews in the store -> the offline judge calibrated to the team, in a file of its own; what ships stays as it is."""

import json
from collections.abc import Iterator
from pathlib import Path

from touchstone.app.config import Settings
from touchstone.app.review import reviewed_items, rubric_of
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError, ReviewError
from touchstone.evidence.check import anchors_of, check
from touchstone.judges.choice import way_of
from touchstone.judges.features import features, see
from touchstone.judges.model import models_to_dict, packaged_models
from touchstone.review.adjudication import settle
from touchstone.review.calibration import LEAST_LABELS, Calibration, Labelled, calibrate
from touchstone.review.review import current
from touchstone.safety.detectors import inspect
from touchstone.store.private import make_directory
from touchstone.store.runs import Store
from touchstone.text.frame import body_of
from touchstone.text.reading import read


def calibrate_judge(store: Store, *, settings: Settings, today: str) -> Calibration:
    """The judge in use, moved towards every label in the store; ReviewError when there are too few."""
    found = list(labelled_replies(store, settings=settings))
    if len(found) < LEAST_LABELS:
        raise ReviewError(f"{len(found)} replies have been reviewed, at least {LEAST_LABELS} are needed: review more")
    # Always from what ships: a calibration of a calibration would count the same labels twice.
    shipped = packaged_models()
    return calibrate(found, fitted=shipped, version=f"{shipped.version}+{today}.{len(found)}")


def labelled_replies(store: Store, *, settings: Settings) -> Iterator[Labelled]:
    """Every reply with people's grades, once; of several queues that hold it the newest counts."""
    seen: set[tuple[str, int]] = set()
    for queue in store.queues.list():
        rubric = rubric_of(store, queue.run)
        for each in reviewed_items(store, queue.id):
            place = (queue.run, each.item.result)
            settled = settle(current(each.reviews), each.ruling, rubric=rubric)
            case = None if settled is None or place in seen else store.at(*place).case
            if settled is None or case is None or not case.response:
                continue
            seen.add(place)
            grades = {name: float(grade) for name, grade in settled.grades.items() if grade is not None}
            yield _labelled(case, grades, settings=settings)


def write_calibration(calibration: Calibration, path: Path) -> None:
    """The models as JSON, with what was measured; a file that is there is not overwritten."""
    content = models_to_dict(calibration.fitted) | {
        "method": "shipped models moved towards the team's labels: ridge, directions kept",
        "gains": [
            {
                "way": gain.way,
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
    try:
        make_directory(path.parent)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except FileExistsError:
        raise ConfigError(f"{path} exists, and an earlier version is kept: name another file with -o") from None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise ConfigError(f"{path} cannot be written ({problem}): name another file with -o") from error


def _labelled(case: Case, grades: dict[str, float], *, settings: Settings) -> Labelled:
    reading = read(case)
    body = body_of(reading)
    anchors = anchors_of(body, check(reading, plan=settings.plan))
    findings = inspect(body, anchors, policy=settings.policy)
    found = features(see(reading, body, anchors), findings)
    return Labelled(case.id or "", way_of(reading), found, grades)
