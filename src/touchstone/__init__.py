"""Touchstone: are the replies your AI drafts good enough to send?

>>> import touchstone as ts
>>> result = ts.score(ts.Case(input="When is it due?", response="It is due on 3 May.", context=["Due on 3 May."]))
>>> result.verdict
'PASS'
"""

from importlib import import_module
from os import PathLike, fspath
from typing import Any

from touchstone.core.case import Case, Passage, Turn
from touchstone.core.errors import CaseError, ConfigError, TouchstoneError
from touchstone.core.plan import Plan
from touchstone.core.policy import Allowance, Policy
from touchstone.core.result import Result
from touchstone.rubric.model import Rubric
from touchstone.runs.evaluate import evaluate

__version__ = "0.1.0"
__all__ = [
    "Allowance",
    "Case",
    "Passage",
    "Plan",
    "Policy",
    "Result",
    "Rubric",
    "TouchstoneError",
    "Turn",
    "assert_passes",
    "parse_rubric",
    "score",
]
# Names that were here before they had a module of their own.
_MOVED = dict.fromkeys(
    ("Anchor", "Evidence", "Failure", "Finding", "Grade", "Grading", "Score", "Statement", "Verification"),
    "touchstone.results",
)


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        return getattr(import_module(_MOVED[name]), name)
    raise AttributeError(f"module 'touchstone' has no attribute '{name}'")


def score(
    case: Case,
    *,
    plan: Plan | None = None,
    rubric: Rubric | None = None,
    policy: Policy | None = None,
    verifier: str | PathLike[str] | None = None,
) -> Result:
    """Score and grade one case. The parser is loaded on the first call and kept for the process.

    `verifier` is the directory of a model that reads each sentence against the sources; it is kept, too.
    """
    _check(case, plan=plan, rubric=rubric, policy=policy)
    if verifier is None:
        return evaluate(case, plan=plan or Plan(), rubric=rubric, policy=policy or Policy())
    from touchstone.app.verifier import find_verifier

    model = find_verifier(fspath(verifier))
    return evaluate(case, plan=plan or Plan(), rubric=rubric, policy=policy or Policy(), verifier=model)


def _check(case: object, **settings: object) -> None:
    if not isinstance(case, Case):
        remedy = "build one with ts.Case(response=…), or from a row with touchstone.cases.case_from_dict"
        raise CaseError(f"score takes a Case, not a {type(case).__name__}: {remedy}")
    for kind in (Plan, Rubric, Policy):
        name = kind.__name__.lower()
        given = settings[name]
        if given is not None and not isinstance(given, kind):
            raise ConfigError(f"{name} is a {type(given).__name__}, allowed is a ts.{kind.__name__}: give one, or none")


def parse_rubric(text: str, *, name: str = "rubric") -> Rubric:
    """A rubric from its YAML text; `name` is what errors call it."""
    from touchstone.rubric import parse

    return parse.parse_rubric(text, name=name)


def assert_passes(
    case: Case,
    *,
    plan: Plan | None = None,
    rubric: Rubric | None = None,
    policy: Policy | None = None,
    verifier: str | PathLike[str] | None = None,
) -> Result:
    """The case's result if its reply passes; else an AssertionError that says what is wrong with it and why."""
    from touchstone.app.assertion import explain_failure, passes

    __tracebackhide__ = True
    result = score(case, plan=plan, rubric=rubric, policy=policy, verifier=verifier)
    if not passes(result):
        raise AssertionError(explain_failure(case, result))
    return result
