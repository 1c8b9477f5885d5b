"""A backup is whole, is taken while the store is in use, and comes back."""

import sqlite3

import pytest
from tests.store.review_samples import RUBRIC as rubric
from tests.store.review_samples import begin, review_of
from tests.store.samples import run_named, scored

from touchstone.core.errors import StoreError
from touchstone.store.backup import back_up, restore
from touchstone.store.runs import open_store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "touchstone.db"


def test_a_backup_taken_in_the_middle_of_a_run_is_restored(path, tmp_path):
    with open_store(str(path)) as store:
        begin(store)
        store.reviews.submit(review_of(0), rubric=rubric)
        back_up(str(path), tmp_path / "copies" / "b.db")
        store.reviews.submit(review_of(1), rubric=rubric)
        store.create_run(run_named("r2"), rubric="")
    kept = restore(str(path), tmp_path / "copies" / "b.db")
    with open_store(str(path)) as store:
        assert list(store.reviews.of_queue("q1")) == [0]
        assert [run.id for run in store.list_runs()] == ["r1"]
    with open_store(str(kept)) as before:
        assert list(before.reviews.of_queue("q1")) == [0, 1]


def test_a_process_that_has_the_store_open_sees_what_was_restored(path, tmp_path):
    with open_store(str(path)) as store:
        begin(store)
        back_up(str(path), tmp_path / "b.db")
        store.replies.add("r1", [scored(9)])
        restore(str(path), tmp_path / "b.db")
        assert store.replies.count("r1") == 4


def test_a_store_that_is_not_there_is_made_from_a_backup(path, tmp_path):
    with open_store(str(path)) as store:
        begin(store)
    back_up(f"sqlite:///{path}", tmp_path / "b.db")
    assert restore(str(tmp_path / "new" / "t.db"), tmp_path / "b.db") is None
    with open_store(str(tmp_path / "new" / "t.db")) as store:
        assert store.replies.count("r1") == 4


def test_every_restore_keeps_what_was_there(path, tmp_path):
    open_store(str(path)).close()
    back_up(str(path), tmp_path / "b.db")
    kept = [restore(str(path), tmp_path / "b.db") for _ in range(3)]
    assert [each.name.rpartition("before-")[2] for each in kept] == ["restore", "restore-2", "restore-3"]


def test_what_is_no_backup_is_refused_and_the_store_is_left_alone(path, tmp_path):
    with open_store(str(path)) as store:
        begin(store)
    (tmp_path / "text").write_text("hello")
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE x (y)")
    other.close()
    whole = path.read_bytes()
    (tmp_path / "torn").write_bytes(whole[: len(whole) // 2])
    refused = {"text": "is not a backup", "other": "not a sound", "torn": "sound|damaged", "gone": "cannot be read"}
    for name, message in refused.items():
        with pytest.raises(StoreError, match=message):
            restore(str(path), tmp_path / name)
    with open_store(str(path)) as store:
        assert store.replies.count("r1") == 4


def test_a_backup_of_a_newer_version_is_refused(path, tmp_path):
    open_store(str(path)).close()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE touchstone_version SET version_num = '9001'")
    raw.close()
    back_up_target = tmp_path / "b.db"
    back_up_target.write_bytes(path.read_bytes())
    with pytest.raises(StoreError, match="newer version of Touchstone"):
        restore(str(tmp_path / "t.db"), back_up_target)


def test_no_file_is_overwritten_and_none_is_left_half_written(path, tmp_path):
    open_store(str(path)).close()
    (tmp_path / "there").write_text("precious")
    with pytest.raises(StoreError, match="exists: name another file"):
        back_up(str(path), tmp_path / "there")
    with pytest.raises(StoreError, match="does not exist"):
        back_up(str(tmp_path / "none.db"), tmp_path / "b.db")
    with pytest.raises(StoreError, match="cannot be written"):
        back_up(str(path), tmp_path / "there" / "b.db")
    assert (tmp_path / "there").read_text() == "precious"
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".")) == []


def test_a_server_has_its_own_tools(tmp_path):
    with pytest.raises(StoreError, match="pg_dump"):
        back_up("postgresql://u@h/n", tmp_path / "b")
    with pytest.raises(StoreError, match="pg_restore"):
        restore("postgresql://u:secret@h/n", tmp_path / "b")
