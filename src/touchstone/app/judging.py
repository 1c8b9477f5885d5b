"""Settings -> the judge beyond the offline one: a model and its votes, a panel, or a model where offline is unsure."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from touchstone.app.config import Settings
from touchstone.app.judge_settings import OFFLINE, JudgeSettings
from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.codec import content_hash
from touchstone.core.errors import ConfigError
from touchstone.core.result import Failure, Grading, Result
from touchstone.judges.llm.grading import Judgement, grade_answers, judge_name
from touchstone.judges.llm.prompt import Prompt, packaged_prompt, parse_prompt
from touchstone.judges.llm.request import Request, build_requests
from touchstone.judges.model import FILE
from touchstone.judges.panel import combine, flip_rate
from touchstone.rubric.model import SAFETY
from touchstone.runs.decision import is_unsure
from touchstone.runs.regrade import regrade

if TYPE_CHECKING:
    from touchstone.clients.llm.meter import Meter
    from touchstone.clients.llm.model import Model


class Judged:
    """What the judge has done so far, counted by several threads."""

    def __init__(self) -> None:
        self.asked = 0
        self.kept_offline = 0
        self.flips: dict[str, float] = {}
        self._lock = Lock()

    def add(self, *, asked: int = 0, kept_offline: int = 0) -> None:
        with self._lock:
            self.asked += asked
            self.kept_offline += kept_offline

    def add_flips(self, id: str, rate: float) -> None:
        """A case's flip rate; of several models, the highest."""
        with self._lock:
            self.flips[id] = max(rate, self.flips.get(id, 0.0))


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Grades results anew. `judge` is called from several threads."""

    settings: Settings
    prompt: Prompt
    models: "tuple[Model, ...]"
    meter: "Meter"
    judged: Judged = field(default_factory=Judged)

    @property
    def name(self) -> str:
        """What runs call this judge: its members, and a hash of everything that shapes its grades."""
        chosen = self.settings.judge
        members = chosen.panel if chosen.kind == "panel" else tuple(judge_name(model.name) for model in self.models)
        shape: dict[str, Any] = {
            "prompt": asdict(self.prompt),
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

    def judge(self, case: Case, result: Result) -> Result:
        """The result under this judge; one that was not scored, or that the offline judge is sure of, stays."""
        offline = result.rubric
        if result.failures or offline is None:
            return result
        rubric = self.settings.rubric
        if self.settings.judge.cascade and not is_unsure(offline, rubric=rubric):
            self.judged.add(kept_offline=1)
            return result
        self.judged.add(asked=1)
        requests = build_requests(
            case, rubric=rubric, prompt=self.prompt, policy=self.settings.policy, scope=self.settings.judge.scope
        )
        opinions = [self._voted(model, case, requests, offline) for model in self.models]
        failures = tuple(dict.fromkeys(failure for opinion in opinions for failure in opinion.failures))
        grading = self._concluded(offline, [opinion.grading for opinion in opinions], failures=failures)
        return regrade(result, grading, rubric=rubric, failures=failures)

    def stop(self) -> None:
        """Gives up what is under way."""
        for model in self.models:
            model.stop()

    def _voted(self, model: "Model", case: Case, requests: tuple[Request, ...], offline: Grading) -> Judgement:
        votes = []
        for vote in range(1, self.settings.judge.votes + 1):
            answers = [model.ask(request, vote=vote) for request in requests]
            votes.append(
                grade_answers(
                    case,
                    requests,
                    answers,
                    rubric=self.settings.rubric,
                    model=model.name,
                    policy=self.settings.policy,
                    violations=offline.violations,
                    issues=offline.issues,
                )
            )
        if len(votes) == 1:
            return votes[0]
        gradings = [vote.grading for vote in votes]
        self.judged.add_flips(case.id or "", flip_rate(gradings) or 0.0)
        whole = combine(
            gradings, rubric=self.settings.rubric, judge=judge_name(model.name), rule=self.settings.judge.rule
        )
        return Judgement(whole, tuple(dict.fromkeys(failure for vote in votes for failure in vote.failures)))

    def _concluded(self, offline: Grading, gradings: list[Grading], *, failures: tuple[Failure, ...]) -> Grading:
        """The panel's grading. A model whose call failed has no voice, as long as another judge has one."""
        chosen = self.settings.judge
        heard = [grading for grading in gradings if not failures or _has_graded(grading)]
        if chosen.kind == "panel" and OFFLINE in chosen.panel:
            heard.insert(0, offline)
        if not heard:
            return offline if chosen.cascade else gradings[0]
        if len(heard) == 1:
            return heard[0]
        name = f"panel({', '.join(grading.judge for grading in heard)})"
        return combine(heard, rubric=self.settings.rubric, judge=name, rule=chosen.rule)


def _has_graded(grading: Grading) -> bool:
    """Whether any grade is the model's own; safety may be the detectors'."""
    return any(grade.grade is not None for grade in grading.grades if grade.criterion != SAFETY)


@contextmanager
def open_judge(settings: Settings) -> Iterator[ModelJudge | None]:
    """The judge that the settings name, its server reached and let in; None for the offline judge."""
    chosen = settings.judge
    if chosen.kind == "offline":
        yield None
        return
    from touchstone.clients.llm.call import Sampling
    from touchstone.clients.llm.connection import find_connection, find_model
    from touchstone.clients.llm.meter import Budget, Meter, Prices
    from touchstone.clients.llm.model import open_models
    from touchstone.clients.llm.records import Records, open_replay

    prompt = load_prompt(chosen.prompt)
    if chosen.kind == "panel":
        names = tuple(name for name in chosen.panel if name != OFFLINE)
    else:
        names = (find_model(chosen.model, environment=os.environ),)
    connection = None if chosen.replay else find_connection(chosen.base_url, environment=os.environ)
    meter = Meter(Budget(**asdict(chosen.budget)), Prices(**asdict(chosen.prices)) if chosen.prices else None)
    with open_models(
        names,
        connection=connection,
        meter=meter,
        sampling=Sampling(temperature=chosen.sampling_temperature, seed=chosen.seed, max_tokens=chosen.max_tokens),
        records=open_replay(chosen.replay) if chosen.replay else Records(chosen.record),
        timeout=chosen.timeout,
        asks_anew=chosen.asks_anew,
    ) as models:
        yield ModelJudge(settings, prompt, models, meter)


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
