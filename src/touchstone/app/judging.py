"""Settings -> the judge beyond the offline one: a model and its votes, a panel, or a model where offline is unsure."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from touchstone.app.config import Settings
from touchstone.app.config_model import OFFLINE, JudgeSettings, Member
from touchstone.clients.faults import is_passing
from touchstone.clients.llm.call import Sampling
from touchstone.clients.llm.connection import Address, Connection, find_connection, find_model
from touchstone.clients.llm.meter import Budget, Meter, Prices
from touchstone.clients.llm.model import Model, Records, Seat, open_models, open_replay
from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.codec import content_hash
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure, Grading, Result
from touchstone.judges.llm.answer import Answer
from touchstone.judges.llm.checklist import build_checklist, grade_checklist, packaged_checklist
from touchstone.judges.llm.checks import checked_of
from touchstone.judges.llm.fits import packaged_fit
from touchstone.judges.llm.grading import Judgement, grade_answers, judge_name
from touchstone.judges.llm.prompt import Prompt, packaged_prompt, parse_prompt
from touchstone.judges.llm.request import Request, build_requests
from touchstone.judges.model import FILE
from touchstone.judges.panel import combine, flip_rate
from touchstone.rubric.model import SAFETY
from touchstone.runs.decision import regrade
from touchstone.store.private import make_directory
from touchstone.text.reading import read


class JudgeCounts:
    """What the judge has done so far, counted by several threads."""

    def __init__(self) -> None:
        # Cases that models are asked about, and requests to each model; cases that the offline judge is sure of; cases
        # that the same command may well grade later.
        self.asked = self.requests = self.kept_offline = self.put_off = 0
        # By case; of several models, the highest rate.
        self.flips: dict[str, float] = {}
        self._lock = Lock()

    def add(self, **more: int) -> None:
        """Count so many more of each."""
        with self._lock:
            for name, number in more.items():
                setattr(self, name, getattr(self, name) + number)

    def add_flips(self, id: str, rate: float) -> None:
        """Keep a case's flip rate."""
        with self._lock:
            self.flips[id] = max(rate, self.flips.get(id, 0.0))


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Grades results anew. `judge` is called from several threads."""

    settings: Settings
    prompt: Prompt
    models: tuple[Model, ...]
    meter: Meter
    judged: JudgeCounts = field(default_factory=JudgeCounts)

    @property
    def name(self) -> str:
        """What runs call this judge: its members, and a hash of everything that shapes its grades."""
        chosen = self.settings.judge
        members = _shown(chosen) if chosen.kind == "panel" else tuple(judge_name(model.name) for model in self.models)
        shape: dict[str, Any] = {
            "prompt": asdict(packaged_checklist() if chosen.scope == "checklist" else self.prompt),
            "fit": (self.settings.model_fit or packaged_fit()).shape,
            "settings": [chosen.scope, chosen.rule, chosen.votes, chosen.cascade, chosen.max_tokens],
            "sampling": [chosen.sampling_temperature, chosen.seed],
            "members": list(members),
        }
        if chosen.cascade or OFFLINE in members:
            shape["offline"] = content_hash(resource.text(FILE))
        cascade = "offline, then " if chosen.cascade else ""
        return f"{cascade}{' + '.join(members)} #{content_hash(shape)[:8]}"

    @property
    def concurrency(self) -> int:
        return self.settings.judge.concurrency

    def requests(self, case: Case, result: Result) -> tuple[Request, ...]:
        """What each model is to be asked about the case."""
        return requests_for(case, result, settings=self.settings, prompt=self.prompt)

    def judge(self, case: Case, result: Result) -> Result:
        """The result under this judge; one that was not scored, or that the offline judge is sure of, stays."""
        offline = result.rubric
        if result.failures or offline is None:
            return result
        requests = self.requests(case, result)
        if not requests:
            self.judged.add(kept_offline=1)
            return result
        self.judged.add(asked=1, requests=len(requests))
        opinions = [self._voted(model, case, requests, offline) for model in self.models]
        failures = tuple(
            failure
            for model, opinion in zip(self.models, opinions, strict=True)
            for failure in self._attributed(model, opinion.failures)
        )
        if any(map(is_passing, failures)):
            self.judged.add(put_off=1)
        grading = self._concluded(offline, [opinion.grading for opinion in opinions], failures=failures)
        return regrade(result, grading, plan=self.settings.plan, failures=failures)

    def graded(
        self,
        model: Model,
        case: Case,
        requests: tuple[Request, ...],
        answers: Sequence[Answer | Failure],
        *,
        issues: tuple[str, ...] = (),
    ) -> Judgement:
        """What one model's answers to the requests come to."""
        settings = self.settings
        rubric, fit = settings.rubric, settings.model_fit
        fit = fit if fit is not None and fit.suits(judge_name(model.name)) else None
        if settings.judge.scope == "checklist":
            return grade_checklist(case, requests, answers, rubric=rubric, model=model.name, fit=fit, issues=issues)
        policy = settings.policy
        return grade_answers(
            case, requests, answers, rubric=rubric, model=model.name, policy=policy, fit=fit, issues=issues
        )

    def stop(self) -> None:
        """Gives up what is under way."""
        for model in self.models:
            model.stop()

    def _voted(self, model: Model, case: Case, requests: tuple[Request, ...], offline: Grading) -> Judgement:
        votes = []
        for vote in range(1, self.settings.judge.votes + 1):
            answers = [model.ask(request, vote=vote) for request in requests]
            votes.append(self.graded(model, case, requests, answers, issues=offline.issues))
        if len(votes) == 1:
            return votes[0]
        gradings = [vote.grading for vote in votes]
        flips = round(flip_rate(gradings) or 0.0, 4)
        self.judged.add_flips(case.id or "", flips)
        whole = combine(
            gradings, rubric=self.settings.rubric, judge=judge_name(model.name), rule=self.settings.judge.rule
        )
        whole = replace(whole, flip_rate=flips)
        return Judgement(whole, tuple(dict.fromkeys(failure for vote in votes for failure in vote.failures)))

    def _attributed(self, model: Model, failures: tuple[Failure, ...]) -> tuple[Failure, ...]:
        """The failures with the model's name, where there is more than one model."""
        if len(self.models) == 1:
            return failures
        return tuple(replace(each, message=f"{judge_name(model.name)}: {each.message}") for each in failures)

    def _concluded(self, offline: Grading, gradings: list[Grading], *, failures: tuple[Failure, ...]) -> Grading:
        """The panel's grading. A model whose call failed has no voice, as long as another judge has one."""
        chosen = self.settings.judge
        heard = [grading for grading in gradings if not failures or _has_graded(grading)]
        if chosen.kind == "panel" and any(member.is_offline for member in chosen.panel):
            heard.insert(0, offline)
        if not heard:
            return offline if chosen.cascade else gradings[0]
        if len(heard) == 1:
            return heard[0]
        name = f"panel({', '.join(grading.judge for grading in heard)})"
        flips = [grading.flip_rate for grading in heard if grading.flip_rate is not None]
        whole = combine(heard, rubric=self.settings.rubric, judge=name, rule=chosen.rule)
        return replace(whole, flip_rate=max(flips, default=None))


def _has_graded(grading: Grading) -> bool:
    """Whether any grade is the model's own; safety may be the detectors'."""
    return any(grade.grade is not None for grade in grading.grades if grade.criterion != SAFETY)


def requests_for(case: Case, result: Result, *, settings: Settings, prompt: Prompt) -> tuple[Request, ...]:
    """What a model is asked about a scored case: nothing where scoring failed, or a cascade's offline judge is sure."""
    is_sure = settings.judge.cascade and result.decision != "review"
    if result.failures or result.rubric is None or is_sure:
        return ()
    rubric, policy, checked = settings.rubric, settings.policy, checked_of(result)
    if settings.judge.scope == "checklist":
        words = packaged_checklist()
        return build_checklist(case, read(case), rubric=rubric, prompt=words, policy=policy, checked=checked)
    scope = settings.judge.scope
    return build_requests(case, rubric=rubric, prompt=prompt, policy=policy, scope=scope, checked=checked)


@contextmanager
def open_judge(settings: Settings) -> Iterator[ModelJudge | None]:
    """The judge that the settings name, its server reached and let in; None for the offline judge."""
    chosen = settings.judge
    if chosen.kind == "offline":
        yield None
        return
    prompt = load_prompt(chosen.prompt)
    meter = Meter(Budget(**chosen.budget.model_dump()))
    if not chosen.replay:
        # What cannot be written is told when there is something to write.
        with suppress(OSError):
            make_directory(Path(chosen.record))
    with open_models(
        [_seat(member, chosen) for member in models_of(chosen)],
        meter=meter,
        sampling=Sampling(temperature=chosen.sampling_temperature, seed=chosen.seed, max_tokens=chosen.max_tokens),
        records=open_replay(chosen.replay) if chosen.replay else Records(chosen.record),
        timeout=chosen.timeout,
        asks_anew=chosen.asks_anew,
    ) as models:
        yield ModelJudge(settings, prompt, models, meter)


def models_of(chosen: JudgeSettings) -> tuple[Member, ...]:
    """The models to ask: those of the panel, or the one."""
    if chosen.kind == "panel":
        return chosen.models
    model = find_model(chosen.model, environment=os.environ)
    return (Member(model=model, name=model, prices=chosen.prices),)


def connection_of(member: Member, chosen: JudgeSettings) -> Connection:
    """The member's server with its key; ConfigError where the key is missing."""
    return find_connection(
        chosen.base_url,
        environment=os.environ,
        key_variable=chosen.key_variable,
        member=Address(member.base_url, member.key_variable),
    )


def _seat(member: Member, chosen: JudgeSettings) -> Seat:
    """The model with its server and key; a replay needs neither."""
    prices = Prices(**member.prices.model_dump()) if member.prices else None
    return Seat(member.name, member.model, None if chosen.replay else connection_of(member, chosen), prices)


def _shown(chosen: JudgeSettings) -> tuple[str, ...]:
    """The panel as runs name it: each judge, with its model where that is another name."""
    return tuple(each.name if each.name == each.model else f"{each.name} ({each.model})" for each in chosen.panel)


def load_prompt(name: str) -> Prompt:
    """The prompt in this YAML file, or the one that ships under this name."""
    if name == JudgeSettings().prompt:
        return packaged_prompt()
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigError(f"prompt {name} cannot be read ({problem}): give a YAML file, or leave it out") from error
    return parse_prompt(text, name=name)
