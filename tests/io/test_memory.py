"""Reading holds one row at a time, however long the file."""

import tracemalloc

import pytest

from touchstone.io.cases import read_cases
from touchstone.io.files import open_rows
from touchstone.io.formats import read_json_lines

ROWS = 2500
REPLY = "x" * 3200


def write_lines(path):
    path.write_text(f'{{"response": "{REPLY}"}}\n' * ROWS)


def write_array(path):
    path.write_text("[" + ",".join([f'{{"response": "{REPLY}"}}'] * ROWS) + "]")


def write_csv(path):
    path.write_text("response\n" + f"{REPLY}\n" * ROWS)


@pytest.mark.parametrize(
    ("name", "write"), [("cases.jsonl", write_lines), ("cases.json", write_array), ("cases.csv", write_csv)]
)
@pytest.mark.slow
def test_reading_a_file_of_eight_megabytes_takes_less_than_two(tmp_path, name, write):
    path = tmp_path / name
    write(path)
    tracemalloc.start()
    try:
        with open_rows(str(path)) as rows:
            count = sum(1 for _ in read_cases(rows, file=name))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == ROWS
    assert peak < 2_000_000


def test_a_line_beyond_the_limit_is_not_held(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"response": "' + b"x" * 20_000_000 + b'"}\n{"response": "r"}\n')
    tracemalloc.start()
    try:
        with path.open("rb") as stream:
            first, second = (row.content for row in read_json_lines(stream, file="f", longest=1_000_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert first.error == "RowTooLong"
    assert second == {"response": "r"}
    assert peak < 5_000_000
