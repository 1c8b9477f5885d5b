"""Importing Touchstone changes nothing outside the process and loads nothing heavy."""

import ast
import doctest
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import touchstone

HEAVY = ("spacy", "numpy", "scipy", "sklearn", "pyarrow", "wordllama", "typer", "rich")

# What the interpreter itself says it does while `import touchstone` runs, and what is there afterwards.
PROBE = """
import json, os, sys, threading

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.putenv", "os.chmod", "os.link",
           "os.symlink", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "shutil.", "subprocess.",
           "socket.", "tempfile.", "urllib.", "_thread.start_new_thread", "sqlite3.")
read, written, events = [], [], []

def watch(event, args):
    if event == "open" and isinstance(args[0], str):
        wants = any(letter in (args[1] or "") for letter in "wax+") or args[2] & WRITES
        (written if wants else read).append(os.path.abspath(args[0]))
    elif event.startswith(CHANGES):
        events.append(event)

path = list(sys.path)
sys.addaudithook(watch)
import touchstone
modules = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"read": read, "written": written, "events": events, "threads": threading.active_count(),
                  "modules": modules, "path": path, "files": os.listdir()}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What was seen while Touchstone was imported in a fresh interpreter and an empty directory."""
    source = Path(touchstone.__file__).parents[1]
    empty = tmp_path_factory.mktemp("empty")
    run = subprocess.run(
        # -B: the interpreter's own bytecode cache is not Touchstone's doing.
        [sys.executable, "-B", "-W", "error", "-c", PROBE],
        cwd=empty,
        env=os.environ | {"PYTHONPATH": str(source), "HOME": str(empty)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stderr == ""
    return json.loads(run.stdout)


def test_importing_writes_nothing(seen):
    assert seen["written"] == []
    assert seen["files"] == []


def test_importing_opens_no_socket_and_starts_no_process_or_thread(seen):
    assert seen["events"] == []
    assert seen["threads"] == 1


def test_importing_reads_only_under_the_import_path(seen):
    roots = [Path(entry) for entry in seen["path"] if entry]
    strays = [name for name in seen["read"] if not any(Path(name).is_relative_to(root) for root in roots)]
    assert strays == []
    assert seen["read"], "the audit hook saw nothing at all"


@pytest.mark.parametrize("module", HEAVY)
def test_importing_loads_no_heavy_part(seen, module):
    assert module not in seen["modules"]


def test_the_example_in_the_package_s_docstring_is_true():
    outcome = doctest.testmod(touchstone)
    assert outcome.attempted > 0
    assert outcome.failed == 0


NO_CASES = [({"response": "Hi"}, "not a dict"), ("Hi", "not a str"), (None, "not a NoneType")]


@pytest.mark.parametrize(("given", "said"), NO_CASES)
@pytest.mark.parametrize("call", [touchstone.score, touchstone.assert_passes])
def test_what_is_no_case_is_an_error_that_says_how_to_build_one(call, given, said):
    with pytest.raises(touchstone.TouchstoneError, match=rf"score takes a Case, {said}: build one with ts\.Case"):
        call(given)


@pytest.mark.parametrize(("name", "allowed"), [("plan", "Plan"), ("rubric", "Rubric"), ("policy", "Policy")])
def test_a_setting_of_another_type_is_an_error_that_names_the_right_one(name, allowed):
    with pytest.raises(touchstone.TouchstoneError, match=f"{name} is a dict, allowed is a ts.{allowed}"):
        touchstone.score(touchstone.Case(response="Hi"), **{name: {}})


# A base install lacks these. spaCy brings some of them for itself, so only Touchstone is refused those.
BASE_INSTALL = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        is_ours = frame.f_globals.get("__name__", "").startswith("touchstone")
        if name in {"sqlalchemy", "alembic"} or (is_ours and name in {"filelock", "httpx", "jinja2", "markupsafe"}):
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
"""
SCORES = """
import touchstone as ts
assert ts.score(ts.Case(input="When is it due?", response="On 3 May.", context=["Due on 3 May."])).verdict is not None
"""
COMMAND = "from touchstone.cli.main import main; main()"


@pytest.mark.parametrize(
    ("script", "arguments", "code", "said"),
    [
        (SCORES, [], 0, ""),
        (COMMAND, ["score", "--input", "When is it due?", "--response", "On 3 May.", "--summary"], 0, '"verdict": '),
        (COMMAND, ["eval", "support"], 2, "needs filelock: pip install 'touchstone-eval[runs]'"),
        (COMMAND, ["report", "latest"], 2, "pip install 'touchstone-eval[runs]'"),
    ],
    ids=["ts.score", "touchstone score", "touchstone eval", "touchstone report"],
)
def test_the_base_install_scores_and_other_commands_name_the_extra_they_need(tmp_path, script, arguments, code, said):
    environment = os.environ | {"PYTHONPATH": str(Path(touchstone.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", BASE_INSTALL + script, *arguments],
        cwd=tmp_path,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == code, run.stderr
    assert said in run.stdout + run.stderr


def test_a_name_that_moved_is_found_where_it_was():
    from touchstone import results

    assert all(getattr(touchstone, name) is getattr(results, name) for name in touchstone._MOVED)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = touchstone.Nothing


def test_class_names_are_unique_in_the_project():
    named = Counter(
        node.name
        for path in Path(touchstone.__file__).parent.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in named.items() if count > 1] == []
