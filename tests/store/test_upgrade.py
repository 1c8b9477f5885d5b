"""Empty, old, new and foreign databases, when a store is opened in them."""

import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text
from tests.store.samples import run_named, scored

from touchstone.core.errors import StoreError
from touchstone.store.database import open_database
from touchstone.store.migrations import MIGRATIONS
from touchstone.store.pages import Filters
from touchstone.store.runs import open_store
from touchstone.store.tables import HEAD, VERSION_TABLE, metadata
from touchstone.store.upgrade import upgrade


def execute(place, *statements):
    engine = create_engine(place if "://" in place else f"sqlite:///{place}")
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def test_an_empty_database_gets_the_tables_of_the_schema(empty_place):
    open_store(empty_place).close()
    engine = create_engine(empty_place if "://" in empty_place else f"sqlite:///{empty_place}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
        assert compare_metadata(context, metadata) == []
        for table in metadata.tables.values():
            found = inspect(connection).get_indexes(table.name)
            named = {index["name"] for index in found if not index.get("duplicates_constraint")}
            assert named == {index.name for index in table.indexes}
            assert inspect(connection).get_pk_constraint(table.name)["constrained_columns"] == [
                column.name for column in table.primary_key
            ]
    engine.dispose()


def test_the_version_a_store_is_compared_with_is_the_newest_migration():
    assert [*MIGRATIONS] == sorted(MIGRATIONS)
    assert [*MIGRATIONS][-1] == HEAD


def test_a_store_with_data_is_opened_again_as_it_is(empty_place):
    with open_store(empty_place) as store:
        store.create_run(run_named("r1"), rubric="text")
        store.replies.add("r1", [scored(0)])
    with open_store(empty_place) as store:
        assert store.replies.result("r1", "c-0") == scored(0)
        assert store.rubric("r1") == "text"


# As the first version left it; what later migrations make of this is what its users will find.
FIRST_VERSION = [
    "INSERT INTO runs VALUES (1, 'r1', '2026-01-01T10:00:00+00:00', NULL, 0.5, 'gold.jsonl', "
    """'{"goldset":"gold.jsonl","data":"d1","rubric":"supportai","rubric_version":"1.0","rubric_hash":"r1","plan":"p1","""
    """"policy":"c1","judge":"offline","code":"0.1.0","parser":"parser 3.8.0","later":"unknown"}', 'h', 'text')""",
    "INSERT INTO run_labels VALUES (1, 'prompt', 'v7')",
    """INSERT INTO cases VALUES ('c0ffee', '{"id":"c-0","input":"How?","response":"So."}')""",
    "INSERT INTO results VALUES (1, 0, 'c-0', 1, 'c0ffee', 'returns', 0.5, 'send', 'PASS', 'PASS', 80.0, {false}, "
    """'{{"tone":3}}', '[]', '[["missed question","prompt","the fee"]]', 0.25)""",
    "INSERT INTO results VALUES (1, 1, 'line 2', 1, NULL, NULL, NULL, 'review', NULL, NULL, NULL, {true}, "
    """'{{}}', '[]', '[]', 0.0)""",
    """INSERT INTO bodies VALUES (1, 1, '{"id":null,"line":2,"decision":"review","verdict":null,"reasons":[],"""
    """"metrics":null,"rubric":null,"failures":[{"stage":"read","error":"X","message":"no JSON\\u0000"}]}')""",
    """INSERT INTO bodies VALUES (1, 0, '{"id":"c-0","decision":"send","verdict":"PASS","reasons":[],"metrics":null,"""
    """"rubric":null,"failures":[]}')""",
]


def begin_at(place, version):
    """A database as an earlier version left it."""
    database = open_database(place)
    upgrade(database, to=version)
    database.close()


def test_data_of_the_first_version_is_read(empty_place):
    place = empty_place
    begin_at(place, "0001")
    false, true = ("false", "true") if "://" in place else ("0", "1")
    # A colon would be taken for a parameter.
    statements = [
        line.format(false=false, true=true) if "{false}" in line or "{true}" in line else line for line in FIRST_VERSION
    ]
    execute(place, *(line.replace(":", "\\:") for line in statements))
    with open_store(place) as store:
        run = store.find_run("r1")
        assert (run.seconds, run.receipt.parser, run.labels) == (0.5, "parser 3.8.0", {"prompt": "v7"})
        assert store.replies.records("r1")[0].tags[0].detail == "the fee"
        assert store.replies.records("r1")[0].grades == {"tone": 3}
        assert store.replies.records("r1")[0].pass_probability is None
        assert store.replies.result("r1", "c-0").case.response == "So."
        assert [record.problem for record in store.replies.records("r1")] == [None, "no JSON\0"]
        assert run.kind == "goldset"
        assert store.replies.tags("r1") == {"missed question": 1}
        assert [item.position for item in store.replies.page("r1", Filters(tag="missed question")).items] == [0]


def test_a_store_made_by_a_newer_version_is_refused_and_left_alone(place):
    execute(place, f"UPDATE {VERSION_TABLE} SET version_num = '9001'")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"made by a newer version of Touchstone .*at 9001.*pip install --upgrade"):
            open_store(place)


def test_another_program_s_database_is_refused_and_left_alone(empty_place, tmp_path):
    if "://" not in empty_place:
        (tmp_path / "new").mkdir()
    execute(empty_place, "CREATE TABLE runs (x INTEGER)")
    with pytest.raises(StoreError, match="another program's database, it has a table 'runs': name another store"):
        open_store(empty_place)
    execute(empty_place, "INSERT INTO runs VALUES (1)", "DROP TABLE runs")


OPENING = "import sys; from touchstone.store.runs import open_store; open_store(sys.argv[1]).close()"


@pytest.mark.slow
def test_processes_that_open_an_empty_database_at_once_all_succeed(empty_place):
    openers = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", OPENING, empty_place], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [opener.communicate()[1] for opener in openers] == [""] * 4
    assert [opener.returncode for opener in openers] == [0] * 4
