"""The command as a process: quick help, version, pipes, a first run that works."""

import json
import subprocess
import sys
from contextlib import suppress

import pytest
from tests.tables import over

from touchstone import __version__
from touchstone.cli.main import COMMANDS, load

COMMAND = [sys.executable, "-c", "from touchstone.cli.main import main; main()"]


HEAVY = {"spacy", "numpy", "scipy", "wordllama", "pyarrow", "ray", "openai"}
# What a command needs at once, and the list of commands does not.
COMMANDS_NEED = {"rich", "yaml", "pydantic", "sqlalchemy", "httpx", "jinja2"}
# In turn, and what must not be loaded after each: one process, since a help never unloads anything.
HELP = [
    (["--help"], HEAVY | COMMANDS_NEED),
    (["--version"], HEAVY | COMMANDS_NEED),
    (["score", "--help"], HEAVY | {"sqlalchemy", "httpx", "jinja2"}),
    (["rubric", "show", "--help"], HEAVY | {"sqlalchemy", "httpx", "jinja2"}),
    (["eval", "--help"], HEAVY),
    (["review", "--help"], HEAVY),
]
LOADED = """
import json, sys
from touchstone.cli.main import main
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit:
        print("loaded:", *sys.modules)
"""


def test_help_loads_no_heavy_part():
    asked = json.dumps([arguments for arguments, _ in HELP])
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, asked], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = [set(line.split()) for line in ended.stdout.splitlines() if line.startswith("loaded: ")]
    assert len(loaded) == len(HELP)
    for modules, (arguments, unloaded) in zip(loaded, HELP, strict=True):
        assert sorted(unloaded & modules) == [], arguments


@over("name", COMMANDS)
def test_the_list_of_commands_says_of_each_what_its_own_help_says(name):
    assert load(name).help.partition("\n\n")[0] == COMMANDS[name][1]


def test_the_version_is_shown(run):
    assert run("--version").out == f"touchstone {__version__}\n"


def test_without_arguments_the_help_is_shown(run):
    ended = run()
    assert "score" in ended.out + ended.err
    assert ended.code == 2


@pytest.mark.parametrize(
    "command", [[], ["score"], ["init"], ["rubric"], ["rubric", "show"], ["rubric", "check"], ["rubric", "diff"]]
)
def test_help_names_no_type_of_python(run, command):
    text = run(*command, "--help").out
    assert "list[str]" not in text
    assert "Usage: touchstone" in text


def test_init_writes_both_files_and_says_what_to_do_next(run, tmp_path):
    ended = run("init")
    assert ended.code == 0
    assert ended.out == "wrote touchstone.yaml\nwrote cases.jsonl\nnext: touchstone score cases.jsonl --explain\n"
    assert (tmp_path / "touchstone.yaml").exists()
    assert run("init").code == 2
    assert run("init", "--force").code == 0
    assert run("init", "elsewhere").code == 0


def test_a_first_run_works_from_end_to_end(touchstone):
    assert touchstone("init").code == 0
    ended = touchstone("score", "cases.jsonl")
    assert (ended.code, ended.err) == (0, "")
    rows = {row["id"]: row for row in map(json.loads, ended.out.splitlines())}
    verdicts = {id: row["verdict"] for id, row in rows.items()}
    assert verdicts == {"good": "PASS", "wrong-number": "FAIL", "missed-question": "WARN"}
    assert (rows["good"]["rubric"]["outcome"], rows["wrong-number"]["rubric"]["outcome"]) == ("PASS", "FAIL")


MANY = b'{"response": "Hello there."}\n' * 3000
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def test_results_appear_as_rows_arrive_and_a_reader_that_goes_away_ends_the_command_quietly():
    with subprocess.Popen([*COMMAND, "score", "-"], **PIPES) as process:
        process.stdin.write(b'{"id": "first", "response": "Hello."}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == "first"
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.write(MANY)
            process.stdin.flush()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0
        with suppress(BrokenPipeError):
            process.stdin.close()


def test_a_reader_of_explanations_that_goes_away_ends_the_command_quietly(tmp_path):
    (tmp_path / "cases.jsonl").write_bytes(MANY)
    with subprocess.Popen([*COMMAND, "score", "cases.jsonl", "--explain"], cwd=tmp_path, **PIPES) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0
