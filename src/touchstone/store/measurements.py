"""Measurements of judges <-> rows that are only added to, and a run's labelled replies as the judge gave them."""

from collections.abc import Iterator

from sqlalchemy import Row, func, insert, select

from touchstone.store.columns import from_json, to_json
from touchstone.store.database import Database
from touchstone.store.rows import SCORED_COLUMNS, RecordReader, Scored, scored_from_row
from touchstone.store.schema import bodies, cases, measurements, results, runs
from touchstone.trust.measurement import Measurement
from touchstone.trust.pairs import figures_from_dict, figures_to_dict

# A case with labels holds this; in a customer's words the quotation marks would be escaped.
_LABELLED = '"labels":['


class Measurements:
    """How far judges agree with people, as it was measured."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, measurement: Measurement) -> None:
        """Adds it; of one judge on one gold set it is the newest from now on."""
        row = {
            "judge": measurement.judge,
            "goldset": measurement.goldset,
            "data": measurement.data,
            "rubric_hash": measurement.rubric_hash,
            "made": measurement.made,
            "cases": measurement.cases,
            "labelled": measurement.figures.labelled,
            "figures": to_json(figures_to_dict(measurement.figures)),
        }
        with self._database.writing() as connection:
            connection.execute(insert(measurements), row)

    def of_judge(self, judge: str) -> tuple[Measurement, ...]:
        """The newest of exactly this judge on each gold set, the newest first."""
        newest = select(func.max(measurements.c.number)).where(measurements.c.judge == judge)
        of_sets = newest.group_by(measurements.c.goldset)
        query = select(measurements).where(measurements.c.number.in_(of_sets)).order_by(measurements.c.number.desc())
        with self._database.reading() as connection:
            return tuple(_measurement(row) for row in connection.execute(query))

    def revision(self, judge: str) -> int:
        """Goes up whenever the judge is measured."""
        query = select(func.max(measurements.c.number)).where(measurements.c.judge == judge)
        with self._database.reading() as connection:
            return connection.scalar(query) or 0

    def labelled_replies(self, run: str) -> Iterator[Scored]:
        """The replies of a run whose cases carry labels, with what the judge said before anything was waived."""
        joined = results.join(runs, results.c.run == runs.c.number).join(
            cases, results.c.case_hash == cases.c.hash
        ).join(bodies, (bodies.c.run == results.c.run) & (bodies.c.position == results.c.position))  # fmt: skip
        query = select(*SCORED_COLUMNS).select_from(joined).order_by(results.c.position)
        labelled = query.where(runs.c.id == run, cases.c.body.contains(_LABELLED, autoescape=True))
        reader = RecordReader()
        with self._database.reading() as connection:
            for row in connection.execute(labelled):
                scored = scored_from_row(row, reader=reader, count=lambda position, result: result)
                if scored.case is not None and scored.case.labels:
                    yield scored


def _measurement(row: Row[tuple[object, ...]]) -> Measurement:
    return Measurement(
        judge=row.judge,
        goldset=row.goldset,
        data=row.data,
        rubric_hash=row.rubric_hash,
        made=row.made,
        cases=row.cases,
        figures=figures_from_dict(from_json(row.figures)),
    )
