"""RunReport: a run with its figures, and the sentences about it that every form of the report shares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from touchstone.core.case import Case
from touchstone.core.result import Result
from touchstone.report.explain import NOT_SCORED, waived_line
from touchstone.report.figures import (
    count,
    figure,
    interval,
    points,
    probability,
    scale_of,
    sentence,
    words,
)
from touchstone.report.judge import standing_to_dict
from touchstone.report.plain import one_line
from touchstone.runs.excerpt import severity
from touchstone.runs.gate import NO_TARGETS, Check, GateRuling, hold_gate
from touchstone.runs.patterns import Concentration, Pattern
from touchstone.runs.record import Record
from touchstone.runs.run import Run
from touchstone.runs.summary import NO_CATEGORY, CriterionFigures, Summary
from touchstone.runs.targets import LEAST_SCORED, Headline
from touchstone.stats.interval import Interval
from touchstone.trust.measurement import JudgeStanding

TargetStanding = Literal["met", "missed", "undecided", "no target"]
CheckStanding = Literal["met", "not met", "undecided"]
Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True, slots=True)
class ReleaseAnswer:
    """What a report says first: may this version be released, in a word and a sentence, and what that rests on."""

    label: str
    tone: Tone
    sentence: str
    basis: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything a report is made from. Its properties are for people; `run_to_dict` is for programs."""

    run: Run
    summary: Summary
    patterns: Sequence[Pattern]
    judge: JudgeStanding
    records: Sequence[Record] = ()
    gate: GateRuling | None = None
    best: Sequence[tuple[Case, Result]] = ()
    worst: Sequence[tuple[Case, Result]] = ()

    @property
    def headline(self) -> str:
        """How many targets are met, and which are not."""
        held = {words(each.name): target_standing(each) for each in self.summary.measures if each.target is not None}
        if not held:
            return "No targets are set."
        unmet = [
            f"{standing}: {', '.join(name for name, its in held.items() if its == standing)}"
            for standing in ("missed", "undecided")
            if standing in held.values()
        ]
        if not unmet:
            return f"All {len(held)} targets are met." if len(held) > 1 else "The target is met."
        met = sum(standing == "met" for standing in held.values())
        return f"{met} of {count(len(held), 'target')} met; {'; '.join(unmet)}."

    @property
    def gate_sentence(self) -> str:
        """What the gate's ruling means."""
        if (gate := self.gate) is None:
            return ""
        standings = [check_standing(check) for check in gate.checks]
        if gate.is_open:
            return f"Every condition is met ({len(standings)} of {len(standings)})."
        if not standings:
            return "No condition could be checked, so nothing shows that this version is good enough."
        if gate.standing == "undecided":
            return "Too little was scored to say whether this version is good enough. What would decide it:"
        left = standings.count("undecided")
        unmet = f"{standings.count('not met')} of {count(len(standings), 'condition')} not met"
        return f"{unmet}, {left} undecided." if left else f"{unmet}."

    @property
    def answer(self) -> ReleaseAnswer:
        """Whether this version can be released: by the gate, or by the rubric's targets where none was asked for."""
        is_release = self.run.kind == "goldset"
        gate, checks = self.gate, (self.gate or hold_gate(self.summary, least_scored=LEAST_SCORED)).checks
        basis = f"release gate: {gate.standing}" if gate else "by the rubric's targets"
        unmet = [check for check in checks if not check.met]
        missed = [words(check.name) for check in unmet if not check.undecided and check.name != NO_TARGETS]
        if gate is None and self.run.finished is None:
            said = "It is not finished, so nothing is decided yet."
            return ReleaseAnswer("Undecided", "open", said, basis, checks)
        if missed:
            left = [words(check.name) for check in unmet if check.undecided]
            said = f"{len(checks) - len(unmet)} of {count(len(checks), 'condition')} met; not met: {', '.join(missed)}"
            said += f"; undecided: {', '.join(left)}" if left else ""
            return ReleaseAnswer("Not ready" if is_release else "Off target", "bad", f"{said}.", basis, checks)
        if unmet or not checks:
            why = unmet[0].reason if unmet else "no condition could be checked"
            return ReleaseAnswer("Undecided", "open", sentence(f"nothing can be said yet: {why}"), basis, checks)
        said = f"All {len(checks)} conditions are met." if len(checks) > 1 else "The one condition is met."
        return ReleaseAnswer("Ready" if is_release else "On target", "good", said, basis, checks)

    @property
    def coverage(self) -> str:
        """How many replies were scored, and what became of the others."""
        coverage = self.summary.coverage
        parts = [f"{coverage.scored:,} of {count(coverage.replies, 'reply', 'replies')} scored"]
        parts += [f"{self._of_all(coverage.abstained)} left open by the judge"] if coverage.abstained else []
        parts += [f"{self._of_all(coverage.failed)} could not be scored"] if coverage.failed else []
        return ", ".join(parts)

    @property
    def decisions(self) -> list[tuple[str, str]]:
        """How many replies are sent, reviewed and blocked, and which share that is."""
        return [(name, self._of_all(self.summary.decisions.get(name, 0))) for name in ("send", "review", "block")]

    @property
    def bounds(self) -> list[str]:
        """What the replies without an outcome or grade leave open, a sentence for each measure."""
        return [
            sentence(f"{words(each.name)}: {ends} if all that are left open fail or all pass")
            for each in self.summary.measures
            if (ends := bounds(each, self.summary))
        ]

    @property
    def remarks(self) -> list[str]:
        """What weakens the figures: of each measure, then of all."""
        named = (f"{words(each.name)}: {each.remark}" for each in self.summary.measures if each.remark)
        return [*map(sentence, named), *map(sentence, self.summary.remarks)]

    @property
    def spread(self) -> str:
        """How much the drafts of one case differ."""
        if (spread := self.summary.spread) is None:
            return ""
        return (
            f"{count(spread.drafts, 'draft')} of {count(spread.cases, 'case')}: two drafts of a case have the same "
            f"outcome with probability {figure(spread.agreement, 'share')}; the total deviates by "
            f"{points(spread.mean_deviation)} points on average; {count(len(spread.unsteady), 'case')} sometimes pass "
            "and sometimes fail."
        )

    @property
    def waived(self) -> list[tuple[Record, str]]:
        """Each waived violation of the run with its reply."""
        return [(record, line) for record in self.records for line in waived_lines(record)]

    @property
    def failing(self) -> list[Record]:
        """The failed replies of which it is known why."""
        return [record for record in self.records if record.outcome == "FAIL" and record.why]

    @property
    def criteria(self) -> list[tuple[str, CriterionFigures]]:
        """The grades on each criterion."""
        return [(words(each.name), each) for each in self.summary.criteria]

    @property
    def grades(self) -> list[tuple[str, list[tuple[str, CriterionFigures]]]]:
        """For each criterion its grades in every category."""
        return [
            (words(each.name), [(category.name, category.criteria[at]) for category in self.summary.categories])
            for at, each in enumerate(self.summary.criteria)
        ]

    def _of_all(self, number: int) -> str:
        replies = self.summary.coverage.replies
        return f"{number:,} ({figure(number / replies, 'share')})" if replies else "0"


def run_to_dict(report: RunReport) -> dict[str, Any]:
    """The run, its gate and judge, summary, patterns and the examples' ids as one JSON object."""
    gate = report.gate
    return {
        "run": asdict(report.run),
        "gate": gate and {"open": gate.is_open, "standing": gate.standing, "checks": [asdict(c) for c in gate.checks]},
        "judge": standing_to_dict(report.judge),
        "summary": asdict(report.summary),
        "patterns": [pattern_to_dict(pattern) for pattern in report.patterns],
        "examples": {
            name: [one_line(result.id or case.id or "") for case, result in found]
            for name, found in (("best", report.best), ("worst", report.worst))
        },
        "waived": [
            {"id": one_line(record.id), "draft": record.draft, "violation": line} for record, line in report.waived
        ],
    }


def pattern_to_dict(pattern: Pattern) -> dict[str, Any]:
    """The pattern as one JSON object."""
    examples = [{"id": id, "detail": detail} for id, detail in pattern.examples]
    return {**asdict(pattern), "owners": dict(pattern.owners), "examples": examples}


def target_standing(measure: Headline) -> TargetStanding:
    """Whether the target is met; without a value nobody can say."""
    if measure.target is None:
        return "no target"
    if measure.value is None:
        return "undecided"
    return "met" if measure.met else "missed"


def check_standing(check: Check) -> CheckStanding:
    """Whether a condition of the gate is met."""
    return "met" if check.met else "undecided" if check.undecided else "not met"


def bounds(measure: Headline, summary: Summary) -> str:
    """Both ends in order, of the figures that the judge's silence leaves open; the bot's confidence is none of them."""
    if measure.name == "average_confidence" or measure.worst is None or measure.best is None:
        return ""
    if measure.n == summary.coverage.replies:
        return ""
    low, high = sorted((measure.worst, measure.best))
    return interval(Interval(low, high, "bounds"), scale_of(measure.name))


def where(found: Concentration) -> str:
    """How much more frequent a pattern is in a category."""
    lift = "nowhere else" if found.lift is None else f"{found.lift:.1f} times as often as elsewhere"
    told = f"{found.count:,} of {found.replies:,}, {lift} ({probability(found.q, letter='q')})"
    return one_line(f"{found.category}: {told}")


def category_name(record: Record) -> str:
    """The category, or what stands for none."""
    return NO_CATEGORY if record.category is None else record.category


def outcome_name(record: Record) -> str:
    """PASS, FAIL or that there is none."""
    return record.outcome or NOT_SCORED


def faults(record: Record) -> list[str]:
    """The name of each tag, once."""
    return list(dict.fromkeys(words(tag.name) for tag in record.tags))


def waived_lines(record: Record) -> list[str]:
    """The violations that do not count, with who says so and why."""
    return [f"{words(each.violation.kind)} {waived_line(each)}" for each in record.waived]


class ReplyTable:
    """The rows of the table of replies, each with its place in the run, from 1; and where a reply is among them.

    Of more replies than `most`, those with problems are kept before those without.
    """

    def __init__(self, records: Sequence[Record], *, most: int) -> None:
        numbered = list(enumerate(records, 1))
        if len(numbered) > most:
            numbered = sorted(sorted(numbered, key=lambda row: severity(row[1]))[:most], key=lambda row: row[0])
        self.rows = numbered
        self._by_id: dict[str, list[tuple[int, Record]]] = {}
        for number, record in numbered:
            self._by_id.setdefault(record.id, []).append((number, record))

    def choices(self) -> dict[str, dict[str, int]]:
        """What the table can be filtered by, each with the number that stands for it in a row."""
        found = {
            "outcome": ("PASS", "FAIL", NOT_SCORED),
            "category": sorted({category_name(record) for _, record in self.rows}),
            "tag": sorted({words(tag.name) for _, record in self.rows for tag in record.tags}),
        }
        return {kind: {name: at for at, name in enumerate(names)} for kind, names in found.items()}

    def examples(self, pattern: Pattern) -> Iterator[tuple[str, str, str]]:
        """The examples of a pattern, each with its detail and a link to its row, if it has one."""
        for id, detail in pattern.examples:
            rows = self._by_id.get(id, [])
            tagged = (number for number, record in rows if any(tag.name == pattern.name for tag in record.tags))
            number = next(tagged, rows[0][0] if rows else None)
            yield id, detail, f"#r{number}" if number else ""

    def number_of(self, case: Case, result: Result) -> int | None:
        """The row of a reply. Ids repeat when several drafts were made, so the total is compared as well."""
        rows = self._by_id.get(result.id or case.id or "", [])
        total = result.rubric.total if result.rubric else None
        same = (number for number, record in rows if record.total == total)
        return next(same, rows[0][0] if rows else None)


@dataclass(frozen=True, slots=True)
class RunLine:
    """What a list shows of a run; `pass_rate` is over the replies that have an outcome, None without any."""

    id: str
    started: str
    state: str
    goldset: str
    labels: str
    replies: int
    scored: int
    pass_rate: float | None


def run_line(run: Run, outcomes: Mapping[str | None, int]) -> RunLine:
    """The line of a run whose replies have these outcomes."""
    passed = outcomes.get("PASS", 0)
    scored = passed + outcomes.get("FAIL", 0)
    return RunLine(
        id=one_line(run.id),
        started=run.started,
        state="finished" if run.finished else "interrupted",
        goldset=one_line(run.receipt.goldset),
        labels=one_line(", ".join(f"{name}={value}" for name, value in run.labels.items())),
        replies=sum(outcomes.values()),
        scored=scored,
        pass_rate=passed / scored if scored else None,
    )
