"""For a process that has this directory on its path, and its workers: scoring that takes a moment and loads no model.

What is proved of kills and resumes is about shards, manifest and workers; that real results are the same bytes on every
engine is proved where real replies are scored.
"""

import time

from touchstone.app import score
from touchstone.app.jobs import work
from touchstone.core.result import Grade, Grading, Result, Score

SECONDS = 0.03


def evaluate(case, **options):
    """A result that depends on the reply's text, so that no two shards are alike."""
    time.sleep(SECONDS)
    value = len(case.response) % 97 / 97
    grades = (Grade("tone", 3, 3.0, 11.25, 0.9, case.response[:40]),)
    grading = Grading("own", "1", "offline", grades, (), (), 70.0, "PASS", ())
    metrics = {"relevance": Score("relevance", value, "by length", {"s_cosine": value, "s_jaccard": value})}
    return Result(case.id, "send", "PASS", (), metrics, rubric=grading)


score.evaluate = evaluate
score.read_ahead = lambda cases: None
score.load_models = work.load_models = lambda: None
