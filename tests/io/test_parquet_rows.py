"""Parquet: nested values as plain ones, damage in its place."""

import io

import pyarrow as pa
import pytest
from pyarrow import parquet

from touchstone.core.errors import InputError
from touchstone.io.formats import read_parquet


def written(table: pa.Table, **options) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, **options)
    return sink.getvalue()


def rows_of(raw: bytes):
    return [(row.line, row.content) for row in read_parquet(io.BytesIO(raw), file="f.parquet")]


def test_lists_and_structs_become_plain_values():
    content = {
        "input": [{"role": "user", "content": "q"}],
        "response": "r",
        "context": [{"id": "p", "text": "c"}],
        "confidence": 0.5,
    }
    assert rows_of(written(pa.Table.from_pylist([content]))) == [(1, content)]


def test_rows_are_counted_across_row_groups():
    table = pa.Table.from_pylist([{"response": str(at)} for at in range(1000)])
    rows = rows_of(written(table, row_group_size=300))
    assert rows == [(at + 1, {"response": str(at)}) for at in range(1000)]


def test_the_share_read_grows_to_the_whole():
    rows = read_parquet(io.BytesIO(written(pa.table({"response": ["a", "b"]}))), file="f")
    assert [rows.share_read() for _ in rows] == [0.5, 1.0]


def test_text_that_is_not_utf8_fails_its_row_only():
    column = pa.array([b"good", b"caf\xe9", b"good"]).view(pa.binary()).cast(pa.string(), safe=False)
    (_, first), (line, failure), (_, last) = rows_of(written(pa.table({"response": column})))
    assert first == last == {"response": "good"}
    assert (line, failure.error) == (2, "InvalidUtf8")


def test_a_damaged_row_group_fails_row_by_row_and_the_next_is_read():
    table = pa.table({"response": [f"reply {at}" * 20 for at in range(30)]})
    raw = bytearray(written(table, row_group_size=10, use_dictionary=False, compression="gzip"))
    place = parquet.ParquetFile(io.BytesIO(bytes(raw))).metadata.row_group(1).column(0)
    raw[place.data_page_offset : place.data_page_offset + place.total_compressed_size] = b"\xff" * (
        place.total_compressed_size
    )
    rows = rows_of(bytes(raw))
    assert [line for line, _ in rows] == list(range(1, 31))
    assert [isinstance(content, dict) for _, content in rows] == [True] * 10 + [False] * 10 + [True] * 10
    assert "damaged here" in rows[10][1].message


@pytest.mark.parametrize(
    "raw",
    [b"", b"PAR1", b"not parquet at all", written(pa.table({"response": ["r"]}))[:-20]],
    ids=["empty", "only the magic", "text", "truncated"],
)
def test_a_file_that_is_not_complete_is_an_error(raw):
    with pytest.raises(InputError, match=r"f\.parquet is not a complete Parquet file"):
        rows_of(raw)


def test_a_column_named_twice_is_an_error():
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["response", "response"])
    with pytest.raises(InputError, match="names column 'response' twice"):
        rows_of(written(table))
