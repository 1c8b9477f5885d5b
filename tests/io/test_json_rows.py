"""JSON Lines and JSON files: every good row is read, each bad one fails in its place."""

import io
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

from touchstone.core.result import Failure
from touchstone.io.formats import Splitter, read_json, read_json_lines

GOOD = {"response": "r"}


def rows_of(raw: bytes, *, read=read_json_lines, longest=1000):
    return [(row.line, row.content) for row in read(io.BytesIO(raw), file="f", longest=longest)]


BAD_LINES = {
    "cut off": (b'{"response": "r"', "not valid JSON: expecting ',' delimiter (line 2, column 17)"),
    "single quotes": (b"{'response': 'r'}", "expecting property name enclosed in double quotes (line 2, column 2)"),
    "two objects": (b'{"a": 1} {"b": 2}', "extra data"),
    "a list": (b'[{"response": "r"}]', "the row is a list, not an object"),
    "a string": (b'"reply"', "the row is a string, not an object"),
    "a number": (b"5", "the row is a number, not an object"),
    "null": (b"null", "the row is null, not an object"),
    "NaN": (b'{"response": "r", "confidence": NaN}', "NaN is not JSON: write null"),
    "infinity": (b'{"response": "r", "confidence": -Infinity}', "-Infinity is not JSON"),
    "a float beyond range": (b'{"response": "r", "n": 1e999}', "a number is too large"),
    "an integer beyond reason": (b'{"response": "r", "n": ' + b"9" * 5000 + b"}", "too many digits"),
    "a repeated key": (b'{"response": "r", "response": "s"}', "key 'response' is given twice"),
    "a repeated nested key": (b'{"response": "r", "m": {"k": 1, "k": 2}}', "key 'k' is given twice"),
    "half a surrogate pair": (b'{"response": "\\ud800"}', "half a surrogate pair"),
    "half a pair in a key": (b'{"response": "r", "\\uDFFF": 1}', "half a surrogate pair"),
    "invalid UTF-8": (b'{"response": "caf\xe9"}', "byte 18 is not UTF-8: save the file as UTF-8"),
    "a bare NUL": (b'{"response": "a\x00b"}', "invalid control character"),
    "NULs": (b"\x00" * 20, "not valid JSON"),
    "HTML": (b"<html><body>502 Bad Gateway</body></html>", "not valid JSON: expecting value"),
    "deep nesting": (b'{"response": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    "deep objects": (b'{"a":' * 100_000, "nested too deeply"),
}


@over(("bad", "message"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_fails_in_its_place_between_good_ones(bad, message):
    raw = b'{"response": "r"}\n' + bad + b'\n{"response": "r"}\n'
    (one, first), (two, failure), (three, last) = rows_of(raw, longest=1_000_000)
    assert (one, two, three) == (1, 2, 3)
    assert first == last == GOOD
    assert isinstance(failure, Failure)
    assert failure.stage == "read"
    assert message in failure.message


def test_a_line_longer_than_the_limit_fails_and_the_next_one_is_read():
    raw = b'{"response": "' + b"x" * 5000 + b'"}\n{"response": "r"}'
    (_, failure), (line, content) = rows_of(raw)
    assert failure.message == "the row is longer than 1,000 bytes: shorten it or split it"
    assert (line, content) == (2, GOOD)


GOOD_LINES = {
    "blank lines between": b'\n  \n{"response": "r"}\n\n',
    "a byte order mark": b'\xef\xbb\xbf{"response": "r"}',
    "Windows line ends": b'{"response": "r"}\r\n',
    "no last line end": b'{"response": "r"}',
}


@pytest.mark.parametrize("raw", GOOD_LINES.values(), ids=GOOD_LINES.keys())
def test_what_is_harmless_is_read(raw):
    assert [content for _, content in rows_of(raw)] == [GOOD]


def test_a_full_surrogate_pair_is_one_character():
    assert rows_of(b'{"response": "\\ud83d\\ude00"}') == [(1, {"response": "\U0001f600"})]


def test_line_separators_of_unicode_do_not_end_a_line():
    line = '{"response": "a\u2028b\x85c"}'.encode()
    assert rows_of(line) == [(1, {"response": "a\u2028b\x85c"})]


JSON_FILES = {
    "an array": (b'[{"response": "r"}, {"response": "r"}]', [GOOD, GOOD]),
    "an indented array": (b'\n[\n  {\n "response": "r"\n },\n {"response": "r"}\n]\n', [GOOD, GOOD]),
    "an empty array": (b" [ ] ", []),
    "one object": (b'{\n  "response": "r"\n}', [GOOD]),
    "objects one after another": (b'{"response": "r"}\n{"response": "r"}', [GOOD, GOOD]),
    "brackets and quotes in strings": (b'[{"response": "]},\\"["}]', [{"response": ']},"['}]),
    "a comma at the end": (b'[{"response": "r"},]', [GOOD]),
    "a byte order mark": (b'\xef\xbb\xbf[{"response": "r"}]', [GOOD]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize(("raw", "contents"), JSON_FILES.values(), ids=JSON_FILES.keys())
def test_a_json_file_gives_one_row_for_each_object(raw, contents):
    assert rows_of(raw, read=read_json) == list(enumerate(contents, 1))


BROKEN_FILES = {
    "a broken item": (b'[{"response": "r"},\n{"response" "r"},\n{"response": "r"}]', [True, False, True], "(line 2, "),
    "an item that is no object": (b'[{"response": "r"}, 5]', [True, False], "is a number"),
    "a missing item": (b'[{"response": "r"},,{"response": "r"}]', [True, False, True], "an item is missing on line 1"),
    "an array cut off after an item": (b'[{"response": "r"}', [True, False], "cut off before its array is closed"),
    "an array cut off in an item": (b'[{"response": "r"}, {"resp', [True, False, False], "unterminated string"),
    "an item with a bracket too many": (b'[{"response": "r"}}, {"response": "r"}]', [False, True], "extra data"),
    "text behind the array": (b'[{"response": "r"}] etc', [True, False], "expecting value"),
    "an item beyond the limit": (b'["' + b"x" * 5000 + b'", {"response": "r"}]', [False, True], "longer than 1,000"),
    "an item that is not UTF-8": (b'[{"response": "\xff"}, {"response": "r"}]', [False, True], "not UTF-8"),
    "no JSON at all": (b"<html>", [False], "expecting value"),
}


@pytest.mark.parametrize(("raw", "is_good", "message"), BROKEN_FILES.values(), ids=BROKEN_FILES.keys())
def test_a_broken_item_fails_alone(raw, is_good, message):
    contents = [content for _, content in rows_of(raw, read=read_json)]
    assert [content == GOOD for content in contents] == is_good
    assert message in next(content.message for content in contents if isinstance(content, Failure))


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(plain_values, max_size=6), st.lists(st.integers(0, 400), max_size=8), st.sampled_from([None, 1]))
def test_an_array_splits_into_its_items_wherever_the_chunks_end(items, cuts, indent):
    raw = json.dumps(items, ensure_ascii=False, indent=indent).encode()
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    pieces = Splitter(longest=10_000).split(raw[start:end] for start, end in pairwise(places))
    assert [json.loads(piece.raw or b"") for piece in pieces] == items


class BreaksOff(io.BytesIO):
    """A stream that fails where a damaged disk or archive would."""

    def readline(self, size=-1, /):
        return super().readline(size) or self.read(size)

    def read(self, size=-1, /):
        raw = super().read(size)
        if not raw:
            raise EOFError
        return raw


@pytest.mark.parametrize(
    ("read", "raw"), [(read_json_lines, b'{"response": "r"}\n'), (read_json, b'[{"response": "r"},')]
)
def test_a_stream_that_breaks_off_keeps_what_came_before_and_says_so(read, raw):
    first, last = read(BreaksOff(raw), file="f")
    assert first.content == GOOD
    assert (last.line, last.content.error) == (2, "Unreadable")
