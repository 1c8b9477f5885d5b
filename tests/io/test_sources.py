"""Inputs: files, globs, directories and URLs as the files of cases they stand for."""

import gzip
import json
import os

import pyarrow as pa
import pytest
from pyarrow import parquet

from touchstone.core.errors import InputError
from touchstone.io.files import find_sources, open_rows
from touchstone.io.locations import locate

TREE = (
    "a.jsonl", "b.csv", "notes.txt", "_SUCCESS", ".hidden.jsonl", "dt=1/c.parquet", "dt=2/channel=chat/d.jsonl.gz",
    "_delta_log/0.json", "out/part-00000-00000.parquet",
)  # fmt: skip


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in TREE:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*inputs, **options):
    return [source.name for source in find_sources(inputs, **options)]


INPUTS = {
    "a file": (["in/a.jsonl"], ["in/a.jsonl"]),
    "a file of any ending": (["in/notes.txt"], ["in/notes.txt"]),
    "a directory": (["in"], ["in/a.jsonl", "in/b.csv", "in/dt=1/c.parquet", "in/dt=2/channel=chat/d.jsonl.gz"]),
    "a partition": (["in/dt=2/"], ["in/dt=2/channel=chat/d.jsonl.gz"]),
    "files in the order given, each once": (["in/b.csv", "in/a.jsonl", "in/b.csv"], ["in/b.csv", "in/a.jsonl"]),
}


@pytest.mark.parametrize(("inputs", "found"), INPUTS.values(), ids=INPUTS.keys())
def test_an_input_stands_for_its_files(tree, inputs, found):
    assert names(*inputs, without="in/out") == found


GLOBS = {"in/*.jsonl": ["a"], "in/dt=*": ["c", "d"], "in/**/*.gz": ["d"], "in/[ab].*": ["a", "b"], "in/?.csv": ["b"]}


@pytest.mark.parametrize(("pattern", "found"), GLOBS.items())
def test_a_glob_stands_for_what_it_matches(tree, pattern, found):
    given = names(pattern, without="in/out")
    assert [name.rpartition("/")[2][0] for name in given] == found
    assert all(name.startswith("in/") for name in given)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["in/x.jsonl"], "in/x.jsonl does not exist"),
        (["in/*.xml"], r"in/\*\.xml matches no file of cases"),
        (["empty"], "empty is a directory without a file of cases"),
        (["nowhere://x"], "nowhere://x cannot be opened"),
    ],
)
def test_an_input_that_stands_for_nothing_is_said(tree, inputs, message):
    (tree / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        find_sources(inputs)


def test_partitions_are_read_from_the_path(tree):
    path = tree / "in/dt=2025-06-01/team=A%2FB/none=__HIVE_DEFAULT_PARTITION__"
    path.mkdir(parents=True)
    (path / "x.jsonl").write_text("{}")
    (source,) = find_sources([str(path)])
    assert source.partition == {"dt": "2025-06-01", "team": "A/B", "none": None}


def test_a_file_is_the_same_when_its_content_is(tree):
    (before,) = find_sources(["in/a.jsonl"])
    os.utime("in/a.jsonl", (1, 1))
    (touched,) = find_sources(["in/a.jsonl"])
    assert touched.is_same(before)
    (tree / "in/a.jsonl").write_text("A.jsonl")
    (changed,) = find_sources(["in/a.jsonl"])
    assert not changed.is_same(before)


def test_a_large_file_is_the_same_when_samples_and_time_are(tmp_path):
    path = tmp_path / "large.jsonl"
    path.write_bytes(b"x" * 5_000_000)
    os.utime(path, (1, 1))
    (before,) = find_sources([str(path)])
    assert before.digest.startswith("sampled:")
    assert find_sources([str(path)])[0].is_same(before)
    os.utime(path, (2, 2))
    assert not find_sources([str(path)])[0].is_same(before)


@pytest.fixture
def store():
    pytest.importorskip("fsspec")
    import fsspec

    system = fsspec.filesystem("memory")
    yield system
    system.rm("/bucket", recursive=True)


def test_a_store_is_listed_and_read_by_url(store):
    rows = [{"id": "a", "response": "r"}]
    lines = json.dumps(rows[0]).encode() + b"\n"
    store.pipe("/bucket/dt=1/a.jsonl", lines)
    store.pipe("/bucket/dt=2/b.jsonl.gz", gzip.compress(lines))
    with store.open("/bucket/dt=3/c.parquet", "wb") as stream:
        parquet.write_table(pa.Table.from_pylist(rows), stream)
    sources = find_sources(["memory://bucket"])
    assert [source.partition["dt"] for source in sources] == ["1", "2", "3"]
    assert names("memory://bucket/**/*.parquet") == [sources[2].name]
    for source in sources:
        with open_rows(source.name) as found:
            assert [row.content for row in found] == rows
            assert found.share_read() == 1.0


def test_keys_and_options_of_a_url_are_in_no_name():
    place = locate("s3://KEY:SECRET@bucket/in?region=us-east-1")
    assert (place.name, place.child("x").name) == ("s3://bucket/in", "s3://bucket/in/x")
    assert place.child("x").address == "s3://KEY:SECRET@bucket/in/x?region=us-east-1"
    with pytest.raises(InputError) as refused:
        locate("nowhere://x?key=SECRET")
    assert "SECRET" not in str(refused.value)


def test_a_file_in_a_store_can_be_written_and_read_back(store):
    place = locate("memory://bucket/out").child("x.bin")
    assert place.read() is None
    place.write(b"content")
    assert place.read() == b"content"


def test_zstandard_is_read_and_a_truncated_one_fails_where_it_ends(tmp_path):
    raw = b"".join(json.dumps({"response": os.urandom(50).hex()}).encode() + b"\n" for _ in range(20_000))
    packed = pa.compress(raw, codec="zstd", asbytes=True)
    (tmp_path / "a.jsonl.zst").write_bytes(packed)
    (tmp_path / "cut.jsonl.zst").write_bytes(packed[: len(packed) // 2])
    with open_rows(str(tmp_path / "a.jsonl.zst")) as rows:
        assert sum(isinstance(row.content, dict) for row in rows) == 20_000
    with open_rows(str(tmp_path / "cut.jsonl.zst")) as rows:
        *_, last = rows
    assert last.content.error == "Unreadable"
