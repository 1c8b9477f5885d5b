"""A reviewed queue and what the judge said about all replies -> the week's report.

The pass rate speaks for all production replies: the judge's outcomes, corrected by what people found in the sample.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from statistics import fmean
from typing import Literal

from touchstone.core.result import Outcome
from touchstone.review.agreement import Agreement, Graded, between_people, graded, with_judge
from touchstone.review.found import (
    ReviewedItem,
    ReviewedReply,
    ReviewerFinding,
    SettledItems,
    people_found,
    reviewed_replies,
    settle_items,
)
from touchstone.review.queue import Progress, Queue, progress
from touchstone.review.review import current, differences
from touchstone.rubric.model import Rubric
from touchstone.runs.counts import count
from touchstone.runs.patterns import Pattern
from touchstone.runs.record import Record
from touchstone.stats.corrected import Corrected, corrected_rate
from touchstone.stats.interval import Interval, difference_of_independent, wilson

# The specification has the rubric reviewed quarterly at minimum.
RUBRIC_DAYS = 90
ActionState = Literal["open", "done"]
ACTION_STATES: tuple[ActionState, ...] = ("open", "done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do about a pattern. A change is a new revision of the same `id`; the last one counts.

    `run` is the run in which the pattern was seen.
    """

    id: str
    revision: int
    pattern: str
    owner: str
    text: str
    state: ActionState
    by: str
    made: str
    run: str


@dataclass(frozen=True, slots=True)
class Share:
    """How often a pattern was seen among how many replies of a run."""

    run: str
    count: int
    replies: int

    @property
    def rate(self) -> float | None:
        return self.count / self.replies if self.replies else None


@dataclass(frozen=True, slots=True)
class Effect:
    """A pattern's share in the run an action was taken on and in the next one, and the change with its interval."""

    before: Share
    after: Share
    change: float
    interval: Interval


def effect_of(before: Share, after: Share) -> Effect | None:
    """The change of the pattern's share, by Newcombe's interval of two independent shares; None without replies."""
    old, new = before.rate, after.rate
    if old is None or new is None:
        return None
    first, second = wilson(before.count, before.replies), wilson(after.count, after.replies)
    interval = difference_of_independent(old, first, new, second)
    return Effect(before, after, new - old, replace(interval, method="Newcombe"))


@dataclass(frozen=True, slots=True)
class ActionLine:
    """An action with what became of its pattern since; None while there is no later run."""

    action: Action
    effect: Effect | None


@dataclass(frozen=True, slots=True)
class PatternLine:
    """A pattern with what is done about it; `is_new` when no earlier production run had it."""

    name: str
    owner: str
    count: int
    share: float
    is_new: bool
    actions: tuple[ActionLine, ...]


@dataclass(frozen=True, slots=True)
class Reminder:
    """Why the rubric is due for review: `age`, `version` or `pattern`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class WeekRates:
    """Of all replies of a week the share that pass and the share with a violation, as people corrected them."""

    passed: Corrected
    unsafe: Corrected


@dataclass(frozen=True, slots=True)
class WeeklyReport:
    """What a week's review came to.

    `judged_rate` is what the judge says, less waivers, `corrected` what holds for all replies, `unsafe` the same of
    replies with a violation. `unadjudicated` items count by the mean of what people said; `left_open` were reviewed
    without an outcome and count for nothing.
    """

    queue: Queue
    made: str
    progress: Progress
    judged_rate: float | None
    judged_unsafe: float | None
    judged_open: int
    corrected: Corrected
    unsafe: Corrected
    unadjudicated: int
    left_open: int
    found: tuple[ReviewerFinding, ...]
    reviewed: tuple[ReviewedReply, ...]
    people: Agreement
    judge: Agreement
    patterns: tuple[PatternLine, ...]
    reminders: tuple[Reminder, ...]


def weekly_report(
    queue: Queue,
    items: Sequence[ReviewedItem],
    judged: Mapping[int, Record],
    *,
    rubric: Rubric,
    made: str,
    counted: Mapping[int, Record] | None = None,
    patterns: Sequence[PatternLine] = (),
    reminders: Sequence[Reminder] = (),
) -> WeeklyReport:
    """The report of a queue; `judged` holds by place every reply the queue's items were drawn from, `counted` the same
    less what people waived.

    The correction and the agreement are about the judge's own word: people waive what they have seen, so that waivers
    would mend the judge's errors among the reviewed replies and not among the others.
    """
    shown = count((judged if counted is None else counted).values()).whole()
    standing = [ReviewedItem(each.item, current(each.reviews), each.ruling) for each in items]
    settled = settle_items(items, rubric=rubric)
    differing = [each for each in standing if each.ruling is None and differences(each.reviews, rubric=rubric)]
    rates = _rates(settled, judged)
    return WeeklyReport(
        queue=queue,
        made=made,
        progress=progress(each.item.state for each in items),
        judged_rate=shown["passed"] / shown["scored"] if shown["scored"] else None,
        judged_unsafe=shown["unsafe"] / shown["replies"] if shown["replies"] else None,
        judged_open=shown["replies"] - shown["scored"],
        corrected=rates.passed,
        unsafe=rates.unsafe,
        unadjudicated=len(differing),
        left_open=sum(found.passed is None for _, found in settled.values()),
        found=people_found(settled, judged, rubric=rubric),
        reviewed=reviewed_replies(settled),
        people=between_people([[graded(r, rubric=rubric) for r in each.reviews] for each in standing], rubric=rubric),
        judge=with_judge(_pairs(judged, settled), rubric=rubric),
        patterns=tuple(patterns),
        reminders=tuple(reminders),
    )


def week_rates(items: Sequence[ReviewedItem], judged: Mapping[int, Record], *, rubric: Rubric) -> WeekRates:
    """The two rates of a week alone; `judged` as in `weekly_report`."""
    return _rates(settle_items(items, rubric=rubric), judged)


def pattern_lines(
    seen: Sequence[Pattern], *, known_before: Collection[str] | None, actions: Sequence[ActionLine]
) -> tuple[PatternLine, ...]:
    """Patterns with their actions. `known_before` are those of earlier runs, None when there was no earlier run.

    A pattern that is gone stays on the list while an action on it is open.
    """

    def line(name: str, owner: str, count: int, share: float) -> PatternLine:
        is_new = known_before is not None and name not in known_before and count > 0
        about = tuple(each for each in actions if each.action.pattern == name)
        return PatternLine(name, owner, count, share, is_new, about)

    named = {each.name for each in seen}
    still = [each.action for each in actions if each.action.state == "open" and each.action.pattern not in named]
    gone = {action.pattern: action.owner for action in still}
    return (
        *(line(each.name, each.owner, each.count, each.share) for each in seen),
        *(line(name, owner, 0, 0.0) for name, owner in gone.items()),
    )


def remind(
    rubric: Rubric,
    *,
    today: date,
    versions: Sequence[str] = (),
    versions_before: Collection[str] | None = None,
    new_patterns: Sequence[str] = (),
) -> tuple[Reminder, ...]:
    """When the rubric is due: it is old, the bot has a new version, or a pattern was not seen before."""
    reminders = []
    age = (today - rubric.reviewed).days
    name = f"the rubric {rubric.name} {rubric.version}"
    if age > RUBRIC_DAYS:
        due = f"review it every {RUBRIC_DAYS} days"
        reminders.append(Reminder("age", f"{name} was last reviewed {age} days ago: {due}"))
    fresh = [version for version in versions if versions_before is not None and version not in versions_before]
    if fresh:
        reminders.append(Reminder("version", f"the bot has a new version ({', '.join(fresh)}): check that {name} fits"))
    if new_patterns:
        shown = ", ".join(new_patterns)
        reminders.append(Reminder("pattern", f"not seen before: {shown}; check that {name} speaks of it"))
    return tuple(reminders)


def _rates(settled: SettledItems, judged: Mapping[int, Record]) -> WeekRates:
    known = [record.outcome == "PASS" for record in judged.values() if record.outcome is not None]
    # What the judge left open is taken to pass as often as the rest; the correction makes up for the error.
    usual = fmean(known) if known else 0.5
    passed = [usual if each.outcome is None else float(each.outcome == "PASS") for each in judged.values()]
    unsafe = [float(bool(each.violations)) for each in judged.values()]
    return WeekRates(
        _corrected(judged, settled, values=passed, of="passed"), _corrected(judged, settled, values=unsafe, of="unsafe")
    )


def _corrected(judged: Mapping[int, Record], settled: SettledItems, *, values: Sequence[float], of: str) -> Corrected:
    index = {place: at for at, place in enumerate(judged)}
    said = {place: getattr(found, of) for place, (_, found) in settled.items() if place in index}
    reviewed = {index[place]: value for place, value in said.items() if value is not None}
    inclusion = {index[place]: each.item.inclusion for place, (each, _) in settled.items() if place in index}
    return corrected_rate(values, reviewed, inclusion)


def _pairs(judged: Mapping[int, Record], settled: SettledItems) -> list[tuple[Graded, Graded]]:
    return [
        (Graded("people", found.grades, _outcome(found.passed)), Graded("judge", said.grades, said.outcome))
        for place, (_, found) in sorted(settled.items())
        if (said := judged.get(place)) is not None
    ]


def _outcome(passed: float | None) -> Outcome | None:
    """People's outcome as one; None while they are divided."""
    return "PASS" if passed == 1.0 else "FAIL" if passed == 0.0 else None
