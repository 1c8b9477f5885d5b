"""Calls -> a batch at the model's server, and its files -> answers, by OpenAI's published protocol for batches.

A file of calls is uploaded and a batch is made of it; when that has ended, within a day, its answers are in one file
and its errors in another. What was submitted is kept in a file of its own until every answer is collected, so that no
call is submitted twice, however the command ends.
"""

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter

from touchstone.clients.faults import PASSING, fault
from touchstone.clients.http import Setback
from touchstone.clients.llm.call import Answered, Call
from touchstone.clients.llm.model import write_row
from touchstone.clients.llm.protocol import read_body, refusal
from touchstone.clients.llm.server import Server, parsed
from touchstone.core.result import Failure

# OpenAI's guide to batches: at most 50,000 requests a file. Of bytes it allows 200 million, and allowed 100 million at
# first, to which servers that followed it then may still hold.
MOST_REQUESTS = 50_000
MOST_BYTES = 100_000_000
ENDPOINT: Final = "/v1/chat/completions"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
STATUSES = ENDED | {"validating", "in_progress", "finalizing", "cancelling"}
REMEDY = "run it again: what was answered is kept, the rest is submitted anew"
# How a server says that it has no such address, or no such batch.
_ABSENT = frozenset({404, 405, 501})
# A file takes longer than an answer does.
_FILE_TIMES = 10
# More than the answers to as many calls as a file may hold.
LONGEST_FILE = 1_000_000_000
# Ids become names of files.
_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A file of calls at a server. `id` is its batch's, None before there is one; `left` is still to be collected."""

    place: str
    file: str
    keys: tuple[str, ...]
    left: tuple[str, ...]
    submitted: str
    id: str | None = None
    status: str = "uploaded"

    def collected(self, keys: Container[str], *, status: str) -> "Submission":
        """The same when these calls are no longer waited for."""
        return replace(self, left=tuple(key for key in self.left if key not in keys), status=status)


class Submissions:
    """A directory of submissions, each in a file named by its batch. They hold no text of a case."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def open_at(self, place: str) -> list[Submission]:
        """What is still to be collected from this server, the oldest first; a file that cannot be read is none."""
        found = [each for path in sorted(self.directory.glob("*.json")) if (each := _read_submission(path))]
        made = {each.file for each in found if each.id}
        still = [each for each in found if each.place == place and each.left and (each.id or each.file not in made)]
        return sorted(still, key=lambda each: each.submitted)

    def keep(self, submission: Submission) -> None:
        """Writes it under its batch's name, or its file's as long as there is no batch."""
        write_row(self.directory / f"{submission.id or submission.file}.json", asdict(submission))
        if submission.id:
            (self.directory / f"{submission.file}.json").unlink(missing_ok=True)


def _read_submission(path: Path) -> Submission | None:
    try:
        return _SUBMISSION.validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


_SUBMISSION = TypeAdapter(Submission)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as its server tells of it; `problem` is the code of the reason why it failed as a whole."""

    id: str
    status: str
    file: str
    answered: int = 0
    output: str | None = None
    errors: str | None = None
    problem: str = ""

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


class Batches:
    """The batches of a server. None stands for what the server does not have: a batch, a file, or batches at all."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def upload(self, content: bytes) -> str | Failure | None:
        """The id of a file of calls, now at the server."""
        files, data = {"file": ("calls.jsonl", content, "application/jsonl")}, {"purpose": "batch"}
        timeout = self._server.timeout * _FILE_TIMES
        return self._server.retried(
            lambda _: self._asked("POST", "/files", _file_id, files=files, data=data, timeout=timeout)
        )

    def create(self, file: str, *, may_exist: bool = False) -> Batch | Failure | None:
        """The batch of a file. One that may have been made already, unheard, is looked for first."""
        row = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}

        async def create(attempt: int) -> Batch | Setback | None:
            if may_exist or attempt > 1:
                # Among the newest; none where a server does not list its batches.
                known = await self._asked("GET", "/batches?limit=100", lambda content: _batch_of(file, content))
                if known is not None:
                    return known
            return await self._asked("POST", "/batches", _batch, row=row)

        return self._server.retried(create)

    def look(self, id: str) -> Batch | Failure | None:
        """How the batch is doing."""
        return self._server.retried(lambda _: self._asked("GET", f"/batches/{quote(id, safe='')}", _batch))

    def read(self, file: str) -> bytes | Failure | None:
        """What the file holds."""
        path, timeout = f"/files/{quote(file, safe='')}/content", self._server.timeout * _FILE_TIMES
        return self._server.retried(lambda _: self._asked("GET", path, bytes, timeout=timeout, most=LONGEST_FILE))

    async def _asked(self, method: str, path: str, read: Callable[[bytes], T], **options: Any) -> T | Setback | None:
        answer = await self._server.request(method, path, **options)
        if isinstance(answer, Setback):
            return None if answer.status in _ABSENT else answer
        try:
            return read(answer.content)
        except ValueError:
            return self._server.not_a_server()


def _batch_of(file: str, content: bytes) -> Batch | None:
    """The batch that was made of this file."""
    rows = _row(content).get("data") or ()
    found = (row for row in rows if isinstance(row, Mapping) and row.get("input_file_id") == file)
    return next(map(_read_batch, found), None)


def _file_id(content: bytes) -> str:
    return _id(_row(content).get("id"))


def _batch(content: bytes) -> Batch:
    return _read_batch(_row(content))


def _row(content: bytes) -> Mapping[str, Any]:
    row = parsed(content)
    if not isinstance(row, Mapping):
        raise ValueError("no object")
    return row


def _read_batch(row: Mapping[str, Any]) -> Batch:
    """The batch in a server's words; ValueError when they are not the protocol's."""
    try:
        status = str(row["status"]).lower()
        counts, errors = row.get("request_counts") or {}, (row.get("errors") or {}).get("data") or [{}]
        if status not in STATUSES:
            raise ValueError(status)
        return Batch(
            id=_id(row["id"]),
            status=status,
            file=str(row.get("input_file_id")),
            answered=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
            output=_id(row["output_file_id"]) if row.get("output_file_id") else None,
            errors=_id(row["error_file_id"]) if row.get("error_file_id") else None,
            problem=str(errors[0].get("code") or ""),
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(type(error).__name__) from None


def _id(value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError("an id that cannot be one")
    return value


def files_of(bodies: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator["CallFile"]:
    """Keys with the bodies of their calls -> as many files as a server's limits need."""
    keys: list[str] = []
    lines: list[bytes] = []
    size = 0
    for key, body in bodies:
        row = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
        line = json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
        if keys and (len(keys) >= MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield CallFile(tuple(keys), b"".join(lines))
            keys, lines, size = [], [], 0
        keys.append(key)
        lines.append(line)
        size += len(line)
    if keys:
        yield CallFile(tuple(keys), b"".join(lines))


@dataclass(frozen=True, slots=True)
class CallFile:
    """What is uploaded, and the keys of the calls in it, which are their `custom_id`."""

    keys: tuple[str, ...]
    content: bytes


@dataclass(slots=True)
class Returned:
    """What a batch's files hold: answers and refusals by key, and how many lines are of no call or cannot be read."""

    answered: dict[str, Answered] = field(default_factory=dict)
    refused: dict[str, Failure] = field(default_factory=dict)
    unknown: int = 0
    unreadable: int = 0

    def read(self, content: bytes, *, keys: frozenset[str], calls: Mapping[str, Call], server: Server) -> None:
        """Add the lines of one file. Of two answers to a call the first counts."""
        for line in content.split(b"\n"):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                key = row["custom_id"]
                is_known = key in keys
            except (ValueError, KeyError, TypeError, RecursionError):
                self.unreadable += 1
                continue
            if not is_known:
                self.unknown += 1
            elif key in calls and key not in self.answered:
                self._add(key, row, call=calls[key], server=server)

    def _add(self, key: str, row: Mapping[str, Any], *, call: Call, server: Server) -> None:
        response = row.get("response")
        status, body = (response.get("status_code"), response.get("body")) if isinstance(response, Mapping) else (0, 0)
        if status == 200 and (answered := read_body(body, call)):
            self.answered[key] = answered
            self.refused.pop(key, None)
        elif isinstance(status, int) and status >= 400:
            refused = refusal(status, body, peer=server.peer)
            # What may pass is as good as no answer: the call is submitted again.
            if refused.error not in PASSING:
                self.refused[key] = refused


def unanswered(reason: str = "the batch ended without an answer to this call", *, remedy: str = REMEDY) -> Failure:
    """The failure of a call that no batch has answered so far."""
    return fault("judge", "BatchIncomplete", f"{reason}; {remedy}")
