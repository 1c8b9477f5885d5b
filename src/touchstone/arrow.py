"""Arrow record batch of cases -> Arrow record batch of results, for your own Spark, Ray, Daft or DuckDB job.

>>> import pyarrow as pa
>>> from touchstone.arrow import score_batch
>>> case = {
...     "input": "How long?",
...     "response": "You have 30 days to return it.",
...     "context": ["You have 14 days to return it."],
... }
>>> score_batch(pa.RecordBatch.from_pylist([case])).column("decision").to_pylist()
['block']
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING

from touchstone.app.config import Settings
from touchstone.app.rubrics import DEFAULT_RUBRIC, load_rubric
from touchstone.app.score import score_together
from touchstone.core.case import Case
from touchstone.core.codec import case_hash
from touchstone.core.errors import ConfigError
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.result import Failure
from touchstone.io.cases import Entry, read_case
from touchstone.io.formats import read_batch, refuse_repeats
from touchstone.io.result_tables import results_from_batch, results_schema, results_to_batch
from touchstone.rubric.model import Rubric

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch, Schema

__all__ = ["result_schema", "results_from_batch", "score_batch", "score_batches"]

_SOURCE = "the batch"


def score_batch(
    batch: "RecordBatch",
    *,
    plan: Plan | None = None,
    rubric: Rubric | None = None,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
    verifier: str | PathLike[str] | None = None,
) -> "RecordBatch":
    """A result for each row, in order; columns named in `keep` are beside it unchanged. `verifier` is the directory
    of a model that reads each sentence.

    A result depends on its row alone, so batches may be cut anywhere: a case without an id gets its content's hash,
    and no id is compared with those of other rows. `line` of a failed row is its place in the batch, from 1.
    """
    refuse_repeats(batch.schema, file=_SOURCE)
    kept = _kept(batch, keep)
    settings = Settings(
        plan=plan or Plan(),
        columns=columns or {},
        rubric=rubric or load_rubric(DEFAULT_RUBRIC),
        policy=policy or Policy(),
        verifier=None if verifier is None else fspath(verifier),
    )
    rows = read_batch(batch, file=_SOURCE)
    entries = [Entry(row.file, row.line, _named(read_case(row, columns=settings.columns))) for row in rows]
    return results_to_batch(score_together(entries, settings=settings), kept=kept)


def score_batches(
    batches: "Iterable[RecordBatch]",
    *,
    plan: Plan | None = None,
    rubric: Rubric | None = None,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
    verifier: str | PathLike[str] | None = None,
) -> "Iterator[RecordBatch]":
    """`score_batch` over a stream of batches, as Spark's `mapInArrow` hands them over."""
    one = partial(score_batch, plan=plan, rubric=rubric, policy=policy, columns=columns, keep=tuple(keep))
    for batch in batches:
        yield one(batch, verifier=verifier)


def result_schema(cases: "Schema | None" = None, *, keep: Iterable[str] = ()) -> "Schema":
    """The schema of what `score_batch` gives for cases of this schema; without `keep` it is always the same."""
    return results_schema(cases.field(name) for name in keep) if cases is not None else results_schema()


def _kept(batch: "RecordBatch", names: Iterable[str]) -> "dict[str, Array]":
    kept = dict.fromkeys(names)
    for name in kept:
        if name not in batch.schema.names:
            raise ConfigError(f"keep names '{name}', which is no column of the batch: {', '.join(batch.schema.names)}")
    return {name: batch.column(name) for name in kept}


def _named(case: Case | Failure) -> Case | Failure:
    return case if isinstance(case, Failure) or case.id else replace(case, id=case_hash(case))
