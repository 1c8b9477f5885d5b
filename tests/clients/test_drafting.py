"""Drafts come in the order of the cases, failures in their places; a bot that is away ends it, and so does the user."""

import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from touchstone.clients.bots import MOST_AT_START, MOST_IN_A_ROW, BotError, draft_all, open_bot
from touchstone.clients.faults import fault
from touchstone.core.case import Case, Draft
from touchstone.core.errors import ConfigError

AWAY = fault("draft", "Unreachable", "it is away")
BAD = fault("draft", "HtmlReply", "it is a page")


def cases(count):
    return [Case(id=f"c{number}", response="", input=str(number)) for number in range(count)]


def never(id, draft):
    return False


class ScriptedBot:
    """Answers by the number in the case; counts how many drafts run at a time."""

    name = "scripted"

    def __init__(self, answer, *, seconds=0.0):
        self._answer = answer
        self._seconds = seconds
        self._lock = threading.Lock()
        self.running = self.most = self.calls = 0

    def draft(self, case, *, draft):
        with self._lock:
            self.running += 1
            self.calls += 1
            self.most = max(self.most, self.running)
        time.sleep(self._seconds)
        with self._lock:
            self.running -= 1
        return self._answer(int(case.input), draft)

    def stop(self):
        """Nothing is under way for long."""


def all_drafts(bot, number, *, repeat=1, concurrency=4, skip=never):
    found = draft_all(bot, cases(number), repeat=repeat, concurrency=concurrency, skip=skip)
    return [(case.id, draft, what) for case, draft, what in found]


def replies(number, draft):
    return Draft(f"{number}.{draft}")


def test_drafts_come_in_the_order_of_the_cases_however_long_each_takes():
    def answer(number, draft):
        time.sleep(0.02 if number % 3 == 0 else 0)
        return replies(number, draft)

    found = all_drafts(ScriptedBot(answer), 20, repeat=2, concurrency=5)
    assert found == [(f"c{number}", draft, replies(number, draft)) for number in range(20) for draft in (1, 2)]


def test_as_many_run_at_a_time_as_asked_for_and_no_more():
    bot = ScriptedBot(replies, seconds=0.02)
    all_drafts(bot, 20, concurrency=3)
    assert bot.most == 3
    bot = ScriptedBot(replies, seconds=0.005)
    all_drafts(bot, 5, concurrency=1)
    assert bot.most == 1


def test_cases_are_read_ahead_no_further_than_a_few():
    read = []

    def endless():
        for number in range(1_000_000):
            read.append(number)
            yield Case(id=str(number), response="", input=str(number))

    found = draft_all(ScriptedBot(replies), endless(), repeat=1, concurrency=2, skip=never)
    for _ in range(10):
        next(found)
    found.close()
    assert len(read) <= 20


def test_what_is_there_already_is_not_drafted_again():
    bot = ScriptedBot(replies)
    found = all_drafts(bot, 3, repeat=2, skip=lambda id, draft: (id, draft) in {("c0", 1), ("c2", 2)})
    assert [(id, draft) for id, draft, _ in found] == [("c0", 2), ("c1", 1), ("c1", 2), ("c2", 1)]
    assert bot.calls == 4


@pytest.mark.parametrize("options", [{"repeat": 0, "concurrency": 1}, {"repeat": 1, "concurrency": 0}])
def test_numbers_below_one_are_an_error_at_once(options):
    with pytest.raises(ConfigError, match="is 0, allowed is a whole number of at least 1"):
        draft_all(ScriptedBot(replies), cases(1), skip=never, **options)


def test_a_draft_that_fails_keeps_its_place_and_the_rest_goes_on():
    found = all_drafts(ScriptedBot(lambda number, draft: BAD if number % 2 else replies(number, draft)), 6)
    assert [what == BAD for _, _, what in found] == [False, True] * 3


def test_a_bot_that_always_answers_badly_is_asked_for_every_case():
    assert [what for _, _, what in all_drafts(ScriptedBot(lambda number, draft: BAD), 40)] == [BAD] * 40


def test_a_defect_fails_its_draft_alone_and_quotes_nothing():
    def answer(number, draft):
        if number == 1:
            raise KeyError("Jane Roe")
        return replies(number, draft)

    first, second, third = all_drafts(ScriptedBot(answer), 3)
    assert (first[2].reply, third[2].reply) == ("0.1", "2.1")
    assert (second[2].stage, second[2].error) == ("draft", "KeyError")
    assert "Jane" not in second[2].message


def outage(first, last):
    return ScriptedBot(lambda number, draft: AWAY if first <= number < last else replies(number, draft))


def test_a_bot_that_is_away_from_the_start_ends_it_soon_and_gives_no_failures():
    given = []
    bot = ScriptedBot(lambda number, draft: AWAY)
    with pytest.raises(BotError, match="scripted failed 5 times in a row: it is away; what was drafted before is kept"):
        given.extend(draft_all(bot, cases(1000), repeat=1, concurrency=2, skip=never))
    assert given == []
    assert bot.calls <= MOST_AT_START + 2 * 4


def test_a_bot_that_goes_away_ends_it_and_all_that_was_drafted_before_is_given():
    given = []
    with pytest.raises(BotError, match="20 times in a row"):
        given.extend(draft_all(outage(7, 1000), cases(1000), repeat=1, concurrency=2, skip=never))
    assert [what.reply for _, _, what in given] == [f"{number}.1" for number in range(7)]


@pytest.mark.parametrize(("first", "last"), [(0, MOST_AT_START - 1), (3, 3 + MOST_IN_A_ROW - 1)])
def test_a_bot_that_comes_back_in_time_leaves_failures_in_their_places(first, last):
    found = all_drafts(outage(first, last), 40)
    assert [what == AWAY for _, _, what in found] == [first <= number < last for number in range(40)]


def test_a_few_failures_at_the_very_end_are_given():
    assert [what for _, _, what in all_drafts(outage(0, 9), 3)] == [AWAY] * 3


def test_a_real_server_that_is_not_there_ends_it_with_a_clear_message():
    message = r"http://127\.0\.0\.1:9/draft failed 5 times .*connection refused"
    with open_bot("http://127.0.0.1:9/draft", retries=0) as bot, pytest.raises(BotError, match=message):
        all_drafts(bot, 50)


def test_a_bot_that_someone_else_stops_ends_it():
    with open_bot("echo Hello.") as bot:
        bot.stop()
        with pytest.raises(BotError, match="was stopped before there was an answer"):
            all_drafts(bot, 3)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_pids(file, count):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pids = file.read_text().split() if file.exists() else []
        if len(pids) >= count:
            return pids
        time.sleep(0.02)
    raise AssertionError("the processes did not start")


def slow_command(pids):
    """Answers the first case; sleeps over all others."""
    script = f"if grep -q '\"c0\"'; then echo Hello.; else echo $$ >> {pids}; exec sleep 300; fi"
    return f"sh -c {shlex.quote(script)}"


def test_closing_ends_the_processes_and_the_threads_at_once(tmp_path):
    before = set(threading.enumerate())
    with open_bot(slow_command(tmp_path / "pids")) as bot:
        found = draft_all(bot, cases(100), repeat=1, concurrency=3, skip=never)
        assert next(found)[2].reply == "Hello."
        pids = wait_for_pids(tmp_path / "pids", 3)
        found.close()
        assert not any(map(is_alive, pids))
    assert set(threading.enumerate()) <= before


INTERRUPTED = """
import sys
from touchstone.clients.bots import draft_all, open_bot
from touchstone.core.case import Case

cases = [Case(id=f"c{number}", response="") for number in range(100)]
try:
    with open_bot(sys.argv[1]) as bot:
        for case, draft, found in draft_all(bot, cases, repeat=1, concurrency=3, skip=lambda id, draft: False):
            print(case.id, found.reply, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_ends_the_processes_and_the_command_at_once(tmp_path):
    command = [sys.executable, "-W", "error", "-c", INTERRUPTED, slow_command(tmp_path / "pids")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        pids = wait_for_pids(tmp_path / "pids", 3)
        run.send_signal(signal.SIGINT)
        written, complaints = run.communicate(timeout=10)
    assert (written, complaints, run.returncode) == ("c0 Hello.\ninterrupted\n", "", 0)
    assert not any(map(is_alive, pids))
