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
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

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
    """Each fault, and whether the tests noticed it."""
    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            copies.put(Path(shutil.copytree(ROOT, f"{home}/{job}", ignore=LEFT_OUT)))
        first = copies.get()
        start = time.monotonic()
        if not passes(first, tests, seconds=None):
            sys.exit("the tests fail without any fault: mend that first")
        copies.put(first)
        limit = PATIENCE * (time.monotonic() - start) + 30

        def is_noticed(mutant: Mutant) -> bool:
            copy = copies.get()
            file = copy / mutant.path.relative_to(ROOT)
            source = file.read_text(encoding="utf-8")
            try:
                file.write_text(mutate(source, mutant.place), encoding="utf-8")
                return not passes(copy, tests, seconds=limit)
            finally:
                file.write_text(source, encoding="utf-8")
                copies.put(copy)

        yield from zip(mutants, pool.map(is_noticed, mutants), strict=True)


def passes(copy: Path, tests: list[str], *, seconds: float | None) -> bool:
    """Whether the tests pass in a copy of the tree; taking too long is failing."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ended = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 0


if __name__ == "__main__":
    main()
