"""The judge moved towards a team's labels: as far as they carry it, and only where it helps."""

import random

import pytest

from touchstone.judges.features import Features
from touchstone.judges.model import Fitted, GradeModel, Term, models_to_dict, packaged_models, parse_models
from touchstone.review.calibration import LEAST_LABELS, Labelled, calibrate, move

MODEL = GradeModel(
    2.0,
    (
        Term("kind", (0.0, 1.0), (1.0,), 0.5),
        Term("rude", (0.0, 1.0), (-1.0,), -0.5),
        Term("idle", (0.0, 1.0), (0.0,), 0),
    ),
    (0.5, 1.5, 2.5, 3.5),
    0.5,
)
SHIPPED = Fitted("1.0", {way: {"tone": MODEL} for way in ("expected", "open", "bare")})


def team(n, *, shift=0.0, rude=-1.0, noise=0.0, way="open"):
    """Labels of people who grade as the model does, but for a shift, a dislike of rudeness and some noise."""
    chance = random.Random(3)
    found = []
    for at in range(n):
        seen = {"kind": chance.random(), "rude": chance.random(), "idle": chance.random()}
        value = MODEL.base + (seen["kind"] - 0.5) + rude * (seen["rude"] - 0.5) + shift + chance.gauss(0, noise)
        found.append(Labelled(f"c-{at}", way, Features(seen, seen, seen), {"tone": min(4.0, max(0.0, value))}))
    return found


def test_people_who_grade_lower_throughout_lower_the_base():
    found = calibrate(team(60, shift=-1.0, noise=0.2), fitted=SHIPPED, version="1.0+x")
    gain = found.gains[0]
    assert gain.taken
    assert gain.error_before > 0.9
    assert gain.error_after < 0.3
    moved = found.fitted.modes["open"]["tone"]
    seen = {"kind": 0.5, "rude": 0.5, "idle": 0.5}
    assert moved.value(seen) == pytest.approx(MODEL.value(seen) - 1, abs=0.1)
    assert found.fitted.modes["bare"]["tone"] == MODEL


def test_people_who_agree_with_the_judge_leave_it_as_it_is():
    found = calibrate(team(60, noise=0.6), fitted=SHIPPED, version="v")
    assert not found.gains[0].taken
    assert found.fitted.modes == SHIPPED.modes


def test_a_slope_moves_but_never_turns_round():
    likes_rude = team(400, rude=3.0)
    moved = move(MODEL, [each.features.of("tone") for each in likes_rude], [each.grades["tone"] for each in likes_rude])
    slopes = {term.feature: term.slopes[0] for term in moved.terms}
    assert slopes["rude"] == 0.0
    assert slopes["idle"] == 0.0
    hates_rude = team(400, rude=-2.0)
    moved = move(MODEL, [each.features.of("tone") for each in hates_rude], [each.grades["tone"] for each in hates_rude])
    assert {term.feature: term.slopes[0] for term in moved.terms}["rude"] == pytest.approx(-1.6, abs=0.15)


def test_too_few_labels_change_nothing():
    found = calibrate(team(LEAST_LABELS - 1, shift=-2), fitted=SHIPPED, version="v")
    assert (found.gains, found.fitted.modes) == ((), SHIPPED.modes)


def test_a_label_without_a_grade_for_a_criterion_is_left_out():
    open_grades = [Labelled(f"o-{at}", "open", Features({}, {}, {}), {}) for at in range(50)]
    assert calibrate(open_grades, fitted=SHIPPED, version="v").gains == ()


def test_models_are_read_back_as_they_were_written():
    import json

    shipped = packaged_models()
    assert parse_models(json.dumps(models_to_dict(shipped))) == shipped
