"""What holds customers' texts is for its owner alone, whatever the umask; what is not ours keeps its mode."""

import os
from contextlib import contextmanager

import pytest
from tests.store.samples import run_named, scored

from touchstone.store.backup import back_up, restore
from touchstone.store.private import make_directory
from touchstone.store.runs import open_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")


@pytest.fixture(autouse=True)
def _open_umask():
    before = os.umask(0o000)
    yield
    os.umask(before)


def mode(path):
    return oct(path.stat().st_mode & 0o7777)


@contextmanager
def filled(path):
    """A store with a run in it, open, so that its files beside it are there."""
    with open_store(str(path)) as store:
        store.create_run(run_named("r1"), rubric="")
        store.replies.add("r1", [scored(0)])
        yield store


def test_the_store_its_companions_and_its_directories_are_made_for_the_owner(tmp_path):
    tmp_path.chmod(0o755)
    home = tmp_path / "work" / ".touchstone"
    with filled(home / "touchstone.db"):
        assert {path.name: mode(path) for path in home.iterdir()} == dict.fromkeys(
            ["touchstone.db", "touchstone.db-shm", "touchstone.db-wal"], "0o600"
        )
    assert (mode(home), mode(home.parent), mode(tmp_path)) == ("0o700", "0o700", "0o755")


def test_a_store_that_others_could_read_is_mended_and_a_line_says_so_once(tmp_path, caplog):
    home = tmp_path / ".touchstone"
    with filled(home / "touchstone.db"):
        back_up(str(home / "touchstone.db"), home / "touchstone.db.before-restore")
        home.chmod(0o755)
        for path in home.iterdir():
            path.chmod(0o644)
        open_store(str(home / "touchstone.db")).close()
        assert mode(home) == "0o700"
        assert {mode(path) for path in home.iterdir()} == {"0o600"}
    (line,) = caplog.messages
    assert "touchstone.db-wal" in line
    open_store(str(home / "touchstone.db")).close()
    assert len(caplog.messages) == 1


def test_a_directory_that_is_not_ours_keeps_its_mode(tmp_path, caplog):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    with filled(shared / "touchstone.db"):
        assert (mode(shared), mode(shared / "touchstone.db")) == ("0o755", "0o600")
    back_up(str(shared / "touchstone.db"), shared / "copy.db")
    assert (mode(shared), mode(shared / "copy.db")) == ("0o755", "0o600")
    assert caplog.messages == []


def test_backups_and_what_is_restored_from_them_are_for_the_owner(tmp_path):
    place = tmp_path / "touchstone.db"
    with filled(place):
        back_up(str(place), tmp_path / "copies" / "b.db")
    kept = restore(str(place), tmp_path / "copies" / "b.db")
    restore(str(tmp_path / "new" / "t.db"), tmp_path / "copies" / "b.db")
    files = [tmp_path / "copies" / "b.db", kept, place, tmp_path / "new" / "t.db"]
    assert [mode(path) for path in files] == ["0o600"] * 4
    assert [mode(path.parent) for path in (files[0], files[3])] == ["0o700"] * 2


def test_directories_are_made_by_many_at_once(tmp_path):
    for _ in range(2):
        make_directory(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == "0o700"
