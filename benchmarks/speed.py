"""Gold-set replies -> time per reply, beside the parser alone and the straightforward version, all in one run.

Every round times every contender on every reply, in another order each round; a reply's time is its median over the
rounds. Only ratios within a run mean something elsewhere.
"""

import cProfile
import io
import pstats
import re
from collections.abc import Callable
from statistics import median
from typing import Any

import spacy

import touchstone
from benchmarks import straightforward
from benchmarks.cases import GOLD_SETS, gold_set
from benchmarks.clock import each, quantile, typical, whole
from benchmarks.growth import curves, forget
from benchmarks.record import RESULTS, write
from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.resource import PARSER
from touchstone.evidence.check import check
from touchstone.metrics.completeness import completeness
from touchstone.metrics.hallucination import hallucination
from touchstone.metrics.relevance import relevance
from touchstone.metrics.verdict import decide
from touchstone.text.reading import read

PLAN = Plan()
ROUNDS = 3
PROFILED = 15
TARGETS = {"touchstone_to_parser": 1.3, "straightforward_to_touchstone": 3.0, "p99_ms": 20.0}


def run() -> None:
    """Write results/speed.json and results/speed_profile.txt."""
    cases = [case for name in GOLD_SETS for case in gold_set(name)]
    warm_up(cases)
    times = measure(cases)
    figures = {"replies": len(cases), "rounds": ROUNDS, "clock": "processor time, one thread", **compare(times)}
    show(figures)
    profile(cases)
    write("speed", {**figures, "growth": curves()})


def score_core(case: Case) -> None:
    """The scoring core alone: reading, evidence, metrics and verdict, without detectors and grades."""
    reading = read(case)
    anchors = check(reading, plan=PLAN)
    scores = (
        relevance(reading, plan=PLAN),
        completeness(reading, plan=PLAN),
        hallucination(reading, anchors, plan=PLAN),
    )
    decide({score.metric: score for score in scores}, plan=PLAN)


def warm_up(cases: list[Case]) -> None:
    """Load the parsers and every word list before anything is timed."""
    for case in cases[:20]:
        touchstone.score(case)
        straightforward.score(case)


def measure(cases: list[Case]) -> dict[str, list[list[float]]]:
    """Contender -> rounds -> milliseconds for each reply; a whole-batch contender gives the same mean to each."""
    parser = spacy.load(PARSER, exclude=["ner", "senter", "attribute_ruler", "lemmatizer"])
    replies = [case.response for case in cases]

    def first_pass() -> list[float]:
        forget()
        return each(score_core, cases)

    def first_graded() -> list[float]:
        forget()
        return each(touchstone.score, cases)

    def together() -> list[float]:
        spent = whole(lambda: [None for _ in parser.pipe(replies)])
        return [spent / len(replies)] * len(replies)

    contenders: dict[str, Callable[[], list[float]]] = {
        "touchstone_first": first_pass,
        "touchstone_repeated": lambda: each(score_core, cases),
        "parser_single": lambda: each(parser, replies),
        "parser_pipe": together,
        "straightforward": lambda: each(straightforward.score, cases),
        "graded_first": first_graded,
    }
    times: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for round_ in range(ROUNDS):
        for name in _order(list(contenders), round_):
            times[name].append(contenders[name]())
        print(f"round {round_ + 1} of {ROUNDS}", flush=True)
    return times


def _order(names: list[str], round_: int) -> list[str]:
    """Another contender begins each round; `repeated` stays behind `first`, whose texts it finds again."""
    pairs = [names[:2], *([name] for name in names[2:])]
    at = round_ % len(pairs)
    return [name for pair in pairs[at:] + pairs[:at] for name in pair]


def compare(times: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Mean and percentiles of each contender, and the ratios the targets are about."""
    milliseconds = {name: _summary(name, rounds) for name, rounds in times.items()}
    mean = {name: _mean(rounds) for name, rounds in times.items()}
    ratios = {
        f"{ours}_to_{theirs}": mean[ours] / mean[theirs]
        for ours in ("touchstone_first", "touchstone_repeated")
        for theirs in ("parser_single", "parser_pipe")
    }
    ratios |= {
        f"straightforward_to_{ours}": mean["straightforward"] / mean[ours]
        for ours in ("touchstone_first", "touchstone_repeated")
    }
    ratios["graded_first_to_touchstone_first"] = mean["graded_first"] / mean["touchstone_first"]
    return {"ms_per_reply": milliseconds, "ratios": ratios, "targets": TARGETS}


def _mean(rounds: list[list[float]]) -> float:
    """The median over the rounds of a round's mean time per reply."""
    return median(sum(times) / len(times) for times in rounds)


def _summary(name: str, rounds: list[list[float]]) -> dict[str, float]:
    if name == "parser_pipe":
        return {"mean": _mean(rounds)}  # timed as a whole: single replies have no time of their own
    ordered = sorted(typical(rounds))
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {"mean": _mean(rounds)} | {name: quantile(ordered, share) for name, share in shares.items()}


def show(figures: dict[str, Any]) -> None:
    """The figures as a table."""
    for name, row in figures["ms_per_reply"].items():
        print(f"{name:24}" + "".join(f"{key} {spent:>8.2f} ms   " for key, spent in row.items()))
    for name, ratio in figures["ratios"].items():
        print(f"{name:44}{ratio:>8.2f}")


def profile(cases: list[Case]) -> None:
    """Where a first pass spends its time: the costliest functions by own time, without any path."""
    forget()
    profiler = cProfile.Profile()
    profiler.enable()
    for case in cases:
        touchstone.score(case)
    profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(PROFILED)
    listing = re.sub(r"\n{3,}", "\n\n", re.sub(r" at 0x[0-9a-f]+", "", text.getvalue())).strip()
    (RESULTS / "speed_profile.txt").write_text(
        f"First pass over {len(cases)} gold-set replies under cProfile, by own time.\n\n{listing}\n", encoding="utf-8"
    )
    print("written: benchmarks/results/speed_profile.txt", flush=True)
