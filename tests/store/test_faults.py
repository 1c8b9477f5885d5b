"""A database that cannot be used: one clear line that names it and the remedy, and no customer's word."""

import logging
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.store.samples import run_named, scored

from touchstone.core.errors import StoreError
from touchstone.store import database, results
from touchstone.store.runs import Store, open_store

SECRET = "my card is 4111 1111 1111 1111"


@pytest.fixture
def path(tmp_path, sqlite_template):
    return Path(shutil.copy(sqlite_template, tmp_path / "touchstone.db"))


@pytest.fixture
def as_nobody():
    """For as long as the test, the rights of a user without any; root may write everywhere."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.fixture
def locked_directory(sqlite_template):
    """A directory that may be read and entered but not written, with a store in it."""
    home = Path(tempfile.mkdtemp(prefix="touchstone-"))
    shutil.copy(sqlite_template, home / "touchstone.db")
    (home / "touchstone.db").chmod(0o444)
    home.chmod(0o555)
    yield home
    home.chmod(0o755)
    shutil.rmtree(home)


def _read_all(store):
    return [store.replies.records("r1"), list(store.replies.scored("r1"))]


@pytest.mark.parametrize("name", ["touchstone.db", "new.db", "sub/new.db"])
def test_a_directory_that_is_read_only_is_named(locked_directory, as_nobody, name):
    message = f"the store {locked_directory / name} cannot be .*give write permission for the file and its directory"
    with pytest.raises(StoreError, match=message):
        open_store(str(locked_directory / name))


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, b"id,input\n1,hello\n"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(StoreError, match=f"{path} is not a database: name another file for the store"):
        open_store(str(path))
    assert path.read_bytes() == content


def test_a_damaged_file_is_called_so(path):
    with open_store(str(path)) as store:
        store.create_run(run_named("r1"), rubric="")
        store.replies.add("r1", [scored(position) for position in range(200)])
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreError, match=f"{path} is damaged: restore it from a backup"):
        open_store(str(path))
    # The last pages hold what was written last, the results.
    later, size = len(whole) * 7 // 8, len(whole) // 16
    path.write_bytes(whole[:later] + b"\xff" * size + whole[later + size :])
    with open_store(str(path)) as store, pytest.raises(StoreError, match=f"{path} is damaged: restore it"):
        _read_all(store)


def test_a_full_disk_is_called_so_and_what_was_stored_is_kept(path):
    opened = database.open_database(str(path))
    store = Store(opened)
    store.create_run(run_named("r1"), rubric="")
    store.replies.add("r1", [scored(0)])
    with opened.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match=f"{path} cannot grow, the disk is full: free some space") as caught:
        store.replies.add("r1", [scored(position, text=SECRET * 100) for position in range(1, 100)])
    assert SECRET not in str(caught.value)
    assert store.replies.positions("r1") == {0}
    store.close()
    with open_store(str(path)) as again:
        again.replies.add("r1", [scored(position) for position in range(1, 100)])
        assert again.replies.count("r1") == 100


@pytest.fixture
def small_disk(tmp_path):
    """A disk of half a megabyte; needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "none", disk], check=False, capture_output=True
    )
    if not mounted or mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_disk_that_is_really_full_is_called_so_and_what_was_stored_is_kept(tmp_path, small_disk):
    with open_store(str(small_disk / "touchstone.db")) as store:
        store.create_run(run_named("r1"), rubric="")
        kept, message = _fill(store)
        assert "the disk is full" in message or "check the disk's free space" in message
    shutil.copytree(small_disk, tmp_path / "copy")
    with open_store(str(tmp_path / "copy" / "touchstone.db")) as store:
        assert store.replies.positions("r1") == set(range(kept))


def _fill(store):
    """How many results went in one by one before the store refused one, and what it said."""
    for position in range(10_000):
        try:
            store.replies.add("r1", [scored(position)])
        except StoreError as error:
            return position, str(error)
    pytest.fail("the disk did not fill up")


def test_a_store_that_stays_locked_is_called_so(path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0.1)
    with open_store(str(path)) as store:
        store.create_run(run_named("r1"), rubric="")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=f"{path} is locked by another process: wait until that has finished"):
            store.replies.add("r1", [scored(0)])
        assert store.replies.positions("r1") == set()
        other.execute("ROLLBACK")
        other.close()
        store.replies.add("r1", [scored(0)])


def test_a_write_waits_for_another_one(path):
    with open_store(str(path)) as store:
        store.create_run(run_named("r1"), rubric="")
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.2, other.execute, ["ROLLBACK"])
        release.start()
        store.replies.add("r1", [scored(0)])
        release.join()
        other.close()
        assert store.replies.positions("r1") == {0}


def move_away(path):
    path.rename(path.with_suffix(".away"))


def put_another(path):
    path.unlink()
    path.touch()


@pytest.mark.parametrize("remove", [Path.unlink, move_away, put_another])
def test_a_file_that_vanishes_while_in_use_is_noticed(path, remove):
    with open_store(str(path)) as store:
        store.create_run(run_named("r1"), rubric="")
        remove(path)
        for use in (lambda: store.replies.add("r1", [scored(0)]), store.list_runs):
            with pytest.raises(StoreError, match=f"{path} was moved or deleted while it was in use"):
                use()


PLACES = [
    ("nowhere.db", "nowhere.db does not exist: touchstone eval begins one"),
    ("", "is not a file: give the path of a file"),
    ("sqlite://", "is not a file: give the path of a file"),
    (
        "mysql://u:secret@h/d",
        r"mysql://u:\*\*\*@h/d is of a kind that is not known: allowed is a path, sqlite:///path or",
    ),
    ("postgresql://u:secret@h:port/d", "the store's URL cannot be read: allowed is a path"),
    ("postgresql://u:secret@127.0.0.1:1/d", r"u:\*\*\*@127.0.0.1:1/d is not reachable: check that the server runs"),
]


@pytest.mark.parametrize(("place", "message"), PLACES)
def test_a_place_where_no_store_can_be_is_named_without_its_password(place, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=message) as caught:
        open_store(place, creates=False)
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_not_taken_for_a_store(tmp_path):
    with pytest.raises(StoreError, match="is not a file: give the path of a file"):
        open_store(str(tmp_path))


def test_a_url_of_a_file_is_that_file(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'touchstone.db'}") as store:
        store.create_run(run_named("r1"), rubric="")
    with open_store(str(tmp_path / "touchstone.db"), creates=False) as store:
        assert store.find_run("r1").id == "r1"


def test_customers_words_reach_no_log_and_no_message(place, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(results, "_INSERT_BODIES", text("INSERT INTO nothing VALUES (:body)"))
    with open_store(place) as store:
        store.create_run(run_named("r1"), rubric="")
        with pytest.raises(StoreError, match="refused a command") as caught:
            store.replies.add("r1", [scored(0, id=SECRET, text=SECRET, category=SECRET)])
    assert "4111" not in str(caught.value) + caplog.text
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_what_is_deleted_is_gone_from_the_file(path):
    with open_store(str(path)) as store:
        store.create_run(run_named("r1"), rubric="")
        store.replies.add("r1", [scored(position, text=SECRET) for position in range(50)])
    assert SECRET.encode() in path.read_bytes()
    with open_store(str(path)) as store:
        store.delete_run("r1")
    assert SECRET.encode() not in path.read_bytes()
