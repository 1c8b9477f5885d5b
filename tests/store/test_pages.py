"""A page of a long list is read from an index, however long the list is."""

import pytest
from sqlalchemy import select

from touchstone.store.database import open_database
from touchstone.store.schema import results

page = select(results).where(results.c.run == 1, results.c.position > 900_000).order_by(results.c.position).limit(50)
of_case = select(results).where(results.c.case_id == "x", results.c.case_hash.is_not(None))
PLANS = [
    (page, "PRIMARY KEY (run=? AND position>?)"),
    (page.where(results.c.outcome == "FAIL"), "INDEX results_by_outcome (run=? AND outcome=? AND position>?)"),
    (page.where(results.c.category == "x"), "INDEX results_by_category (run=? AND category=? AND position>?)"),
    (page.where(results.c.decision == "x"), "INDEX results_by_decision (run=? AND decision=? AND position>?)"),
    (of_case, "INDEX results_one_case_run_draft (case_id=?)"),
    (
        of_case.where(results.c.run == 1, results.c.draft == 1),
        "INDEX results_one_case_run_draft (case_id=? AND run=? AND draft=?)",
    ),
]


@pytest.mark.parametrize(("query", "index"), PLANS)
def test_a_page_is_searched_by_index_and_not_sorted(sqlite_template, query, index):
    database = open_database(str(sqlite_template))
    with database.reading() as connection:
        text = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]
    database.close()
    assert plan == [f"SEARCH results USING {index}"]
