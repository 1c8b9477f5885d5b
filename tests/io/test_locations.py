"""A file is replaced whole, or not at all."""

import pytest

from touchstone.io import locations
from touchstone.io.locations import clear_unfinished, locate


def test_a_file_is_written_and_replaced_whole(tmp_path):
    place = locate(str(tmp_path)).child("x")
    place.write(b"first")
    place.write(b"second")
    assert place.read() == b"second"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_writer_that_fails_leaves_the_former_file(tmp_path, monkeypatch):
    place = locate(str(tmp_path)).child("x")
    place.write(b"first")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(locations.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        place.write(b"second")
    assert place.read() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_what_a_killed_writer_left_is_removed(tmp_path):
    (tmp_path / ".part-00000-00000.parquet.1234.part").write_bytes(b"half")
    (tmp_path / "part-00000-00000.parquet").write_bytes(b"whole")
    clear_unfinished(locate(str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000-00000.parquet"]
