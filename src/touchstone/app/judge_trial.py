"""A judge and a few labelled cases that ship -> what it is worth: agreement, time, tokens, cost, what went wrong."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Literal

from touchstone.app.config import Settings
from touchstone.app.config_model import JudgeSettings
from touchstone.app.goldset import packaged_goldsets
from touchstone.app.judging import ModelJudge, connection_of, load_prompt, models_of, open_judge, requests_for
from touchstone.app.score import ScoredEntry, in_order, judge_case, score_entries
from touchstone.clients.llm.call import Call, Usage
from touchstone.clients.llm.model import Model
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure, Result
from touchstone.goldset.labels import case_outcome
from touchstone.io.cases import Entry, read_cases
from touchstone.io.files import open_rows
from touchstone.judges.llm.json_reading import read_object
from touchstone.rubric.model import SAFETY
from touchstone.stats.agreement import weighted_kappa
from touchstone.stats.sampling import stratified_sample
from touchstone.trust.pairs import Pair, pair
from touchstone.trust.trust import Trust, trust

SEED = 7
HUNDRED = 100
# What a model that thinks before it answers needs; asked for only where the usual length cuts it off.
LONGER = 4 * JudgeSettings().max_tokens
# How far a server holds a model to the form asked for: to a schema, to JSON of any shape, or not at all.
Form = Literal["schema", "json", "text", "unknown"]
# No server that enforces a schema can be talked out of it, and no model says this by chance.
_QUESTION = "In one short sentence and without any JSON: what colour is a clear sky by day?"
_KEY = "sky_code"
_SCHEMA = {
    "type": "object",
    "properties": {_KEY: {"type": "integer"}},
    "required": [_KEY],
    "additionalProperties": False,
}
_CUT = frozenset({"Truncated", "EmptyAnswer"})


@dataclass(frozen=True, slots=True)
class TrialProblem:
    """What went wrong with so many cases, and what to do about it."""

    error: str
    message: str
    cases: int


@dataclass(frozen=True, slots=True)
class Trial:
    """What a judge did with a few labelled cases. Tokens are those of one reply, `cost` is for a hundred.

    `kappas` are of the grades on each criterion but safety, `kappa` of all of them together. `seconds_each` is how long
    one reply took, `seconds` how long all of them did, several at a time; what records answered took no time.
    """

    judge: str
    forms: Mapping[str, Form]
    cases: int
    failed: int
    problems: tuple[TrialProblem, ...]
    trust: Trust
    kappa: float | None
    kappas: Mapping[str, float | None]
    seconds_each: float | None
    seconds: float
    tokens: Usage
    cost: float | None
    currency: str | None
    max_tokens: int

    @property
    def agreed(self) -> int:
        """Cases of which judge and people come to the same outcome."""
        return round((self.trust.outcome.agreement or 0.0) * self.trust.outcome.n)


def draw_cases(goldset: str, n: int) -> tuple[Entry, ...]:
    """Labelled cases of a set that ships: half of them pass, half fail, spread over categories, always the same.

    A file would be somebody's customers: it is for `touchstone review agreement` to ask about them.
    """
    if goldset not in packaged_goldsets():
        allowed = " or ".join(packaged_goldsets())
        remedy = "for cases of yours use touchstone review agreement FILE"
        raise ConfigError(f"--goldset {goldset} is not a set that ships, which are {allowed}: {remedy}")
    rubric = Settings().rubric
    # A file of that name here is not meant.
    with open_rows(str(resources.files("touchstone").joinpath(f"data/goldsets/{goldset}.jsonl"))) as rows:
        read = [replace(each, file=goldset) for each in read_cases(rows, file=goldset)]
    entries = [(each, each.case) for each in read if isinstance(each.case, Case)]
    outcomes = {each.line: case_outcome(case, rubric=rubric) for each, case in entries}
    passing, failing = (
        [(each, case) for each, case in entries if outcomes[each.line] == outcome] for outcome in ("PASS", "FAIL")
    )
    passes = min(len(passing), max(n // 2, n - len(failing)))
    drawn = [
        group[at][0]
        for group, count in ((passing, passes), (failing, n - passes))
        for at in stratified_sample([case.category for _, case in group], count, seed=SEED)
    ]
    return tuple(sorted(drawn, key=lambda each: each.line))


def servers_of(chosen: JudgeSettings) -> tuple[str, ...]:
    """The servers that will be asked; ConfigError where a key is missing, before anything is sent."""
    if chosen.replay:
        return ()
    return tuple(dict.fromkeys(connection_of(member, chosen).place for member in models_of(chosen)))


def alone(settings: Settings, *, judge: JudgeSettings) -> Settings:
    """The judge with what was fitted for it, the shipped rubric and no company's policy: the cases are labelled by the
    one and know nothing of the other."""
    return Settings(judge=judge, fitted=settings.fitted, model_fit=settings.model_fit)


def score_cases(entries: Sequence[Entry], *, settings: Settings) -> tuple[ScoredEntry, ...]:
    """The cases as the offline judge sees them, which models are asked about afterwards."""
    return tuple(score_entries(entries, settings=settings))


def count_requests(scored: Sequence[ScoredEntry], *, settings: Settings) -> int:
    """How many requests a trial takes: one for the form, and those for each case, vote and model."""
    prompt, chosen = load_prompt(settings.judge.prompt), settings.judge
    cases = [(each.entry.case, each.result) for each in scored if isinstance(each.entry.case, Case)]
    asked = sum(len(requests_for(case, result, settings=settings, prompt=prompt)) for case, result in cases)
    return len(models_of(chosen)) * (1 + asked * chosen.votes)


def try_judge(
    scored: Sequence[ScoredEntry],
    *,
    settings: Settings,
    may_lengthen: bool = False,
    on_graded: Callable[[], None] = lambda: None,
) -> Trial | None:
    """Asks for an answer in a form, then for grades of the cases; ConfigError when the judge cannot be asked at all.

    With `may_lengthen`, None as soon as an answer is cut off that longer ones might make good.
    """
    chosen = settings.judge
    with open_judge(settings) as judge:
        assert judge is not None
        forms = {} if chosen.replay else {model.name: _form_of(model) for model in judge.models}
        before = {account.name: account.used for account in judge.meter.accounts}
        start = time.monotonic()
        graded = [*_grade(scored[:1], judge=judge, on_graded=on_graded)]
        is_cut = any(failure.error in _CUT for each in graded for failure in each.result.failures)
        if is_cut and may_lengthen and chosen.max_tokens < LONGER:
            return None
        graded += _grade(scored[1:], judge=judge, on_graded=on_graded)
        return _concluded(judge, graded, forms=forms, before=before, seconds=time.monotonic() - start)


@dataclass(frozen=True, slots=True)
class _Graded:
    """A case, its result under the judge, and how long the judge took."""

    case: Case
    result: Result
    seconds: float


def _grade(scored: Sequence[ScoredEntry], *, judge: ModelJudge, on_graded: Callable[[], None]) -> Iterator[_Graded]:
    """Each under the judge, timed, in order."""

    def grade(each: ScoredEntry) -> _Graded:
        assert isinstance(each.entry.case, Case)
        start = time.monotonic()
        result = judge_case(each.entry.case, each.result, judge=judge)
        return _Graded(each.entry.case, result, time.monotonic() - start)

    for graded in in_order(scored, grade, concurrency=judge.concurrency, stop=judge.stop):
        on_graded()
        yield graded


def _form_of(model: Model) -> Form:
    """What comes of a question that begs for prose, when a schema is asked for."""
    assert model.server is not None
    sampling = model.sampling
    message = {"role": "user", "content": _QUESTION}
    call = Call(model.seat.model, (message,), _SCHEMA, sampling.temperature, sampling.seed, sampling.max_tokens)
    found = model.server.ask(call)
    if isinstance(found, Failure):
        if found.error == "NotJson":
            return "text"
        raise ConfigError(found.message)
    if read_object(found.answer.text, keys=(_KEY,)) is not None:
        return "schema"
    if found.answer.is_cut or not found.answer.text.strip():
        return "unknown"
    return "json" if found.answer.text.strip().startswith(("{", "[")) else "text"


def _concluded(
    judge: ModelJudge,
    graded: Sequence[_Graded],
    *,
    forms: Mapping[str, Form],
    before: Mapping[str, Usage],
    seconds: float,
) -> Trial:
    rubric, replays = judge.settings.rubric, judge.settings.judge.replay is not None
    pairs = [pair(each.case, each.result.rubric, rubric=rubric) for each in graded if each.result.rubric is not None]
    used = {
        account.name: account.mean.times(account.answers)
        if replays
        else Usage(account.used.input - before[account.name].input, account.used.output - before[account.name].output)
        for account in judge.meter.accounts
    }
    costs = [account.prices.cost(used[account.name]) for account in judge.meter.accounts if account.prices]
    is_priced = len(costs) == len(judge.meter.accounts)
    failures = [failure for each in graded for failure in dict.fromkeys(each.result.failures)]
    counted = Counter((failure.error, failure.message) for failure in failures)
    found = trust(pairs, judge=judge.name, rubric=rubric)
    kappas = {each.name: each.kappa for each in found.criteria if each.name != SAFETY}
    return Trial(
        judge=judge.name,
        forms=forms,
        cases=len(graded),
        failed=sum(bool(each.result.failures) for each in graded),
        problems=tuple(TrialProblem(error, message, cases) for (error, message), cases in counted.most_common()),
        trust=found,
        kappa=_kappa(pairs, names=tuple(kappas)),
        kappas=kappas,
        seconds_each=None if replays else sum(each.seconds for each in graded) / len(graded),
        seconds=seconds,
        tokens=sum(used.values(), Usage()).times(1 / len(graded)),
        cost=HUNDRED * sum(costs) / len(graded) if is_priced else None,
        currency=judge.meter.currency,
        max_tokens=judge.settings.judge.max_tokens,
    )


def _kappa(pairs: Sequence[Pair], *, names: Sequence[str]) -> float | None:
    """Of the grades on all these criteria, taken together."""
    both = [
        (each.people_grades[name], each.grades[name])
        for each in pairs
        for name in names
        if name in each.people_grades and name in each.grades
    ]
    return weighted_kappa([people for people, _ in both], [grade for _, grade in both]) if both else None
