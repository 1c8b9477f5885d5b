"""Results -> flat rows for a spreadsheet; results <-> Arrow batches of one stable schema, with nothing lost on the way.

A batch may carry columns beside the result's own, such as the partition its rows come from. A column whose name
a result needs for itself is called `input_<name>`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from touchstone.core.codec import given, is_object, members, result_from_dict, result_to_dict
from touchstone.core.result import STATUSES, VIOLATION_KINDS, Finding, Grade, Grading, Result, Score
from touchstone.core.shown import inert_cell
from touchstone.runs.evaluate import METRICS

if TYPE_CHECKING:
    from pyarrow import Array, DataType, Field, RecordBatch, Schema

# The criteria of the rubric that ships have a column each; `grades` holds those of any rubric.
CRITERIA = ("accuracy", "completeness", "tone", "actionability", "safety")
_BETWEEN = "; "


def flat_columns() -> tuple[str, ...]:
    """The columns of a table, in order."""
    return (
        *("id", "line", "decision", "verdict", "reasons"),
        *(column for metric in METRICS for column in (metric, f"{metric}_flag")),
        *(f"anchors_{status}" for status in STATUSES),
        *("rubric", "rubric_version", "judge", "total", "outcome", "outcome_reasons", "pass_probability"),
        *(f"grade_{criterion}" for criterion in CRITERIA),
        *("grades", "violations", "suspicions", "issues"),
        "failures",
    )


def flat_row(result: Result) -> dict[str, str | int | float | None]:
    """One cell for each of `flat_columns`; what is not known is an empty cell."""
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

    return pa.schema({part.name: _column_type(part.type) for part in members(Result)})


def _column_type(kind: Any) -> "DataType":
    """The type of a field's column. Criteria are a map, so that any rubric's fit; metrics have a column each."""
    import pyarrow as pa

    kind = given(kind)
    if is_object(kind):
        return pa.struct({part.name: _column_type(part.type) for part in members(kind)})
    if get_origin(kind) is tuple:
        (item, _) = get_args(kind)
        each = _column_type(item)
        return pa.map_(pa.string(), each) if item is Grade else pa.list_(each)
    if get_origin(kind) is Mapping:
        return pa.struct({name: _metric_type(get_type_hints(metric.parts)) for name, metric in METRICS.items()})
    return {int: pa.int64(), float: pa.float64()}.get(kind, pa.string())


def _metric_type(parts: Mapping[str, Any]) -> "DataType":
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for part in members(Score):
        if part.is_spread:
            columns |= {name: kind for name, kind in parts.items() if name not in Score.__slots__}
        elif not part.is_optional or part.name in parts:
            columns[part.name] = part.type
    return pa.struct({name: _column_type(kind) for name, kind in columns.items()})


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
        metrics = {name: _present(name, score) for name, score in metrics.items() if score is not None}
    if rubric is not None:
        # Arrow gives a map as pairs.
        rubric = {**rubric, "criteria": dict(rubric["criteria"])}
    return {**row, "metrics": metrics, "rubric": rubric}


def _present(metric: str, score: dict[str, Any]) -> dict[str, Any]:
    may_lack = METRICS[metric].parts.__optional_keys__
    return {name: value for name, value in score.items() if value is not None or name not in may_lack}
