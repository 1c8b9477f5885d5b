"""Two runs and their Comparison -> ComparisonView with figures as words, and its JSON, Markdown and HTML."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from touchstone.report.figures import (
    Scale,
    change,
    change_interval,
    count,
    figure,
    moment,
    points,
    probability,
    sentence,
    words,
)
from touchstone.report.plain import literal, one_line, prose
from touchstone.report.run.charts import change_strip
from touchstone.report.run.page import render_page
from touchstone.runs.comparison import Comparison, FigureChange, Flip
from touchstone.runs.run import Run

if TYPE_CHECKING:
    from markupsafe import Markup

# A difference is called one only when chance would show it in fewer than one of twenty such comparisons.
SIGNIFICANT = 0.05
MOST_FLIPS = 1_000
_MARKDOWN_FLIPS = 20


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One figure before and after. `standing` is better, worse or no clear change; `change` is what its chart shows."""

    name: str
    basis: str
    before: str
    after: str
    difference: str
    interval: str
    chance: str
    standing: str
    scale: Scale
    change: FigureChange


@dataclass(frozen=True, slots=True)
class FlipLine:
    """A case whose outcome changed."""

    id: str
    category: str
    direction: str
    totals: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunLabel:
    """One of the two runs: its id, labels and gold set."""

    id: str
    title: str
    started: str


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """Everything a comparison shows; every text in it is safe to show."""

    comparison: Comparison
    before: RunLabel
    after: RunLabel
    sentence: str
    standing: str
    pairs: str
    headline: tuple[ChangeLine, ...]
    grades: tuple[ChangeLine, ...]
    categories: tuple[ChangeLine, ...]
    regressed: int
    improved: int
    flips: tuple[FlipLine, ...]
    differing: tuple[str, ...]
    remarks: tuple[str, ...]


def comparison_view(before: Run, after: Run, comparison: Comparison) -> ComparisonView:
    """The view of a comparison of `after` with `before`."""
    pass_rate = _line(comparison.pass_rate, "share")
    total = [_line(comparison.total, "points")] if comparison.total else []
    return ComparisonView(
        comparison=comparison,
        before=_side(before),
        after=_side(after),
        sentence=_sentence(pass_rate),
        standing=pass_rate.standing,
        pairs=_pairs(comparison),
        headline=(pass_rate, _line(comparison.safety, "share", rise_is_worse=True), *total),
        grades=tuple(_line(each, "grade") for each in comparison.grades),
        categories=tuple(_line(each, "share") for each in comparison.categories),
        regressed=sum(flip.direction == "regressed" for flip in comparison.flips),
        improved=sum(flip.direction == "improved" for flip in comparison.flips),
        flips=tuple(map(_flip, _worst_first(comparison.flips))),
        differing=tuple(_differing(before, after)),
        remarks=tuple(map(sentence, comparison.remarks)),
    )


def _side(run: Run) -> RunLabel:
    labels = " ".join(f"{name}={value}" for name, value in run.labels.items())
    return RunLabel(one_line(run.id), one_line(labels or run.receipt.goldset), moment(run.started))


def _line(found: FigureChange, scale: Scale, *, rise_is_worse: bool = False) -> ChangeLine:
    decisive = found.q if found.q is not None else found.p
    return ChangeLine(
        name=words(found.name) if scale != "share" or found.q is None else one_line(found.name),
        basis=count(found.n, "pair"),
        before=figure(found.before, scale),
        after=figure(found.after, scale),
        difference=change(found.difference, scale),
        interval=change_interval(found.interval, scale),
        chance=probability(decisive, letter="p" if found.q is None else "q"),
        standing=_standing(found.difference, decisive, rise_is_worse=rise_is_worse),
        scale=scale,
        change=found,
    )


def _standing(difference: float | None, chance: float | None, *, rise_is_worse: bool) -> str:
    if difference is None or chance is None:
        return "not comparable"
    if chance >= SIGNIFICANT or difference == 0:
        return "no clear change"
    return "worse" if (difference > 0) is rise_is_worse else "better"


def _sentence(line: ChangeLine) -> str:
    """The answer in one sentence."""
    if line.standing == "not comparable":
        return "The pass rates cannot be compared: no case has an outcome in both runs."
    if line.standing == "no clear change":
        return f"No clear change of the pass rate: {line.difference} may be chance ({line.chance})."
    return f"The pass rate is {line.standing}: {line.difference} ({line.chance})."


def _pairs(comparison: Comparison) -> str:
    parts = [f"{count(comparison.pairs, 'case')} in both runs"]
    parts += [f"{comparison.unscored:,} of them without an outcome in both"] if comparison.unscored else []
    parts += [f"{len(comparison.only_before):,} only in the first"] if comparison.only_before else []
    parts += [f"{len(comparison.only_after):,} only in the second"] if comparison.only_after else []
    return sentence(", ".join(parts))


def _worst_first(flips: Sequence[Flip]) -> list[Flip]:
    return sorted(flips, key=lambda flip: (flip.direction != "regressed", flip.id))


def _flip(flip: Flip) -> FlipLine:
    return FlipLine(
        id=one_line(flip.id),
        category=one_line(flip.category or "–"),
        direction=flip.direction,
        totals=f"{points(flip.total_before)} → {points(flip.total_after)}",
        changes=tuple(map(one_line, flip.changes)),
    )


def _differing(before: Run, after: Run) -> Iterable[str]:
    """What of the receipts is not the same: a difference of results may come from any of it."""
    names = {"data": "gold set", "rubric_hash": "rubric", "plan": "plan", "policy": "policy", "judge": "judge",
             "code": "Touchstone's version", "parser": "parser", "verifier": "verifier",
             "repeat": "number of drafts"}  # fmt: skip
    for field, name in names.items():
        old, new = getattr(before.receipt, field), getattr(after.receipt, field)
        if old != new:
            yield f"The {name} is not the same ({one_line(str(old))}, then {one_line(str(new))})."


def comparison_to_dict(view: ComparisonView) -> dict[str, Any]:
    """Both runs' ids, every change with interval and p-value, and the flips."""
    return {
        "before": view.before.id,
        "after": view.after.id,
        "standing": view.standing,
        **asdict(view.comparison),
        "differing": list(view.differing),
    }


def render_comparison_markdown(view: ComparisonView) -> str:
    """The answer, the changes as tables, and the cases that changed sides."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: ComparisonView) -> Iterator[str]:
    yield f"## Touchstone: {literal(view.before.title)} → {literal(view.after.title)}"
    yield f"\n**{prose(view.sentence)}** {prose(view.pairs)}\n"
    yield from _table("measure", view.headline)
    for title, head, lines in (("Grades", "criterion", view.grades), ("Categories", "category", view.categories)):
        if lines:
            yield f"\n### {title}\n"
            yield from _table(head, lines)
    remarks = (*view.differing, *view.remarks)
    if remarks:
        yield "\n### Remarks\n"
        yield from (f"- {prose(remark)}" for remark in remarks)
    yield f"\n### Flips: {view.regressed:,} regressed, {view.improved:,} improved\n"
    for flip in view.flips[:_MARKDOWN_FLIPS]:
        what = f": {prose('; '.join(flip.changes))}" if flip.changes else ""
        yield f"- {flip.direction} {literal(flip.id)} ({prose(flip.totals)}){what}"
    if (more := len(view.flips) - _MARKDOWN_FLIPS) > 0:
        yield f"- {more:,} more"
    yield f"\nRuns {literal(view.before.id)} and {literal(view.after.id)}."


def _table(head: str, lines: Iterable[ChangeLine]) -> Iterator[str]:
    yield f"| {head} | before | after | change | 95 % interval | chance | |"
    yield "|---|---|---|---|---|---|---|"
    for line in lines:
        cells = (line.before, line.after, line.difference, line.interval or "–", line.chance or "–", line.standing)
        yield f"| {literal(line.name)} | {' | '.join(map(prose, cells))} |"


def render_comparison_html(view: ComparisonView) -> str:
    """The whole page."""
    flips = view.flips[:MOST_FLIPS]
    categories = sorted({flip.category for flip in flips})
    choices = {
        "direction": {"regressed": 0, "improved": 1},
        "category": {name: at for at, name in enumerate(categories)},
    }
    return render_page("comparison.html", view=view, groups=comparison_groups(view), flips=flips, choices=choices)


def comparison_groups(view: ComparisonView) -> list[dict[str, Any]]:
    """The changes in groups, each with a drawing for every line."""
    return [
        {"id": id, "title": title, "head": head, "lines": lines, "charts": _charts(lines, name=id)}
        for id, title, head, lines in (
            ("headline", "What changed", "measure", view.headline),
            ("grades", "Grades", "criterion", view.grades),
            ("categories", "Pass rate by category", "category", view.categories),
        )
        if lines
    ]


def _charts(lines: Sequence[ChangeLine], *, name: str) -> list["Markup"]:
    """One strip for each line, those of one scale drawn to one measure."""
    from markupsafe import Markup

    reach: dict[str, float] = {}
    for line in lines:
        found = line.change.interval
        ends = (abs(found.low), abs(found.high)) if found else (0.0,)
        reach[line.scale] = max(reach.get(line.scale, 0.0), abs(line.change.difference or 0.0), *ends)
    return [
        Markup(
            change_strip(
                line.change.difference,
                line.change.interval,
                reach=reach[line.scale] * 1.05 or 1.0,
                name=f"{name}{at}",
                label=line.name,
            )
        )
        for at, line in enumerate(lines)
    ]
