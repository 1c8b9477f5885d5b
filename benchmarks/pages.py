"""Stores of a thousand and of a million results -> what a page of each costs, as a ratio, and the plans of its queries.

Processor time of this process, in which SQLite and the service both work, the least of several rounds: other programs
on the machine hardly move it, and a ratio of two such times of one run even less.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.clock import whole
from benchmarks.record import write
from touchstone.app.config import Settings
from touchstone.store.pages import Filters, page_query, runs_query
from touchstone.store.queues import items_query, next_query
from touchstone.store.runs import Store, open_store

SMALL, LARGE = 1_000, int(os.environ.get("TOUCHSTONE_PAGES", "1000000"))
QUEUE_SMALL, QUEUE_LARGE = 100, 10_000
ROUNDS = 15
# As many as every filter finds in the small store: a page with more rows would cost more for that alone.
FIRST_ROWS = 8
FIRST_VIEWED = "page: the run"
MOST_RATIO = 2.0
FILTERS: Mapping[str, Filters] = {
    "all": Filters(),
    "outcome": Filters(outcome="FAIL"),
    "not scored": Filters(outcome="open"),
    "category": Filters(category="k3"),
    "decision": Filters(decision="block"),
    "tag": Filters(tag="t2"),
    "beginning of an id": Filters(search="c-5"),
}
_RUN = (
    "INSERT INTO runs (number, id, kind, started, finished, seconds, goldset, receipt, receipt_hash, rubric) "
    "VALUES (1, 'run', 'production', '2026-01-05', '2026-01-05', 1, 'x', :receipt, 'x', :rubric)"
)
_NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {count})"
_RESULTS = (
    "INSERT INTO results SELECT 1, n, 'c-' || n, 1, 'hash', 'k' || (n % 8), 0.5, "
    "CASE WHEN n % 20 = 0 THEN 'block' ELSE 'send' END, 'PASS', "
    "CASE WHEN n % 100 = 7 THEN NULL WHEN n % 10 = 0 THEN 'FAIL' ELSE 'PASS' END, 80, 0, "
    "'{\"accuracy\":3,\"tone\":4}', '[]', '[]', 0, NULL FROM numbers"
)
_BODIES = "INSERT INTO bodies SELECT 1, n, :body FROM numbers"
_TAGS = "INSERT INTO result_tags SELECT 1, 't' || (n / 10 % 12), n FROM numbers WHERE n % 10 = 0"
_QUEUE = (
    'INSERT INTO queues (number, id, name, run, made, "by", needed, population, seed, oversampling, reviewers) '
    "VALUES (1, 'queue', 'week', 1, '2026-01-05', 'lea', 2, {count}, 1, 3, '[]')"
)
_ITEMS = "INSERT INTO queue_items SELECT 1, n, n, 'c-' || n, 1, 'k' || (n % 8), 0.5, 'waiting' FROM numbers"


def run() -> None:
    """Write results/pages.json."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as opened:
        stores = {}
        for results in (SMALL, LARGE):
            place = Path(directory) / f"{results}.db"
            stores[results] = opened.enter_context(open_store(str(place)))
            _fill(stores[results], results=results, items=_items(results))
            print(f"filled a store of {results:,} results: {place.stat().st_size / 1e6:,.0f} MB", flush=True)
        works = {size: _pages(store, results=size, items=_items(size)) for size, store in stores.items()}
        first_views = {}
        lines = {}
        for name in works[SMALL]:
            first = {str(size): whole(work[name]) for size, work in works.items()}
            if name == FIRST_VIEWED:
                # The figures of a run are worked out once, from all its replies.
                first_views = first
            # In turn, so that both meet the same machine.
            rounds = [[whole(works[size][name]) for size in (SMALL, LARGE)] for _ in range(ROUNDS)]
            small, large = (min(times) for times in zip(*rounds, strict=True))
            lines[name] = {"ms_small": small, "ms_large": large, "ratio": large / small}
        plans = _plans(stores[LARGE], results=LARGE)
    sizes = {"results": [SMALL, LARGE], "queue_items": [QUEUE_SMALL, QUEUE_LARGE]}
    worst = max(line["ratio"] for line in lines.values())
    found = {**sizes, "pages": lines, "worst_ratio": worst, "first_view_ms": first_views}
    write("pages", {**found, "targets": {"ratio": MOST_RATIO}, "plans": plans})
    for name, line in lines.items():
        print(f"{name:44}{line['ms_small']:8.2f} ms{line['ms_large']:8.2f} ms   x{line['ratio']:.2f}", flush=True)


def _items(results: int) -> int:
    return QUEUE_SMALL if results == SMALL else min(QUEUE_LARGE, results)


def _fill(store: Store, *, results: int, items: int) -> None:
    """One run with that many light results, and a queue of its first ones. No statistics: a store gathers none."""
    from dataclasses import asdict

    from touchstone.app.plan import receipt_of
    from touchstone.core.case import Case
    from touchstone.core.codec import case_to_dict, result_to_dict
    from touchstone.core.result import Result
    from touchstone.rubric.card import write_rubric

    settings = Settings()
    case = Case(id="c", input="How long?", response="You have 30 days.", context=["You have 14 days."])
    values = {
        "receipt": json.dumps(asdict(receipt_of(settings, name="x", data="x"))),
        "rubric": write_rubric(settings.rubric),
        "case": json.dumps(case_to_dict(case)),
        "body": json.dumps(result_to_dict(Result("c", "send", "PASS", (), {}))),
    }
    statements = (
        _RUN,
        "INSERT INTO cases VALUES ('hash', :case)",
        *(f"{_NUMBERS.format(count=results)} {fill}" for fill in (_RESULTS, _BODIES, _TAGS)),
        _QUEUE.format(count=items),
        f"{_NUMBERS.format(count=items)} {_ITEMS}",
    )
    # No method of the store fills a million rows at once.
    with store._database.writing() as connection:
        for statement in statements:
            wanted = {name: value for name, value in values.items() if f":{name}" in statement}
            connection.exec_driver_sql(statement, wanted)


def _pages(store: Store, *, results: int, items: int) -> dict[str, Callable[[], object]]:
    """What is measured: queries of the store at the beginning and near the end, and whole answers of the service."""
    from starlette.testclient import TestClient

    from touchstone.service.app import create_app
    from touchstone.service.options import Options

    client = TestClient(create_app(Settings(), store, options=Options()), base_url="http://127.0.0.1")
    work: dict[str, Callable[[], object]] = {}
    deep = {}
    for name, filters in FILTERS.items():
        deep[name] = _near_the_end(filters, results=results)
        work[f"store: first page, {name}"] = lambda filters=filters: store.replies.page(
            "run", filters, limit=FIRST_ROWS
        )
        work[f"store: last page, {name}"] = lambda filters=filters, after=deep[name]: store.replies.page(
            "run", filters, after=after
        )
    work["store: a reply"] = lambda: store.replies.at("run", results - 3)
    work["store: the next item of a queue"] = lambda: store.queues.next_item(
        "queue", reviewer="ann", now="2026-01-05T10:00:00+00:00"
    )
    work["store: items of a queue, last page"] = lambda: store.queues.items("queue", after=items - 60, limit=50)
    addresses = {
        "page: the run": "/runs/run",
        "page: a reply": f"/runs/run/replies/{results - 3}",
        "page: overview": "/",
        "page: the queue": "/queues/queue",
        "page: grade an item": "/review/queue/0",
        "API: last results": f"/v1/runs/run/results?after={deep['all']}",
        "API: failed results, last": f"/v1/runs/run/results?outcome=FAIL&after={deep['outcome']}",
        "API: items of the queue, last": f"/v1/queues/queue/items?after={items - 60}",
    }
    for name, address in addresses.items():
        work[name] = lambda address=address: _got(client.get(address))
    return work


def _got(answer: Any) -> bytes:
    if answer.status_code != 200:
        raise SystemExit(f"{answer.url} answered {answer.status_code}: {answer.text[:200]}")
    return bytes(answer.content)


def _near_the_end(filters: Filters, *, results: int) -> str:
    """A cursor that fewer than fifty replies of any filter come after."""
    import base64

    key = ["c-599", 599] if filters.search else [results - 40]
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def _plans(store: Store, *, results: int) -> dict[str, list[str]]:
    """How SQLite looks up each page of the large store."""
    queries: dict[str, Any] = {
        f"results, {name}": page_query(1, filters, after=["c-599", 599] if filters.search else [results - 40], limit=51)
        for name, filters in FILTERS.items()
    }
    queries["runs"] = runs_query(after=["2026-01-05", 1], limit=51)
    queries["items of a queue"] = items_query(1, after=9_000, limit=51)
    queries["next item of a queue"] = next_query(
        1, "waiting", reviewer="ann", now="2026-01-05T10:00:00+00:00", needed=2
    )
    found = {}
    with store._database.reading() as connection:
        for name, query in queries.items():
            statement = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
            found[name] = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")]
    return found
