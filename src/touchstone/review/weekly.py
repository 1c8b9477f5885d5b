"""A reviewed queue and what the judge said about all replies -> the week's report.

The pass rate speaks for all production replies: the judge's outcomes, corrected by what people found in the sample.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean

from touchstone.core.result import Outcome
from touchstone.review.action import Action, Effect
from touchstone.review.adjudication import Ruling, Settled, differences, settle
from touchstone.review.agreement import Agreement, Graded, between_people, graded, with_judge
from touchstone.review.queue import Item, Progress, Queue, progress
from touchstone.review.review import Review, current
from touchstone.rubric.model import Rubric
from touchstone.stats.corrected import Corrected, corrected_rate

# The specification has the rubric reviewed quarterly at minimum.
RUBRIC_DAYS = 90


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """What the judge said about one production reply; outcome None is a reply it left open."""

    place: int
    outcome: Outcome | None
    unsafe: bool
    grades: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class ReviewedItem:
    """One item of the queue with everything people said about it."""

    item: Item
    reviews: tuple[Review, ...]
    ruling: Ruling | None


@dataclass(frozen=True, slots=True)
class SeenPattern:
    """A pattern among the judge's failures: in how many replies, what share of the failed, and who could cure it."""

    name: str
    owner: str
    count: int
    share: float


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
    people: Agreement
    judge: Agreement
    patterns: tuple[PatternLine, ...]
    reminders: tuple[Reminder, ...]


def weekly_report(
    queue: Queue,
    items: Sequence[ReviewedItem],
    judged: Sequence[JudgedReply],
    *,
    rubric: Rubric,
    made: str,
    counted: Sequence[JudgedReply] | None = None,
    patterns: Sequence[PatternLine] = (),
    reminders: Sequence[Reminder] = (),
) -> WeeklyReport:
    """The report of a queue; `judged` holds every reply the queue's items were drawn from, `counted` the same less
    what people waived.

    The correction and the agreement are about the judge's own word: people waive what they have seen, so that waivers
    would mend the judge's errors among the reviewed replies and not among the others.
    """
    counted = judged if counted is None else counted
    standing = [ReviewedItem(each.item, current(each.reviews), each.ruling) for each in items]
    settled = {
        each.item.result: (each, found)
        for each in standing
        if (found := settle(each.reviews, each.ruling, rubric=rubric)) is not None
    }
    differing = [each for each in standing if each.ruling is None and differences(each.reviews, rubric=rubric)]
    rate = _pass_rate(judged)
    return WeeklyReport(
        queue=queue,
        made=made,
        progress=progress(each.item.state for each in items),
        judged_rate=_pass_rate(counted),
        judged_unsafe=fmean(reply.unsafe for reply in counted) if counted else None,
        judged_open=sum(reply.outcome is None for reply in counted),
        corrected=_corrected(judged, settled, values=[_passed(reply, rate) for reply in judged], of="passed"),
        unsafe=_corrected(judged, settled, values=[float(reply.unsafe) for reply in judged], of="unsafe"),
        unadjudicated=len(differing),
        left_open=sum(found.passed is None for _, found in settled.values()),
        people=between_people([[graded(r, rubric=rubric) for r in each.reviews] for each in standing], rubric=rubric),
        judge=with_judge(_pairs(judged, settled), rubric=rubric),
        patterns=tuple(patterns),
        reminders=tuple(reminders),
    )


def _pass_rate(replies: Sequence[JudgedReply]) -> float | None:
    known = [reply.outcome == "PASS" for reply in replies if reply.outcome is not None]
    return fmean(known) if known else None


def pattern_lines(
    seen: Sequence[SeenPattern], *, known_before: Collection[str] | None, actions: Sequence[ActionLine]
) -> tuple[PatternLine, ...]:
    """Patterns with their actions. `known_before` are those of earlier runs, None when there was no earlier run.

    A pattern that is gone stays on the list while an action on it is open.
    """
    found = {each.name: each for each in seen}
    gone = {
        line.action.pattern: SeenPattern(line.action.pattern, line.action.owner, 0, 0.0)
        for line in actions
        if line.action.state == "open" and line.action.pattern not in found
    }
    return tuple(
        PatternLine(
            each.name,
            each.owner,
            each.count,
            each.share,
            known_before is not None and each.name not in known_before and each.count > 0,
            tuple(line for line in actions if line.action.pattern == each.name),
        )
        for each in (*seen, *gone.values())
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


_Found = Mapping[int, tuple[ReviewedItem, Settled]]


def _corrected(judged: Sequence[JudgedReply], settled: _Found, *, values: Sequence[float], of: str) -> Corrected:
    places = {reply.place: index for index, reply in enumerate(judged)}
    reviewed: dict[int, float] = {}
    inclusion: dict[int, float] = {}
    for place, (each, found) in settled.items():
        said: float | None = getattr(found, of)
        if said is not None and place in places:
            reviewed[places[place]] = said
            inclusion[places[place]] = each.item.inclusion
    return corrected_rate(values, reviewed, inclusion)


def _passed(reply: JudgedReply, rate: float | None) -> float:
    """What the judge left open is taken to pass as often as the rest; the correction makes up for the error."""
    if reply.outcome is not None:
        return float(reply.outcome == "PASS")
    return 0.5 if rate is None else rate


def _pairs(judged: Sequence[JudgedReply], settled: _Found) -> list[tuple[Graded, Graded]]:
    by_place = {reply.place: reply for reply in judged}
    return [
        (Graded("people", found.grades, _outcome(found.passed)), Graded("judge", said.grades, said.outcome))
        for place, (_, found) in sorted(settled.items())
        if (said := by_place.get(place)) is not None
    ]


def _outcome(passed: float | None) -> Outcome | None:
    """People's outcome as one; None while they are divided."""
    if passed in (0.0, 1.0):
        return "PASS" if passed else "FAIL"
    return None
