"""The command in-process, with a scorer small enough to check by eye."""

from dataclasses import dataclass

import pytest

from touchstone.app import score as app
from touchstone.cli.main import main
from touchstone.core.result import Failure, Result, Score


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def small_evaluate(case, *, plan, rubric, policy, fitted, verifier):
    """PASS unless the reply is shorter than ten times `relevance_fail`."""
    if len(case.response) > plan.max_reply_chars:
        return Result(case.id, "review", None, (), None, (Failure("score", "ReplyTooLong", "the reply is too long"),))
    value = min(1.0, len(case.response) / 10)
    verdict = "FAIL" if value < plan.relevance_fail else "PASS"
    metrics = {"relevance": Score("relevance", value, "by length", flag="FAIL" if verdict == "FAIL" else None)}
    return Result(case.id, "block" if verdict == "FAIL" else "send", verdict, (), metrics)


@pytest.fixture
def touchstone(monkeypatch, tmp_path, capsys):
    """Runs `touchstone` with these arguments in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def touchstone(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return touchstone


@pytest.fixture
def run(monkeypatch, touchstone):
    """The same with the small scorer."""
    monkeypatch.setattr(app, "evaluate", small_evaluate)
    return touchstone
