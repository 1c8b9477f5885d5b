"""Results -> flat rows for a spreadsheet; results <-> Arrow batches of one stable schema, with nothing lost on the way.

A batch may carry columns beside the result's own, such as the partition its rows come from. A column whose name
a result needs for itself is called `input_<name>`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from touchstone.core.codec import result_from_dict, result_to_dict
from touchstone.core.result import STATUSES, VIOLATION_KINDS, Chances, Finding, Grade, Grading, Result
from touchstone.core.shown import inert_cell

if TYPE_CHECKING:
    from pyarrow import Array, DataType, Field, RecordBatch, Schema

METRICS = ("relevance", "completeness", "hallucination")
# The criteria of the rubric that ships have a column each; `grades` holds those of any rubric.
CRITERIA = ("accuracy", "completeness", "tone", "actionability", "safety")
FLAT_COLUMNS = (
    *("id", "line", "decision", "verdict", "reasons"),
    *(column for metric in METRICS for column in (metric, f"{metric}_flag")),
    *(f"anchors_{status}" for status in STATUSES),
    *("rubric", "rubric_version", "judge", "total", "outcome", "outcome_reasons", "pass_probability"),
    *(f"grade_{criterion}" for criterion in CRITERIA),
    *("grades", "violations", "suspicions", "issues"),
    "failures",
)
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
    return row | _anchor_counts(result) | (_grading_cells(result.rubric) if result.rubric else {})


def _anchor_counts(result: Result) -> dict[str, int | None]:
    scores = [score for score in (result.metrics or {}).values() if score.score is not None]
    checked = [score.anchors for score in scores if score.anchors is not None]
    if not checked:
        return {f"anchors_{status}": None for status in STATUSES}
    counts = Counter(anchor.status for anchors in checked for anchor in anchors)
    return {f"anchors_{status}": counts[status] for status in STATUSES}


def _grading_cells(grading: Grading) -> dict[str, str | int | float | None]:
    grades = {grade.criterion: grade for grade in grading.grades}
    return {
        "rubric": _plain(grading.rubric),
        "rubric_version": _plain(grading.version),
        "judge": _plain(grading.judge),
        "total": grading.total,
        "outcome": grading.outcome,
        "outcome_reasons": _plain(_BETWEEN.join(grading.reasons)),
        "pass_probability": grading.pass_probability,
        **{f"grade_{name}": grades[name].grade if name in grades else None for name in CRITERIA},
        "grades": _plain(_BETWEEN.join(map(_grade_text, grading.grades))),
        "violations": _BETWEEN.join(_counted(grading.violations)),
        "suspicions": _BETWEEN.join(_counted(grading.suspicions)),
        "issues": _plain(_BETWEEN.join(grading.issues)),
    }


def _grade_text(grade: Grade) -> str:
    return f"{grade.criterion} {'not graded' if grade.grade is None else grade.grade}"


def _counted(findings: Sequence[Finding]) -> list[str]:
    """How many there are of each kind: what they say stays in the results, personal data not being for every table."""
    counts = Counter(finding.kind for finding in findings)
    return [f"{kind} {counts[kind]}" for kind in VIOLATION_KINDS if counts[kind]]


def _plain(cell: str | None) -> str | None:
    return None if cell is None else inert_cell(cell)


def nested_schema() -> "Schema":
    """The Parquet columns of a result: the contract's object, every field with a fixed type."""
    import pyarrow as pa

    text, texts, number, place = pa.string(), pa.list_(pa.string()), pa.float64(), pa.int64()
    evidence = pa.struct({"source": text, "start": place, "end": place, "text": text, "path": text})
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
    rubric = _grading_type(evidence)
    failure = pa.struct({"stage": text, "error": text, "message": text})
    return pa.schema(
        {"id": text, "line": place, "decision": text, "verdict": text, "reasons": texts}
        | {"metrics": pa.struct(metrics), "rubric": rubric, "failures": pa.list_(failure)}
        | {"verifier": _verification_type(evidence)}
    )


def _verification_type(evidence: "DataType") -> "DataType":
    """The verifier's block, which is null where none spoke."""
    import pyarrow as pa

    text, number, place = pa.string(), pa.float64(), pa.int64()
    chances = pa.struct(dict.fromkeys(Chances._fields, number))
    sentence = pa.struct(
        {"text": text, "start": place, "end": place, "status": text, "probability": number, "by": text, "reason": text}
        | {"chances": chances, "evidence": pa.list_(evidence)}
    )
    return pa.struct(
        {"name": text, "version": text, "hash": text, "spared": place, "unread": place}
        | {"sentences": pa.list_(sentence)}
    )


def _grading_type(evidence: "DataType") -> "DataType":
    """The rubric block; its criteria are a map, so that any rubric's fit."""
    import pyarrow as pa

    text, texts, number, place = pa.string(), pa.list_(pa.string()), pa.float64(), pa.int64()
    grade = pa.struct({"grade": place, "value": number, "points": number, "confidence": number, "reason": text})
    finding = pa.struct(
        {"kind": text, "rule": text, "text": text, "start": place, "end": place, "reason": text}
        | {"evidence": pa.list_(evidence), "confidence": number}
    )
    return pa.struct(
        {"name": text, "version": text, "judge": text, "criteria": pa.map_(text, grade)}
        | {"violations": pa.list_(finding), "suspicions": pa.list_(finding), "issues": texts, "total": number}
        | {"outcome": text, "pass_probability": number, "reasons": texts}
        | {"dismissed": pa.list_(pa.struct({"finding": finding, "reason": text, "quote": text}))}
    )


def results_schema(kept: "Iterable[Field]" = ()) -> "Schema":
    """The columns of results, then those kept beside them."""
    import pyarrow as pa

    own = nested_schema()
    return pa.schema([*own, *(field.with_name(kept_name(field.name)) for field in kept)])


def kept_name(name: str) -> str:
    """What a kept column is called beside a result's own."""
    return f"input_{name}" if name in nested_schema().names else name


def results_to_batch(results: Iterable[Result], *, kept: "Mapping[str, Array] | None" = None) -> "RecordBatch":
    """One row for each result, with the kept columns beside it."""
    import pyarrow as pa

    own = pa.RecordBatch.from_pylist([result_to_dict(result) for result in results], schema=nested_schema())
    beside = {kept_name(name): column for name, column in (kept or {}).items()}
    return pa.RecordBatch.from_arrays([*own.columns, *beside.values()], names=[*own.schema.names, *beside])


def results_from_batch(batch: "RecordBatch") -> list[Result]:
    """The results in a batch, or in a table read from Parquet; kept columns are passed over."""
    # Results of before there was a verifier have no column for it.
    own = batch.select([name for name in nested_schema().names if name in batch.schema.names])
    return [result_from_dict(_contract(row)) for row in own.to_pylist()]


def _contract(row: dict[str, Any]) -> dict[str, Any]:
    """The contract's object: what has no value because it was never there is left out again."""
    metrics, rubric = row["metrics"], row["rubric"]
    if metrics is not None:
        metrics = {name: score for name, score in metrics.items() if score is not None}
    if rubric is not None:
        # Arrow gives a map as pairs.
        rubric = {**rubric, "criteria": dict(rubric["criteria"])}
    return {**row, "metrics": metrics, "rubric": rubric}
