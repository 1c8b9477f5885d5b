"""A sample of the shipped gold cases, and how one is graded again with something changed."""

import json
from dataclasses import replace
from functools import cache
from importlib import resources

import touchstone as ts
from touchstone.core.codec import case_from_dict

STEP = 14
SETS = ("support", "industries")


def gold_cases():
    """Every shipped case, in order."""
    for name in SETS:
        text = resources.files("touchstone").joinpath(f"data/goldsets/{name}.jsonl").read_text(encoding="utf-8")
        yield from (case_from_dict(json.loads(line)) for line in text.splitlines())


GOLD = tuple(gold_cases())
SAMPLE = GOLD[::STEP]
MODES = {"expected": lambda case: case, "open": lambda case: replace(case, expected_output=None)}


@cache
def graded(number, mode="expected"):
    """The grading of a case of the sample as it is, worked out once."""
    return ts.score(MODES[mode](SAMPLE[number])).rubric


def grade(case, **changes):
    """The grading of a case with some fields changed."""
    return ts.score(replace(case, **changes)).rubric


def values(grading):
    """criterion -> unrounded value."""
    return {given.criterion: given.value for given in grading.grades}


def grades(grading):
    """criterion -> grade."""
    return {given.criterion: given.grade for given in grading.grades}
