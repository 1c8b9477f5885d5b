"""The source -> how large it is, what runs on the way of one act, and the map of its rooms in docs/architecture.md.

    python -m scripts.house            # draw the map and the table of rooms again
    python -m scripts.house --measure  # and measure what runs on the way of an act: a minute

A room is a package. What runs is counted while it runs: functions of Touchstone that were called, and their files.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "touchstone"
PAGE = ROOT / "docs" / "architecture.md"
# Measured by this script on commit df71976.
BEFORE: Mapping[str, Any] = {
    "files": 445,
    "lines": 50353,
    "score": {"files": 75, "functions": 486},
    "eval": {"files": 218, "functions": 1493},
    "review": {"files": 40, "functions": 153},
}
# From the top down.
ROOMS = (
    "cli", "service", "app", "report", "io", "store", "clients", "engines", "runs", "review", "trust", "goldset",
    "judges", "rubric", "metrics", "safety", "evidence", "text", "stats", "core",
)  # fmt: skip
BEST = dict.fromkeys(("accuracy", "completeness", "tone", "actionability", "safety"), 4)
CASE = {
    "id": "c-17",
    "input": "How long do I have to return shoes, and is there a fee?",
    "response": "You have 30 days to return them. Please send them back with the label; there is no fee.",
    "context": ["Shoes can be returned within 14 days. Returns are free of charge."],
}


def size() -> dict[str, int]:
    """Files and lines of the package."""
    files = sorted(SOURCE.rglob("*.py"))
    return {"files": len(files), "lines": sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)}


@contextmanager
def watched() -> Iterator[None]:
    """Print how many functions of the package are called meanwhile, in any thread of this process, and their files."""
    home, seen = str(SOURCE) + os.sep, set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(home) and not code.co_name.startswith("<"):
            seen.add((code.co_filename, code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    print(json.dumps({"files": len({file for file, _ in seen}), "functions": len(seen)}))


def score() -> None:
    """`ts.score(case)`: one case is scored."""
    import touchstone as ts
    from touchstone.core.codec import case_from_dict

    with watched():
        ts.score(case_from_dict(CASE))


def evaluate() -> None:
    """`touchstone eval support --gate`: the shipped gold set is scored, held against its targets and reported."""
    from touchstone.cli.main import main

    sys.argv = ["touchstone", "eval", "support", "--gate", "--quiet"]
    with watched(), suppress(SystemExit):
        main()


def review() -> None:
    """A reply of a queue is opened, graded and submitted on the service."""
    from fastapi.testclient import TestClient

    from touchstone.app.config import Settings
    from touchstone.service.app import create_app
    from touchstone.service.options import Options
    from touchstone.store.runs import open_store

    with open_store(".touchstone/touchstone.db") as store:
        app = create_app(Settings(), store, options=Options())
        client = TestClient(app, base_url="http://localhost")
        queue = client.get("/v1/queues").json()["queues"][0]["id"]
        with watched():
            page = client.get(f"/review/{queue}/0")
            answer = client.post(f"/v1/queues/{queue}/items/0/reviews", json={"grades": BEST})
        assert (page.status_code, answer.status_code) == (200, 201), answer.text


ACTS: Mapping[str, Callable[[], None]] = {"score": score, "eval": evaluate, "review": review}


def measure() -> dict[str, Any]:
    """Size, and what each act runs, in a process of its own."""
    acts = {}
    with tempfile.TemporaryDirectory() as home:
        case = Path(home, "week.jsonl")
        case.write_text(json.dumps(CASE), encoding="utf-8")
        command = [sys.executable, "-m", "touchstone", "review", "sample", "week.jsonl", "--quiet"]
        subprocess.run(command, cwd=home, check=True, capture_output=True, env=_environment())
        for act in ACTS:
            walk = [sys.executable, "-m", "scripts.house", "--walk", act]
            done = subprocess.run(walk, cwd=home, check=True, capture_output=True, text=True, env=_environment())
            acts[act] = json.loads(done.stdout.splitlines()[-1])
    return {**size(), **acts}


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{SOURCE.parent}{os.pathsep}{ROOT}"}


def imports() -> dict[str, set[str]]:
    """Which rooms each room imports."""
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for room, others in found.items():
        for file in sorted((SOURCE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("touchstone."):
                    others.add(str(node.module).split(".")[1])
        others.discard(room)
    return found


def drawn() -> Iterator[str]:
    """The map: an arrow for each import that no longer path through other rooms already shows."""
    found = imports()
    yield "```mermaid"
    yield "flowchart TD"
    for room, others in found.items():
        near = sorted(other for other in others if not _reaches(found, others - {other}, other))
        yield from (f"  {room} --> {other}" for other in near)
    yield "```"


def rooms() -> Iterator[str]:
    """A row for each room: what its docstring says it does, and how many files it has."""
    yield "| room | what it does | files |"
    yield "|---|---|---|"
    for room in ROOMS:
        yield f"| `{room}/` | {_said(room)} | {len(list((SOURCE / room).rglob('*.py')))} |"


def _said(room: str) -> str:
    said = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8")))
    assert said, f"{room}/__init__.py has no docstring"
    return said.splitlines()[0]


def figures(now: Mapping[str, Any]) -> Iterator[str]:
    """What a reader has to get through, before and now."""
    yield "| | before | now |"
    yield "|---|---|---|"
    for name in ("files", "lines"):
        yield f"| {name} of `src` | {BEFORE[name]:,} | {now[name]:,} |"
    for act, walk in ACTS.items():
        said = str(walk.__doc__).rstrip(".")
        cells = (f"{each['files']:,} files, {each['functions']:,} functions" for each in (BEFORE[act], now[act]))
        yield f"| {said} | {' | '.join(cells)} |"


def filled(page: str, name: str, lines: Iterable[str]) -> str:
    """The page with what stands between `<!-- name -->` and `<!-- end -->` made anew."""
    before, mark, rest = page.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    assert end, f"no mark for {name}"
    return "".join((before, mark, *(f"{line}\n" for line in lines), end, after))


def redrawn(page: str) -> str:
    """The page with map and rooms as the source is."""
    return filled(filled(page, "map", drawn()), "rooms", rooms())


def _reaches(found: Mapping[str, set[str]], starts: Iterable[str], goal: str) -> bool:
    return any(goal in found.get(start, ()) or _reaches(found, found.get(start, ()), goal) for start in starts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure what runs, too")
    parser.add_argument("--walk", choices=tuple(ACTS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.walk:
        ACTS[given.walk]()
    else:
        text = redrawn(PAGE.read_text(encoding="utf-8"))
        if given.measure:
            text = filled(text, "figures", figures(measure()))
        PAGE.write_text(text, encoding="utf-8")
