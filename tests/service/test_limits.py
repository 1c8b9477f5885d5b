"""Rates and sizes, without a server."""

import asyncio

import pytest

from touchstone.service.limits import BodyLimit, Rates
from touchstone.service.options import Options
from touchstone.service.problems import Refusal


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_caller_may_send_a_burst_and_then_as_much_as_the_rate():
    clock = Clock()
    rates = Rates(10.0, clock=clock)
    for _ in range(20):
        rates.take("a")
    with pytest.raises(Refusal) as refused:
        rates.take("a")
    assert refused.value.status_code == 429
    assert refused.value.headers["Retry-After"] == "1"
    rates.take("b")
    clock.now = 0.1
    rates.take("a")
    with pytest.raises(Refusal):
        rates.take("a")


def test_what_was_refused_costs_nothing():
    clock = Clock()
    rates = Rates(1.0, clock=clock)
    rates.take("a", cost=2)
    for _ in range(50):
        with pytest.raises(Refusal):
            rates.take("a")
    clock.now = 1.0
    rates.take("a")


def test_a_batch_larger_than_the_burst_is_taken_from_a_full_bucket_and_paid_for_afterwards():
    clock = Clock()
    rates = Rates(10.0, clock=clock)
    rates.take("a", cost=200)
    clock.now = 17.9
    with pytest.raises(Refusal):
        rates.take("a")
    clock.now = 18.2
    rates.take("a")


def test_without_a_rate_there_is_no_limit():
    rates = Rates(None)
    for _ in range(10_000):
        rates.take("a")


def test_a_body_that_comes_bit_by_bit_is_given_up():
    async def bits():
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def reads(scope, receive, send):
        while (await receive())["more_body"]:
            continue

    limited = BodyLimit(reads, Options(body_seconds=0.1))
    with pytest.raises(Refusal) as refused:
        asyncio.run(asyncio.wait_for(limited({"type": "http", "headers": []}, bits, None), 60))
    assert refused.value.status_code == 408


def test_a_client_that_leaves_within_its_body_is_gone_and_no_defect():
    async def leaves():
        return {"type": "http.disconnect"}

    async def reads(scope, receive, send):
        await receive()

    with pytest.raises(Refusal) as refused:
        asyncio.run(BodyLimit(reads, Options())({"type": "http", "headers": []}, leaves, None))
    assert refused.value.status_code == 499


def test_a_body_that_never_comes_is_given_up():
    async def never():
        await asyncio.sleep(60)

    async def reads(scope, receive, send):
        await receive()

    limited = BodyLimit(reads, Options(body_seconds=0.01))
    with pytest.raises(Refusal) as refused:
        asyncio.run(limited({"type": "http", "headers": []}, never, None))
    assert refused.value.status_code == 408
