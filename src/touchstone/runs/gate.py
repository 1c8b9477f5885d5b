"""Summary, and a comparison with a baseline if there is one -> may this version be released? Fails closed.

Where too little was scored the gate is undecided rather than closed, unless a target is missed whatever the rest is.
"""

from dataclasses import dataclass
from typing import Literal

from touchstone.runs.comparison import Comparison, FigureChange
from touchstone.runs.summary import Coverage, Summary
from touchstone.runs.targets import ROUNDING, Headline, Target

SIGNIFICANT = 0.05
# McNemar's exact test cannot come below 5 % with fewer flips than this, so fewer pairs can show no regression.
LEAST_PAIRS = 6
# The condition that is never met where a rubric sets no targets.
NO_TARGETS = "targets"
SHARES = frozenset({"pass_rate", "safety_failures"})
# What no judge could add.
BOTS_OWN = frozenset({"average_confidence"})
Standing = Literal["open", "closed", "undecided"]


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of the gate: met, and why or why not. One that is not met may be undecided for want of grades."""

    name: str
    met: bool
    reason: str
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class GateRuling:
    """All conditions; open only when every one is met and there is at least one."""

    checks: tuple[Check, ...]

    @property
    def is_open(self) -> bool:
        return bool(self.checks) and all(check.met for check in self.checks)

    @property
    def standing(self) -> Standing:
        if self.is_open:
            return "open"
        unmet = [check for check in self.checks if not check.met]
        return "undecided" if unmet and all(check.undecided for check in unmet) else "closed"


def hold_gate(summary: Summary, *, least_scored: float, comparison: Comparison | None = None) -> GateRuling:
    """Every target with a figure, enough of the set scored, and no significant regression."""
    checks = [_scored(summary, least_scored), *_targets(summary, least_scored)]
    if comparison is not None:
        checks += _baseline(comparison, least_scored)
    return GateRuling(tuple(checks))


def _scored(summary: Summary, least: float) -> Check:
    coverage = summary.coverage
    share = coverage.scored / coverage.replies if coverage.replies else 0.0
    told = f"{coverage.scored} of {coverage.replies} replies have an outcome, at least {_percent(least)} must"
    met = coverage.replies > 0 and share >= least - ROUNDING
    return Check(
        "scored", met, told if met else f"{told}{_remedies(coverage)}", undecided=not met and coverage.replies > 0
    )


def _remedies(coverage: Coverage) -> str:
    """What would give the other replies an outcome."""
    said = []
    if coverage.abstained:
        said.append(
            f"{coverage.abstained} left open by the judge would be graded by a language model (--model NAME) or by "
            "people (touchstone review)"
        )
    if coverage.failed:
        said.append(f"{coverage.failed} could not be scored: fix what their failures name and run it again")
    return "".join(f"; {each}" for each in said)


def _targets(summary: Summary, least: float) -> list[Check]:
    """One for each measure with a target; none at all keeps the gate shut."""
    replies = summary.coverage.replies
    held = [_target(each, each.target, replies, least) for each in summary.measures if each.target is not None]
    if not held:
        reason = "no measure has a target: set targets in the rubric or in touchstone.yaml"
        return [Check(NO_TARGETS, met=False, reason=reason)]
    return held


def _target(measure: Headline, target: Target, replies: int, least: float) -> Check:
    if measure.value is None:
        reason = f"there is no value to hold against the target {target.text}"
        return Check(measure.name, met=False, reason=reason, undecided=replies > 0 and measure.name not in BOTS_OWN)
    if measure.n < (least - ROUNDING) * replies:
        reason = f"rests on {measure.n} of {replies} replies, at least {_percent(least)} are needed"
        if measure.is_decided:
            reason += f"; the target {target.text} is missed whatever the others come to"
        is_open = not measure.is_decided and measure.name not in BOTS_OWN
        return Check(measure.name, met=False, reason=reason, undecided=is_open)
    is_share = measure.name in SHARES
    said = target.beside(measure.value, times=100 if is_share else 1, decimals=1 if is_share else 2)
    met = measure.met is True
    unit = " %" if is_share else ""
    return Check(measure.name, met, f"{said}{unit} {'meets' if met else 'misses'} the target {target.text}")


def _baseline(comparison: Comparison, least: float) -> list[Check]:
    """That the pairs could show a regression, and that they show none."""
    paired = comparison.pass_rate.n
    if paired < LEAST_PAIRS or paired < (least - ROUNDING) * comparison.pairs:
        reason = (
            f"{paired} of {comparison.pairs} cases in both runs have an outcome in both: at least {LEAST_PAIRS} and "
            f"{_percent(least)} are needed to see a regression"
        )
        return [Check("baseline", met=False, reason=reason, undecided=True)]
    return [
        _no_regression("pass rate against the baseline", comparison.pass_rate, worse=-1),
        _no_regression("safety failures against the baseline", comparison.safety, worse=1),
    ]


def _no_regression(name: str, change: FigureChange, *, worse: int) -> Check:
    if change.difference is None or change.p is None:
        return Check(name, met=False, reason="there is no pair to compare")
    regressed = change.difference * worse > 0 and change.p < SIGNIFICANT
    said = f"{100 * change.difference:+.1f} percentage points over {change.n} pairs, p = {change.p:.3g}"
    return Check(
        name, not regressed, f"{said}: {'a significant regression' if regressed else 'no significant regression'}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:g} %"
