"""What was asked once is not asked again; a replay needs no server and never asks one."""

import json
import stat

import pytest
from tests.clients.llm.test_server import REQUEST

from touchstone.clients.llm.call import Answered, Sampling, Usage, call_for
from touchstone.clients.llm.meter import Budget, Meter
from touchstone.clients.llm.model import Model, Records, Seat, open_replay
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.judges.llm.answer import Answer


class Parrot:
    """Counts how often it is asked, and says so."""

    def __init__(self):
        self.asked = 0

    def ask(self, call):
        self.asked += 1
        return Answered(Answer(f"{call.seed} {self.asked}"), Usage(10, 2))

    def stop(self):
        pass


class Broken(Parrot):
    def ask(self, call):
        return Failure("judge", "Timeout", "no answer")


def model(server=None, records=None, **options):
    account = Meter(Budget()).open_account("small")
    return Model(Seat("small", "small"), Sampling(), account, server, records, **options)


def test_an_answer_is_kept_and_given_again(tmp_path):
    parrot = Parrot()
    for _ in range(2):
        assert model(parrot, Records(tmp_path)).ask(REQUEST) == Answer("7 1")
    assert parrot.asked == 1
    assert model(None, open_replay(str(tmp_path))).ask(REQUEST) == Answer("7 1")


def test_votes_are_calls_of_their_own(tmp_path):
    asked = model(Parrot(), Records(tmp_path))
    assert [asked.ask(REQUEST, vote=vote).text for vote in (1, 2, 3, 1)] == ["7 1", "8 2", "9 3", "7 1"]
    assert asked.account.recorded == 1


def test_no_cache_asks_anew_and_keeps_the_new_answer(tmp_path):
    parrot, records = Parrot(), Records(tmp_path)
    model(parrot, records).ask(REQUEST)
    assert model(parrot, records, asks_anew=True).ask(REQUEST) == Answer("7 2")
    assert model(None, records).ask(REQUEST) == Answer("7 2")


def test_a_replay_does_not_know_what_was_not_recorded(tmp_path):
    assert model(None, Records(tmp_path)).ask(REQUEST).error == "NotRecorded"
    with pytest.raises(InputError, match="is not a directory"):
        open_replay(str(tmp_path / "none"))


def test_a_call_that_failed_is_not_kept(tmp_path):
    assert model(Broken(), Records(tmp_path)).ask(REQUEST).error == "Timeout"
    assert list(tmp_path.iterdir()) == []


def test_a_record_is_readable_by_its_owner_alone_and_a_broken_one_is_none(tmp_path):
    records = Records(tmp_path)
    model(Parrot(), records).ask(REQUEST)
    (file,) = tmp_path.rglob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["call"]["model"] == "small"
    file.write_text("{")
    assert records.find(call_for(REQUEST, model="small", sampling=Sampling())) is None


def test_everything_that_shapes_an_answer_is_in_the_key():
    base = {"model": "small", "sampling": Sampling()}
    changes = (
        {},
        {"model": "large"},
        {"vote": 2},
        {"sampling": Sampling(temperature=0.7)},
        {"sampling": Sampling(max_tokens=9)},
    )
    keys = [call_for(REQUEST, **(base | change)).key for change in changes]
    assert len(set(keys)) == len(changes)
