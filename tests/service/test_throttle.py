"""Who has to wait after wrong passwords, by account and address, and whose word on the address is believed."""

import asyncio
import logging

import httpx
import pytest
from tests.service.conftest import running
from tests.service.stored import PASSWORD, add_user

from touchstone.app.audit import from_now, now
from touchstone.service import login
from touchstone.service.login import MOST_FROM_ADDRESS, MOST_OF_NAME, MOST_OF_PAIR, network_of
from touchstone.service.options import Options
from touchstone.service.server import configure

PROXY = "10.0.0.7"
IN, WRONG, WAIT = "/", "/login?problem=wrong", "/login?problem=wait"


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    with running(tmp_path_factory.mktemp("team") / "touchstone.db", has_auth=True, workers=1, waits=False) as started:
        for name in ("lea", "ben"):
            add_user(started.store, name, "lead")
        yield started


@pytest.fixture
def team(started, monkeypatch):
    # To check a password for real takes its time, and nothing here depends on it.
    monkeypatch.setattr(login, "verify_password", lambda kept, given: given == PASSWORD)
    started.store.logins.expire(from_now(60), successes=from_now(60))
    return started


def sign_in(team, name="lea", password=PASSWORD, *, peer, client=None, trusted=()):
    """Where a log-in leads that comes from `peer`, which says that it comes from `client`."""
    config = configure(team.app, Options(has_auth=True, trusted_proxies=trusted))
    config.load()
    headers = {} if client is None else {"X-Forwarded-For": client}

    async def post():
        transport = httpx.ASGITransport(app=config.loaded_app, client=(peer, 50000))
        async with httpx.AsyncClient(transport=transport, base_url=team.address, headers=headers) as opened:
            return await opened.post("/login", data={"name": name, "password": password})

    return asyncio.run(post()).headers["location"]


def guess(team, name, *, address, times):
    for _ in range(times):
        team.store.logins.note(name, address=address, at=now(), ok=False)


def test_thirty_people_behind_a_trusted_proxy_do_not_lock_out_the_next(team):
    for number in range(30):
        tried = sign_in(team, f"p-{number}", "x", peer=PROXY, client=f"192.0.2.{number}", trusted=("10.0.0.0/8",))
        assert tried == WRONG
    assert team.store.logins.failures(address=PROXY, since=from_now(-60)) == 0
    assert sign_in(team, peer=PROXY, client="192.0.2.99", trusted=("10.0.0.0/8",)) == IN


def test_thirty_people_at_one_address_do_not_lock_out_the_next(team):
    for number in range(30):
        guess(team, f"p-{number}", address=PROXY, times=MOST_OF_PAIR)
    assert sign_in(team, peer=PROXY) == IN


def test_who_guesses_one_account_waits_and_its_owner_elsewhere_does_not(team):
    tried = [sign_in(team, password=f"guess {number}", peer="192.0.2.1") for number in range(MOST_OF_PAIR + 1)]
    assert tried == [WRONG] * MOST_OF_PAIR + [WAIT]
    assert sign_in(team, peer="192.0.2.1") == WAIT
    assert sign_in(team, peer="192.0.2.2") == IN
    # Nor does the owner's log-in let the other guess on.
    assert sign_in(team, peer="192.0.2.1") == WAIT
    assert sign_in(team, "ben", peer="192.0.2.1") == IN


def test_guessing_one_account_from_everywhere_is_slowed_down_but_not_where_its_owner_signs_in(team):
    assert sign_in(team, peer="192.0.2.200") == IN
    for number in range(MOST_OF_NAME // MOST_OF_PAIR):
        guess(team, "lea", address=f"192.0.2.{number}", times=MOST_OF_PAIR)
    assert sign_in(team, peer="192.0.2.100") == WAIT
    assert sign_in(team, peer="192.0.2.200") == IN
    assert sign_in(team, "ben", peer="192.0.2.100") == IN


def test_guessing_many_accounts_from_one_address_is_slowed_down_but_not_for_those_who_sign_in_there(team):
    assert sign_in(team, peer=PROXY) == IN
    for number in range(MOST_FROM_ADDRESS):
        guess(team, f"p-{number}", address=PROXY, times=1)
    assert sign_in(team, "ben", peer=PROXY) == WAIT
    assert sign_in(team, peer=PROXY) == IN
    assert sign_in(team, "ben", peer="192.0.2.1") == IN


@pytest.mark.parametrize(
    ("peer", "client", "trusted", "believed"),
    [
        ("203.0.113.9", "192.0.2.1", (), "203.0.113.9"),
        ("203.0.113.9", "192.0.2.1", ("10.0.0.0/8",), "203.0.113.9"),
        ("10.1.2.3", "192.0.2.1", ("10.0.0.0/8",), "192.0.2.1"),
        ("::ffff:10.1.2.3", "192.0.2.1", ("10.0.0.0/8",), "192.0.2.1"),
        ("fd00::7", "192.0.2.1", ("fd00::/8",), "192.0.2.1"),
        ("127.0.0.1", "192.0.2.1", (), "192.0.2.1"),
        ("::ffff:127.0.0.1", "192.0.2.1", (), "192.0.2.1"),
        # What a client claims itself comes before what the proxy adds.
        ("10.1.2.3", "198.51.100.1, 192.0.2.1", ("10.0.0.0/8",), "192.0.2.1"),
        ("10.1.2.3", "192.0.2.1, 10.9.9.9", ("10.0.0.0/8",), "192.0.2.1"),
    ],
)
def test_only_a_trusted_proxy_says_where_a_request_comes_from(team, peer, client, trusted, believed):
    assert sign_in(team, password="x", peer=peer, client=client, trusted=trusted) == WRONG
    assert team.store.logins.failures(name="lea", address=believed, since=from_now(-60)) == 1


def test_a_proxy_that_is_not_trusted_is_named_in_the_log_once(team, caplog):
    with caplog.at_level(logging.WARNING, logger="touchstone.service"):
        for _ in range(2):
            sign_in(team, peer="10.0.0.8", client="192.0.2.1")
        sign_in(team, peer="10.0.0.9", client="192.0.2.1", trusted=("10.0.0.9/32",))
        sign_in(team, peer="192.0.2.3")
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == [
        "if it is your proxy, start with --trusted-proxy 10.0.0.8"
    ]


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("unknown", "unknown"),
        ("", ""),
        ("x" * 200, "x" * 64),
    ],
)
def test_an_ipv6_client_is_counted_by_its_network(address, place):
    assert network_of(address) == place
