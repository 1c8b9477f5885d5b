"""A page of a long list is read from an index, however long the list is: the plans of both databases show it."""

import pytest
from sqlalchemy import select, text
from tests.store.review_samples import begin
from tests.store.samples import run_named, scored, unread

from touchstone.core.errors import StoreError
from touchstone.store.database import open_database
from touchstone.store.pages import Filters, page_query, runs_query, write_cursor
from touchstone.store.queues import items_query, next_query
from touchstone.store.results import results
from touchstone.store.runs import open_store

DEEP = [900_000]
of_case = select(results).where(results.c.case_id == "x", results.c.case_hash.is_not(None))
RESULTS = "SEARCH results USING "
TAGGED = [
    "SEARCH result_tags USING PRIMARY KEY (run=? AND tag=? AND position>?)",
    "SEARCH results USING PRIMARY KEY (run=? AND position=?)",
]
UNFILTERED = "PRIMARY KEY (run=? AND position>?)"
SQLITE_PLANS = [
    (page_query(1, Filters(), after=DEEP, limit=50), [RESULTS + UNFILTERED]),
    (page_query(1, Filters(), after=None, limit=50), [RESULTS + UNFILTERED]),
    (
        page_query(1, Filters(category="x"), after=None, limit=50),
        [RESULTS + "INDEX results_by_category (run=? AND category=? AND position>?)"],
    ),
    (
        page_query(1, Filters(search="c-9"), after=None, limit=50),
        [RESULTS + "INDEX results_by_case_id (run=? AND case_id>? AND case_id<?)"],
    ),
    (
        page_query(1, Filters(outcome="FAIL"), after=DEEP, limit=50),
        [RESULTS + "INDEX results_by_outcome (run=? AND outcome=? AND position>?)"],
    ),
    (
        page_query(1, Filters(outcome="open"), after=DEEP, limit=50),
        [RESULTS + "INDEX results_by_outcome (run=? AND outcome=? AND position>?)"],
    ),
    (
        page_query(1, Filters(category="x"), after=DEEP, limit=50),
        [RESULTS + "INDEX results_by_category (run=? AND category=? AND position>?)"],
    ),
    (
        page_query(1, Filters(decision="send"), after=DEEP, limit=50),
        [RESULTS + "INDEX results_by_decision (run=? AND decision=? AND position>?)"],
    ),
    (page_query(1, Filters(tag="off topic"), after=DEEP, limit=50), TAGGED),
    (
        page_query(1, Filters(search="c-9"), after=["c-95", 9], limit=50),
        [RESULTS + "INDEX results_by_case_id (run=? AND case_id>? AND case_id<?)"],
    ),
    (of_case, [RESULTS + "INDEX results_one_case_run_draft (case_id=?)"]),
    (
        of_case.where(results.c.run == 1, results.c.draft == 1),
        [RESULTS + "INDEX results_one_case_run_draft (case_id=? AND run=? AND draft=?)"],
    ),
    (items_query(1, after=9_000, limit=50), ["SEARCH queue_items USING PRIMARY KEY (queue=? AND position>?)"]),
    (
        items_query(1, state="differs", after=9_000, limit=50),
        ["SEARCH queue_items USING INDEX queue_items_by_state (queue=? AND state=? AND position>?)"],
    ),
    (runs_query(limit=50), ["SCAN runs USING INDEX runs_by_started"]),
    (runs_query(after=["2026", 9], limit=50), ["SEARCH runs USING INDEX runs_by_started (started<?)"]),
]


@pytest.mark.parametrize(("query", "expected"), SQLITE_PLANS)
def test_sqlite_searches_a_page_by_index_and_sorts_nothing(sqlite_template, query, expected):
    database = open_database(str(sqlite_template))
    with database.reading() as connection:
        statement = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")]
    database.close()
    assert plan == expected


def test_sqlite_hands_out_the_next_item_without_reading_the_whole_queue(sqlite_template):
    database = open_database(str(sqlite_template))
    query = next_query(1, "waiting", reviewer="ann", now="2026", needed=1)
    with database.reading() as connection:
        statement = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")]
    database.close()
    assert plan[0] == "SEARCH queue_items USING INDEX queue_items_by_state (queue=? AND state=? AND position>?)"
    assert not [line for line in plan if line.startswith("SCAN") or "TEMP B-TREE" in line]


MANY = 60_000
FILL = [
    "INSERT INTO runs (number, id, kind, started, seconds, goldset, receipt, receipt_hash, rubric) "
    "VALUES (1, 'r1', 'production', '2026', 0, '', '{}', '', '')",
    "INSERT INTO results SELECT 1, n, 'c-' || n, 1, NULL, 'k' || n % 8, 0.5, "
    "CASE WHEN n % 20 = 0 THEN 'block' ELSE 'send' END, 'PASS', CASE WHEN n % 10 = 0 THEN 'FAIL' ELSE 'PASS' END, "
    f"80, false, '{{}}', '[]', '[]', 0, NULL FROM generate_series(0, {MANY - 1}) n",
    f"INSERT INTO result_tags SELECT 1, 't' || n % 12, n FROM generate_series(0, {MANY - 1}, 10) n",
    "INSERT INTO runs (number, id, kind, started, seconds, goldset, receipt, receipt_hash, rubric) "
    "SELECT n, 'r' || n, 'goldset', 2026 + n, 0, '', '{}', '', '' FROM generate_series(2, 3000) n",
    'INSERT INTO queues (number, id, name, run, made, "by", needed, population, seed, oversampling, reviewers) '
    "VALUES (1, 'q1', 'week', 1, '2026', 'lea', 2, 10000, 1, 3, '[]')",
    "INSERT INTO queue_items SELECT 1, n, n, 'c-' || n, 1, 'k', 0.5, "
    "CASE WHEN n % 50 = 0 THEN 'differs' ELSE 'waiting' END FROM generate_series(0, 9999) n",
    "ANALYZE",
]
NEAR_THE_END = [MANY - 500]
POSTGRESQL_PLANS = [
    (Filters(), NEAR_THE_END, "results_key"),
    (Filters(outcome="FAIL"), NEAR_THE_END, "results_by_outcome"),
    (Filters(outcome="open"), NEAR_THE_END, "results_by_outcome"),
    (Filters(category="k3"), NEAR_THE_END, "results_by_category"),
    (Filters(decision="block"), NEAR_THE_END, "results_by_decision"),
    (Filters(tag="t2"), NEAR_THE_END, "result_tags_key"),
    (Filters(search="c-5"), ["c-59", 59], "results_by_case_id"),
]


@pytest.fixture(scope="module")
def filled(postgresql, postgresql_template):
    from tests.store.conftest import _create

    database = open_database(_create(postgresql, "filled", template=postgresql_template))
    with database.writing() as connection:
        for statement in FILL:
            connection.execute(text(statement.replace(":", "\\:")))
    yield database
    database.close()


@pytest.mark.parametrize(("filters", "after", "index"), POSTGRESQL_PLANS)
def test_postgresql_searches_a_page_by_index_and_sorts_nothing(filled, filters, after, index):
    with filled.reading() as connection:
        query = page_query(1, filters, after=after, limit=51)
        statement = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
        plan = "\n".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {statement}"))
    assert f"using {index}" in plan
    assert "Seq Scan" not in plan
    assert "Sort" not in plan


OTHER_PLANS = [
    (items_query(1, after=9_000, limit=51), "queue_items_key"),
    (items_query(1, state="differs", after=9_000, limit=51), "queue_items_by_state"),
    (next_query(1, "waiting", reviewer="ann", now="2026", needed=2).limit(1), "Index Scan using queue_items_"),
    (runs_query(after=["4000", 1500], limit=51), "runs_by_started"),
]


@pytest.mark.parametrize(("query", "index"), OTHER_PLANS)
def test_postgresql_pages_runs_and_a_queue_of_ten_thousand_by_index(filled, query, index):
    with filled.reading() as connection:
        statement = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
        plan = "\n".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {statement}"))
    assert index in plan
    assert "Seq Scan on queue_items" not in plan
    assert "Seq Scan on runs" not in plan


def fill(store):
    store.create_run(run_named("r1"), rubric="")
    entries = [scored(at, outcome="FAIL" if at % 3 == 0 else "PASS", category=f"k{at % 2}") for at in range(10)]
    store.replies.add("r1", [*entries, unread(10)])


def walk(store, filters, *, limit):
    found, after = [], None
    while True:
        page = store.replies.page("r1", filters, after=after, limit=limit)
        found += [item.position for item in page.items]
        if page.next is None:
            return found
        after = page.next


PAGES = [
    (Filters(), list(range(11))),
    (Filters(outcome="FAIL"), [0, 3, 6, 9]),
    (Filters(outcome="open"), [10]),
    (Filters(category="k1"), [1, 3, 5, 7, 9]),
    (Filters(decision="block"), [0, 3, 6, 9]),
    (Filters(tag="missed question"), [0, 3, 6, 9]),
    (Filters(tag="missed question", category="k0"), [0, 6]),
    (Filters(search="c-"), list(range(10))),
    (Filters(search="c-1"), [1]),
    (Filters(search="C-1"), []),
    (Filters(search="c-", outcome="FAIL", tag="missed question"), [0, 3, 6, 9]),
    (Filters(tag="no such tag"), []),
]


@pytest.mark.parametrize("limit", [1, 3, 50])
@pytest.mark.parametrize(("filters", "positions"), PAGES)
def test_the_pages_of_a_list_hold_each_reply_once_in_order(store, filters, positions, limit):
    fill(store)
    assert walk(store, filters, limit=limit) == positions


def test_a_listed_reply_says_whether_it_has_a_text(store):
    fill(store)
    assert [each.has_case for each in store.replies.listed("r1")] == [True] * 10 + [False]
    assert store.replies.page("r1", Filters(search="c-4")).items[0].record == scored(4, category="k0").record


@pytest.mark.parametrize("cursor", ["", "x", "!!", "WyJhIl0", "W3RydWVd", "Wy0xXQ", "W10", "bnVsbA", "é"])
def test_a_cursor_that_is_none_is_refused(store, cursor):
    fill(store)
    with pytest.raises(StoreError, match="begin at its first page"):
        store.replies.page("r1", after=cursor)


@pytest.mark.parametrize("limit", [0, 1001])
def test_a_page_has_a_size(store, limit):
    fill(store)
    with pytest.raises(StoreError, match="allowed are 1 to 1000"):
        store.replies.page("r1", limit=limit)


def test_categories_and_tags_of_a_run_are_counted(store):
    fill(store)
    assert store.replies.categories("r1") == ("k0", "k1")
    assert store.replies.tags("r1") == {"missed question": 4}


def test_a_case_s_history_names_its_runs_the_newest_first(store):
    for id, started in (("r1", "2026-01-01T10:00:00+00:00"), ("r2", "2026-01-02T10:00:00+00:00")):
        store.create_run(run_named(id, started=started), rubric="")
        store.replies.add(id, [scored(0), scored(1)])
    assert [(past.run.id, past.position) for past in store.replies.history("c-1")] == [("r2", 1), ("r1", 1)]
    assert store.replies.history("c-9") == ()


def test_a_case_s_history_is_read_page_by_page(store):
    for id in ("r1", "r2", "r3"):
        # All began in one second.
        store.create_run(run_named(id, started="2026-01-01T10:00:00+00:00"), rubric="")
        store.replies.add(id, [scored(0), scored(1), scored(2, id="c-1", draft=2)])
    whole = store.replies.history("c-1")
    assert [(past.run.id, past.position) for past in whole] == [(id, at) for id in ("r3", "r2", "r1") for at in (1, 2)]
    walked, after = [], None
    while page := store.replies.history("c-1", after=after, limit=1):
        walked += page
        after = page[-1].cursor
    assert tuple(walked) == whole
    for wrong in ("r3", "nonsense", write_cursor("none", 1), write_cursor(1)):
        with pytest.raises(StoreError, match="the cursor is none of this list"):
            store.replies.history("c-1", after=wrong)


def test_a_production_run_is_not_the_latest_gold_set_run(place):
    from dataclasses import replace

    with open_store(place) as store:
        begin(store)
        batch = replace(run_named("p1", started="2026-02-01T10:00:00+00:00", finished="2026-02-02"), kind="production")
        store.create_run(batch, rubric="")
        assert store.find_run("latest").id == "r1"
        assert store.find_run("latest", kind="production") == batch
        assert [run.id for run in store.list_runs(kind="production")] == ["p1"]
