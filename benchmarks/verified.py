"""Gold replies read by the verifier -> what that costs a reply, and what it does to alarms, grades and outcomes."""

import json

import numpy as np
from scripts import fit_judge as fitting
from scripts.fit_judge_deep import PLAN, WAYS, Read, fit_way

from benchmarks import clock, record
from touchstone.app.verifying import find_verifier
from touchstone.core.codec import case_from_dict
from touchstone.core.plan import Plan
from touchstone.evidence.check import check
from touchstone.evidence.verifier.statements import verify
from touchstone.runs.evaluate import evaluate
from touchstone.text.reading import read

WARM_UP = 10


def run() -> None:
    """Write results/verified.json."""
    verifier = find_verifier(PLAN)
    assert verifier is not None
    cases, source = fitting.labelled_cases()
    figures = {}
    for way in WAYS:
        seen = [Read(case, way=way, verifier=verifier) for case in cases]
        figures[way] = fit_way(seen, cases, source, way=way)[1]
        print(json.dumps(figures[way]["kappa"]), flush=True)
    card = verifier.card
    record.write(
        "verified",
        {
            "verifier": {"name": card.name, "version": card.version, "hash": card.hash, "cut": card.cut},
            "replies": len(cases),
            "milliseconds": _milliseconds(),
            "gold": figures,
        },
    )


def _milliseconds() -> dict[str, dict[str, float]]:
    """Processor time a reply: what the verifier adds, and all of scoring with and without it."""
    verifier = find_verifier(PLAN)
    assert verifier is not None
    cases = [case_from_dict(fitting.seen(case, way="open")) for case in fitting.labelled_cases()[0]]
    readings = [read(case) for case in cases]
    read_ones = [(reading, check(reading, plan=PLAN)) for reading in readings]
    work = {
        "verifier": (lambda each: verify(*each, verifier=verifier, plan=PLAN), read_ones),
        "scoring with it": (lambda case: evaluate(case, plan=PLAN, verifier=verifier), cases),
        "scoring without": (lambda case: evaluate(case, plan=Plan()), cases),
    }
    found = {}
    for name, (do, items) in work.items():
        clock.each(do, items[:WARM_UP])
        spent = clock.each(do, items)
        found[name] = {"p50": float(np.quantile(spent, 0.5)), "p99": float(np.quantile(spent, 0.99))}
    return found


if __name__ == "__main__":
    run()
