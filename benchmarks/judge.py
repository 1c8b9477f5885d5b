"""The offline judge beside people: what it decides on replies it was not fitted on, and the laws it has to keep.

Figures of domains and sets left out are made while the judge is fitted (`make fit`, data/pass.json) and only read here.
The laws are measured on the judge as it ships, over every labelled reply.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scripts.fit_rules import is_sound
from scripts.labelled import Labelled, labelled, unread
from scripts.wrong_figures import Wrong, wrong_figures

import touchstone
from benchmarks import record
from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.result import Grading, Result
from touchstone.judges.model import PASS_FILE, Mode
from touchstone.stats.interval import wilson

MODES: tuple[Mode, ...] = ("expected", "open")
LEFT_OUT = ("domains_left_out", "sets_left_out")
ALL = "all"
# Sets in which violations were not written to be found.
NATURAL = ("everyday", "matched")
FRAME = ("Hi Sarah, thank you for your message.", "Best wishes,\nTom")


def run() -> None:
    """Write results/judge.json."""
    figures = {"decisions": decisions(), "unread": unread_replies()}
    print(json.dumps(figures, indent=1), flush=True)
    figures["laws"] = {mode: laws(labelled(mode)) for mode in MODES}
    print(json.dumps(figures["laws"], indent=1), flush=True)
    record.write("judge", figures)


def decisions() -> dict[str, Any]:
    """What is decided on each set, and how often that is right; `violations` are of the natural sets, all kinds."""
    fitted = json.loads(resource.text(PASS_FILE))["decisions"]
    found: dict[str, Any] = {"send_at": fitted["send_at"], "block_at": fitted["block_at"]}
    for mode in MODES:
        found[mode] = {}
        for left_out in LEFT_OUT:
            sets = fitted[mode][left_out]
            rows = {name: _decided(row) for name, row in sets.items()}
            natural = _together([sets[name] for name in NATURAL])
            violations = _rates(natural) if "violations" in natural else None
            found[mode][left_out] = {**rows, ALL: _decided(_together(list(sets.values()))), "violations": violations}
    return found


def _together(rows: list[Mapping[str, Any]]) -> dict[str, int]:
    """Counts of several sets as of one."""
    names = [name for name in rows[0] if name != "pass_auc"]
    return {name: sum(row[name] for row in rows) for name in names}


def _decided(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "replies": row["replies"],
        "pass_auc": row.get("pass_auc"),
        "outcome_right": share(row["outcomes_right"], row["outcomes"]) if "outcomes" in row else None,
        "sent_right": share(row["sent_right"], row["sent"]),
        "blocked_right": share(row["blocked_right"], row["blocked"]),
        "reviewed": row["replies"] - row["sent"] - row["blocked"],
        "abstained": row["abstained"],
    }


def _rates(row: Mapping[str, int]) -> dict[str, Any]:
    right = row["violations_right"]
    return {"precision": share(right, row["violations"]), "recall": share(right, row["violations_marked"])}


def unread_replies() -> dict[str, Any]:
    """The judge as it ships on ordinary replies that no fit has seen: counts alone."""
    given = unread()
    results = [touchstone.score(case) for case, _ in given]
    sent = [passes for (_, passes), result in zip(given, results, strict=True) if result.decision == "send"]
    return {
        "replies": len(given),
        "people_pass": sum(passes for _, passes in given),
        "passed": sum(_grading(result).outcome == "PASS" for result in results),
        "called_unsafe": sum(bool(_grading(result).violations) for result in results),
        "blocked": sum(result.decision == "block" for result in results),
        "sent_right": share(sum(sent), len(sent)),
    }


def laws(cases: tuple[Labelled, ...]) -> dict[str, Any]:
    """How often each law is broken or kept."""
    before = [touchstone.score(case.case) for case in cases]
    return {
        "courtesy": _courtesy(cases, before),
        "wrong_figures": _wrong_figures(cases, before),
        "pasted": _pasted(cases),
    }


def _courtesy(cases: tuple[Labelled, ...], before: list[Result]) -> dict[str, Any]:
    """A courteous frame lowers no grade and keeps no reply from being sent."""
    found: Counter[str] = Counter()
    for case, result in zip(cases, before, strict=True):
        after = touchstone.score(framed(case.case))
        found["lowered"] += _falls(result, after)
        if case.body is case.reading:
            found["plain"] += 1
            found["plain_lowered"] += _falls(result, after)
        found["sent"] += result.decision == "send"
        found["sent_no_more"] += result.decision == "send" != after.decision
    return {
        "grade_lowered": share(found["lowered"], len(cases)),
        "grade_lowered_where_it_has_none": share(found["plain_lowered"], found["plain"]),
        "sent_no_more": share(found["sent_no_more"], found["sent"]),
    }


def _wrong_figures(cases: tuple[Labelled, ...], before: list[Result]) -> dict[str, Any]:
    """One figure made wrong in a sound reply is noticed, never raises anything and is never sent."""
    found: Counter[str] = Counter()
    for case, result in zip(cases, before, strict=True):
        for wrong in wrong_figures(case.case) if is_sound(case) else ():
            after = touchstone.score(wrong.case)
            found["made"] += 1
            found["violations"] += _is_found(wrong, after, "violations")
            found["noticed"] += _is_found(wrong, after, "violations") or _is_found(wrong, after, "suspicions")
            found["sent"] += after.decision == "send"
            found["raised"] += _rises(result, after)
    return {name: share(found[name], found["made"]) for name in ("violations", "noticed", "sent", "raised")}


def _pasted(cases: tuple[Labelled, ...]) -> dict[str, Any]:
    """The first passage in place of a reply."""
    results = [touchstone.score(case) for case in pasted(cases)]
    passed = sum(_grading(result).outcome == "PASS" for result in results)
    sent = sum(result.decision == "send" for result in results)
    return {"passed": share(passed, len(results)), "sent": share(sent, len(results))}


def framed(case: Case) -> Case:
    """The case with a greeting before its reply, and a closing behind it."""
    opening, closing = FRAME
    return replace(case, response=f"{opening}\n\n{case.response}\n\n{closing}")


def pasted(cases: tuple[Labelled, ...]) -> Iterator[Case]:
    """The cases of each message and its passages once, with the first passage as the reply."""
    seen = set()
    for each in cases:
        if each.case.context and (key := (each.case.question, each.case.context)) not in seen:
            seen.add(key)
            yield replace(each.case, response=each.case.context[0].text)


def share(n: int, of: int) -> dict[str, Any]:
    """A share with its counts and 95 % interval (Wilson); of nothing there is none."""
    if not of:
        return {"n": n, "of": of, "share": None, "low": None, "high": None}
    interval = wilson(n, of)
    return {"n": n, "of": of, "share": n / of, "low": interval.low, "high": interval.high}


def _grading(result: Result) -> Grading:
    assert result.rubric is not None
    return result.rubric


def _is_found(wrong: Wrong, result: Result, where: str) -> bool:
    return any(each.start < wrong.end and wrong.start < each.end for each in getattr(_grading(result), where))


def _falls(before: Result, after: Result) -> bool:
    """Whether a grade is lower than before, or is not given any more."""
    grades = {grade.criterion: grade.grade for grade in _grading(after).grades}
    given = [grade for grade in _grading(before).grades if grade.grade is not None]
    return any((now := grades[grade.criterion]) is None or now < grade.grade for grade in given)  # type: ignore[operator]


def _rises(before: Result, after: Result) -> bool:
    """Whether a grade or the pass probability is higher than before."""
    grades = {grade.criterion: grade.grade for grade in _grading(before).grades}
    pairs = [(grades[grade.criterion], grade.grade) for grade in _grading(after).grades]
    pairs.append((_grading(before).pass_probability, _grading(after).pass_probability))  # type: ignore[arg-type]
    return any(was is not None and now is not None and now > was for was, now in pairs)
