"""Touchstone: are the replies your AI drafts good enough to send?

>>> import touchstone as ts
>>> result = ts.score(ts.Case(input="When is it due?", response="It is due on 3 May.", context=["Due on 3 May."]))
>>> result.verdict
'PASS'
"""

from touchstone.core.case import Case, Passage, Turn
from touchstone.core.errors import TouchstoneError
from touchstone.core.plan import Plan
from touchstone.core.result import Anchor, Evidence, Failure, Result, Score
from touchstone.runs.evaluate import evaluate

__version__ = "0.1.0"
__all__ = [
    "Anchor", "Case", "Evidence", "Failure", "Passage", "Plan", "Result", "Score", "TouchstoneError", "Turn", "score",
]  # fmt: skip


def score(case: Case, *, plan: Plan | None = None) -> Result:
    """Score one case. The parser is loaded on the first call and kept for the process."""
    return evaluate(case, plan=plan or Plan())
