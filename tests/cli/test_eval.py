"""`touchstone eval` as a user meets it: sources of replies, the gate, resuming, broken input and exit codes."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from touchstone.app.scaffold import EXAMPLES

GOOD, WRONG, MISSED = EXAMPLES
ECHO = "import json, sys; case = json.load(sys.stdin); print('You have 14 days after delivery to return it.')"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def goldset(here):
    return write_rows("gold.jsonl", EXAMPLES)


@pytest.fixture
def bot(here):
    Path("bot.py").write_text(ECHO, encoding="utf-8")
    return f"{sys.executable} bot.py"


def only_run():
    (found,) = Path("touchstone-runs").iterdir()
    return found


def results_of(run):
    return [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_gold_set_becomes_a_run_with_all_its_files(touchstone, goldset):
    done = touchstone("eval", goldset, "--label", "prompt=v7")
    assert done.code == 0
    run = only_run()
    names = {"report.html", "summary.json", "results.jsonl", "junit.xml", "summary.md"}
    assert {path.name for path in run.iterdir()} == names
    assert [row["id"] for row in results_of(run)] == ["good", "wrong-number", "missed-question"]
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    assert summary["run"]["labels"] == {"prompt": "v7"}
    assert summary["summary"]["coverage"]["scored"] == 3
    assert "pass rate" in done.out
    assert "report.html" in done.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_what_a_run_leaves_behind_is_for_its_owner_and_older_runs_are_closed_off_with_a_line(here, goldset):
    def touchstone(*arguments):
        command = [sys.executable, "-m", "touchstone", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, umask=0o022)

    def modes(path):
        return {oct(found.stat().st_mode & 0o777) for found in path}

    assert "now only you can" not in touchstone("eval", goldset).stderr
    ours = [Path(".touchstone"), Path("touchstone-runs"), only_run()]
    assert modes(ours) == {"0o700"}
    assert modes([Path(".touchstone/touchstone.db"), *only_run().iterdir()]) == {"0o600"}
    assert modes([here, Path(goldset)]) == {oct(here.stat().st_mode & 0o777), "0o644"}
    for path in ours:
        path.chmod(0o755)
    lines = [line for line in touchstone("eval", goldset).stderr.splitlines() if "now only you can" in line]
    assert ["touchstone-runs" in line for line in lines] == [False, True]
    assert modes(ours[:2]) == {"0o700"}
    touchstone("report", "latest", "-o", "report.html")
    assert modes([Path("report.html")]) == {"0o600"}


def test_the_results_are_those_of_score(touchstone, goldset):
    touchstone("eval", goldset)
    assert touchstone("score", goldset).out == (only_run() / "results.jsonl").read_text(encoding="utf-8")


def test_the_summary_for_machines_is_the_file(touchstone, goldset):
    done = touchstone("eval", goldset, "--json", "-q")
    assert done.err == ""
    assert json.loads(done.out) == json.loads((only_run() / "summary.json").read_text(encoding="utf-8"))


def test_replies_are_joined_by_id(touchstone, goldset):
    answers = write_rows("answers.jsonl", [{"id": row["id"], "response": GOOD["response"]} for row in EXAMPLES])
    assert touchstone("eval", goldset, "--responses", answers).code == 0
    good = results_of(only_run())[0]
    assert good["rubric"]["outcome"] == "PASS"


def test_a_missing_and_an_unknown_reply_are_named_counted_and_shown(touchstone, goldset):
    answers = write_rows(
        "answers.jsonl", [{"id": "good", "response": "Yes."}, {"id": "wrong-numbr", "response": "No."}]
    )
    done = touchstone("eval", goldset, "--responses", answers)
    assert done.code == 3
    assert "wrong-number: answers.jsonl has no reply for this case" in done.err
    assert "no case has the id 'wrong-numbr'; nearest is 'wrong-number'" in done.err
    coverage = json.loads((only_run() / "summary.json").read_text(encoding="utf-8"))["summary"]["coverage"]
    assert coverage == {"replies": 4, "scored": 1, "abstained": 0, "failed": 3}


def test_a_bot_drafts_the_replies_and_sees_no_expected_output(touchstone, here):
    secret = {**GOOD, "expected_output": "the expected reply"}
    Path("bot.py").write_text("import sys; print('It said: ' + sys.stdin.read())", encoding="utf-8")
    done = touchstone("eval", write_rows("gold.jsonl", [secret]), "--bot", f"{sys.executable} bot.py")
    assert done.code == 0
    kept = sqlite3.connect(".touchstone/touchstone.db").execute("select body from cases").fetchall()
    reply = json.loads(kept[0][0])["response"]
    assert "headphones" in reply
    assert "the expected reply" not in reply


def test_a_gold_set_of_questions_and_expected_replies_alone_is_enough_for_a_bot(touchstone, bot):
    rows = [{"input": "How long may I return it?", "expected_output": "14 days after delivery."}] * 2
    assert touchstone("eval", write_rows("gold.jsonl", rows), "--bot", bot).code == 0
    first, second = results_of(only_run())
    assert second["id"] == f"{first['id']}-2"


def test_several_drafts_are_reported_with_their_spread(touchstone, goldset, bot):
    assert touchstone("eval", goldset, "--bot", bot, "--repeat", "2").code == 0
    assert len(results_of(only_run())) == 6
    spread = json.loads((only_run() / "summary.json").read_text(encoding="utf-8"))["summary"]["spread"]
    assert (spread["cases"], spread["drafts"], spread["agreement"]) == (3, 6, 1.0)


@pytest.mark.parametrize(
    ("script", "timeout", "message"),
    [
        ("raise SystemExit(4)", "60", "exit code 4"),
        ("print('<!doctype html><title>Sign in</title>')", "60", "HTML"),
        ("pass", "60", "no text at all"),
        ("import time; time.sleep(60)", "0.5", "0.5 s"),
    ],
)
def test_a_bot_that_fails_leaves_failed_rows_and_the_run_goes_on(touchstone, goldset, script, timeout, message):
    Path("bot.py").write_text(script, encoding="utf-8")
    done = touchstone("eval", goldset, "--bot", f"{sys.executable} bot.py", "--timeout", timeout)
    assert done.code == 3
    assert message in done.err
    assert len(results_of(only_run())) == 3


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--responses", "a", "--bot", "b"], "--responses or --bot, not both"),
        (["--repeat", "2"], "--repeat 2 needs --bot"),
        (["--baseline", "latest"], "--baseline is for --gate"),
        (["--bot", "no-such-command-here"], "no-such-command-here"),
        (["--target", "pass=1"], "nearest is 'pass_rate'"),
        (["--label", "v7"], "--label v7 is not of the form left=right"),
        (["--gate", "--baseline", "latest"], "there is no latest run"),
    ],
)
def test_what_cannot_start_says_so_with_exit_code_2(touchstone, goldset, flags, message):
    done = touchstone("eval", goldset, *flags)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_an_unknown_gold_set_is_refused_with_the_nearest_name(touchstone):
    done = touchstone("eval", "suport")
    assert done.code == 2
    assert "nearest is 'support'" in done.err


def test_a_run_directory_that_cannot_be_made_is_an_error_before_anything_is_scored(touchstone, goldset):
    Path("touchstone-runs").write_text("a file stands here", encoding="utf-8")
    done = touchstone("eval", goldset)
    assert done.code == 2
    assert "cannot be written" in done.err
    assert "--runs" in done.err


def test_a_gold_set_without_expected_output_or_categories_is_evaluated(touchstone):
    rows = [{"input": "How long may I return it?", "response": "14 days.", "context": ["Returns: 14 days."]}] * 2
    assert touchstone("eval", write_rows("bare.jsonl", rows)).code == 0


WITHOUT_REPLIES = {
    "gold.jsonl": json.dumps({"id": "a", "input": "q", "expected_output": "e"}) + "\n",
    "gold.csv": "id,input,response,expected_output\na,q,,e\nb,q, ,e\n",
}


@pytest.mark.parametrize("file", WITHOUT_REPLIES)
def test_a_gold_set_without_replies_says_where_they_may_come_from_and_makes_no_run(touchstone, file):
    Path(file).write_text(WITHOUT_REPLIES[file])
    touchstone("eval", write_rows("before.jsonl", [GOOD]))
    before = list(Path("touchstone-runs").iterdir())
    done = touchstone("eval", file)
    assert (done.code, done.out) == (2, "")
    assert f"{file} has no replies" in done.err
    assert "--responses FILE" in done.err
    assert "--bot COMMAND_OR_URL" in done.err
    assert list(Path("touchstone-runs").iterdir()) == before
    assert touchstone("runs", "show", "latest", "--json").code == 0
    assert len(json.loads(touchstone("runs", "list", "--json").out)) == 1


def test_a_mapped_column_may_be_in_the_gold_set_or_with_the_replies(touchstone):
    write_rows("gold.jsonl", [{"id": "a", "input": "q", "ideal": "e"}])
    write_rows("replies.jsonl", [{"id": "a", "text": "You have 14 days."}])
    flags = ["--responses", "replies.jsonl", "--map", "ideal=expected_output"]
    assert touchstone("eval", "gold.jsonl", *flags, "--map", "text=response").code == 0
    done = touchstone("eval", "gold.jsonl", *flags, "--map", "txt=response")
    assert (done.code, "has a column 'txt'; nearest is 'text'" in done.err) == (2, True)
    done = touchstone("eval", "gold.jsonl", *flags, "--map", "text=response", "--map", "categry=category")
    assert "no row of gold.jsonl and replies.jsonl has a column 'categry'" in done.err


def test_a_bad_row_keeps_its_place_and_makes_the_exit_code_3(touchstone):
    rows = [GOOD, {"id": "no reply"}, WRONG]
    done = touchstone("eval", write_rows("gold.jsonl", rows))
    assert done.code == 3
    assert "line 2" in done.err
    assert [row["id"] for row in results_of(only_run())] == ["good", None, "wrong-number"]


def test_the_gate_is_closed_on_a_missed_target_and_open_on_met_ones(touchstone, goldset):
    closed = touchstone("eval", goldset, "--gate")
    assert closed.code == 1
    low = ["--target", "pass_rate=0", "--target", "average.accuracy=0", "--target", "safety_failures=100"]
    open_ = touchstone("eval", goldset, "--gate", *low, "--target", "average_confidence=0")
    assert open_.code == 1, "no reply states a confidence, and a target without a figure is not met"
    confident = write_rows("confident.jsonl", [{**row, "confidence": 0.9} for row in EXAMPLES])
    assert touchstone("eval", confident, "--gate", *low).code == 0


def test_a_gate_that_is_not_met_outranks_failed_rows(touchstone):
    done = touchstone("eval", write_rows("gold.jsonl", [GOOD, {"id": "x"}, WRONG]), "--gate")
    assert done.code == 1


@pytest.mark.slow
def test_a_significant_regression_closes_the_gate(touchstone):
    met = ["--target", "pass_rate=0", "--target", "average.accuracy=0", "--target", "safety_failures=100"]
    met += ["--target", "average_confidence=0", "--gate"]
    before = [{**GOOD, "id": f"{n}", "confidence": 0.9} for n in range(12)]
    after = [{**row, "response": WRONG["response"]} for row in before]
    assert touchstone("eval", write_rows("before.jsonl", before), *met).code == 0
    done = touchstone("eval", write_rows("after.jsonl", after), *met, "--baseline", "latest")
    assert done.code == 1
    assert "regress" in done.out


def test_an_interrupted_run_goes_on_where_it_stopped(touchstone, goldset, bot):
    """The bot counts how often it is asked: nothing is drafted twice."""
    Path("bot.py").write_text(
        "with open('asked', 'a') as asked:\n    asked.write('x')\nprint('You have 14 days.')\n", encoding="utf-8"
    )
    touchstone("eval", goldset, "--bot", bot, "--concurrency", "1")
    with sqlite3.connect(".touchstone/touchstone.db") as database:
        database.execute("pragma foreign_keys = on")
        database.execute("delete from results where position = 2")
        database.execute("update runs set finished = null")
    first = only_run()
    done = touchstone("eval", goldset, "--bot", bot, "--concurrency", "1")
    assert f"run {first.name} resumed after 2 replies" in done.err
    assert len(Path("asked").read_text()) == 4
    assert len(results_of(only_run())) == 3


def test_a_finished_run_is_not_resumed(touchstone, goldset):
    touchstone("eval", goldset)
    touchstone("eval", goldset)
    assert len(list(Path("touchstone-runs").iterdir())) == 2


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed_the_results_are_byte_identical(touchstone, here):
    """Four kills, at different moments of the scoring; then the run is finished."""
    command = [sys.executable, "-m", "touchstone", "eval", "support", "-q"]
    whole = subprocess.run([*command, "--runs", "whole", "--store", "whole.db"], check=True, env=os.environ)
    assert whole.returncode == 0
    scored = []
    for least in (1, 20, 50, 90):
        running = subprocess.Popen(command, env=os.environ)
        while running.poll() is None and count_kept() < least:
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.wait()
        scored.append(count_kept())
    assert scored == sorted(scored)
    assert touchstone("eval", "support", "-q").code == 0
    (finished,) = Path("whole").iterdir()
    assert (only_run() / "results.jsonl").read_bytes() == (finished / "results.jsonl").read_bytes()


def count_kept():
    if not Path(".touchstone/touchstone.db").exists():
        return 0
    try:
        with sqlite3.connect("file:.touchstone/touchstone.db?mode=ro", uri=True) as database:
            return database.execute("select count(*) from results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_scored_and_says_how_to_go_on(touchstone, here):
    command = [sys.executable, "-m", "touchstone", "eval", "support"]
    running = subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and count_kept() < 5:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate()
    kept = count_kept()
    assert running.returncode == 130
    assert f"interrupted: {kept} replies are scored and kept; the same command resumes from there" in told
    assert f"resumed after {kept} replies" in touchstone("eval", "support").err


@pytest.mark.slow
def test_two_evaluations_at_once_in_one_store_make_two_runs_with_the_same_results(here):
    command = [sys.executable, "-m", "touchstone", "eval", "support", "-q"]
    running = [subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [each.wait() for each in running] == [0, 0]
    first, second = (run / "results.jsonl" for run in Path("touchstone-runs").iterdir())
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_run_goes_on_when_there_is_room(touchstone, here):
    """A limit on the size of a file stands in for the disk: what SQLite meets is the same refusal to write."""

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    command = [sys.executable, "-m", "touchstone", "eval", "support", "-q"]
    full = subprocess.run(command, check=False, env=os.environ, capture_output=True, text=True, preexec_fn=limited)
    assert full.returncode == 2
    assert "touchstone.db" in full.stderr
    assert "Traceback" not in full.stderr
    kept = count_kept()
    assert kept > 0
    assert f"resumed after {kept} replies" in touchstone("eval", "support").err
    assert len(results_of(only_run())) == 130
