"""The service under load -> throughput and latency of POST /v1/score, and what HTTP adds to scoring in process.

Load is open loop: requests leave at times drawn beforehand (Poisson), whether earlier ones are answered or not, and a
latency counts from the time its request was due. A slow service cannot slow the load down and so look quick, and a
sender that is late itself shows in `sent_late_ms`.

Scoring processes remember sentences they have parsed. What HTTP adds is therefore measured with one process, which
meets the same cases in the same order as scoring here does. Under load each case comes many times: `capacity_first`
is of cases met for the first time, `capacity_per_second` of cases met before, which is what the load then is.
"""

import asyncio
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import touchstone
from benchmarks.cases import GOLD_SETS, gold_set
from benchmarks.clock import quantile
from benchmarks.record import write
from touchstone.app.config import Settings
from touchstone.core.case import CASE_FIELDS, Case
from touchstone.core.codec import case_to_dict
from touchstone.io.cases import Entry
from touchstone.service.scoring.worker import judge_entry

WORKERS = 2
SECONDS = 60.0
# Shares of the capacity that a closed loop finds.
STEADY, OVERLOAD = 0.6, 3.0
OVERLOAD_SECONDS, RECOVERY_SECONDS = 10.0, 10.0
CAPACITY_SECONDS = 10.0
CONNECTIONS = 256
# A request that no answer came to.
LOST = 0
# Above this share of the processors in use by others, figures say more about them.
BUSY = 0.25
TARGETS = {"http_adds_ms_p50": 3.0, "refused_ms_p95": 100.0, "recovery_scored_share": 1.0}


def run() -> None:
    """Write results/serve.json."""
    cases = [case for name in GOLD_SETS for case in gold_set(name)]
    random.Random(1).shuffle(cases)
    load = os.getloadavg()[0]
    if load > BUSY * (os.cpu_count() or 1):
        print(
            f"the machine is busy (load {load:.1f}): run this again when it is not, before figures are kept", flush=True
        )
    with service(workers=1) as address:
        added = asyncio.run(_alone(address, cases))
    print(f"HTTP adds {added['p50']:.2f} ms", flush=True)
    with service(workers=WORKERS) as address:
        loaded = asyncio.run(_under_load(address, cases))
    figures = {"workers": WORKERS, "cases": len(cases), "load_before": load, "http_adds_ms": added, **loaded}
    found = _held(figures)
    write("serve", {**figures, "targets": TARGETS, "found": found})
    print(json.dumps({**figures, "found": found}, indent=1))


def _held(figures: dict[str, Any]) -> dict[str, float | None]:
    """The figures that have a target; a share of answers for recovery."""
    refused, recovery = figures["overload"]["refused_ms"], figures["recovery"]
    return {
        "http_adds_ms_p50": figures["http_adds_ms"]["p50"],
        "refused_ms_p95": refused["p95"] if refused else None,
        "recovery_scored_share": recovery["statuses"].get("200", 0) / sum(recovery["statuses"].values()),
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """One request: its status and how long it took from when it was due, in seconds."""

    status: int
    seconds: float
    late: float = 0.0


async def _alone(address: "Address", cases: Sequence[Case]) -> dict[str, float]:
    client = Client(address)
    try:
        return await http_adds(client, cases, [_request(case, address) for case in cases])
    finally:
        client.close()


async def _under_load(address: "Address", cases: Sequence[Case]) -> dict[str, Any]:
    bodies = [_request(case, address) for case in cases]
    client = Client(address)
    first = await closed_loop(client, bodies, seconds=None)
    capacity = await closed_loop(client, bodies, seconds=CAPACITY_SECONDS)
    print(f"closed loop: {first:.0f} cases a second, {capacity:.0f} when they come again", flush=True)
    phases = {}
    for name, share, seconds in (
        ("steady", STEADY, SECONDS),
        ("overload", OVERLOAD, OVERLOAD_SECONDS),
        ("recovery", STEADY, RECOVERY_SECONDS),
    ):
        phases[name] = await open_loop(client, bodies, rate=share * capacity, seconds=seconds)
        print(f"{name}: {phases[name]['statuses']}, {phases[name]['scored_ms']}", flush=True)
    client.close()
    return {"capacity_first": first, "capacity_per_second": capacity, **phases}


async def http_adds(client: "Client", cases: Sequence[Case], bodies: Sequence[bytes]) -> dict[str, float]:
    """By how much a request takes longer than scoring the same case here, both for the first time, in milliseconds.

    The case is scored here and there in turn, so that both meet the same machine.
    """
    settings = Settings()
    judge_entry(Entry("warm-up", 1, cases[0]), settings=settings)
    await client.send(bodies[0])
    spent: list[tuple[float, float]] = []
    for at, (case, body) in enumerate(zip(cases[1:], bodies[1:], strict=True)):
        pair = {}
        for side in ("here", "there") if at % 2 else ("there", "here"):
            start = time.perf_counter()
            if side == "here":
                judge_entry(Entry("request", 1, case), settings=settings)
            else:
                await client.send(body)
            pair[side] = (time.perf_counter() - start) * 1000
        spent.append((pair["here"], pair["there"]))
    added = sorted(there - here for here, there in spent)
    return {
        "in_process_p50": median(here for here, _ in spent),
        "http_p50": median(there for _, there in spent),
        "p50": quantile(added, 0.5),
        "p95": quantile(added, 0.95),
    }


async def closed_loop(client: "Client", bodies: Sequence[bytes], *, seconds: float | None) -> float:
    """Cases a second when there are always a few waiting: for so long, or each case once."""
    waiting = iter(bodies) if seconds is None else itertools.cycle(bodies)
    start = time.perf_counter()
    done = 0

    async def keep_busy() -> None:
        nonlocal done
        for body in waiting:
            if await client.send(body) == 200:
                done += 1
            if seconds is not None and time.perf_counter() - start > seconds:
                return

    await asyncio.gather(*(keep_busy() for _ in range(4 * WORKERS)))
    return done / (time.perf_counter() - start)


async def open_loop(client: "Client", bodies: Sequence[bytes], *, rate: float, seconds: float) -> dict[str, Any]:
    """What becomes of requests that come at this rate for so long."""
    draws = random.Random(2)
    before = client.address.processor_seconds()
    start = time.perf_counter()
    due = 0.0
    sent: list[asyncio.Future[Answer]] = []
    while due < seconds:
        await asyncio.sleep(max(0.0, start + due - time.perf_counter()))
        late = time.perf_counter() - start - due
        sent.append(asyncio.ensure_future(_timed(client, bodies[len(sent) % len(bodies)], start + due, late)))
        due += draws.expovariate(rate)
    answers = await asyncio.gather(*sent)
    taken = None if before is None else ((client.address.processor_seconds() or 0.0) - before) * 1000 / len(answers)
    return {"http_processor_ms_each": taken} | _summary(answers, offered=rate, seconds=time.perf_counter() - start)


async def _timed(client: "Client", body: bytes, due: float, late: float) -> Answer:
    try:
        status = await client.send(body)
    except (OSError, asyncio.IncompleteReadError):
        status = LOST
    return Answer(status, time.perf_counter() - due, late)


def _summary(answers: Sequence[Answer], *, offered: float, seconds: float) -> dict[str, Any]:
    counts = Counter(answer.status for answer in answers)
    return {
        "offered_per_second": offered,
        "scored_per_second": counts[200] / seconds,
        "statuses": {str(status): count for status, count in sorted(counts.items())},
        "scored_ms": _quantiles([answer for answer in answers if answer.status == 200]),
        "refused_ms": _quantiles([answer for answer in answers if answer.status in (429, 503)]),
        "sent_late_ms": _spread([answer.late for answer in answers]),
    }


def _quantiles(answers: Sequence[Answer]) -> dict[str, float] | None:
    return _spread([answer.seconds for answer in answers])


def _spread(seconds: Sequence[float]) -> dict[str, float] | None:
    ordered = sorted(each * 1000 for each in seconds)
    return {f"p{share:.0f}": quantile(ordered, share / 100) for share in (50.0, 95.0, 99.0)} if ordered else None


@dataclass(frozen=True, slots=True)
class Address:
    """Where the service listens, and the id of its process."""

    host: str
    port: int
    process: int

    def processor_seconds(self) -> float | None:
        """What the service's own process, without those that score, has taken of a processor; None off Linux."""
        path = Path(f"/proc/{self.process}/stat")
        if not path.exists():
            return None
        # After the name in brackets: utime and stime are the 12th and 13th (man 5 proc).
        fields = path.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Client:
    """Bare HTTP/1.1 over connections that are kept: a full client would take longer than what is measured."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._room = asyncio.Semaphore(CONNECTIONS)

    async def send(self, request: bytes) -> int:
        """The status of the answer."""
        async with self._room:
            while self._free:
                # The service closes a connection that was idle for some seconds.
                kept = self._free.pop()
                try:
                    return await self._exchange(kept, request)
                except (asyncio.IncompleteReadError, ConnectionError):
                    kept[1].close()
            return await self._exchange(await asyncio.open_connection(*self._place()), request)

    async def _exchange(self, pair: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes) -> int:
        reader, writer = pair
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        self._free.append(pair)
        return int(head[9:12])

    def close(self) -> None:
        for _, writer in self._free:
            writer.close()

    def _place(self) -> tuple[str, int]:
        return self.address.host, self.address.port


def _request(case: Case, address: Address) -> bytes:
    row = case_to_dict(case)
    content = {name: row[name] for name in CASE_FIELDS if name in row and name != "labels"}
    body = json.dumps(content).encode()
    head = f"POST /v1/score HTTP/1.1\r\nHost: {address.host}:{address.port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def service(*, workers: int) -> Iterator[Address]:
    """`touchstone serve` as a process of its own, with so many processes ready to score."""
    environment = {**os.environ, "PYTHONPATH": str(Path(touchstone.__file__).parents[1])}
    command = [sys.executable, "-m", "touchstone", "serve", "--port", "0", "--workers", str(workers)]
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        with log.open("w") as stream:
            process = subprocess.Popen(command, cwd=directory, env=environment, stderr=stream)
        try:
            yield _ready(log, process, workers=workers)
        finally:
            process.terminate()
            process.wait()


def _ready(log: Path, process: "subprocess.Popen[bytes]", *, workers: int) -> Address:
    import httpx

    until = time.monotonic() + 180
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(r"http://([\d.]+):(\d+)", log.read_text()):
            try:
                # All of them: the figures are about so many.
                figures = httpx.get(f"{found[0]}/metrics").text
            except httpx.HTTPError:
                figures = ""
            if f"touchstone_scorers {workers}.0" in figures:
                return Address(found[1], int(found[2]), process.pid)
        time.sleep(0.2)
    raise SystemExit(f"the service did not become ready: {log.read_text()[-500:]}")
