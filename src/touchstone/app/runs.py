"""Runs in the store -> what is shown and written of them: summaries, reports, comparisons, the gate."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.app.agreement import judge_standing
from touchstone.app.config import Settings
from touchstone.app.rubrics import rubric_of
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError
from touchstone.core.result import Result
from touchstone.io.locations import write_text
from touchstone.io.results import open_results
from touchstone.report.comparison import ComparisonReport, comparison_to_dict
from touchstone.report.html import render_comparison_html, render_html
from touchstone.report.junit import render_junit
from touchstone.report.markdown import render_comparison_markdown, render_markdown
from touchstone.report.run import RunLine, RunReport, run_line, run_to_dict
from touchstone.rubric.model import Rubric
from touchstone.runs.comparison import Comparison, compare
from touchstone.runs.excerpt import choose_examples
from touchstone.runs.gate import Check, GateRuling, hold_gate
from touchstone.runs.patterns import find_patterns
from touchstone.runs.record import Record
from touchstone.runs.run import Run
from touchstone.runs.summary import Summary, summarise
from touchstone.store.runs import Store, open_store


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


RENDERERS: Mapping[str, Callable[[RunReport], str]] = {
    "html": render_html,
    "md": render_markdown,
    "junit": render_junit,
    "json": lambda view: _json(run_to_dict(view)),
}
COMPARISON_RENDERERS: Mapping[str, Callable[[ComparisonReport], str]] = {
    "html": render_comparison_html,
    "md": render_comparison_markdown,
    "json": lambda view: _json(comparison_to_dict(view)),
}
FILES = {"report.html": "html", "summary.md": "md", "junit.xml": "junit", "summary.json": "json"}
RESULTS = "results.jsonl"


@dataclass(frozen=True, slots=True)
class Opened:
    """A run with its rubric and records."""

    run: Run
    rubric: Rubric
    records: Sequence[Record]


def open_run(name: str, *, store: Store) -> Opened:
    """The run of this name: an id, the path of a run's directory or of a file in it, `latest` or `previous`."""
    run = store.find_run(_id_of(name))
    return Opened(run, rubric_of(store, run.id), store.replies.records(run.id))


def view_run(opened: Opened, *, store: Store) -> RunReport:
    """Everything a report of the run shows; the gate as well if the run was held by it."""
    summary = summarise(opened.records, rubric=opened.rubric)
    best, worst = choose_examples(opened.records)
    return RunReport(
        opened.run,
        summary,
        find_patterns(opened.records),
        records=opened.records,
        gate=gate_of(opened, summary, store=store),
        judge=judge_standing(opened.run, rubric=opened.rubric, store=store),
        best=_fetch(best, opened.run.id, store=store),
        worst=_fetch(worst, opened.run.id, store=store),
    )


def gate_of(opened: Opened, summary: Summary, *, store: Store) -> GateRuling | None:
    """The run as it counts now, held to its terms; a baseline that was deleted cannot show that nothing regressed."""
    if (terms := opened.run.terms) is None:
        return None
    if terms.baseline is None:
        return hold_gate(summary, least_scored=terms.least_scored)
    if store.get_run(terms.baseline) is None:
        reason = f"the run {terms.baseline} is no longer in the store: nothing shows that there is no regression"
        gate = hold_gate(summary, least_scored=terms.least_scored)
        return GateRuling((*gate.checks, Check("baseline", met=False, reason=reason)))
    comparison = compare_runs(open_run(terms.baseline, store=store), opened)
    return hold_gate(summary, least_scored=terms.least_scored, comparison=comparison)


def find_baseline(name: str, *, settings: Settings, store: Store) -> str:
    """The id of the run of this name; ConfigError when a run with these settings could not be compared with it."""
    run = store.find_run(_id_of(name))
    if run.receipt.rubric != settings.rubric.name:
        raise _other_rubric(run.id, run.receipt.rubric, "this run", settings.rubric.name)
    return run.id


def compare_runs(before: Opened, after: Opened) -> Comparison:
    """What changed from one run to the other; ConfigError when their totals mean different things."""
    if before.rubric.name != after.rubric.name:
        raise _other_rubric(before.run.id, before.rubric.name, after.run.id, after.rubric.name)
    return compare(before.records, after.records, rubric=after.rubric)


def _other_rubric(before: str, its: str, after: str, other: str) -> ConfigError:
    return ConfigError(f"{before} is graded by the rubric '{its}' and {after} by '{other}': compare runs of one rubric")


def view_comparison(before: Opened, after: Opened) -> ComparisonReport:
    """Everything that is shown of two runs side by side."""
    return ComparisonReport(before.run, after.run, compare_runs(before, after))


def write_run(view: RunReport, directory: Path, *, lines: Iterable[str]) -> None:
    """The files of a run: report.html, summary.json, results.jsonl, junit.xml, summary.md."""
    write_results(lines, str(directory / RESULTS))
    for name, format in FILES.items():
        write_text(directory / name, RENDERERS[format](view))


def write_results(lines: Iterable[str], target: str) -> None:
    """Results as the store keeps them, one JSON line for each, for its owner alone; `-` is stdout."""
    with open_results(target, is_private=True) as write:
        for line in lines:
            write(line)


def list_lines(store: Store, *, labels: Mapping[str, str], limit: int) -> tuple[RunLine, ...]:
    """The newest runs, each as one line."""
    runs = store.list_runs(limit=limit, labels=labels)
    return tuple(run_line(run, store.replies.count_outcomes(run.id)) for run in runs)


def open_store_of(settings: Settings, *, creates: bool = False) -> Store:
    """The store the settings name; without `creates`, StoreError when there is none yet."""
    return open_store(settings.store, creates=creates)


def find_id(name: str, *, store: Store) -> str:
    """The id of the run that `name` means."""
    return store.find_run(_id_of(name)).id


def _fetch(replies: Sequence[tuple[str, int]], run: str, *, store: Store) -> list[tuple[Case, Result]]:
    found = [store.replies.result(run, id, draft=draft) for id, draft in replies]
    return [(each.case, each.result) for each in found if each.case is not None]


def _id_of(name: str) -> str:
    """The id in a path such as touchstone-runs/<id>/report.html; any other name as it is."""
    path = Path(name)
    if path.is_dir():
        return path.resolve().name
    return path.resolve().parent.name if path.is_file() and path.name in (*FILES, RESULTS) else name
