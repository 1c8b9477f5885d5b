"""Cases judged by what did not see them -> what would be sent, reviewed and blocked, and the cuts that are right.

The cuts are chosen on domains left out, where four of five replies pass, so that of a hundred replies sent 96 pass and
of a hundred blocked 90 fail, with an expected reply and without one taken together.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scripts.fit_rules import USUAL_PASSES
from scripts.labelled import RUBRIC, Labelled

from touchstone.core.plan import Plan
from touchstone.judges.choice import unlike
from touchstone.rubric.model import SAFETY
from touchstone.rubric.outcome import points_of
from touchstone.runs.decision import POOR
from touchstone.safety.signs import Logistic

SENT_PASS, BLOCKED_FAIL = 0.96, 0.9
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Counts = NDArray[np.int_]
PLAN = Plan()


class Decided(NamedTuple):
    """For each case its chance, whether people pass it, and what decides beside the chance.

    `called`, `right` and `marked` are kinds of violation: those found, those of them that a rater marks, and all that
    raters mark.
    """

    passes: Mask
    chances: Array
    fails: Mask
    is_open: Mask
    abstains: Mask
    called: Counts
    right: Counts
    marked: Counts

    @property
    def violates(self) -> Mask:
        return self.called > 0

    def sent(self, cut: float) -> Mask:
        return (self.chances >= cut) & ~self.violates & ~self.is_open & ~self.abstains

    def blocked(self, cut: float) -> Mask:
        return self.violates | ((self.chances <= cut) & ~self.abstains)


def decide(
    cases: Sequence[Labelled],
    grades: Mapping[str, NDArray[np.int_]],
    chances: Array,
    rules: Sequence[Mapping[str, Logistic]],
) -> Decided:
    """What decides on each case; `rules` are the confidences fitted without it."""
    rows = [_row(case, {name: int(grades[name][at]) for name in grades}, rules[at]) for at, case in enumerate(cases)]
    fails, is_open, abstains, called, right, marked = map(np.array, zip(*rows, strict=True))
    passes = np.array([case.passes for case in cases])
    return Decided(passes, chances, fails, is_open, abstains, called, right, marked)


def _row(
    case: Labelled, grades: Mapping[str, int], rules: Mapping[str, Logistic]
) -> tuple[bool, bool, bool, int, int, int]:
    sure = [rules[s.rule].of(s.inputs) if s.rule in rules else 0.0 for s in case.signs]
    called = {s.kind for s, each in zip(case.signs, sure, strict=True) if each >= PLAN.violation_at}
    marked = {kind for label in case.labels for kind in label["violations"]}
    unheld = any(a.status == "contradicted" or (a.kind != "claim" and not a.holds) for a in case.anchors or ())
    points = sum(points_of(grade, RUBRIC.criterion(name).weight) for name, grade in grades.items())  # type: ignore[union-attr]
    fails = points + RUBRIC.criterion(SAFETY).weight < RUBRIC.pass_mark  # type: ignore[union-attr]
    is_poor = any(grade <= POOR for grade in grades.values())
    is_open = unheld or fails or is_poor or any(each >= PLAN.suspicion_at for each in sure)
    return fails, is_open, unlike(case.body) is not None, len(called), len(called & marked), len(marked)


def choose_cuts(every: Sequence[Decided]) -> tuple[float, float]:
    """The lowest cut to send at and the highest to block at that are right often enough."""
    cuts = [round(cut / 100, 2) for cut in range(1, 100)]
    both = Decided(*(np.concatenate(parts) for parts in zip(*every, strict=True)))
    sends = [cut for cut in cuts if cut >= 0.5 and share_right(both, both.sent(cut), both.passes) >= SENT_PASS]
    blocks = [cut for cut in cuts if cut <= 0.5 and share_right(both, both.blocked(cut), ~both.passes) >= BLOCKED_FAIL]
    return min(sends, default=0.99), max(blocks, default=0.01)


def share_right(decided: Decided, chosen: Mask, right: Mask, *, usual: float = USUAL_PASSES) -> float:
    """The share of the chosen that is right where the usual share of replies passes."""
    share = decided.passes.mean()
    sizes = np.where(decided.passes, usual / share, (1 - usual) / (1 - share))
    return float(np.average(right[chosen], weights=sizes[chosen])) if chosen.any() else 1.0


def figures(decided: Decided, of: Mask, *, send: float, block: float) -> dict[str, Any]:
    """Counts of one set: replies, sent and how many of them pass, blocked and how many of them fail, and so on.

    An outcome is given where nothing is left ungraded, or a violation fails the reply whatever is.
    """
    sent, blocked = decided.sent(send) & of, decided.blocked(block) & of
    given = (~decided.abstains | decided.violates) & of
    same = (decided.fails | decided.violates) != decided.passes
    return {
        "replies": int(of.sum()),
        "sent": int(sent.sum()),
        "sent_right": int(decided.passes[sent].sum()),
        "blocked": int(blocked.sum()),
        "blocked_right": int((~decided.passes[blocked]).sum()),
        "abstained": int((decided.abstains & of).sum()),
        "outcomes": int(given.sum()),
        "outcomes_right": int((same & given).sum()),
        "violations": int(decided.called[of].sum()),
        "violations_right": int(decided.right[of].sum()),
        "violations_marked": int(decided.marked[of].sum()),
    }
