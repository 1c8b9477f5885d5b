"""A command drafts: real processes, each with one way to go wrong."""

import json
import shlex
import sys
import threading
import time
from pathlib import Path

import pytest

from touchstone.clients.bot_protocol import LONGEST_ANSWER
from touchstone.clients.bots import open_bot
from touchstone.core.case import Case, Draft
from touchstone.core.errors import ConfigError, InputError

CASE = Case(id="c-1", input="Where is Jane Roe's parcel?", response="", context=["It is on its way."])


def sh(script):
    return f"sh -c {shlex.quote(script)}"


def drafted(command, *, case=CASE, draft=1, timeout=20):
    with open_bot(command, timeout=timeout) as bot:
        return bot.draft(case, draft=draft)


def is_alive(pid):
    """False for a process that has ended, also when nobody has asked for its exit code yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def wait_until(condition, *, seconds=10):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_the_case_comes_in_on_stdin_and_what_is_written_is_the_reply(tmp_path):
    found = drafted(f"tee {tmp_path / 'seen.json'}", draft=2)
    assert found.error == "WrongShape"  # the case as it stands is no reply
    seen = json.loads((tmp_path / "seen.json").read_bytes())
    assert (seen["id"], seen["draft"], seen["input"]) == ("c-1", 2, CASE.input)


def test_text_is_the_reply():
    found = drafted(sh("echo Hello.; echo noise >&2"))
    assert (found.reply, found.confidence) == ("Hello.", None)


def test_an_object_is_the_reply_with_what_the_bot_says_of_it():
    found = drafted(sh("""echo '{"response": "Hello.", "confidence": 0.5, "context": []}'"""))
    assert (found.reply, found.confidence, found.context) == ("Hello.", 0.5, ())


def test_a_bot_that_does_not_read_its_case_may_still_reply():
    case = Case(id="c", input="x" * 1_000_000, response="")
    assert drafted(sh("exec <&-; echo Hello."), case=case).reply == "Hello."


def test_a_case_of_any_size_gets_through_to_a_bot_that_writes_before_it_reads():
    case = Case(id="c", input="x" * 1_000_000, response="")
    found = drafted(sh("head -c 500000 /dev/zero | tr '\\0' y; cat > /dev/null"), case=case)
    assert len(found.reply) == 500_000


def test_arguments_are_split_as_a_shell_would_and_no_shell_runs_them():
    assert drafted("echo 'a  b' \"$HOME\" *").reply == "a  b $HOME *"


FAILURES = {
    "a crash": ("echo half a reply; echo oh >&2; exit 3", "ExitCode", "exit code 3, after 13 bytes on stdout and 3 on"),
    "a signal": ("kill -SEGV $$", "ExitCode", "was ended by SIGSEGV"),
    "nothing": ("exit 0", "EmptyReply", "no text at all"),
    "noise alone": ("echo oh >&2", "EmptyReply", "no text at all"),
    "bytes that are no text": ("printf '\\377\\376'", "NotText", "2 bytes that are not utf-8"),
    "a page": ("echo '<!doctype html>'", "HtmlReply", "login or an error page"),
    "too much": (f"head -c {LONGEST_ANSWER + 1} /dev/zero", "TooLong", "more than 1,000,000 bytes"),
    "without an end": ("yes", "TooLong", "more than 1,000,000 bytes"),
    "a wrong shape": ("echo '{\"reply\": 1}'", "WrongShape", "the keys 'reply' and no 'response'"),
}


@pytest.mark.parametrize(("script", "error", "message"), FAILURES.values(), ids=FAILURES.keys())
def test_a_bot_that_fails_is_a_failure_that_says_how(script, error, message):
    failure = drafted(sh(script))
    assert (failure.stage, failure.error) == ("draft", error)
    assert message in failure.message


def test_no_failure_quotes_what_the_bot_wrote():
    failure = drafted(sh("tee /dev/stderr; exit 1"))
    assert failure.error == "ExitCode"
    assert "Jane" not in failure.message


def test_as_much_as_is_allowed_is_taken():
    assert len(drafted(sh(f"head -c {LONGEST_ANSWER} /dev/zero | tr '\\0' x")).reply) == LONGEST_ANSWER


def test_noise_without_end_does_not_keep_a_reply_from_coming():
    assert drafted(sh("head -c 5000000 /dev/zero >&2; echo Hello.")).reply == "Hello."


def test_a_bot_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    pids = tmp_path / "pids"
    failure = drafted(sh(f"sleep 300 & echo $! >> {pids}; echo $$ >> {pids}; wait"), timeout=0.5)
    assert failure.error == "Timeout"
    assert "no reply within 0.5 s and was ended" in failure.message
    numbers = pids.read_text().split()
    assert len(numbers) == 2
    wait_until(lambda: not any(map(is_alive, numbers)))


def test_a_bot_that_leaves_a_process_behind_is_not_waited_for(tmp_path):
    found = drafted(sh(f"sleep 300 & echo $! > {tmp_path / 'pid'}; echo Hello."))
    assert found.reply == "Hello."
    wait_until(lambda: not is_alive((tmp_path / "pid").read_text().strip()))


def test_a_daemon_that_keeps_the_pipes_open_is_not_waited_for():
    daemon = "import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(60)"
    found = drafted(sh(f"{shlex.quote(sys.executable)} -S -c '{daemon}'; echo Hello."))
    assert found.reply == "Hello."


def test_stopping_ends_the_processes_under_way_and_nothing_is_drafted_after_it(tmp_path):
    pid = tmp_path / "pid"
    with open_bot(sh(f"echo $$ > {pid}; exec sleep 300")) as bot:
        found = []
        thread = threading.Thread(target=lambda: found.append(bot.draft(CASE, draft=1)))
        thread.start()
        wait_until(lambda: pid.exists() and pid.read_text().strip())
        bot.stop()
        thread.join(10)
        assert [failure.error for failure in found] == ["Stopped"]
        assert not is_alive(pid.read_text().strip())
        assert bot.draft(CASE, draft=1).error == "Stopped"
    assert bot.draft(CASE, draft=1).error == "Stopped"


def test_the_end_of_the_context_ends_what_is_under_way_and_leaves_no_thread(tmp_path):
    before = set(threading.enumerate())
    pid = tmp_path / "pid"
    with open_bot(sh(f"echo $$ > {pid}; exec sleep 300")) as bot:
        thread = threading.Thread(target=lambda: bot.draft(CASE, draft=1))
        thread.start()
        wait_until(lambda: pid.exists() and pid.read_text().strip())
    thread.join(10)
    wait_until(lambda: set(threading.enumerate()) <= before)
    assert not is_alive(pid.read_text().strip())


def test_drafts_leave_no_open_files_behind():
    with open_bot("echo Hello.") as bot:
        bot.draft(CASE, draft=1)
        before = open_files()
        for number in range(10):
            assert isinstance(bot.draft(CASE, draft=number), Draft)
        assert open_files() == before


WRONG = {
    "nothing": ("", ConfigError, "the bot is empty"),
    "white space": ("  ", ConfigError, "the bot is empty"),
    "an open quote": ("echo 'x", ConfigError, "no closing quotation"),
    "no such command": ("no-such-bot --fast", InputError, "'no-such-bot' was not found: check its name"),
    "an address without scheme": ("localhost:8000/draft", InputError, "write http://localhost:8000/draft"),
    "a host without scheme": ("bots.example.com/draft", InputError, "write http://bots.example.com/draft"),
    "a directory": ("./folder", InputError, "is a directory"),
    "a script that may not be run": ("./bot.py", InputError, "chmod +x on it, or put its interpreter in front"),
    "a script without its path": ("bot.py", InputError, "put its interpreter in front, as in 'python bot.py'"),
}


@pytest.mark.parametrize(("command", "error", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_command_that_cannot_be_run_is_an_error_at_once(command, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "bot.py").write_text("")
    with pytest.raises(error, match=message.replace("+", r"\+")), open_bot(command):
        pass


def test_a_script_whose_interpreter_is_not_there_fails_each_draft(tmp_path):
    script = tmp_path / "bot"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    failure = drafted(str(script))
    assert failure.error == "NotStarted"
    assert "could not be started" in failure.message
