"""A run's judge -> what is known of its agreement with people: by the run's own labels, the store, or the product."""

from dataclasses import replace
from functools import cache

from touchstone.app.agreement import FITTED, data_of
from touchstone.app.config import Settings
from touchstone.app.config_model import OFFLINE
from touchstone.app.evaluation import receipt_of
from touchstone.app.goldset import packaged_goldsets
from touchstone.rubric.model import Rubric
from touchstone.runs.run import Receipt, Run
from touchstone.store.runs import Store
from touchstone.trust.measurement import JudgeStanding, Measurement, shipped
from touchstone.trust.pairs import pair
from touchstone.trust.trust import in_short

# Fewer labelled replies say too little to be preferred to figures from elsewhere.
ENOUGH = 30


def judge_standing(run: Run, *, rubric: Rubric, store: Store) -> JudgeStanding:
    """The first of these: the run's own labelled replies, what the store keeps, what ships.

    The sets that ship say nothing new of the offline judge, which was fitted on them: there its own labels come last.
    """
    receipt = run.receipt
    own = own_measurement(run, rubric=rubric, store=store)
    is_fitted = _is_fitted_on(receipt.judge, goldset=receipt.goldset, data=receipt.data)
    if own and not is_fitted:
        return JudgeStanding(receipt.judge, "run", (own,))
    kept = tuple(
        each
        for each in store.measurements.of_judge(receipt.judge)
        if each.rubric_hash == receipt.rubric_hash
        and not _is_fitted_on(each.judge, goldset=each.goldset, data=each.data)
    )
    if kept:
        return JudgeStanding(receipt.judge, "store", kept)
    elsewhere = shipped_standing(receipt)
    if own is None:
        return elsewhere
    return (
        replace(elsewhere, remark=FITTED)
        if elsewhere.measurements
        else JudgeStanding(receipt.judge, "run", (own,), FITTED)
    )


def shipped_standing(receipt: Receipt) -> JudgeStanding:
    """What ships with the product of this judge, if anything does; it holds for the rubric that ships alone."""
    found = shipped(_shipped_name(receipt.judge)) if receipt.rubric == Settings().rubric.name else ()
    return JudgeStanding(receipt.judge, "product" if found else "none", found)


def own_measurement(run: Run, *, rubric: Rubric, store: Store) -> Measurement | None:
    """The judge on the run's own labelled replies, if they are enough; a reply that was drafted has no labels yet."""
    receipt = run.receipt
    if receipt.bot is not None or receipt.responses is not None:
        return None
    pairs = [
        pair(scored.case, scored.result.rubric, rubric=rubric, failed=bool(scored.result.failures))
        for scored in store.measurements.labelled_replies(run.id)
        if scored.case is not None and scored.result.rubric is not None
    ]
    if sum(bool(each.people_grades) for each in pairs) < ENOUGH:
        return None
    return Measurement(
        judge=receipt.judge,
        goldset=receipt.goldset,
        data=receipt.data,
        rubric_hash=receipt.rubric_hash,
        cases=len(pairs),
        figures=in_short(pairs, rubric=rubric),
    )


def _is_fitted_on(judge: str, *, goldset: str, data: str) -> bool:
    """Whether the judge is the offline one and the set one of those that ship, also under another name."""
    is_offline = judge.partition(" ")[0] == OFFLINE and "#" not in judge
    return is_offline and (goldset in packaged_goldsets() or data in _packaged_data())


@cache
def _packaged_data() -> frozenset[str]:
    return frozenset(data_of(name, settings=Settings()) for name in packaged_goldsets())


def _shipped_name(judge: str) -> str:
    """The judge as the packaged table calls it: the offline judge of this version by its first name."""
    return OFFLINE if judge == receipt_of(Settings(), name="", data="").judge else judge
