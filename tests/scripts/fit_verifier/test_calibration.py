"""Calibration and the choice of a cut."""

import numpy as np
from scripts.fit_verifier.calibration import calibrate, choose_cut, curve, doubts, expected_error


def test_answers_that_are_too_sure_are_made_less_sure() -> None:
    random = np.random.default_rng(3)
    labels = random.integers(4, size=2_000)
    fair = np.eye(4)[labels] * 1.5 + random.gumbel(size=(2_000, 4))
    calibration = calibrate((fair * 4).astype(np.float32), labels.tolist())
    assert calibration.temperature > 2
    after = calibration.chances((fair * 4).astype(np.float32))
    before = calibrate(fair.astype(np.float32), labels.tolist()).chances((fair * 4).astype(np.float32))
    assert expected_error(after, labels.tolist()) < expected_error(before, labels.tolist())


def test_chances_add_up_to_one_and_doubt_is_two_of_them() -> None:
    chances = calibrate(np.zeros((4, 4), dtype=np.float32), [0, 1, 2, 3]).chances(np.zeros((4, 4), dtype=np.float32))
    assert np.allclose(chances.sum(-1), 1)
    assert np.allclose(doubts(chances), 0.5)


def test_the_cut_is_the_lowest_that_is_precise_enough() -> None:
    assert choose_cut([[0.5, 0.4, 0.9], [0.7, 0.96, 0.6], [0.9, 0.97, 0.2]]) == 0.7
    assert choose_cut([[0.5, 0.4, 0.9], [0.7, 0.6, 0.6]]) == 0.7


def test_recall_falls_and_precision_counts_what_is_rare() -> None:
    doubt = np.array([0.95, 0.9, 0.6, 0.4, 0.9, 0.2, 0.1, 0.05])
    points = curve(doubt, np.array([True] * 4 + [False] * 4))
    recalls = [recall for _, _, recall in points]
    assert recalls == sorted(recalls, reverse=True)
    assert next(precision for cut, precision, _ in points if cut == 0.8) == round(0.05 / (0.05 + 0.225), 4)
