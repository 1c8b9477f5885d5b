"""How far a judge agrees with people: measured on labelled sets, and what is known of the judge of a run."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache

from touchstone.app.config import Settings
from touchstone.app.config_model import OFFLINE
from touchstone.app.goldset import locate, packaged_goldsets
from touchstone.app.judging import ModelJudge
from touchstone.app.plan import receipt_of
from touchstone.app.replies import data_hash
from touchstone.app.score import ScoredEntry, judge_scored, score_entries
from touchstone.core.case import Case
from touchstone.core.codec import result_from_dict
from touchstone.core.errors import InputError
from touchstone.core.result import Result
from touchstone.io.cases import Entry, read_cases
from touchstone.io.files import open_mapped, open_rows, shown
from touchstone.rubric.model import Rubric
from touchstone.runs.run import Receipt, Run
from touchstone.store.runs import Store
from touchstone.trust.measurement import JudgeStanding, JudgeTable, Measurement, shipped, side_by_side
from touchstone.trust.pairs import Pair, pair
from touchstone.trust.trust import Trust, in_short, trust

FITTED = (
    "the offline judge was fitted on the sets that ship, so its agreement here is better than on replies it has not "
    "seen; docs/judge.md has the cross-validated figures"
)
# Fewer labelled replies say too little to be preferred to figures from elsewhere.
ENOUGH = 30


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Whose grades are compared against people's: files of results, and judges that grade now."""

    results: Sequence[str] = ()
    grades_now: bool = True
    with_offline: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """One judge: what was found, what is to be said of it, and what is worth keeping of it.

    Results from a file do not tell what shaped the judge's grades, so there is nothing to keep of them.
    """

    trust: Trust
    remarks: tuple[str, ...]
    failed: int
    measurements: tuple[Measurement, ...] = ()


@dataclass(frozen=True, slots=True)
class Agreements:
    """One judge or several; `table` has several side by side."""

    judges: tuple[MeasuredAgreement, ...]
    table: JudgeTable | None


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A gold set that was read."""

    name: str
    entries: Sequence[Entry]

    @property
    def cases(self) -> Iterator[Case]:
        return (entry.case for entry in self.entries if isinstance(entry.case, Case))


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeResults:
    """A judge with its results, by gold set and id, from a `file` or from just now.

    `run_name` is its name with all that shapes it, which a file does not tell.
    """

    name: str = ""
    file: str = ""
    run_name: str = ""
    results: dict[str, Mapping[str, Result]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Compared:
    """A judge's grades beside people's, and how many it could not give in full."""

    judged: _JudgeResults
    name: str
    is_offline: bool
    pairs: Sequence[Pair]
    failed: int


def measure_agreement(
    goldsets: Sequence[str],
    *,
    settings: Settings,
    judge: ModelJudge | None,
    choice: JudgeChoice | None = None,
    on_scored: Callable[[ScoredEntry], None] = lambda scored: None,
) -> Agreements:
    """Grades the labelled sets, or takes the results of files by id, and holds them against the labels."""
    choice = choice or JudgeChoice()
    sets = [_read_labelled(name, settings=settings) for name in dict.fromkeys(goldsets)]
    judges = [_of_file(name, sets) for name in choice.results]
    if choice.grades_now or choice.with_offline:
        judges += _grade(sets, settings=settings, judge=judge, choice=choice, on_scored=on_scored)
    compared = _named([_compared(judged, sets, settings=settings) for judged in judges])
    if none := next((each for each in compared if not any(pair.people_grades for pair in each.pairs)), None):
        where = ", ".join(goldsets)
        if none.judged.file and any(case.labels for labelled in sets for case in labelled.cases):
            raise InputError(f"{none.judged.file} has no result of a labelled case of {where}: ids have to be the same")
        raise InputError(f"{where} has no graded case with labels: give people's grades in the field 'labels'")
    return Agreements(
        tuple(_agreement(each, sets, settings=settings) for each in compared),
        _side_by_side(compared, sets, settings=settings) if len(compared) > 1 else None,
    )


def keep_measurements(agreements: Agreements, *, store: Store) -> None:
    """Adds what is worth keeping to the store, where reports of runs find it."""
    for agreement in agreements.judges:
        for measurement in agreement.measurements:
            store.measurements.keep(measurement)


def data_of(goldset: str, *, settings: Settings) -> str:
    """What the gold set says, as the receipt of a run over it does."""
    return data_hash(_read_labelled(goldset, settings=settings).entries)


def _read_labelled(name: str, *, settings: Settings) -> _Labelled:
    source = locate(name)
    with open_mapped(source, mapped=settings.mapped) as rows:
        return _Labelled(name, list(read_cases(rows, file=shown(source), columns=settings.columns)))


def _of_file(name: str, sets: Sequence[_Labelled]) -> _JudgeResults:
    """The results that `touchstone score -o results.jsonl` wrote, by id."""
    found: dict[str, Result] = {}
    with open_rows(name, format="jsonl") as rows:
        for row in rows:
            try:
                result = result_from_dict(json.loads(json.dumps(row.content)))
            except (KeyError, TypeError, ValueError, AttributeError):
                raise InputError(f"{name}:{row.line}: this is not a result: give what touchstone score wrote") from None
            if result.id is not None:
                found[result.id] = result
    seen: dict[str | None, str] = {}
    for labelled in sets:
        for case in labelled.cases:
            if seen.setdefault(case.id, labelled.name) != labelled.name:
                raise InputError(
                    f"{labelled.name} has an id that {seen[case.id]} has too: with --results give one gold set"
                )
    return _JudgeResults(file=name, results={labelled.name: found for labelled in sets})


def _grade(
    sets: Sequence[_Labelled],
    *,
    settings: Settings,
    judge: ModelJudge | None,
    choice: JudgeChoice,
    on_scored: Callable[[ScoredEntry], None],
) -> list[_JudgeResults]:
    """The judge of the settings and the offline one, as far as they are wanted: cases are scored once for both."""
    chosen = _JudgeResults(name=judge.name, run_name=judge.name) if judge and choice.grades_now else None
    shipped = receipt_of(settings, name="", data="").judge
    offline = _JudgeResults(name=OFFLINE, run_name=shipped) if chosen is None or choice.with_offline else None
    for labelled in sets:
        before: dict[str, Result] = {}
        after: dict[str, Result] = {}
        scored_before = _kept(score_entries(labelled.entries, settings=settings), before)
        for scored in _kept(judge_scored(scored_before, judge=judge if chosen else None), after):
            on_scored(scored)
        if chosen:
            chosen.results[labelled.name] = after
        if offline:
            offline.results[labelled.name] = before
    return [judged for judged in (chosen, offline) if judged]


def _kept(scored: Iterable[ScoredEntry], results: dict[str, Result]) -> Iterator[ScoredEntry]:
    for each in scored:
        if isinstance(each.entry.case, Case):
            results[each.entry.case.id or ""] = each.result
        yield each


def _compared(judged: _JudgeResults, sets: Sequence[_Labelled], *, settings: Settings) -> _Compared:
    names: set[str] = set()
    pairs: list[Pair] = []
    failed = 0
    for labelled in sets:
        results = judged.results[labelled.name]
        for case in labelled.cases:
            if (result := results.get(case.id or "")) is None:
                continue
            failed += result.rubric is None or bool(result.failures)
            if result.rubric is not None:
                names.add(result.rubric.judge)
                failing = bool(result.failures)
                pairs.append(pair(case, result.rubric, rubric=settings.rubric, goldset=labelled.name, failed=failing))
    return _Compared(judged, judged.name or ", ".join(sorted(names)), names == {OFFLINE}, pairs, failed)


def _named(compared: Sequence[_Compared]) -> list[_Compared]:
    """Judges of one name by their files as well: two prompts of a model are two judges."""
    names = [each.name for each in compared]
    return [
        replace(each, name=f"{each.name} ({each.judged.file or 'now'})") if names.count(each.name) > 1 else each
        for each in compared
    ]


def _agreement(compared: _Compared, sets: Sequence[_Labelled], *, settings: Settings) -> MeasuredAgreement:
    remarks = [FITTED] if compared.is_offline and any(labelled.name in packaged_goldsets() for labelled in sets) else []
    remarks += [f"{compared.failed} cases could not be graded, or only in part"] if compared.failed else []
    found = trust(compared.pairs, judge=compared.name, rubric=settings.rubric)
    kept = _measurements(compared, sets, settings=settings) if compared.judged.run_name else ()
    return MeasuredAgreement(found, tuple(remarks), compared.failed, tuple(kept))


def _measurements(compared: _Compared, sets: Sequence[_Labelled], *, settings: Settings) -> Iterator[Measurement]:
    """One for each gold set on which judge and people have an outcome in common."""
    made = datetime.now(UTC).isoformat(timespec="seconds")
    for labelled in sets:
        pairs = [each for each in compared.pairs if each.goldset == labelled.name]
        figures = in_short(pairs, rubric=settings.rubric)
        if figures.outcome.of:
            receipt = receipt_of(settings, name=labelled.name, data=data_hash(labelled.entries))
            yield Measurement(
                judge=compared.judged.run_name,
                goldset=labelled.name,
                data=receipt.data,
                rubric_hash=receipt.rubric_hash,
                made=made,
                cases=len(pairs),
                figures=figures,
            )


def _side_by_side(compared: Sequence[_Compared], sets: Sequence[_Labelled], *, settings: Settings) -> JudgeTable:
    labelled = sum(bool(case.labels) for each in sets for case in each.cases)
    table = side_by_side({each.name: each.pairs for each in compared}, labelled=labelled, rubric=settings.rubric)
    if not table.common:
        raise InputError("no labelled case was graded by all of the judges: give results of the same cases")
    return table


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
