"""A labelled gold set and a judge, or results it gave before -> how far the judge agrees with people."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from touchstone.app.config import Settings
from touchstone.app.goldset import locate, packaged_goldsets
from touchstone.app.judging import ModelJudge
from touchstone.app.score import Scored, judge_scored, score_entries
from touchstone.core.case import Case
from touchstone.core.codec import result_from_dict
from touchstone.core.errors import InputError
from touchstone.core.result import Result
from touchstone.io.cases import read_cases
from touchstone.io.files import open_mapped, open_rows, shown
from touchstone.runs.trust.pairs import Pair, pair
from touchstone.runs.trust.trust import Trust, trust

FITTED = (
    "the offline judge was fitted on the sets that ship, so its agreement here is better than on replies it has not "
    "seen; docs/judge.md has the cross-validated figures"
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was found, what is to be said of it, and how many cases could not be graded."""

    trust: Trust
    remarks: tuple[str, ...]
    failed: int


def measure_agreement(
    goldset: str,
    *,
    settings: Settings,
    judge: ModelJudge | None,
    results: str | None = None,
    on_scored: Callable[[Scored], None] = lambda scored: None,
) -> Agreement:
    """Grades the labelled set, or takes the results of a file by id, and holds them against the labels."""
    source = locate(goldset)
    given = None if results is None else _read_results(results)
    pairs: list[Pair] = []
    names: set[str] = set()
    failed = 0
    for case, result in _graded(source, settings=settings, judge=judge, given=given, on_scored=on_scored):
        if result.rubric is None or result.failures:
            failed += 1
        if result.rubric is not None:
            names.add(result.rubric.judge)
            pairs.append(pair(case, result.rubric, rubric=settings.rubric))
    if not any(each.people_grades for each in pairs):
        raise InputError(f"{goldset} has no graded case with labels: give people's grades in the field 'labels'")
    name = judge.name if judge else ", ".join(sorted(names))
    remarks = [FITTED] if name == "offline" and goldset in packaged_goldsets() else []
    remarks += [f"{failed} cases could not be graded, or only in part"] if failed else []
    return Agreement(trust(pairs, judge=name, rubric=settings.rubric), tuple(remarks), failed)


def _graded(
    source: str,
    *,
    settings: Settings,
    judge: ModelJudge | None,
    given: dict[str, Result] | None,
    on_scored: Callable[[Scored], None],
) -> Iterator[tuple[Case, Result]]:
    with open_mapped(source, mapped=settings.mapped) as rows:
        entries = read_cases(rows, file=shown(source), columns=settings.columns)
        if given is not None:
            for entry in entries:
                if isinstance(entry.case, Case) and (found := given.get(entry.case.id or "")):
                    yield entry.case, found
            return
        for scored in judge_scored(score_entries(entries, settings=settings), judge=judge):
            on_scored(scored)
            if isinstance(scored.entry.case, Case):
                yield scored.entry.case, scored.result


def _read_results(name: str) -> dict[str, Result]:
    """The results that `touchstone score -o results.jsonl` wrote, by id."""
    found: dict[str, Result] = {}
    with open_rows(name, format="jsonl") as rows:
        for row in rows:
            try:
                result = result_from_dict(json.loads(json.dumps(row.content)))
            except (KeyError, TypeError, ValueError, AttributeError):
                raise InputError(f"{name}:{row.line}: this is no result: give what touchstone score wrote") from None
            if result.id is not None:
                found[result.id] = result
    return found
