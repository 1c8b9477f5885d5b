"""Results -> flat rows for a spreadsheet, and the nested schema they have in Parquet."""

from collections import Counter
from typing import TYPE_CHECKING

from touchstone.core.result import STATUSES, Result

if TYPE_CHECKING:
    from pyarrow import Schema

METRICS = ("relevance", "completeness", "hallucination")
FLAT_COLUMNS = (
    *("id", "line", "decision", "verdict", "reasons"),
    *(column for metric in METRICS for column in (metric, f"{metric}_flag")),
    *(f"anchors_{status}" for status in STATUSES),
    "failures",
)
# What spreadsheets take for the start of a formula (OWASP, "CSV Injection").
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_BETWEEN = "; "


def flat_row(result: Result) -> dict[str, str | int | float | None]:
    """One cell for each of FLAT_COLUMNS; what is not known is an empty cell."""
    scores = result.metrics or {}
    row: dict[str, str | int | float | None] = {
        "id": _plain(result.id),
        "line": result.line,
        "decision": result.decision,
        "verdict": result.verdict,
        "reasons": _plain(_BETWEEN.join(result.reasons)),
        "failures": _plain(_BETWEEN.join(f"{f.stage}: {f.message}" for f in result.failures)),
    }
    for metric in METRICS:
        score = scores.get(metric)
        row[metric] = score.score if score else None
        row[f"{metric}_flag"] = score.flag if score else None
    return row | _anchor_counts(result)


def _anchor_counts(result: Result) -> dict[str, int | None]:
    scores = [score for score in (result.metrics or {}).values() if score.score is not None]
    checked = [score.anchors for score in scores if score.anchors is not None]
    if not checked:
        return {f"anchors_{status}": None for status in STATUSES}
    counts = Counter(anchor.status for anchors in checked for anchor in anchors)
    return {f"anchors_{status}": counts[status] for status in STATUSES}


def _plain(cell: str | None) -> str | None:
    """The cell as text that no spreadsheet runs."""
    return f"'{cell}" if cell and cell.startswith(_FORMULA_STARTS) else cell


def nested_schema() -> "Schema":
    """The Parquet columns of a result: the contract's object, every field with a fixed type."""
    import pyarrow as pa

    text, texts, number, place = pa.string(), pa.list_(pa.string()), pa.float64(), pa.int64()
    evidence = pa.struct({"source": text, "start": place, "end": place, "text": text})
    anchor = pa.struct(
        {"kind": text, "text": text, "start": place, "end": place, "value": text, "status": text, "reason": text}
        | {"evidence": pa.list_(evidence)}
    )
    said = {"flag": text, "reason": text}
    metrics = {
        "relevance": pa.struct({"score": number, "s_cosine": number, "s_jaccard": number} | said),
        "completeness": pa.struct({"score": number, "keywords": texts, "missing": texts} | said),
        "hallucination": pa.struct(
            {"score": number, "s_claims": number, "p_drift": number, "ngram_overlap": number}
            | said
            | {"anchors": pa.list_(anchor)}
        ),
    }
    failure = pa.struct({"stage": text, "error": text, "message": text})
    return pa.schema(
        {"id": text, "line": place, "decision": text, "verdict": text, "reasons": texts}
        | {"metrics": pa.struct(metrics), "failures": pa.list_(failure)}
    )
