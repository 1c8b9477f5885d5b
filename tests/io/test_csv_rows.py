"""CSV and TSV: cells as text, broken records alone, nothing dropped in silence."""

import io

import pytest
from tests.growth import is_linear
from tests.tables import over

from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.formats import read_csv


def rows_of(text: str | bytes, **options):
    raw = text if isinstance(text, bytes) else text.encode()
    return [(row.line, row.content) for row in read_csv(io.BytesIO(raw), file="f.csv", **options)]


def good(response: str, input: str = "q") -> dict[str, str]:
    return {"input": input, "response": response}


GOOD_FILES = {
    "plain": ("input,response\nq,r\n", [(2, good("r"))]),
    "quoted with a comma, a quote and a line break": (
        'input,response\nq,"a, ""b""\nc"\nq,r\n',
        [(2, good('a, "b"\nc')), (4, good("r"))],
    ),
    "Windows line ends": ("input,response\r\nq,r\r\n", [(2, good("r"))]),
    "a byte order mark": ("\ufeffinput,response\nq,r\n", [(2, good("r"))]),
    "semicolons": ("input;response\nq;r, s\n", [(2, good("r, s"))]),
    "no last line end": ("input,response\nq,r", [(2, good("r"))]),
    "blank lines and bare delimiters": ("input,response\n\nq,r\n,\n", [(3, good("r"))]),
    "a nameless column": (",response\n0,r\n", [(2, {"column 1": "0", "response": "r"})]),
    "one column with an empty reply": ('response\n""\n', [(2, {"response": ""})]),
    "NUL bytes": ("input,response\nq,a\x00b\n", [(2, good("a\x00b"))]),
    "emoji and right-to-left text": ("input,response\nq,😀 שלום\n", [(2, good("😀 שלום"))]),
    "only a header": ("input,response\n", []),
    "nothing": ("", []),
}


@over(("text", "rows"), GOOD_FILES.values(), ids=GOOD_FILES.keys())
def test_a_file_is_read_as_it_is_meant(text, rows):
    assert rows_of(text) == rows


def test_tabs_part_the_cells_of_tsv():
    assert rows_of("input\tresponse\nq\tr, s\n", delimiter="\t") == [(2, good("r, s"))]


BROKEN_RECORDS = {
    "too many cells": ("q,r,s", "the record has 3 cells, the header 2"),
    "too few cells": ("q", "the record has 1 cells, the header 2"),
    "text behind a closing quote": ('q,"r" s', "not valid CSV"),
    "a quote that is never closed": ('q,"r', "not valid CSV"),
    "invalid UTF-8": (b"q,caf\xe9", "byte 6 is not UTF-8"),
    "a record beyond the limit": ("q," + "x" * 2000, "longer than 1,000"),
    "a cell beyond the limit": ('q,"' + "x\n" * 1000 + '"', "longer than 1,000"),
}


@pytest.mark.parametrize(("record", "message"), BROKEN_RECORDS.values(), ids=BROKEN_RECORDS.keys())
def test_a_broken_record_fails_and_the_others_are_read(record, message):
    raw = record if isinstance(record, bytes) else record.encode()
    rows = rows_of(b"input,response\nq,r\n" + raw + b"\nq,s\nq,t\n", longest=1000)
    assert rows[0] == (2, good("r"))
    assert rows[-2:] == [(rows[-1][0] - 1, good("s")), (rows[-1][0], good("t"))]
    line, failure = rows[1]
    assert (line, failure.stage) == (3, "read")
    assert message in failure.message


def test_invalid_bytes_inside_a_quoted_record_fail_that_record_only():
    rows = rows_of(b'input,response\nq,"one\ntw\xff\nthree"\nq,r\n')
    assert [(line, isinstance(content, Failure)) for line, content in rows] == [(2, True), (5, False)]


def test_an_unclosed_quote_at_the_top_loses_one_row_of_many():
    rows = rows_of('input,response\nq,"r\n' + "q,s\n" * 1000)
    assert [isinstance(content, Failure) for _, content in rows] == [True] + [False] * 1000


@pytest.mark.slow
def test_quotes_that_never_close_do_not_make_reading_slow():
    def read(count: int) -> None:
        assert all(isinstance(content, Failure) for _, content in rows_of("response\n" + 'x","\n' * count))

    assert is_linear(read, small=8000, large=64000)


def test_lines_that_could_not_be_read_again_are_counted_in_the_failure():
    rows = rows_of("response\n" + 'x","\n' * 2000)
    lost = [int(content.message.split(" lines")[0].split()[-1]) for _, content in rows if "lines" in content.message]
    assert len(rows) + sum(lost) == 2000


BAD_HEADERS = {
    "a column twice": ("response,response\nr,s\n", "f.csv:1: the header names column 'response' twice"),
    "a broken quote": ('"response\nr\n', "f.csv:1: the header cannot be read"),
    "old Mac line ends": ("input,response\rq,r\r", "f.csv:1: the header cannot be read"),
    "invalid UTF-8": (b"r\xe9ponse\nr\n", "f.csv:1: the header cannot be read: byte 2 is not UTF-8"),
}


@pytest.mark.parametrize(("text", "message"), BAD_HEADERS.values(), ids=BAD_HEADERS.keys())
def test_a_header_that_cannot_be_used_is_an_error(text, message):
    with pytest.raises(InputError, match=message):
        rows_of(text)
