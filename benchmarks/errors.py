"""Public sets -> fifty errors each, to be read and classed: half missed, half false alarms.

The errors of each sort are ranked by score and taken at even steps, so that the fifty are spread over the ranking.
Printed as JSON lines; what was made of them is in errors.jsonl, by id, since the texts stay out of the repository.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import touchstone
from benchmarks.cases import PUBLIC_SETS, Judged, public_set
from benchmarks.quality import error, hallucination
from touchstone.core.result import Score

OF_EACH_SORT = 25


def run() -> None:
    """Print the errors of every set that is there."""
    for name in PUBLIC_SETS:
        judged = public_set(name)
        if judged is None:
            continue
        scored = [(item, hallucination(touchstone.score(item.case))) for item in judged]
        for row in sample(name, scored):
            print(json.dumps(row, ensure_ascii=False), flush=True)


def sample(name: str, scored: Sequence[tuple[Judged, Score]]) -> Iterator[dict[str, Any]]:
    """The set's fifty."""
    for sort in ("missed", "false alarm"):
        errors = [pair for pair in scored if error(*pair) == sort]
        ranked = sorted(errors, key=lambda pair: (pair[1].score, pair[0].case.id))
        for at in range(min(OF_EACH_SORT, len(ranked))):
            item, score = ranked[at * len(ranked) // min(OF_EACH_SORT, len(ranked))]
            yield {"set": name, "sort": sort, "of": len(ranked), **_row(item, score)}


def _row(item: Judged, score: Score) -> dict[str, Any]:
    anchors = [
        {"kind": anchor.kind, "text": anchor.text, "value": anchor.value, "status": anchor.status, "why": anchor.reason}
        for anchor in score.anchors or ()
    ]
    return {
        "id": item.case.id,
        "score": round(score.score or 0.0, 3),
        "gold": dict(item.gold),
        "input": item.case.question,
        "response": item.case.response,
        "context": [passage.text for passage in item.case.context or ()],
        "anchors": anchors,
    }
