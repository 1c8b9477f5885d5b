"""Gold-set replies -> time per reply, beside the parser alone and the straightforward version, all in one run.

Every round times all contenders on one reply before the next, in another order each time; a reply's time is its median
over the rounds. Only ratios within a run mean something elsewhere.
"""

import cProfile
import io
import pstats
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

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
    contenders: tuple[Contender, ...] = (
        Contender("touchstone_first", score_core, is_first=True),
        Contender("touchstone_repeated", score_core),
        Contender("graded_first", touchstone.score, is_first=True),
        Contender("parser_single", lambda case: parser(case.response)),
        Contender("straightforward", straightforward.score),
    )
    replies = [case.response for case in cases]
    times: dict[str, list[list[float]]] = {contender.name: [] for contender in contenders} | {"parser_pipe": []}
    for round_ in range(ROUNDS):
        found = _in_turn(contenders, cases, round_)
        for name, spent in found.items():
            times[name].append(spent)
        together = whole(lambda: [None for _ in parser.pipe(replies)]) / len(replies)
        times["parser_pipe"].append([together] * len(replies))
        print(f"round {round_ + 1} of {ROUNDS}", flush=True)
    return times


class Contender(NamedTuple):
    """What is timed; before a first pass every cache is emptied."""

    name: str
    work: Callable[[Case], object]
    is_first: bool = False


def _in_turn(contenders: Sequence[Contender], cases: Sequence[Case], round_: int) -> dict[str, list[float]]:
    """All contenders on one reply, then on the next: a slow minute of the machine meets all of them alike.

    Another one begins with each reply and round; `repeated` stays behind `first`, whose texts it finds again.
    """
    spent: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    turns = [contenders[:2], *([contender] for contender in contenders[2:])]
    for number, case in enumerate(cases):
        at = (number + round_) % len(turns)
        for contender in chain.from_iterable(turns[at:] + turns[:at]):
            if contender.is_first:
                forget()
            spent[contender.name] += each(contender.work, [case])
    return spent


def compare(times: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Mean and percentiles of each contender, and the ratios the targets are about."""
    milliseconds = {name: _summary(name, rounds) for name, rounds in times.items()}
    mean = {name: row["mean"] for name, row in milliseconds.items()}
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


def _summary(name: str, rounds: list[list[float]]) -> dict[str, float]:
    ordered = sorted(typical(rounds))
    mean = {"mean": sum(ordered) / len(ordered)}
    if name == "parser_pipe":
        return mean  # timed as a whole: single replies have no time of their own
    return mean | {name: quantile(ordered, share) for name, share in {"p50": 0.5, "p95": 0.95, "p99": 0.99}.items()}


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
