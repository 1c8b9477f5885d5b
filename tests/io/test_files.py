"""Files of cases: the format by the ending, compression by the content, clear errors when there is nothing to read."""

import gzip
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.errors import ConfigError, InputError
from touchstone.io.files import open_rows

LINES = b'{"response": "r"}\n{"response": "s"}\n'
TABLE = b"response\nr\ns\n"
CONTENTS = [{"response": "r"}, {"response": "s"}]


def contents_of(path, **options):
    with open_rows(str(path), **options) as rows:
        return [row.content for row in rows]


FILES = {
    "cases.jsonl": LINES,
    "cases.ndjson": LINES,
    "cases.JSONL": LINES,
    "cases.v2.jsonl": LINES,
    "cases.json": b'[{"response": "r"}, {"response": "s"}]',
    "cases.csv": TABLE,
    "cases.tsv": TABLE,
    "cases.jsonl.gz": gzip.compress(LINES, mtime=0),
    "cases.csv.gz": gzip.compress(TABLE, mtime=0),
    "cases.json.gz": gzip.compress(b'[{"response": "r"}, {"response": "s"}]', mtime=0),
    "two.jsonl.gz": gzip.compress(LINES[:18], mtime=0) + gzip.compress(LINES[18:], mtime=0),
    "compressed.jsonl": gzip.compress(LINES, mtime=0),
    "not_compressed.jsonl.gz": LINES,
}


@pytest.mark.parametrize(("name", "raw"), FILES.items())
def test_the_ending_says_how_to_read_and_the_content_whether_it_is_compressed(tmp_path, name, raw):
    path = tmp_path / name
    path.write_bytes(raw)
    assert contents_of(path) == CONTENTS


def test_a_format_that_is_given_beats_the_ending(tmp_path):
    path = tmp_path / "export.txt"
    path.write_bytes(TABLE)
    assert contents_of(path, format="csv") == CONTENTS


@pytest.mark.parametrize(
    ("raw", "format"),
    [(LINES, None), (TABLE, "csv"), (gzip.compress(LINES, mtime=0), None)],
    ids=["jsonl", "csv", "gzip"],
)
def test_a_dash_is_stdin_as_json_lines_unless_a_format_is_given(monkeypatch, raw, format):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
    assert contents_of("-", format=format) == CONTENTS


def test_parquet_on_stdin_is_refused_with_the_remedy():
    with pytest.raises(ConfigError, match="save it as a file"), open_rows("-", format="parquet"):
        pass


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.jsonl does not exist: check the path"):
        contents_of(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize("name", ["folder", "folder.jsonl"])
def test_a_directory_is_named_as_one(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=f"{name} is a directory"):
        contents_of(tmp_path / name)


def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path):
    path = tmp_path / "cases.xlsx"
    path.write_bytes(b"")
    with pytest.raises(ConfigError, match=r"does not end in one of \.jsonl, .*--format jsonl\|json\|csv\|tsv\|parquet"):
        contents_of(path)


def test_utf16_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes("response\nr\n".encode("utf-16"))
    with pytest.raises(InputError, match="is UTF-16: save it as UTF-8"):
        contents_of(path)


def test_a_gz_file_that_is_damaged_at_its_start_is_an_error(tmp_path):
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(b"\x1f\x8b" + b"\x00" * 20)
    with pytest.raises(InputError, match="cannot be read or decompressed"):
        contents_of(path)


def test_a_gz_file_that_is_cut_off_keeps_its_rows_and_fails_at_the_end(tmp_path):
    path = tmp_path / "cases.jsonl.gz"
    many = b"".join(b'{"response": "%d"}\n' % at for at in range(50_000))
    path.write_bytes(gzip.compress(many, mtime=0)[:-5000])
    *good, last = contents_of(path)
    assert len(good) > 1000
    assert good[:2] == [{"response": "0"}, {"response": "1"}]
    assert last.error == "Unreadable"
    assert "EOFError" in last.message


def test_the_share_read_grows_from_none_to_all(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_bytes(LINES * 10_000)
    with open_rows(str(path)) as rows:
        shares = [rows.share_read() for _ in rows]
    assert shares[0] < 0.5
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


pieces = st.lists(
    st.binary(max_size=8)
    | st.sampled_from([b'{"response": "r"}', b"\n", b'"', b",", b"[", b"]", b"{", b"}", b"\\", b"response", b"\r\n"]),
    max_size=12,
)


@given(pieces.map(b"".join), st.sampled_from(["jsonl", "json", "csv", "tsv"]))
def test_any_bytes_are_rows_or_one_clear_error(raw, format):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
        try:
            with open_rows("-", format=format) as rows:
                lines = [row.line for row in rows]
        except InputError:
            return
    assert lines == sorted(set(lines))
    assert len(lines) <= max(1, raw.count(b"\n") + 1 if format != "json" else len(raw) + 1)
