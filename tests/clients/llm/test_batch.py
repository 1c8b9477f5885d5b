"""The protocol of batches: files within their limits, ids that are ids, lines read one by one, submissions kept."""

import json
import stat
from dataclasses import replace

import pytest
from tests.clients.llm.batch_server import answered, batch_server, expired, refused
from tests.clients.llm.faulty import Reply, refuses
from tests.clients.llm.test_server import CALL, opened

from touchstone.clients.llm import batch
from touchstone.clients.llm.batch import Batch, Batches, CallFile, Returned, Submission, Submissions, files_of
from touchstone.core.result import Failure

FILE = Submission(place="host", file="file-1", keys=("a", "b"), left=("a", "b"), submitted="2026-01-02T03:04:05+00:00")
LINE = {"custom_id": CALL.key, "method": "POST", "url": "/v1/chat/completions", "body": {"model": "small"}}
CONTENT = json.dumps(LINE).encode() + b"\n"

pytestmark = pytest.mark.slow


@pytest.fixture
def server():
    with batch_server() as running:
        yield running


@pytest.fixture
def batches(server):
    with opened(server) as client:
        yield Batches(client)


def test_a_file_holds_a_line_for_each_call():
    (file,) = files_of([("a", {"model": "x"}), ("b", {"model": "ü"})])
    assert file.keys == ("a", "b")
    lines = file.content.split(b"\n")
    assert [json.loads(line) for line in lines[:2]] == [
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "x"}},
        {"custom_id": "b", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "ü"}},
    ]
    assert lines[2:] == [b""]


def test_no_calls_are_no_file():
    assert list(files_of([])) == []


@pytest.mark.parametrize(
    ("most_requests", "lines", "sizes"),
    [(2, 9, [2, 2, 1]), (5, 9, [5]), (9, 2, [2, 2, 1]), (9, 1, [1] * 5), (9, 0.5, [1] * 5)],
)
def test_files_keep_to_the_limits_of_requests_and_bytes(monkeypatch, most_requests, lines, sizes):
    monkeypatch.setattr(batch, "MOST_REQUESTS", most_requests)
    (line,) = files_of([("0", {})])
    monkeypatch.setattr(batch, "MOST_BYTES", lines * len(line.content))
    files = list(files_of((str(at), {}) for at in range(5)))
    assert [len(file.keys) for file in files] == sizes
    assert [key for file in files for key in file.keys] == list("01234")
    assert b"".join(file.content for file in files).count(b"\n") == 5
    assert files[0] == CallFile(files[0].keys, files[0].content)


def test_a_batch_is_uploaded_made_looked_at_and_read(batches, server):
    file = batches.upload(CONTENT)
    assert file == "file-1"
    assert server.files[file] == CONTENT
    made = batches.create(file)
    assert made == Batch(id="batch_1", status="validating", file="file-1")
    assert not made.has_ended
    assert batches.look("batch_1").status == "in_progress"
    ended = batches.look("batch_1")
    assert ended == Batch(id="batch_1", status="completed", file="file-1", answered=1, output="file-2")
    assert ended.has_ended
    assert json.loads(batches.read("file-2")) == answered(LINE)


@pytest.mark.parametrize("status", [404, 405, 501])
def test_what_a_server_does_not_have_is_none(batches, server, status):
    paths = ("POST /v1/files", "POST /v1/batches", "GET /v1/batches/x", "GET /v1/files/x/content")
    server.instead = {path: [refuses(status)] for path in paths}
    found = [batches.upload(b""), batches.create("x"), batches.look("x"), batches.read("x")]
    assert found == [None] * 4
    assert len(server.seen) == 4


@pytest.mark.parametrize("lists", [True, False])
def test_a_batch_made_unheard_is_looked_for_before_it_is_made_again(batches, server, lists):
    file = batches.upload(CONTENT)
    server.instead["POST /v1/batches"] = [lambda made: refuses(502), None]
    if not lists:
        server.instead["GET /v1/batches"] = [refuses(404)]
    made = batches.create(file)
    assert (made.id, len(server.batches)) == (("batch_1", 1) if lists else ("batch_2", 2))
    assert batches.create(file, may_exist=True).id == ("batch_1" if lists else "batch_3")


def test_a_batch_of_another_file_is_not_taken_for_it(batches, server):
    first, second = batches.upload(CONTENT), batches.upload(CONTENT)
    batches.create(first)
    assert batches.create(second, may_exist=True).id == "batch_2"


@pytest.mark.parametrize(
    "body",
    [
        {"status": "validating"},
        {"id": "../../etc", "status": "validating"},
        {"id": "", "status": "validating"},
        {"id": ".hidden", "status": "validating"},
        {"id": "x" * 200, "status": "validating"},
        {"id": 7, "status": "validating"},
        {"id": "b", "status": "thinking"},
        {"id": "b"},
        {"id": "b", "status": "completed", "output_file_id": "../b"},
        {"id": "b", "status": "validating", "request_counts": [1]},
        {"id": "b", "status": "validating", "request_counts": {"completed": "many"}},
        {"id": "b", "status": "failed", "errors": {"data": 7}},
        ["b"],
        "b",
        None,
    ],
)
def test_what_is_no_batch_is_no_server_of_the_protocol(batches, server, body):
    server.instead["GET /v1/batches/b"] = [Reply(body)]
    found = batches.look("b")
    assert isinstance(found, Failure)
    assert found.error == "NotAServer"


def test_what_a_server_leaves_out_of_a_batch_is_nothing(batches, server):
    row = {"id": "b", "status": "FAILED", "request_counts": {"completed": 2, "failed": 3}}
    server.instead["GET /v1/batches/b"] = [Reply(row | {"errors": {"data": [{"code": "token_limit_exceeded"}]}})]
    found = batches.look("b")
    assert (found.status, found.answered, found.problem) == ("failed", 5, "token_limit_exceeded")
    server.instead["GET /v1/batches/b"] = [Reply(row | {"errors": {"data": []}, "request_counts": None})]
    found = batches.look("b")
    assert (found.status, found.answered, found.problem, found.output, found.errors) == ("failed", 0, "", None, None)


@pytest.mark.parametrize(("status", "error", "looks"), [(503, "ServerError", 3), (401, "AccessRefused", 1)])
def test_a_look_is_tried_again_as_calls_are(batches, server, status, error, looks):
    server.instead["GET /v1/batches/b"] = [refuses(status)]
    assert batches.look("b").error == error
    assert len(server.seen) == looks


def returned(server, *lines, keys=None):
    found = Returned()
    content = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    with opened(server) as client:
        found.read(content, keys=frozenset({CALL.key} if keys is None else keys), calls={CALL.key: CALL}, server=client)
    return found


@pytest.mark.parametrize(
    ("lines", "answers", "refusals", "unknown", "unreadable"),
    [
        ([answered(LINE)], 1, [], 0, 0),
        ([b"", answered(LINE), b"  ", b"\r"], 1, [], 0, 0),
        ([answered(LINE) | {"custom_id": "foreign"}], 0, [], 1, 0),
        ([answered(LINE) | {"custom_id": 7}], 0, [], 1, 0),
        ([answered(LINE) | {"custom_id": ["x"]}], 0, [], 0, 1),
        ([b'{"custom_id": "a'], 0, [], 0, 1),
        ([b"\xff\xfe"], 0, [], 0, 1),
        ([b"[" * 100_000], 0, [], 0, 1),
        ([b"[]", b"7", b"null", b"{}", b'"x"'], 0, [], 0, 5),
        ([expired(LINE)], 0, [], 0, 0),
        ([{"custom_id": CALL.key}], 0, [], 0, 0),
        ([{"custom_id": CALL.key, "response": "fine"}], 0, [], 0, 0),
        ([answered(LINE, body={"choices": []})], 0, [], 0, 0),
        ([answered(LINE, status="200")], 0, [], 0, 0),
        ([answered(LINE, status=302)], 0, [], 0, 0),
        ([refused(LINE, 500)], 0, [], 0, 0),
        ([refused(LINE, 429)], 0, [], 0, 0),
        ([refused(LINE, 400)], 0, ["BadRequest"], 0, 0),
        ([refused(LINE, 400, code="context_length_exceeded")], 0, ["ContextTooLong"], 0, 0),
        ([refused(LINE, 404)], 0, ["NotFound"], 0, 0),
        ([refused(LINE, 400), answered(LINE)], 1, [], 0, 0),
        ([answered(LINE), refused(LINE, 400)], 1, [], 0, 0),
        ([answered(LINE), answered(LINE, body={"choices": []})], 1, [], 0, 0),
    ],
)
def test_each_line_is_read_for_itself(server, lines, answers, refusals, unknown, unreadable):  # noqa: PLR0917 - a table's row
    found = returned(server, *lines)
    assert len(found.answered) == answers
    assert [failure.error for failure in found.refused.values()] == refusals
    assert (found.unknown, found.unreadable) == (unknown, unreadable)


def test_of_two_answers_the_first_counts(server):
    other = answered(LINE, body={"choices": [{"message": {"content": "second"}}]})
    assert "second" not in returned(server, answered(LINE), other).answered[CALL.key].answer.text


def test_a_call_of_the_batch_that_this_command_does_not_ask_is_passed_over(server):
    found = returned(server, answered({"custom_id": "other"}), keys=["other", CALL.key])
    assert found == Returned()


def test_submissions_are_kept_by_their_batch_until_all_is_collected(tmp_path):
    kept = Submissions(tmp_path / "calls" / "batches")
    assert kept.open_at("host") == []
    kept.keep(FILE)
    assert kept.open_at("host") == [FILE]
    assert kept.open_at("elsewhere") == []
    made = replace(FILE, id="batch_1", status="validating")
    kept.keep(made)
    assert [path.name for path in kept.directory.iterdir()] == ["batch_1.json"]
    assert kept.open_at("host") == [made]
    assert stat.S_IMODE((kept.directory / "batch_1.json").stat().st_mode) == 0o600
    half = made.collected({"a"}, status="expired")
    assert (half.keys, half.left, half.status) == (("a", "b"), ("b",), "expired")
    kept.keep(half)
    assert kept.open_at("host") == [half]
    kept.keep(half.collected({"b"}, status="expired"))
    assert kept.open_at("host") == []
    assert json.loads((kept.directory / "batch_1.json").read_text())["keys"] == ["a", "b"]


def test_a_batch_and_its_file_left_behind_by_a_kill_are_one_submission_and_the_oldest_comes_first(tmp_path):
    kept = Submissions(tmp_path)
    made = replace(FILE, id="batch_2", submitted="2026-01-02T03:04:06+00:00")
    older = replace(FILE, id="batch_3", file="file-3")
    for each in (made, older, FILE):
        kept.keep(each)
    assert [each.id for each in kept.open_at("host")] == ["batch_3", "batch_2"]


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "{}", '{"id": null, "keys": 7}', "\udcff"])
def test_a_submission_that_cannot_be_read_is_none(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert Submissions(tmp_path).open_at("host") == []
